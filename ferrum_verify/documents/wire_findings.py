"""Turns what pydantic says of a document into findings of the wire rules.

Each error becomes one finding with a sentence that names the field, the thing that it belongs
to, and what stands there; its location is a pointer that resolves in the document as read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.json_text import LONG_NUMBER, printable, quoted
from ferrum_verify.documents.primitives import U16_MAX, U32_MAX, U64_MAX
from ferrum_verify.findings import pointer
from ferrum_verify.rules.checkpoint_wire import declaration_finding
from ferrum_verify.rules.wire import (
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
    from collections.abc import Iterable, Iterator, Sequence

    from pydantic_core import ErrorDetails

    from ferrum_verify.findings import Finding, Rule

_NAMES = (
    "id",
    "value_id",
    "state_id",
    "weight_id",
    "resource_id",
    "base_resource_id",
    "pool_id",
    "bucket_id",
    "provider_id",
    "node_id",
    "plan_id",
    "policy_id",
)
"""Fields that name the object which holds them, the most telling first."""

_KEY = "[key]"
"""The last step of pydantic's path where a key is at fault, not its value."""

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


@dataclass(frozen=True, slots=True)
class WireFault:
    """One error, traced to its place: the steps exist in the document, save a missing field.

    ``value`` is what stands at the place; ``field`` is the last step as the reader knows it.
    """

    type: str
    steps: tuple[str | int, ...]
    field: str
    holder: str
    value: Any
    context: dict[str, Any]


def wire_faults(details: Iterable[ErrorDetails], document: Any) -> Iterator[WireFault]:
    """What pydantic says is wrong, each traced to its place in the document."""
    for detail in details:
        yield _trace(detail, document)


def finding_of(fault: WireFault, base: str = "") -> Finding:
    """The finding that states a fault in one sentence."""
    declared = declaration_finding(fault)
    if declared is not None:
        return replace(declared, location=base + declared.location)
    rule, sentence = _judge(fault)
    return rule.finding(sentence, pointer(base, *fault.steps))


def _trace(detail: ErrorDetails, document: Any) -> WireFault:
    # Pydantic's path also names union variants and keys, which are no steps in the document;
    # and the last step of a missing field leads nowhere.
    location = detail["loc"]
    absent = location[-1:] if detail["type"] == "missing" else ()
    steps: list[str | int] = []
    value = document
    named_at, holder = 0, ""
    for step in location[: len(location) - len(absent)]:
        if not _is_inside(value, step):
            continue
        name = _name_beside(value, step)
        if name is not None:
            named_at, holder = len(steps), name
        steps.append(step)
        value = value[step]
    for step in absent:
        name = _name_beside(value, step)
        if name is not None:
            named_at, holder = len(steps), name
    if location[-1:] == (_KEY,):
        value = steps[-1]
    return WireFault(
        type=detail["type"],
        steps=tuple(steps),
        field=_dotted([*steps[named_at:], *absent]),
        holder=holder,
        value=value,
        context=detail.get("ctx", {}),
    )


def _is_inside(value: Any, step: str | int) -> bool:
    if isinstance(value, dict):
        return step in value
    return isinstance(value, list) and isinstance(step, int) and 0 <= step < len(value)


def _name_beside(value: Any, step: str | int) -> str | None:
    """The name of an object, as told by another of its fields than ``step``."""
    if isinstance(value, dict) and len(value) > 1:
        for key in _NAMES:
            name = value.get(key)
            if key != step and isinstance(name, str):
                return _short(name)
    return None


def _dotted(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{_short(step)}" if text else _short(step)
    return text


def _short(name: str) -> str:
    return printable(name if len(name) <= 160 else f"{name[:157]}...")


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
