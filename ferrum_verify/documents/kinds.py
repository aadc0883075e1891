"""Which kind of document a JSON value is, told from the fields of its outermost object.

A document with a field too many or too few is still one of its kind; its fault is then named
by the wire rules. A value with fewer than half of any kind's fields is of no known kind.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.bundle import Bundle
from ferrum_verify.documents.catalog import CapabilityCatalog
from ferrum_verify.documents.execution_plan import ExecutionPlan, PlanPayload
from ferrum_verify.documents.fragment import Fragment
from ferrum_verify.documents.json_text import quoted
from ferrum_verify.documents.memory_plan import MemoryPlan
from ferrum_verify.documents.policy import RuntimePolicy
from ferrum_verify.documents.problem import PlanningProblem
from ferrum_verify.documents.program import ModelProgram

if TYPE_CHECKING:
    from ferrum_verify.documents.primitives import WireModel
    from ferrum_verify.subject import Kind

MODELS: dict[Kind, type[WireModel]] = {
    "execution-plan": ExecutionPlan,
    "bundle": Bundle,
    "fragment": Fragment,
    "memory-plan": MemoryPlan,
    "problem": PlanningProblem,
    "program": ModelProgram,
    "catalog": CapabilityCatalog,
    "policy": RuntimePolicy,
}
"""The form of each kind of document."""


def detect(value: Any) -> Kind | None:
    """The kind whose fields agree best with the value's, or None if it has half of no kind's."""
    if not isinstance(value, dict) or _is_bare_payload(value):
        return None
    best: Kind | None = None
    best_agreement = 0.0
    for kind, model in MODELS.items():
        required, optional = _fields(model)
        present = len(required & value.keys())
        foreign = len(value.keys() - required - optional)
        agreement = 2 * present / (len(required) + present + foreign)
        if 2 * present >= len(required) and agreement > best_agreement:
            best, best_agreement = kind, agreement
    return best


def resemblance(value: Any) -> str:
    """What a value of no known kind looks like, as the end of a sentence; "" if nothing."""
    if not isinstance(value, dict):
        return ""
    if _is_bare_payload(value):
        return "; it looks like the payload of an execution plan without its plan_hash"
    for key, member in value.items():
        kind = detect(member)
        if kind is not None:
            return f"; its member {quoted(key)} looks like a document of kind {kind}"
    return ""


def _is_bare_payload(value: dict[str, Any]) -> bool:
    required, _ = _fields(PlanPayload)
    return 2 * len(required & value.keys()) > len(required)


@cache
def _fields(model: type[WireModel]) -> tuple[frozenset[str], frozenset[str]]:
    required: set[str] = set()
    optional: set[str] = set()
    for name, field in model.model_fields.items():
        (required if field.is_required() else optional).add(field.alias or name)
    return frozenset(required), frozenset(optional)
