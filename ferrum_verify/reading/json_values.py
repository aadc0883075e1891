"""JSON values as a Python caller hands them over, held to what JSON text can say.

Python has NaN, Infinity, lone surrogates and any depth; the engine's reader accepts none of
them, nor more than the format's limits.
"""

from __future__ import annotations

from itertools import chain
from math import isfinite
from typing import Any, NoReturn

from ferrum_verify.findings import Example, Finding, Rule, pointer
from ferrum_verify.findings.errors import DocumentError, summarise
from ferrum_verify.findings.wording import LONG_NUMBER, quoted

MAXIMUM_BYTES = 16 * 2**20
"""Bytes of one plan's JSON, decompressed; of any other document's too, save a bundle's."""

MAXIMUM_DEPTH = 127
"""Levels of nesting; the engine's reader refuses the 128th."""

MAXIMUM_VALUES = MAXIMUM_BYTES // 2
"""Values in one document: no text of ``MAXIMUM_BYTES`` can hold more, nor may a longer one."""

MAXIMUM_MEMBERS = 65_536
"""Members of one object: as many as a plan has rows, and far more than any real object has."""

_DEEP: Any = 0
for _ in range(200):
    _DEEP = [_DEEP]
LIMIT = Rule(
    id="wire.limit",
    summary="The document keeps to the limits: 16 MiB of JSON for a plan (64 MiB for a "
    "bundle), 127 levels of nesting, 65,536 static and dynamic rows, and 262,144 "
    "nodes.",
    why="The engine reads no larger plan, so that a hostile one cannot exhaust the host.",
    fix="Split the model, or drop what is not part of the plan.",
    source="docs/format.md, «Wire rules»; seed 000, `validate` (resource rows)",
    example=Example("fragment", {"/nodes": _DEEP}),
)

TOO_DEEP = LIMIT.finding(f"The document nests deeper than {MAXIMUM_DEPTH} levels.")
_TOO_MANY_VALUES = LIMIT.finding(f"The document holds more than {MAXIMUM_VALUES:,} values.")
_TOO_MANY_MEMBERS = LIMIT.finding(f"An object has more than {MAXIMUM_MEMBERS:,} members.")
_JSON_TYPES = {dict, list, str, int, float, bool, type(None)}


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
        refuse(*copying.faults)
    return copy


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
            refuse(TOO_DEEP)
        if total + sum(map(len, objects)) + sum(map(len, lists)) > MAXIMUM_VALUES:
            refuse(_TOO_MANY_VALUES)
        if max(map(len, objects), default=0) > MAXIMUM_MEMBERS:
            refuse(_TOO_MANY_MEMBERS)
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


NOT_JSON = Rule(
    id="wire.not-json",
    summary="The input is JSON.",
    why="The engine's reader stops at the first byte that is no JSON, and loads no plan. It "
    "knows no NaN, no Infinity, no byte-order mark, no half of a surrogate pair, and no "
    "number that a 64-bit float cannot hold.",
    fix="Write the document with a JSON library, as UTF-8 and without a byte-order mark.",
    source="docs/format.md, «Wire rules»",
    example=Example("fragment", {"/memory/static_bytes": float("nan")}),
)


class _Copying:
    """Copies a value as plain JSON and keeps the faults that it meets on the way."""

    def __init__(self) -> None:
        self.faults: list[Finding] = []
        self._values = 0

    def of(self, value: Any, location: str, depth: int) -> Any:
        self._values += 1
        if self._values > MAXIMUM_VALUES:
            refuse(_TOO_MANY_VALUES)
        if not isinstance(value, (dict, list, tuple)):
            return self._of_scalar(value, location)
        if depth > MAXIMUM_DEPTH:
            refuse(TOO_DEEP)
        if isinstance(value, dict):
            return self._of_object(value, location, depth)
        return [
            self.of(member, pointer(location, index), depth + 1)
            for index, member in enumerate(value)
        ]

    def _of_scalar(self, value: Any, location: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return max(-LONG_NUMBER, min(LONG_NUMBER, int(value)))
        if isinstance(value, float):
            if not isfinite(value):
                self._fault(f"The number {float(value)} is none that JSON has.", location)
            return float(value)
        if isinstance(value, str):
            if not _is_unicode(value):
                self._fault(f"The text {quoted(value)} holds half of a surrogate pair.", location)
            return value[:]
        self._fault(
            f"The value is of Python's type {type(value).__name__}, which JSON does not have.",
            location,
        )
        return None

    def _of_object(self, mapping: dict[Any, Any], location: str, depth: int) -> dict[str, Any]:
        if len(mapping) > MAXIMUM_MEMBERS:
            refuse(_TOO_MANY_MEMBERS)
        copy = {}
        for key, member in mapping.items():
            if not isinstance(key, str):
                self._fault(f"A key is of Python's type {type(key).__name__}, not text.", location)
            elif not _is_unicode(key):
                self._fault(f"The key {quoted(key)} holds half of a surrogate pair.", location)
            else:
                copy[key[:]] = self.of(member, pointer(location, key), depth + 1)
        return copy

    def _fault(self, message: str, location: str) -> None:
        self.faults.append(NOT_JSON.finding(message, location))


def refuse(*findings: Finding) -> NoReturn:
    """Raise ``DocumentError`` with these faults."""
    raise DocumentError(summarise(findings), findings)
