"""JSON as the engine reads it: stricter than Python's reader, and within the format's limits.

Python accepts a key that stands twice, reads -0 as an integer, and refuses to convert long
numbers; the engine's reader does none of that.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, NoReturn

from ferrum_verify.findings import Finding, Rule, pointer
from ferrum_verify.findings.capping import capped
from ferrum_verify.findings.wording import LONG_NUMBER, quoted
from ferrum_verify.reading.json_faults import AS_UTF_8, syntax_fault
from ferrum_verify.reading.json_values import (
    LIMIT,
    MAXIMUM_BYTES,
    MAXIMUM_VALUES,
    NOT_JSON,
    TOO_DEEP,
    admit,
    refuse,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG_PLAN = "ferrum-verify/buffer-plan/v1"
"""What another planner's plan has as its schema: it has a row a buffer, and may be as long."""

MAXIMUM_BUNDLE_BYTES = 4 * MAXIMUM_BYTES
"""Bytes of a bundle's JSON: its plan has ``MAXIMUM_BYTES`` at most, its sources the rest."""

_PLANS = (("plan",), ("parts", "execution_plan"))
"""Where the plan of a bundle stands, and that of a resolved model plan."""

_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_MINUS_ZERO = re.compile(r"-0(?=[\s,\]}]|$)")
_BLANKS = re.compile(r"[ \t\r\n]*")
# Numbers stay text: Python refuses to convert integers of thousands of digits.
_SCANNER = json.JSONDecoder(parse_int=str, parse_float=str)


def parse_json(text: bytes) -> Any:
    """The value of one JSON document.

    Raises ``DocumentError`` with a finding for each fault: not JSON, a key that stands twice,
    or a limit passed. An integer of more than 40 digits is read as ``LONG_NUMBER``.
    """
    if len(text) > MAXIMUM_BYTES:
        _refuse_before_reading(text)
    if text.startswith(_BYTE_ORDER_MARKS):
        is_utf_8 = text.startswith(_BYTE_ORDER_MARKS[0])
        refuse(
            NOT_JSON.finding(
                "The text starts with a byte-order mark, which JSON forbids"
                f"{'.' if is_utf_8 else ', and looks like UTF-16.'}",
                fix="Write it without the byte-order mark." if is_utf_8 else AS_UTF_8,
            )
        )
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        said = f"The text is not UTF-8: {error.reason} at byte {error.start:,}."
        refuse(NOT_JSON.finding(said, fix=AS_UTF_8))
    if not decoded.strip():
        said = "The text is empty, where a JSON document should be."
        refuse(NOT_JSON.finding(said, fix="Look whether what should write it ran to its end."))
    value = admit(_decode(decoded))
    if len(text) > MAXIMUM_BYTES:
        _refuse_large_plan(value, decoded)
    return value


def _refuse_before_reading(text: bytes) -> None:
    """Refuse a long text that is too long even for a bundle, or could exhaust the host."""
    if len(text) > MAXIMUM_BUNDLE_BYTES:
        refuse(
            LIMIT.finding(
                f"The document has more than {MAXIMUM_BUNDLE_BYTES:,} bytes of JSON (64 MiB)."
            )
        )
    # Every value but the first follows one of these, so there are no more values than that.
    if sum(map(text.count, (b",", b"[", b"{"))) > MAXIMUM_VALUES:
        refuse(LIMIT.finding(f"The text has room for more than {MAXIMUM_VALUES:,} values."))


def _refuse_large_plan(value: Any, text: str) -> None:
    """Refuse a document of more than 16 MiB, unless it is a bundle whose plan has no more.

    A resolved model plan is one too.
    """
    if isinstance(value, dict) and value.get("schema") == LONG_PLAN:
        return
    steps = next((each for each in _PLANS if isinstance(_at(value, each), dict)), None)
    if steps is None:
        refuse(
            LIMIT.finding(
                f"The document has more than {MAXIMUM_BYTES:,} bytes of JSON (16 MiB), which only "
                "a bundle may have."
            )
        )
    plan = text
    for step in steps:
        plan = _member_text(plan, step)
    size = len(plan.encode())
    if size > MAXIMUM_BYTES:
        refuse(
            LIMIT.finding(
                f"The plan has {size:,} bytes of JSON, more than {MAXIMUM_BYTES:,} (16 MiB).",
                pointer("", *steps),
            )
        )


def _at(value: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _member_text(text: str, name: str) -> str:
    """A member's value, as it stands in the text of an object that has it."""
    at = text.index("{")
    while True:
        key, at = _SCANNER.raw_decode(text, _behind_blanks(text, at + 1))
        start = _behind_blanks(text, _behind_blanks(text, at) + 1)
        _, end = _SCANNER.raw_decode(text, start)
        if key == name:
            return text[start:end]
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
        refuse(syntax_fault(error, text))
    except RecursionError:
        refuse(TOO_DEEP)
    if duplicates:
        refuse(*capped(_duplicate_findings(value, duplicates)))
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
    fix = "Write a number, or null where the field may have none."
    refuse(NOT_JSON.finding(f"The text holds {name}, which is no JSON value.", fix=fix))


DUPLICATE_KEY = Rule(
    id="wire.duplicate-key",
    summary="An object holds each key once.",
    why="Readers disagree on which of the two counts, so two programs would see two plans "
    "under one hash. The engine refuses both.",
    fix="Keep one of the two members.",
    source="docs/format.md, «Wire rules»",
)


def _duplicate_findings(
    root: Any, duplicates: list[tuple[dict[str, Any], str]]
) -> Iterator[Finding]:
    # Objects under the dropped one of two equal keys cannot be reached: the outer fault stands
    # for them. Dropped objects may share an address with nothing, they are still referenced.
    wanted: dict[int, Counter[str]] = {}
    for mapping, key in duplicates:
        wanted.setdefault(id(mapping), Counter())[key] += 1
    stack: list[tuple[str, Any]] = [("", root)]
    while stack:
        place, value = stack.pop()
        if isinstance(value, dict):
            if id(value) in wanted:
                for key, more in wanted[id(value)].items():
                    yield DUPLICATE_KEY.finding(
                        f"The key {quoted(key)} stands {more + 1} times in one object.",
                        pointer(place, key),
                    )
            stack.extend((pointer(place, key), member) for key, member in value.items())
        elif isinstance(value, list):
            stack.extend((pointer(place, index), member) for index, member in enumerate(value))
