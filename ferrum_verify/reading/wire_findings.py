"""Turns what pydantic says of a document into findings of the wire rules.

Each error becomes one finding with a sentence that names the field, the thing that it belongs
to, and what stands there; its location is a pointer that resolves in the document as read.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from ferrum_verify.documents.primitives import I64_MAX, U8_MAX, U16_MAX, U32_MAX, U64_MAX
from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.findings.wording import LONG_NUMBER, quoted
from ferrum_verify.reading.checkpoint_wire import declaration_finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.wire_faults import WireFault

    _Judged: TypeAlias = tuple[Rule, str]

_FORMAT = "docs/format.md, «Wire rules»"
_MEMORY_WIRE = "seed 000, `MemoryPlanWire` (`deny_unknown_fields`); docs/format.md, «Wire rules»"


def finding_of(fault: WireFault, base: str = "") -> Finding:
    """The finding that states a fault in one sentence."""
    declared = declaration_finding(fault)
    if declared is not None:
        return replace(declared, location=base + declared.location)
    rule, sentence = _JUDGES.get(fault.type, _wrong_type)(fault, _place(fault))
    return rule.finding(sentence, pointer(base, *fault.steps))


UNKNOWN_FIELD = Rule(
    id="wire.unknown-field",
    summary="An object has only the fields of its kind.",
    why="A field that the engine does not know could carry a meaning that it would ignore, so "
    "it refuses the document instead.",
    fix="Remove the field, or correct its spelling.",
    source=_MEMORY_WIRE,
    example=Example("fragment", {"/memory/comment": "made by hand"}),
)


def _unknown_field(_: WireFault, where: str) -> _Judged:
    return UNKNOWN_FIELD, f"{where} is no field that is known there."


def _of_other_schema(fault: WireFault, where: str) -> _Judged:
    schema = fault.context["schema"]
    if fault.context["member"]:
        return UNKNOWN_FIELD, f"{where} is no field of plan schema {schema}."
    return UNKNOWN_VARIANT, f"{where} is {_variant(fault)}, which plan schema {schema} has not."


MISSING_FIELD = Rule(
    id="wire.missing-field",
    summary="An object has every field of its kind.",
    why="The engine assumes no defaults: a plan states every number that it was derived from.",
    fix="Add the field; `null` is written where nothing stands.",
    source=_MEMORY_WIRE,
    example=Example("fragment", {"/memory/reserve_bytes": DELETE}),
)


def _missing_field(_: WireFault, where: str) -> _Judged:
    return MISSING_FIELD, f"{where} is missing."


_WIDTHS = {U8_MAX: "u8", U16_MAX: "u16", U32_MAX: "u32", I64_MAX: "i64", U64_MAX: "u64"}
RANGE = Rule(
    id="wire.range",
    summary="A number lies within its field's range.",
    why="Byte counts are u64, sequence and instance counts u32, version numbers u16, integer "
    "attributes i64: a number beyond has no representation in the engine.",
    fix="Write a number that the field can hold.",
    source=_FORMAT,
    example=Example("fragment", {"/memory/reserve_bytes": -1}),
)


def _too_small(fault: WireFault, where: str) -> _Judged:
    least = fault.context["ge"]
    return RANGE, f"{where} is {quoted(fault.value)}, where the least value is {least}."


def _too_large(fault: WireFault, where: str) -> _Judged:
    largest = fault.context["le"]
    width = f" ({_WIDTHS[largest]})" if largest in _WIDTHS else ""
    return (
        RANGE,
        f"{where} is {quoted(fault.value)}, where the largest value is {largest}{width}.",
    )


FINGERPRINT = Rule(
    id="wire.fingerprint",
    summary="A fingerprint is 64 lowercase hex digits.",
    why="Fingerprints are compared as text, so another spelling of the same hash is a mismatch.",
    fix="Write the SHA-256 in lowercase hex.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/payload/program_fingerprint": "deadbeef"}),
)
IDENTITY = Rule(
    id="wire.identity",
    summary="A name is 1 to 160 ASCII letters, digits and `. _ - : /`.",
    why="Names are hashed and compared byte by byte; only this alphabet reads the same in every "
    "program.",
    fix="Rename the thing, everywhere it is referred to.",
    source=_FORMAT,
    example=Example("fragment", {"/nodes/0/id": "attention layer 0"}),
)


def _wrong_pattern(fault: WireFault, where: str) -> _Judged:
    actual = quoted(fault.value)
    if "0-9a-f" in str(fault.context.get("pattern")):
        return (
            FINGERPRINT,
            f"{where} is {actual}, where a fingerprint has 64 lowercase hex digits.",
        )
    return (
        IDENTITY,
        f"{where} is {actual}, where a name has 1 to 160 letters, digits and . _ - : / of ASCII.",
    )


UNKNOWN_VARIANT = Rule(
    id="wire.unknown-variant",
    summary="An enum has one of the values that the engine knows.",
    why="The engine cannot run a mode, usage or layout that it has no code for.",
    fix="Use one of the values that the message lists.",
    source=_FORMAT,
    example=Example("fragment", {"/memory/invocation_liveness_mode": "best_effort"}),
)


def _unknown_variant(fault: WireFault, where: str) -> _Judged:
    choices = str(fault.context.get("expected_tags") or fault.context.get("expected", ""))
    choices = choices.replace("'", '"')
    is_single = "," not in choices and " or " not in choices
    return (
        UNKNOWN_VARIANT,
        f"{where} is {_variant(fault)}, where only {choices} {'is' if is_single else 'are'} known.",
    )


def _variant(fault: WireFault) -> str:
    # An object names its variant by its only key.
    if isinstance(fault.value, dict) and len(fault.value) == 1:
        return f"an object {{{quoted(next(iter(fault.value)))}: …}}"
    return _number_or_text(fault.value)


U128 = Rule(
    id="wire.u128",
    summary="A 128-bit total is a string with the number's shortest decimal form.",
    why="JSON numbers beyond 2^53 do not survive every reader, so totals of that size are text, "
    "and have exactly one spelling because they are hashed.",
    fix="Write the number in quotes, without sign or leading zeros.",
    source="seed 000, `CanonicalU128`; docs/format.md, «Wire rules»",
    example=Example("fragment", {"/memory/theoretical_ceiling_bytes": 1167232}),
)


def _wrong_u128(fault: WireFault, where: str) -> _Judged:
    return (
        U128,
        f"{where} is {_number_or_text(fault.value)}, where a number below 2^128 belongs as text, "
        "in its shortest decimal form.",
    )


CONTRACT_VERSION = Rule(
    id="wire.contract-version",
    summary="A checkpoint declaration has contract version 1.0.",
    why="What a newer contract promises is unknown; restoring a state under it could corrupt it.",
    fix="Declare version 1.0, or declare the checkpoint `unsupported`.",
    source="docs/format.md, «Sequence checkpoints»",
    example=Example("program", {"/checkpoint_inputs/contract_version/major": 2}),
)


def _wrong_contract_version(_: WireFault, where: str) -> _Judged:
    return CONTRACT_VERSION, f"{where} has another contract version than 1.0."


CHECKPOINT_TWICE = Rule(
    id="wire.checkpoint-twice",
    summary="A provider's checkpoint contract stands under one key.",
    why="`checkpoint` is the engine's key and `checkpoint_capability` an older name of it: to the "
    "engine the second is the same key once more, and which of the two counts is open.",
    fix="Keep `checkpoint`.",
    source="docs/format.md, «Sequence checkpoints»",
    example=Example("catalog", {"/providers/operation.embed/0/checkpoint": "unsupported"}),
)


def _two_checkpoint_contracts(_: WireFault, where: str) -> _Judged:
    return (
        CHECKPOINT_TWICE,
        f"{where} has its checkpoint contract twice, as `checkpoint` and as "
        "`checkpoint_capability`.",
    )


_PREFIX = "/providers/operation.embed/0/checkpoint_capability/completed_boundary/boundaries/prefix"
SPAN = Rule(
    id="wire.span",
    summary="A boundary constraint permits some count of tokens that fits 64 bits.",
    why="A span whose smallest legal length overflows can never be met by a prompt.",
    fix="Lower the minimum or the alignment of the prefix or the suffix.",
    source="docs/format.md, «Sequence checkpoints»",
    example=Example("catalog", {f"{_PREFIX}/minimum_tokens": 2**64 - 1, f"{_PREFIX}/alignment": 2}),
)


def _span_overflow(_: WireFault, where: str) -> _Judged:
    return SPAN, f"The smallest count of tokens that {where} permits passes u64."


def _boundary_overflow(_: WireFault, where: str) -> _Judged:
    return SPAN, f"The smallest prefix and suffix that {where} permits pass u64 together."


OVERLAPPING_INPUTS = Rule(
    id="wire.overlapping-inputs",
    summary="An input is declared as one of token, conditioning and output-only input.",
    why="Whether the input must be captured with a checkpoint would be contradictory.",
    fix="Name each input once.",
    source="docs/format.md, «Sequence checkpoints»",
    example=Example("program", {"/checkpoint_inputs/conditioning_inputs": ["value.bias"]}),
)


def _overlapping_inputs(_: WireFault, where: str) -> _Judged:
    return (
        OVERLAPPING_INPUTS,
        f"{where} names one input as two of token, conditioning and output-only input.",
    )


_EXPECTED = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "string_type": "a text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "model_attributes_type": "an object",
    "union_tag_not_found": "a text or an object with one key",
    "host_action": "an object with `launch`, `record`, `wait`, `synchronize` or `access`",
    "byte_amount": "a number, or an object with `fixed` and `per`",
    "synchronized": "an object with `stream` or `event`",
}
TYPE = Rule(
    id="wire.type",
    summary="A value has its field's JSON type.",
    why='The engine\'s reader converts nothing: 48.0, the text "48" and `true` are no numbers '
    "to it, and the whole document is refused.",
    fix="Write the value in the field's own type.",
    source=_MEMORY_WIRE,
    example=Example("fragment", {"/memory/reserve_bytes": "8192"}),
)


def _wrong_type(fault: WireFault, where: str) -> _Judged:
    expected = _EXPECTED.get(fault.type)
    belongs = "which cannot stand there" if expected is None else f"where {expected} belongs"
    return TYPE, f"{where} is {_number_or_text(fault.value)}, {belongs}."


_JUDGES: dict[str, Callable[[WireFault, str], _Judged]] = {
    "extra_forbidden": _unknown_field,
    "missing": _missing_field,
    "other_schema": _of_other_schema,
    "greater_than_equal": _too_small,
    "less_than_equal": _too_large,
    "string_pattern_mismatch": _wrong_pattern,
    "literal_error": _unknown_variant,
    "union_tag_invalid": _unknown_variant,
    "u128_text": _wrong_u128,
    "u128_range": _wrong_u128,
    "contract_version": _wrong_contract_version,
    "checkpoint_twice": _two_checkpoint_contracts,
    "span_overflow": _span_overflow,
    "boundary_overflow": _boundary_overflow,
    "inputs_overlap": _overlapping_inputs,
}
"""How each of pydantic's error types, and of those that the models raise, is put in words."""


def _place(fault: WireFault) -> str:
    if not fault.field:
        return f"The object `{fault.holder}`" if fault.holder else "The document"
    of = f" of `{fault.holder}`" if fault.holder else ""
    return f"The field `{fault.field}`{of}"


def _number_or_text(value: Any) -> str:
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return quoted(value) if abs(value) >= LONG_NUMBER else f"the number {value}"
    return quoted(value)
