"""The execution plan: every node bound to its provider, its values and its workspaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify import derive_memory_plan, derive_sequence_checkpoint
from ferrum_verify.derive.checkpoint_growth import derive_growth, with_checkpoints
from ferrum_verify.plan.canonical import fingerprint, ordered_fingerprint

from .catalog import (
    DEVICE_ID,
    WEIGHT_FORMAT,
    capability_catalog,
    implementation_fingerprint,
    operation_fingerprint,
    used_operations,
)
from .operations import TOKENS, VERSION
from .planning import planning_problem, workspace_alignment_bytes
from .policy import runtime_policy
from .program import family_id, model_program
from .schemas import WEIGHT_LAYOUT, execution_semantics, execution_weights, version
from .storage import LINEAR, VALUE_ALIGNMENT_BYTES, Json

if TYPE_CHECKING:
    from ferrum_verify.documents.memory_plan import MemoryPlan

    from .deployment import Deployment
    from .network import Network, Node, Value
    from .operations import Port
    from .storage import Formula


def plan_bundle(network: Network, deployment: Deployment, schema: str) -> Json:
    """A network's plan with the catalog, program and policy that it was made from."""
    problem = planning_problem(network, deployment)
    terminal = sorted({value.resource_id for value in network.outputs})
    if schema != "5.0":
        kept = {*problem["retained_completion_resources"], *terminal}
        problem["retained_completion_resources"] = sorted(kept)
    memory = derive_memory_plan(problem)
    device_bytes = problem["device_capacity_bytes"]
    catalog = capability_catalog(network, device_bytes, schema)
    program = model_program(network, deployment)
    policy = runtime_policy(network, deployment, device_bytes, schema)
    program_fingerprint = ordered_fingerprint(program)
    payload: Json = {
        "schema": version(schema),
        "plan_id": "",
        "family_id": family_id(network),
        "device_id": DEVICE_ID,
        "device_runtime_implementation_fingerprint": implementation_fingerprint(DEVICE_ID),
        "prepared_family_fingerprint": implementation_fingerprint(program_fingerprint),
        "program_fingerprint": program_fingerprint,
        "capability_catalog_fingerprint": ordered_fingerprint(catalog),
        "policy_version": dict(VERSION),
        "policy_fingerprint": fingerprint(policy),
        "maximum_scheduled_tokens": deployment.maximum_scheduled_tokens,
    }
    if schema != "5.0":
        payload["execution_weights"] = _execution_weights(network)
    payload["weight_format"] = WEIGHT_FORMAT
    payload["quantization_formats"] = []
    payload["retained_completion_values"] = _retained(network)
    if schema != "5.0":
        payload["terminal_output_resources"] = terminal
    payload["nodes"] = _nodes(network, schema)
    payload["memory"] = memory.to_wire()
    if schema != "5.0":
        _add_checkpoints(payload, memory, catalog, program, deployment)
    plan_hash = fingerprint({name: payload[name] for name in payload if name != "plan_id"})
    payload["plan_id"] = f"plan/sha256/{plan_hash}"
    plan = {"payload": payload, "plan_hash": plan_hash}
    return {"plan": plan, "catalog": catalog, "program": program, "policy": policy}


def _execution_weights(network: Network) -> Json:
    """The families' weights as their files hold them, in the order of their components."""
    components = [
        (weight, _weight_component(weight, _component_id(weight)))
        for weight in sorted(network.of_usage("weights"), key=_component_id)
    ]
    return execution_weights(components, fingerprint([component for _, component in components]))


def _add_checkpoints(
    payload: Json, memory: MemoryPlan, catalog: Json, program: Json, deployment: Deployment
) -> None:
    """The layout of the plan's checkpoints, and room for them in the pools of their states."""
    capacity = deployment.checkpoint_bytes
    layout = derive_sequence_checkpoint(
        {"plan": {"payload": payload}, "catalog": catalog, "program": program}
    ).layout
    growth = derive_growth(
        (() if layout is None else (state.resource_id for state in layout.states)),
        {row.base_resource_id: row for row in memory.dynamic_descriptors},
        capacity,
    )
    payload["memory"] = with_checkpoints(memory, capacity, growth).to_wire()
    if layout is not None:
        payload["sequence_checkpoint_layout"] = layout.to_wire()


def _nodes(network: Network, schema: str) -> list[Json]:
    waits = network.dependencies()
    fingerprints = {
        operation.operation_id: operation_fingerprint(operation)
        for operation in used_operations(network)
    }
    return [
        _node(node, waits[node.node_id], fingerprints[node.operation.operation_id], schema)
        for node in network.nodes()
    ]


def _node(node: Node, waits: list[str], contract_fingerprint: str, schema: str) -> Json:
    operation = node.operation
    semantics: Json = {}
    if schema != "5.0":
        semantics["provider_execution_semantics"] = execution_semantics()
    return {
        "id": node.node_id,
        "dependencies": waits,
        "operation_id": operation.operation_id,
        "operation_version": dict(VERSION),
        "operation_fingerprint": contract_fingerprint,
        "provider_implementation_fingerprint": implementation_fingerprint(operation.provider_id),
        **semantics,
        "required_capabilities": [],
        "attributes": {},
        "work": _token_work(node),
        "selection": {
            "requested_provider": None,
            "selected_provider": operation.provider_id,
            "selection_reason": (
                "deterministic_compatible" if schema == "5.0" else "canonical_compatible"
            ),
            "rejected_providers": [],
        },
        "provider_resources": _estimate(node, contract_fingerprint),
        "values": [_binding(*bound) for bound in node.ports()],
        "exact_aliases": _exact_aliases(node),
        "state_effects": _state_effects(node),
        "scratch_resource": node.scratch_id,
        "binding_resource": node.binding_id,
        "persistent_resource": None,
        "resources": node.resource_ids(),
    }


def _token_work(node: Node) -> Json:
    """The bindings that grow with the step's tokens; the first input of them is the source."""
    projections = [
        {
            "value_id": value.value_id,
            "role": role,
            "ordinal": ordinal,
            "axis": 0,
            "rank": len(value.tensor.dimensions),
            "canonical_extent": value.tensor.dimensions[0],
        }
        for role, ordinal, port, value in node.ports()
        if port.dimensions[0] == TOKENS
    ]
    ascending = sorted(projections, key=lambda p: (p["value_id"], p["role"], p["ordinal"]))
    return {"tokens": {"source": dict(projections[0]), "projections": ascending}}


def _estimate(node: Node, contract_fingerprint: str) -> Json:
    """What the provider's estimator asks for, and the hash of all that."""
    operation = node.operation
    inputs = {
        "domain": "ferrum-verify.models.estimator-input.v1",
        "operation_fingerprint": contract_fingerprint,
        "tensors": [value.tensor.to_json() for value in (*node.inputs, *node.outputs)],
    }
    estimate: Json = {
        "provider_id": operation.provider_id,
        "estimator_id": operation.estimator_id,
        "estimator_version": dict(VERSION),
        "estimator_implementation_fingerprint": implementation_fingerprint(operation.estimator_id),
        "estimator_input_fingerprint": fingerprint(inputs),
    }
    parts: Json = {
        "value_alignment_bytes": VALUE_ALIGNMENT_BYTES,
        "scratch": _workspace_estimate("scratch", node.scratch),
        "binding": _workspace_estimate("binding", node.binding),
        "persistent": None,
    }
    return {**estimate, "estimate_fingerprint": fingerprint({**estimate, **parts}), **parts}


def _workspace_estimate(usage: str, formula: Formula | None) -> Json | None:
    if formula is None:
        return None
    return {
        "size_formula": formula.to_json(),
        "alignment_bytes": workspace_alignment_bytes(usage),
        "scope": "invocation",
        "storage": LINEAR.requirement(),
    }


def _binding(role: str, ordinal: int, port: Port, value: Value) -> Json:
    component = _component_id(value) if value.usage == "weights" else None
    return {
        "value_id": value.value_id,
        "role": role,
        "ordinal": ordinal,
        "tensor": value.tensor.to_json(),
        "access": port.access,
        "alias": port.alias,
        "usage": value.usage,
        "weight": _weight(value, component) if component is not None else None,
        "storage": {
            "components": [
                {
                    "component_id": component,
                    "resource_id": value.resource_id,
                    "offset_bytes": 0,
                    "length_bytes": value.tensor.size_bytes,
                    "element_type": value.tensor.element_type,
                }
            ]
        },
    }


def _component_id(weight: Value) -> str:
    return f"{weight.name}/values"


def _weight(value: Value, component: str) -> Json:
    """A dense weight: one component that holds every element."""
    return {
        "weight_id": value.name,
        "format_id": WEIGHT_FORMAT,
        "layout_id": WEIGHT_LAYOUT,
        "schema_version": dict(VERSION),
        "physical_layout": {"dense": {"component_id": component}},
        "components": [_weight_component(value, component)],
    }


def _weight_component(value: Value, component: str) -> Json:
    return {
        "component_id": component,
        "role": "values",
        "physical_dimensions": list(value.tensor.dimensions),
        "encoding": {"dense": {"element_type": value.tensor.element_type}},
    }


def _exact_aliases(node: Node) -> list[Json]:
    """The outputs that took over an input's bytes, ascending by output ordinal."""
    aliases = []
    for ordinal, (port, output) in enumerate(
        zip(node.operation.outputs, node.outputs, strict=True)
    ):
        if port.in_place_of is None:
            continue
        source = node.inputs[port.in_place_of]
        if source.resource_id == output.resource_id:
            aliases.append(
                {
                    "output_value_id": output.value_id,
                    "output_ordinal": ordinal,
                    "input_value_id": source.value_id,
                    "input_ordinal": port.in_place_of,
                    "kind": port.alias_kind,
                }
            )
    return aliases


def _state_effects(node: Node) -> list[Json]:
    """How the node touches sequence state, ascending by state."""
    effects = [
        {
            "state_id": value.name,
            "state_value_id": value.value_id,
            "lifetime": value.lifetime,
            "access": port.access,
            "resource_ids": [value.resource_id],
        }
        for _, _, port, value in node.ports()
        if value.usage == "state"
    ]
    return sorted(effects, key=lambda effect: str(effect["state_id"]))


def _retained(network: Network) -> list[Json]:
    """The values read after the step's fence, with the output that produced each."""
    producers = {
        output.name: (node, ordinal)
        for node in network.nodes()
        for ordinal, output in enumerate(node.outputs)
    }
    rows = []
    for value in sorted(network.retained, key=lambda v: v.value_id):
        node, ordinal = producers[value.name]
        rows.append(
            {
                "value_id": value.value_id,
                "producer_node_id": node.node_id,
                "output_ordinal": ordinal,
                "resource_id": value.resource_id,
                "logical_offset_bytes": 0,
                "tensor": value.tensor.to_json(),
            }
        )
    return rows
