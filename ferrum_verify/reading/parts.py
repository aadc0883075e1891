"""The parts of a document: taken from a sound one, or read one by one from a faulty one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.memory_plan import MemoryPlan
from ferrum_verify.documents.primitives import WireModel
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.reading.kinds import FORMS, model_of
from ferrum_verify.reading.validation import sound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrum_verify.documents.buffer_plan import BufferNode, BufferPlan
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.execution_plan import PlanHeader
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.problem import PlanningProblem
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.reading.document import Kind

_Model = TypeVar("_Model", bound=WireModel)


class Parts(TypedDict, total=False):
    """The parts of a subject; what is absent could not be read."""

    header: PlanHeader | None
    order: HappensBefore | None
    plan_nodes: tuple[PlanNode, ...] | None
    memory: MemoryPlan | None
    retained: frozenset[str]
    terminal: frozenset[str]
    problem: PlanningProblem | None
    program: ModelProgram | None
    catalog: CapabilityCatalog | None
    policy: RuntimePolicy | None
    buffers: BufferPlan | None


def sound_parts(kind: Kind, document: Any) -> Parts:  # noqa: PLR0911  (one for each kind)
    """The parts of a document of a kind that is well-formed as a whole."""
    match kind:
        case "bundle":
            parts = sound_parts("execution-plan", document.plan)
            parts["program"] = document.program
            parts["catalog"] = document.catalog
            parts["policy"] = document.policy
            return parts
        case "resolved-model-plan":
            return sound_parts("bundle", document.parts.bundle)
        case "execution-plan":
            payload = document.payload
            values = payload.retained_completion_values
            return {
                "header": payload,
                "order": HappensBefore(payload.nodes),
                "plan_nodes": payload.nodes,
                "memory": payload.memory,
                "retained": frozenset(value.resource_id for value in values),
                "terminal": frozenset(payload.terminal_output_resources or ()),
            }
        case "fragment":
            return {
                "order": HappensBefore(document.nodes),
                "memory": document.memory,
                "retained": frozenset(document.retained_completion_resources),
            }
        case "problem":
            return {
                "problem": document,
                "order": HappensBefore(document.nodes),
                "retained": frozenset(document.retained_completion_resources),
            }
        case "memory-plan":
            return {"memory": document}
        case "program" | "catalog" | "policy":
            parts = {}
            parts[kind] = document
        case "buffer-plan":
            parts = {"buffers": document, "order": HappensBefore(nodes_of(document.nodes))}
        case "schedule":
            parts = {}  # it says something of a plan, and is read beside it
    return parts


def readable_parts(kind: Kind, document: dict[str, Any]) -> Parts:
    """The parts that can be read of a document of a kind that has faults."""
    match kind:
        case "bundle" | "resolved-model-plan":
            bundle = bundle_parts(kind, document)
            parts = _readable_plan(_object(bundle.get("plan")))
            parts["program"] = cast("ModelProgram | None", _source("program", bundle))
            parts["catalog"] = cast("CapabilityCatalog | None", _source("catalog", bundle))
            parts["policy"] = cast("RuntimePolicy | None", _source("policy", bundle))
            return parts
        case "execution-plan":
            return _readable_plan(document)
        case "fragment" | "problem":
            parts = {"order": _order(_all_sound(FragmentNode, document.get("nodes")))}
            if kind == "fragment":
                parts["memory"] = sound(MemoryPlan, document.get("memory"))
            return _with_retained(parts, document.get("retained_completion_resources", []))
        case "buffer-plan":
            from ferrum_verify.documents.buffer_plan import BufferNode  # noqa: PLC0415

            nodes = _all_sound(BufferNode, document.get("nodes"))
            return {"order": None if nodes is None else HappensBefore(nodes_of(nodes))}
        case _:
            return {}


def bundle_parts(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    """The plan, program, catalog and policy of a document, as far as it has them."""
    match kind:
        case "bundle":
            names = ("plan", "program", "catalog", "policy")
            return {name: value[name] for name in names if value.get(name) is not None}
        case "resolved-model-plan":
            # Only resolved model plans need the models behind this table.
            from ferrum_verify.documents.resolved import RESOLVED_PARTS  # noqa: PLC0415

            found = {}
            for name, steps in RESOLVED_PARTS.items():
                part: Any = value
                for step in steps:
                    part = _object(part).get(step)
                if part is not None:
                    found[name] = part
            return found
        case "execution-plan":
            return {"plan": value}
        case "program" | "catalog" | "policy":
            return {kind: value}
        case _:
            return {}


def payload_of(kind: Kind, value: dict[str, Any]) -> dict[str, Any]:
    """The payload of an execution plan or bundle; empty where there is none."""
    return _object(_object(bundle_parts(kind, value).get("plan")).get("payload"))


def nodes_of(nodes: Iterable[BufferNode]) -> tuple[FragmentNode, ...]:
    """The nodes of another planner's plan, which use its buffers as resources."""
    return tuple(
        FragmentNode.trusted(
            id=node.id,
            dependencies=node.dependencies,
            resources=tuple(dict.fromkeys((*node.reads, *node.writes))),
            binding_resource=None,
            reads=node.reads,
            writes=node.writes,
        )
        for node in nodes
    )


def _readable_plan(plan: dict[str, Any]) -> Parts:
    # A faulty fragment needs none of a full plan's models: see ``kinds``.
    from ferrum_verify.documents.execution_plan import PlanHeader  # noqa: PLC0415
    from ferrum_verify.documents.node import PlanNode  # noqa: PLC0415

    payload = _object(plan.get("payload"))
    nodes = payload.get("nodes")
    header = {key: value for key, value in payload.items() if key not in ("nodes", "memory")}
    plan_nodes = _all_sound(PlanNode, nodes)
    retained = payload.get("retained_completion_values")
    if isinstance(retained, list):
        retained = [_object(value).get("resource_id") for value in retained]
    parts: Parts = {
        "header": sound(PlanHeader, header),
        "order": _order(plan_nodes or _all_sound(FragmentNode, nodes)),
        "plan_nodes": plan_nodes,
        "memory": sound(MemoryPlan, payload.get("memory")),
        "terminal": _names(payload.get("terminal_output_resources")),
    }
    return _with_retained(parts, retained)


def _with_retained(parts: Parts, retained: Any) -> Parts:
    # Which slots may share depends on what is retained: where that cannot be read, neither
    # can the order of the nodes say anything about sharing.
    if isinstance(retained, list) and all(isinstance(name, str) for name in retained):
        parts["retained"] = frozenset(retained)
    else:
        parts["order"] = parts["plan_nodes"] = None
    return parts


def _order(nodes: Sequence[FragmentNode | PlanNode] | None) -> HappensBefore | None:
    return None if nodes is None else HappensBefore(nodes)


def _source(kind: Kind, bundle: dict[str, Any]) -> WireModel | None:
    return sound(model_of(FORMS[kind]), bundle.get(kind))


def _names(value: Any) -> frozenset[str]:
    listed = value if isinstance(value, list) else ()
    return frozenset(name for name in listed if isinstance(name, str))


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _all_sound(model: type[_Model], values: Any) -> tuple[_Model, ...] | None:
    if not isinstance(values, list):
        return None
    read = []
    for value in values:
        row = sound(model, value)
        if row is None:
            return None
        read.append(row)
    return tuple(read)
