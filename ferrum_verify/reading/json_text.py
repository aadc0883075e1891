"""JSON as the engine reads it: stricter than Python's reader, and within the format's limits.

Python accepts NaN, Infinity, duplicate keys, lone surrogates and any depth; the engine's
reader accepts none of them. Values that a Python caller hands over are held to the same.
"""

from __future__ import annotations

import json
import re
from itertools import chain
from math import isfinite
from typing import Any, NoReturn

from ferrum_verify.findings import Finding, pointer
from ferrum_verify.findings.errors import DocumentError, summarise
from ferrum_verify.findings.wording import LONG_NUMBER, quoted
from ferrum_verify.reading.wire import DUPLICATE_KEY, LIMIT, NOT_JSON

MAXIMUM_BYTES = 16 * 2**20
"""Bytes of one plan's JSON, decompressed; of any other document's too, save a bundle's."""

MAXIMUM_BUNDLE_BYTES = 4 * MAXIMUM_BYTES
"""Bytes of a bundle's JSON: its plan has ``MAXIMUM_BYTES`` at most, its sources the rest."""

MAXIMUM_DEPTH = 127
"""Levels of nesting; the engine's reader refuses the 128th."""

MAXIMUM_VALUES = MAXIMUM_BYTES // 2
"""Values in one document: no text of ``MAXIMUM_BYTES`` can hold more, nor may a longer one."""

MAXIMUM_MEMBERS = 65_536
"""Members of one object: as many as a plan has rows, and far more than any real object has."""

_TOO_DEEP = LIMIT.finding(f"The document nests deeper than {MAXIMUM_DEPTH} levels.")
_TOO_MANY_VALUES = LIMIT.finding(f"The document holds more than {MAXIMUM_VALUES:,} values.")
_TOO_MANY_MEMBERS = LIMIT.finding(f"An object has more than {MAXIMUM_MEMBERS:,} members.")
_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_MINUS_ZERO = re.compile(r"-0(?=[\s,\]}]|$)")
_BLANKS = re.compile(r"[ \t\r\n]*")
# Numbers stay text: Python refuses to convert integers of thousands of digits.
_SCANNER = json.JSONDecoder(parse_int=str, parse_float=str)
_JSON_TYPES = {dict, list, str, int, float, bool, type(None)}


def parse_json(text: bytes) -> Any:
    """The value of one JSON document.

    Raises ``DocumentError`` with a finding for each fault: not JSON, a key that stands twice,
    or a limit passed. An integer of more than 40 digits is read as ``LONG_NUMBER``.
    """
    if len(text) > MAXIMUM_BYTES:
        _refuse_before_reading(text)
    if text.startswith(_BYTE_ORDER_MARKS):
        _refuse(NOT_JSON.finding("The text starts with a byte-order mark, which JSON forbids."))
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse(NOT_JSON.finding(f"The text is not UTF-8: {error.reason} at byte {error.start:,}."))
    if not decoded.strip():
        _refuse(NOT_JSON.finding("The text is empty, where a JSON document should be."))
    value = admit(_decode(decoded))
    if len(text) > MAXIMUM_BYTES:
        _refuse_large_plan(value, decoded)
    return value


def admit(value: Any) -> Any:
    """The value, if it is one that JSON can express within the format's limits.

    Returns the same object where it is plain JSON already, otherwise a copy with tuples as
    lists and subclasses as their plain types. Raises ``DocumentError`` with all faults.
    """
    if _is_plain(value):
        return value
    copying = _Copying()
    copy = copying.of(value, "", 1)
    if copying.faults:
        _refuse(*copying.faults)
    return copy


def _refuse_before_reading(text: bytes) -> None:
    """Refuse a long text that is too long even for a bundle, or could exhaust the host."""
    if len(text) > MAXIMUM_BUNDLE_BYTES:
        _refuse(
            LIMIT.finding(
                f"The document has more than {MAXIMUM_BUNDLE_BYTES:,} bytes of JSON (64 MiB)."
            )
        )
    # Every value but the first follows one of these, so there are no more values than that.
    if sum(map(text.count, (b",", b"[", b"{"))) > MAXIMUM_VALUES:
        _refuse(LIMIT.finding(f"The text has room for more than {MAXIMUM_VALUES:,} values."))


def _refuse_large_plan(value: Any, text: str) -> None:
    """Refuse a document of more than 16 MiB, unless it is a bundle whose plan has no more."""
    if not (isinstance(value, dict) and isinstance(value.get("plan"), dict)):
        _refuse(
            LIMIT.finding(
                f"The document has more than {MAXIMUM_BYTES:,} bytes of JSON (16 MiB), which only "
                "a bundle may have."
            )
        )
    size = _bytes_of_member(text, "plan")
    if size > MAXIMUM_BYTES:
        _refuse(
            LIMIT.finding(
                f"The plan has {size:,} bytes of JSON, more than {MAXIMUM_BYTES:,} (16 MiB).",
                "/plan",
            )
        )


def _bytes_of_member(text: str, name: str) -> int:
    """The bytes of a member's value, as it stands in the text of an object that has it."""
    at = text.index("{")
    while True:
        key, at = _SCANNER.raw_decode(text, _behind_blanks(text, at + 1))
        start = _behind_blanks(text, _behind_blanks(text, at) + 1)
        _, end = _SCANNER.raw_decode(text, start)
        if key == name:
            return len(text[start:end].encode())
        at = _behind_blanks(text, end)


def _behind_blanks(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return at if blanks is None else blanks.end()


def _decode(text: str) -> Any:
    duplicates: list[tuple[dict[str, Any], str]] = []

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) != len(pairs):
            seen: set[str] = set()
            for key, _ in pairs:
                if key in seen:
                    duplicates.append((mapping, key))
                seen.add(key)
        return mapping

    try:
        try:
            if "-0" in text and _MINUS_ZERO.search(text):
                raise _SlowIntegersError
            value = json.loads(text, object_pairs_hook=members, parse_constant=_constant)
        except json.JSONDecodeError:
            raise
        except ValueError:
            # Python refuses integers of thousands of digits, and reads -0 as the integer 0.
            duplicates.clear()
            value = json.loads(
                text, object_pairs_hook=members, parse_constant=_constant, parse_int=_integer
            )
    except json.JSONDecodeError as error:
        _refuse(NOT_JSON.finding(_syntax(error, text)))
    except RecursionError:
        _refuse(_TOO_DEEP)
    if duplicates:
        _refuse(*_duplicate_findings(value, duplicates))
    return value


class _SlowIntegersError(ValueError):
    """The text holds a number that Python's fast path would misread."""


def _integer(text: str) -> int | float:
    if text == "-0":
        return -0.0
    if len(text.lstrip("-")) > 40:
        return -LONG_NUMBER if text[0] == "-" else LONG_NUMBER
    return int(text)


def _constant(name: str) -> NoReturn:
    _refuse(NOT_JSON.finding(f"The text holds {name}, which is no JSON value."))


def _syntax(error: json.JSONDecodeError, text: str) -> str:
    place = f"line {error.lineno:,}, column {error.colno:,}"
    if error.msg == "Extra data":
        return f"The text goes on after the end of the JSON value, at {place}."
    if error.pos >= len(text.rstrip()):
        return f"The text ends in the middle of the JSON value, at {place}."
    reason = error.msg[0].lower() + error.msg[1:]
    return f"The text is not JSON: {reason} at {place}."


def _duplicate_findings(root: Any, duplicates: list[tuple[dict[str, Any], str]]) -> list[Finding]:
    # Objects under the dropped one of two equal keys cannot be reached: the outer fault stands
    # for them. Dropped objects may share an address with nothing, they are still referenced.
    wanted: dict[int, list[str]] = {}
    for mapping, key in duplicates:
        wanted.setdefault(id(mapping), []).append(key)
    findings = []
    stack: list[tuple[str, Any]] = [("", root)]
    while stack:
        place, value = stack.pop()
        if isinstance(value, dict):
            if id(value) in wanted:
                for key in dict.fromkeys(wanted[id(value)]):
                    count = wanted[id(value)].count(key) + 1
                    findings.append(
                        DUPLICATE_KEY.finding(
                            f"The key {quoted(key)} stands {count} times in one object.",
                            pointer(place, key),
                        )
                    )
            stack.extend((pointer(place, key), member) for key, member in value.items())
        elif isinstance(value, list):
            stack.extend((pointer(place, index), member) for index, member in enumerate(value))
    return findings


def _is_plain(root: Any) -> bool:
    """Whether the value is JSON as it stands; raises where it passes a limit."""
    # One sweep, level by level: most of it runs in C, and no depth can exhaust the stack.
    level: list[Any] = [root]
    keys: set[Any] = set()
    total = depth = 0
    while level:
        total += len(level)
        by_type: dict[type, list[Any]] = {}
        for value in level:
            kind = type(value)
            if kind in by_type:
                by_type[kind].append(value)
            else:
                by_type[kind] = [value]
        if not by_type.keys() <= _JSON_TYPES:
            return False
        numbers, texts = by_type.get(int), by_type.get(str)
        if numbers and (min(numbers) < -LONG_NUMBER or max(numbers) > LONG_NUMBER):
            return False
        if texts and not _is_unicode("".join(texts)):
            return False
        if float in by_type and not all(map(isfinite, by_type[float])):
            return False
        objects, lists = by_type.get(dict, []), by_type.get(list, [])
        depth += 1 if objects or lists else 0
        if depth > MAXIMUM_DEPTH:
            _refuse(_TOO_DEEP)
        if total + sum(map(len, objects)) + sum(map(len, lists)) > MAXIMUM_VALUES:
            _refuse(_TOO_MANY_VALUES)
        if max(map(len, objects), default=0) > MAXIMUM_MEMBERS:
            _refuse(_TOO_MANY_MEMBERS)
        keys.update(*objects)
        level = list(chain.from_iterable(lists))
        level += chain.from_iterable(map(dict.values, objects))
    return all(type(key) is str and _is_unicode(key) for key in keys)


def _is_unicode(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class _Copying:
    """Copies a value as plain JSON and keeps the faults that it meets on the way."""

    def __init__(self) -> None:
        self.faults: list[Finding] = []
        self._values = 0

    def of(self, value: Any, place: str, depth: int) -> Any:
        self._values += 1
        if self._values > MAXIMUM_VALUES:
            _refuse(_TOO_MANY_VALUES)
        if not isinstance(value, (dict, list, tuple)):
            return self._of_scalar(value, place)
        if depth > MAXIMUM_DEPTH:
            _refuse(_TOO_DEEP)
        if isinstance(value, dict):
            return self._of_object(value, place, depth)
        return [
            self.of(member, pointer(place, index), depth + 1) for index, member in enumerate(value)
        ]

    def _of_scalar(self, value: Any, place: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return max(-LONG_NUMBER, min(LONG_NUMBER, int(value)))
        if isinstance(value, float):
            if not isfinite(value):
                self._fault(f"The number {float(value)} is none that JSON has.", place)
            return float(value)
        if isinstance(value, str):
            if not _is_unicode(value):
                self._fault(f"The text {quoted(value)} holds half of a surrogate pair.", place)
            return value[:]
        self._fault(
            f"The value is of Python's type {type(value).__name__}, which JSON does not have.",
            place,
        )
        return None

    def _of_object(self, mapping: dict[Any, Any], place: str, depth: int) -> dict[str, Any]:
        if len(mapping) > MAXIMUM_MEMBERS:
            _refuse(_TOO_MANY_MEMBERS)
        copy = {}
        for key, member in mapping.items():
            if not isinstance(key, str):
                self._fault(f"A key is of Python's type {type(key).__name__}, not text.", place)
            elif not _is_unicode(key):
                self._fault(f"The key {quoted(key)} holds half of a surrogate pair.", place)
            else:
                copy[key[:]] = self.of(member, pointer(place, key), depth + 1)
        return copy

    def _fault(self, message: str, place: str) -> None:
        self.faults.append(NOT_JSON.finding(message, place))


def _refuse(*findings: Finding) -> NoReturn:
    raise DocumentError(summarise(findings), findings)
