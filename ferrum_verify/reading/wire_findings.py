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


def finding_of(fault: WireFault, base: str = "") -> Finding:
    """The finding that states a fault in one sentence."""
    declared = declaration_finding(fault)
    if declared is not None:
        return replace(declared, location=base + declared.location)
    rule, sentence = _judge(fault)
    return rule.finding(sentence, pointer(base, *fault.steps))


def _judge(fault: WireFault) -> tuple[Rule, str]:
    where = _place(fault)
    actual = quoted(fault.value)
    match fault.type:
        case "extra_forbidden":
            return UNKNOWN_FIELD, f"{where} is no field that the engine knows."
        case "missing":
            return MISSING_FIELD, f"{where} is missing."
        case "greater_than_equal":
            return RANGE, f"{where} is {actual}, where the least value is {fault.context['ge']}."
        case "less_than_equal":
            largest = fault.context["le"]
            width = f" ({_WIDTHS[largest]})" if largest in _WIDTHS else ""
            return RANGE, f"{where} is {actual}, where the largest value is {largest}{width}."
        case "string_pattern_mismatch":
            if "0-9a-f" in str(fault.context.get("pattern")):
                return (
                    FINGERPRINT,
                    f"{where} is {actual}, where a fingerprint has 64 lowercase hex digits.",
                )
            return (
                IDENTITY,
                f"{where} is {actual}, where a name has 1 to 160 letters, digits and . _ - : / "
                f"of ASCII.",
            )
        case "literal_error" | "union_tag_invalid":
            return (
                UNKNOWN_VARIANT,
                f"{where} is {_variant(fault)}, where only {_choices(fault.context)} "
                f"{'is' if _is_single(fault.context) else 'are'} known.",
            )
        case "union_tag_not_found":
            return TYPE, f"{where} is {actual}, where a text or an object with one key belongs."
        case "u128_text" | "u128_range":
            return (
                U128,
                f"{where} is {_number_or_text(fault.value)}, where a number below 2^128 belongs "
                f"as text, in its shortest decimal form.",
            )
        case "contract_version":
            return CONTRACT_VERSION, f"{where} has another contract version than 1.0."
        case "span_overflow":
            return SPAN, f"The smallest count of tokens that {where} permits passes u64."
        case "boundary_overflow":
            return SPAN, f"The smallest prefix and suffix that {where} permits pass u64 together."
        case "inputs_overlap":
            return (
                OVERLAPPING_INPUTS,
                f"{where} names one input as two of token, conditioning and output-only input.",
            )
    expected = _EXPECTED_TYPES.get(fault.type)
    if expected is None:
        return TYPE, f"{where} is {_number_or_text(fault.value)}, which cannot stand there."
    return TYPE, f"{where} is {_number_or_text(fault.value)}, where {expected} belongs."


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


def _choices(context: dict[str, Any]) -> str:
    return str(context.get("expected_tags") or context.get("expected", "")).replace("'", '"')


def _is_single(context: dict[str, Any]) -> bool:
    choices = _choices(context)
    return "," not in choices and " or " not in choices


def _number_or_text(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return quoted(value) if abs(value) >= LONG_NUMBER else f"the number {value}"
    return quoted(value)
