"""Turns what pydantic says of a document into findings of the wire rules.

Each error becomes one finding with a sentence that names the field, the thing that it belongs
to, and what stands there; its location is a pointer that resolves in the document as read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.primitives import U16_MAX, U32_MAX, U64_MAX
from ferrum_verify.findings import pointer
from ferrum_verify.findings.wording import LONG_NUMBER, quoted
from ferrum_verify.reading.checkpoint_wire import declaration_finding
from ferrum_verify.reading.wire import (
    CONTRACT_VERSION,
    FINGERPRINT,
    IDENTITY,
    MISSING_FIELD,
    OVERLAPPING_INPUTS,
    RANGE,
    SPAN,
    TYPE,
    U128,
    UNKNOWN_FIELD,
    UNKNOWN_VARIANT,
)

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding, Rule
    from ferrum_verify.reading.wire_faults import WireFault

_WIDTHS = {U16_MAX: "u16", U32_MAX: "u32", U64_MAX: "u64"}

_EXPECTED_TYPES = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "string_type": "a text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
}


_VARIANT = (UNKNOWN_VARIANT, "{where} is {variant}, where only {choices} {are} known.")
_TOTAL = (
    U128,
    "{where} is {told}, where a number below 2^128 belongs as text, in its shortest decimal form.",
)
_WRONG_TYPE = (TYPE, "{where} is {told}, where {expected} belongs.")
_OUT_OF_PLACE = (TYPE, "{where} is {told}, which cannot stand there.")
_SENTENCES: dict[str, tuple[Rule, str]] = {
    "extra_forbidden": (UNKNOWN_FIELD, "{where} is no field that the engine knows."),
    "missing": (MISSING_FIELD, "{where} is missing."),
    "greater_than_equal": (RANGE, "{where} is {actual}, where the least value is {least}."),
    "less_than_equal": (RANGE, "{where} is {actual}, where the largest value is {largest}{width}."),
    "fingerprint": (
        FINGERPRINT,
        "{where} is {actual}, where a fingerprint has 64 lowercase hex digits.",
    ),
    "identity": (
        IDENTITY,
        "{where} is {actual}, where a name has 1 to 160 letters, digits and . _ - : / of ASCII.",
    ),
    "literal_error": _VARIANT,
    "union_tag_invalid": _VARIANT,
    "union_tag_not_found": (
        TYPE,
        "{where} is {actual}, where a text or an object with one key belongs.",
    ),
    "u128_text": _TOTAL,
    "u128_range": _TOTAL,
    "contract_version": (CONTRACT_VERSION, "{where} has another contract version than 1.0."),
    "span_overflow": (SPAN, "The smallest count of tokens that {where} permits passes u64."),
    "boundary_overflow": (
        SPAN,
        "The smallest prefix and suffix that {where} permits pass u64 together.",
    ),
    "inputs_overlap": (
        OVERLAPPING_INPUTS,
        "{where} names one input as two of token, conditioning and output-only input.",
    ),
}
"""The rule and the sentence of each type of fault; ``_judge`` gives the words in braces."""


def finding_of(fault: WireFault, base: str = "") -> Finding:
    """The finding that states a fault in one sentence."""
    declared = declaration_finding(fault)
    if declared is not None:
        return replace(declared, location=base + declared.location)
    rule, sentence = _judge(fault)
    return rule.finding(sentence, pointer(base, *fault.steps))


def _judge(fault: WireFault) -> tuple[Rule, str]:
    choices = str(fault.context.get("expected_tags") or fault.context.get("expected", ""))
    largest = fault.context.get("le")
    words = {
        "where": _place(fault),
        "actual": quoted(fault.value),
        "told": _number_or_text(fault.value),
        "variant": _variant(fault),
        "choices": choices.replace("'", '"'),
        "are": "are" if "," in choices or " or " in choices else "is",
        "least": fault.context.get("ge"),
        "largest": largest,
        "width": f" ({_WIDTHS[largest]})" if largest in _WIDTHS else "",
        "expected": _EXPECTED_TYPES.get(fault.type),
    }
    kind = fault.type
    if kind == "string_pattern_mismatch":
        kind = "fingerprint" if "0-9a-f" in str(fault.context.get("pattern")) else "identity"
    rule, sentence = _SENTENCES.get(kind, _WRONG_TYPE if words["expected"] else _OUT_OF_PLACE)
    return rule, sentence.format_map(words)


def _place(fault: WireFault) -> str:
    if not fault.field:
        return f"The object {fault.holder}" if fault.holder else "The document"
    of = f" of {fault.holder}" if fault.holder else ""
    return f"The field {fault.field}{of}"


def _variant(fault: WireFault) -> str:
    # An object names its variant by its only key.
    if isinstance(fault.value, dict) and len(fault.value) == 1:
        return f"an object {{{quoted(next(iter(fault.value)))}: …}}"
    return _number_or_text(fault.value)


def _number_or_text(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return quoted(value) if abs(value) >= LONG_NUMBER else f"the number {value}"
    return quoted(value)
