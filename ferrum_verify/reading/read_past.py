"""Reads past the faults of a document that have only one reading.

A field too many is dropped, a number in quotes is the number, a fingerprint in capitals is the
same fingerprint. Each is a finding all the same; but the checks that follow see the document
as it was meant, so that one slip hides nothing else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings import Example, Rule
from ferrum_verify.reading import validation
from ferrum_verify.reading.validation import validated
from ferrum_verify.reading.wire_faults import wire_faults
from ferrum_verify.reading.wire_findings import finding_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_core import ErrorDetails

    from ferrum_verify.documents.primitives import WireModel
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.wire_faults import WireFault

_ROUNDS = 4
"""A fault can show only once another is read past, but not in a chain longer than this."""

_DROP = object()
_NO_READING = object()
_NUMBER = re.compile(r"\+?0*(\d{1,39})")
_FINGERPRINT = re.compile("[0-9a-f]{64}")


def read_past(
    model: type[WireModel],
    document: Any,
    faults: list[ErrorDetails],
    excused: Callable[[WireFault], bool],
) -> tuple[Any, list[Finding], WireModel | None]:
    """The document as it was meant, the findings, and its model if all could be read past.

    ``faults`` are what ``validated`` said of it; raises ``TooManyFaultsError`` as that does.

    A fault that is ``excused`` is none: it stands in a part of which only some is understood.
    """
    findings: dict[str, Finding] = {}
    for rounds_left in reversed(range(_ROUNDS)):
        edits: list[tuple[tuple[str | int, ...], Any]] = []
        for fault in wire_faults(faults, document):
            reading = _reading(fault)
            if reading is not _NO_READING:
                edits.append((fault.steps, reading))
            if not excused(fault):
                finding = finding_of(fault)
                findings.setdefault(_identity(fault, finding), finding)
        if not edits or not rounds_left:
            break
        document = _edited(document, edits)
        read, faults = validated(model, document)
        if read is not None:
            return document, list(findings.values()), read
    return document, list(findings.values()), None


TOO_MANY_FAULTS = Rule(
    id="wire.too-many-faults",
    summary="The document departs from its form in so few places that each can be listed.",
    why="Such a document was not written by the engine: a list of all its faults would help "
    "nobody, and making it could exhaust the host.",
    fix="Correct what writes the document; all its faults most likely have one cause.",
    source="docs/format.md, «Wire rules»",
    example=Example("fragment", {"/memory": dict.fromkeys(map(str, range(20_001)), 0)}),
)


def too_many_faults() -> Finding:
    """The finding in place of more faults than are listed."""
    return TOO_MANY_FAULTS.finding(
        f"The document departs from its form in more than {validation.MAXIMUM_FAULTS:,} places, "
        "so they are not listed one by one."
    )


def _identity(fault: WireFault, finding: Finding) -> str:
    # Several fields can be missing at one place; any other place has one fault.
    return f"{finding.location}\0{fault.field if fault.type == 'missing' else ''}"


def _reading(fault: WireFault) -> Any:
    value = fault.value
    match fault.type:
        case "extra_forbidden":
            return _DROP
        case "int_type":
            number = _number(value)
            return _NO_READING if number is None else number
        case "u128_text":
            number = value if type(value) is int and value >= 0 else _number(value)
            return _NO_READING if number is None else str(number)
        case "string_pattern_mismatch":
            lowered = value.lower()
            is_fingerprint = "0-9a-f" in str(fault.context.get("pattern"))
            if is_fingerprint and _FINGERPRINT.fullmatch(lowered):
                return lowered
    return _NO_READING


def _number(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**64:
        return int(value)
    if isinstance(value, str) and value.isascii() and (match := _NUMBER.fullmatch(value)):
        return int(match[1])
    return None


def _edited(document: Any, edits: list[tuple[tuple[str | int, ...], Any]]) -> Any:
    """A copy with the edits made; what no edit touches is shared with the original."""
    copies: dict[tuple[str | int, ...], Any] = {(): document.copy()}
    for steps, value in edits:
        for end in range(1, len(steps)):
            here = steps[:end]
            if here not in copies:
                holder = copies[here[:-1]]
                copies[here] = holder[here[-1]] = holder[here[-1]].copy()
        holder = copies[steps[:-1]]
        if value is _DROP:
            del holder[steps[-1]]
        else:
            holder[steps[-1]] = value
    return copies[()]
