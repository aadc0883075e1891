"""From a JSON value to the subject of an audit, past as many faults as can be read past.

A sound document is validated in one go. A faulty one is read part by part, so that a fault in
one part does not hide those in another; and a fault that leaves no doubt about what is meant
(a number in quotes, a field too many) is reported and read past, so that it hides nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import ValidationError

from ferrum_verify.documents.bundle import Bundle
from ferrum_verify.documents.catalog import CapabilityCatalog
from ferrum_verify.documents.execution_plan import (
    KNOWN_SCHEMA,
    ExecutionPlan,
    PlanHeader,
    PlanPayload,
)
from ferrum_verify.documents.fragment import Fragment
from ferrum_verify.documents.kinds import MODELS, detect, resemblance
from ferrum_verify.documents.memory_plan import MemoryPlan
from ferrum_verify.documents.node import FragmentNode, PlanNode
from ferrum_verify.documents.policy import RuntimePolicy
from ferrum_verify.documents.primitives import Version, WireModel
from ferrum_verify.documents.problem import PlanningProblem
from ferrum_verify.documents.program import ModelProgram
from ferrum_verify.documents.read_past import read_past
from ferrum_verify.findings import Finding, pointer
from ferrum_verify.rules.wire import LIMIT, NEWER_FIELD, SCHEMA_VERSION, UNKNOWN_KIND
from ferrum_verify.subject import Places, Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.subject import Kind

MAXIMUM_ROWS = 65_536
"""Static and dynamic rows of one plan (seed 000, ``validate``)."""

_BULK = frozenset({"nodes", "memory"})
_Model = TypeVar("_Model", bound=WireModel)


def subject_of(value: Any) -> tuple[Subject | None, list[Finding]]:
    """The readable parts of a document, and what is wrong with its wire form.

    ``value`` is plain JSON (``documents.load`` sees to that). The subject is None exactly when
    the document is unreadable: of no known kind, or past a limit.
    """
    kind = detect(value)
    if kind is None:
        return None, [
            UNKNOWN_KIND.finding(f"The value is no document of a known kind{resemblance(value)}.")
        ]
    places = _places(kind)
    too_many = _row_limit(kind, value, places)
    if too_many is not None:
        return None, [too_many]
    newer = _newer_schema(kind, value, places)
    findings = [newer] if newer is not None else []
    try:
        parts = _parts_of(MODELS[kind].model_validate(value))
    except ValidationError as error:
        known_within = None if newer is None else places.payload
        document, faults, model = read_past(MODELS[kind], value, error, known_within)
        findings += faults
        parts = _parts_of(model) if model is not None else _readable_parts(kind, document)
    subject = Subject(kind=kind, places=places, raw=_raw(kind, value), **parts)
    findings += _newer_fields(subject)
    return subject, findings


def _places(kind: Kind) -> Places:
    match kind:
        case "execution-plan" | "bundle":
            plan = "" if kind == "execution-plan" else "/plan"
            return Places(
                plan=plan,
                payload=f"{plan}/payload",
                nodes=f"{plan}/payload/nodes",
                memory=f"{plan}/payload/memory",
                retained=f"{plan}/payload/retained_completion_values",
                program="/program",
                catalog="/catalog",
                policy="/policy",
            )
        case "fragment":
            return Places(
                nodes="/nodes", memory="/memory", retained="/retained_completion_resources"
            )
        case "problem":
            return Places(nodes="/nodes", retained="/retained_completion_resources")
        case _:
            return Places()


def _raw(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    match kind:
        case "bundle":
            names = ("plan", "program", "catalog", "policy")
            return {name: value[name] for name in names if value.get(name) is not None}
        case "execution-plan":
            return {"plan": value}
        case "program" | "catalog" | "policy":
            return {kind: value}
        case _:
            return {}


def _parts_of(document: WireModel) -> dict[str, Any]:
    """The parts of a document that is well-formed as a whole."""
    match document:
        case Bundle(plan=plan, program=program, catalog=catalog, policy=policy):
            sources = {"program": program, "catalog": catalog, "policy": policy}
            return _parts_of(plan) | sources
        case ExecutionPlan(payload=PlanPayload() as payload):
            return {
                "header": payload,
                "nodes": payload.nodes,
                "plan_nodes": payload.nodes,
                "memory": payload.memory,
                "retained": frozenset(
                    value.resource_id for value in payload.retained_completion_values
                ),
            }
        case Fragment(nodes=nodes, memory=memory, retained_completion_resources=retained):
            return {"nodes": nodes, "memory": memory, "retained": frozenset(retained)}
        case PlanningProblem(nodes=nodes, retained_completion_resources=retained):
            return {"problem": document, "nodes": nodes, "retained": frozenset(retained)}
        case MemoryPlan():
            return {"memory": document}
        case ModelProgram():
            return {"program": document}
        case CapabilityCatalog():
            return {"catalog": document}
        case RuntimePolicy():
            return {"policy": document}
    raise TypeError(type(document).__name__)


def _readable_parts(kind: Kind, document: dict[str, Any]) -> dict[str, Any]:
    """The parts that can be read of a document that has faults."""
    match kind:
        case "bundle":
            return _readable_plan(_member(document, "plan")) | {
                "program": _try(ModelProgram, document.get("program")),
                "catalog": _try(CapabilityCatalog, document.get("catalog")),
                "policy": _try(RuntimePolicy, document.get("policy")),
            }
        case "execution-plan":
            return _readable_plan(document)
        case "fragment":
            nodes = _try_all(FragmentNode, document.get("nodes"))
            return _with_retained(
                {"nodes": nodes, "memory": _try(MemoryPlan, document.get("memory"))},
                document.get("retained_completion_resources", []),
            )
        case "problem":
            return _with_retained(
                {"nodes": _try_all(FragmentNode, document.get("nodes"))},
                document.get("retained_completion_resources", []),
            )
        case _:
            return {}


def _readable_plan(plan: dict[str, Any]) -> dict[str, Any]:
    payload = _member(plan, "payload")
    nodes = payload.get("nodes")
    plan_nodes = _try_all(PlanNode, nodes)
    rows = payload.get("retained_completion_values")
    return _with_retained(
        {
            "header": _try(
                PlanHeader, {key: value for key, value in payload.items() if key not in _BULK}
            ),
            "nodes": _try_all(FragmentNode, nodes) if plan_nodes is None else plan_nodes,
            "plan_nodes": plan_nodes,
            "memory": _try(MemoryPlan, payload.get("memory")),
        },
        [_member({"row": row}, "row").get("resource_id") for row in rows]
        if isinstance(rows, list)
        else None,
    )


def _with_retained(parts: dict[str, Any], retained: Any) -> dict[str, Any]:
    # Which slots may share depends on what is retained: where that cannot be read, neither
    # can the order of the nodes say anything about sharing.
    if isinstance(retained, list) and all(isinstance(name, str) for name in retained):
        return parts | {"retained": frozenset(retained)}
    return parts | {"nodes": None, "plan_nodes": None}


def _member(value: Any, key: str) -> dict[str, Any]:
    member = value.get(key) if isinstance(value, dict) else None
    return member if isinstance(member, dict) else {}


def _try(model: type[_Model], value: Any) -> _Model | None:
    try:
        return model.model_validate(value)
    except ValidationError:
        return None


def _try_all(model: type[_Model], values: Any) -> tuple[_Model, ...] | None:
    if not isinstance(values, list):
        return None
    read = tuple(_try(model, value) for value in values)
    return None if None in read else cast("tuple[_Model, ...]", read)


def _payload(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    match kind:
        case "bundle":
            return _member(_member(value, "plan"), "payload")
        case "execution-plan":
            return _member(value, "payload")
        case _:
            return {}


def _row_limit(kind: Kind, value: dict[str, Any], places: Places) -> Finding | None:
    match kind:
        case "memory-plan" | "problem":
            rows = value
        case "fragment":
            rows = _member(value, "memory")
        case _:
            rows = _member(_payload(kind, value), "memory")
    lists = (rows.get("static_allocations"), rows.get("dynamic_descriptors"))
    static, dynamic = (len(each) if isinstance(each, list) else 0 for each in lists)
    if static + dynamic <= MAXIMUM_ROWS:
        return None
    return LIMIT.finding(
        f"The plan has {static:,} static and {dynamic:,} dynamic rows, together more than "
        f"{MAXIMUM_ROWS:,}.",
        places.memory,
    )


def _newer_schema(kind: Kind, value: dict[str, Any], places: Places) -> Finding | None:
    version = _try(Version, _payload(kind, value).get("schema"))
    if version is None or version == KNOWN_SCHEMA:
        return None
    return SCHEMA_VERSION.finding(
        f"The plan has schema version {version.major}.{version.minor}; only what version "
        f"{KNOWN_SCHEMA.major}.{KNOWN_SCHEMA.minor} has in common with it was checked.",
        pointer(places.payload, "schema"),
    )


def _newer_fields(subject: Subject) -> Iterator[Finding]:
    if subject.memory is None:
        return
    for index, pool in enumerate(subject.memory.dynamic_pools):
        if pool.checkpoint_growth_ceiling_bytes:
            yield NEWER_FIELD.finding(
                f"The pool {pool.pool_id} counts {pool.checkpoint_growth_ceiling_bytes:,} bytes "
                f"for the growth of checkpoints, which only newer engines derive.",
                pointer(
                    subject.places.memory, "dynamic_pools", index, "checkpoint_growth_ceiling_bytes"
                ),
            )
