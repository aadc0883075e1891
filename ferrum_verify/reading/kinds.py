"""Which kind of document a JSON value is, told from the fields of its outermost object.

A document with a field too many or too few is still one of its kind; its fault is then named
by the wire rules. A value with fewer than half of any kind's fields is of no known kind.

The fields stand here again, beside the models: to read them from the models, all would be
imported, and the audit of a small fragment would take 4 times `python -c pass` longer, of the 35
that it may take and nearly does. A test holds the two to each other.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.findings.wording import quoted

if TYPE_CHECKING:
    from ferrum_verify.documents.primitives import WireModel
    from ferrum_verify.reading.document import Kind


class Form(NamedTuple):
    """The fields of a kind's outermost object, and where its model is."""

    model: str
    required: frozenset[str]
    optional: frozenset[str]


def _form(model: str, required: str, optional: str = "") -> Form:
    return Form(
        f"ferrum_verify.documents.{model}",
        frozenset(required.split()),
        frozenset(optional.split()),
    )


FORMS: dict[Kind, Form] = {
    "execution-plan": _form("execution_plan:ExecutionPlan", "payload plan_hash"),
    "bundle": _form("bundle:Bundle", "plan", "program catalog policy"),
    "resolved-model-plan": _form("resolved:ResolvedModelPlan", "wire_version parts fingerprint"),
    "fragment": _form("fragment:Fragment", "nodes memory", "retained_completion_resources"),
    "memory-plan": _form(
        "memory_plan:MemoryPlan",
        "device_capacity_bytes policy_capacity_bytes reserve_bytes usable_capacity_bytes "
        "maximum_active_sequences static_bytes minimum_request_bytes minimum_sequence_bytes "
        "minimum_step_bytes minimum_invocation_peak_bytes minimum_runnable_request_bytes "
        "theoretical_ceiling_bytes static_allocations dynamic_descriptors dynamic_pools "
        "invocation_liveness_mode invocation_liveness",
        "reusable_execution checkpoint_capacity",
    ),
    "problem": _form(
        "problem:PlanningProblem",
        "device_capacity_bytes policy_capacity_bytes reserve_bytes maximum_active_sequences "
        "static_allocations dynamic_descriptors nodes",
        "reusable_execution_policy retained_completion_resources",
    ),
    "program": _form(
        "program:ModelProgram",
        "family_id inputs blocks states weights outputs",
        "checkpoint_inputs",
    ),
    "catalog": _form(
        "catalog:CapabilityCatalog",
        "device operations providers engine_providers",
        "weight_materializers",
    ),
    "policy": _form(
        "policy:RuntimePolicy",
        "policy_id version scheduling memory admission reusable_execution fingerprint",
        "attention_execution execution_determinism",
    ),
    "schedule": _form("schedule:Schedule", "schema host", "steps"),
    "buffer-plan": _form(
        "buffer_plan:BufferPlan", "schema arenas buffers nodes", "source shape notes"
    ),
}

TAGGED: dict[str, Kind] = {
    "ferrum-verify/schedule/v1": "schedule",
    "ferrum-verify/buffer-plan/v1": "buffer-plan",
}
"""The kinds that say in their `schema` what they are: nothing else is one of them."""

PAYLOAD = _form(
    "execution_plan:PlanPayload",
    "schema plan_id family_id device_id device_runtime_implementation_fingerprint "
    "prepared_family_fingerprint program_fingerprint capability_catalog_fingerprint "
    "policy_version policy_fingerprint maximum_scheduled_tokens weight_format "
    "quantization_formats retained_completion_values nodes memory",
    "execution_weights terminal_output_resources sequence_checkpoint_layout",
)
"""The payload of an execution plan, which is no document by itself."""

_PLAN_ID = re.compile(r"plan/sha256/[0-9a-f]{64}")


def model_of(form: Form) -> type[WireModel]:
    """The pydantic model of a form."""
    module, _, name = form.model.partition(":")
    model: type[WireModel] = getattr(import_module(module), name)
    return model


def detect(value: Any) -> Kind | None:
    """The kind whose fields agree best with the value's, or None if it has half of no kind's."""
    if not isinstance(value, dict) or _is_bare_payload(value) or _names_a_plan(value):
        return None
    tag = value.get("schema")
    if isinstance(tag, str) and tag in TAGGED:
        return TAGGED[tag]
    best: Kind | None = None
    best_agreement = 0.0
    for kind, form in FORMS.items():
        if kind in TAGGED.values():
            continue
        present = len(form.required & value.keys())
        foreign = len(value.keys() - form.required - form.optional)
        agreement = 2 * present / (len(form.required) + present + foreign)
        if 2 * present >= len(form.required) and agreement > best_agreement:
            best, best_agreement = kind, agreement
    return best


def resemblance(value: Any) -> str:
    """What a value of no known kind looks like, as the end of a sentence; "" if nothing."""
    if not isinstance(value, dict):
        return ""
    if _is_bare_payload(value):
        return "; it looks like the payload of an execution plan without its `plan_hash`"
    if _names_a_plan(value):
        return (
            "; it names a plan by its id or hash and does not hold it, as the manifest of a "
            "checkpoint's capture (the `plan.json` of its directory) and the rows of a trace do"
        )
    for key, member in value.items():
        kind = detect(member)
        if kind is not None:
            return f"; its member {quoted(key)} looks like a document of kind {kind}"
    return ""


def _is_bare_payload(value: dict[str, Any]) -> bool:
    return 2 * len(PAYLOAD.required & value.keys()) > len(PAYLOAD.required)


def _names_a_plan(value: dict[str, Any]) -> bool:
    """Whether a value has a plan's id or hash, and nothing that could be the plan itself."""
    if any(isinstance(each, dict) and _is_bare_payload(each) for each in value.values()):
        return False
    named = any(isinstance(each, str) and _PLAN_ID.fullmatch(each) for each in value.values())
    return (named or "plan_hash" in value) and not {"payload", "nodes", "plan"} & value.keys()
