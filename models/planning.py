"""From a network to a planning problem: the planner's input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.plan.canonical import CONTIGUOUS_LAYOUT_FINGERPRINT, OPAQUE_LAYOUT_FINGERPRINT

from .policy import reusable_problem_policy
from .storage import BINDING_ALIGNMENT_BYTES, LINEAR, VALUE_ALIGNMENT_BYTES, Json, storage

if TYPE_CHECKING:
    from .deployment import Deployment
    from .network import Network, Node, Value
    from .storage import Formula


def planning_problem(network: Network, deployment: Deployment) -> Json:
    """The network's weights, activations, state, workspaces and nodes under a deployment."""
    device_bytes = deployment.device_memory_bytes(network.weight_bytes())
    retained = sorted({value.resource_id for value in network.retained})
    return {
        "device_capacity_bytes": device_bytes,
        "policy_capacity_bytes": deployment.policy_bytes(device_bytes),
        "reserve_bytes": deployment.reserve_bytes,
        "maximum_active_sequences": deployment.maximum_active_sequences,
        "static_allocations": [_static_row(value) for value in network.of_usage("weights")],
        "dynamic_descriptors": _descriptors(network, deployment),
        "nodes": nodes(network),
        "reusable_execution_policy": reusable_problem_policy(deployment),
        "retained_completion_resources": retained,
    }


def nodes(network: Network) -> list[Json]:
    """The nodes as a planner needs them: order, dependencies and resources."""
    waits = network.dependencies()
    rows = []
    for node in network.nodes():
        row: Json = {
            "id": node.node_id,
            "dependencies": waits[node.node_id],
            "resources": node.resource_ids(),
        }
        if node.binding_id is not None:
            row["binding_resource"] = node.binding_id
        rows.append(row)
    return rows


def _static_row(weight: Value) -> Json:
    return {
        "resource_id": weight.resource_id,
        "per_instance_bytes": weight.tensor.size_bytes,
        "alignment_bytes": VALUE_ALIGNMENT_BYTES,
        "usage": "weights",
        "element_type": weight.tensor.element_type,
        "kind": "value",
        "storage": storage(LINEAR, CONTIGUOUS_LAYOUT_FINGERPRINT),
    }


def _descriptors(network: Network, deployment: Deployment) -> list[Json]:
    """One descriptor a resource: values that share bytes share it."""
    rows: dict[str, Json] = {}
    for value in network.values():
        if value.usage != "weights" and value.resource_id not in rows:
            rows[value.resource_id] = _value_descriptor(value, deployment)
    for node in network.nodes():
        for row in _workspace_descriptors(node, deployment):
            rows[row["base_resource_id"]] = row
    return list(rows.values())


def value_demand(value: Value, deployment: Deployment) -> Json:
    """What the value's resource asks for as the batch, or the sequence, grows."""
    size = value.tensor.size_bytes
    if value.growth == "fixed":
        return {"fixed": {"bytes": size}}
    if value.growth == "sequences":
        ceiling = deployment.maximum_active_sequences
        return {"actual_sequences": {"bytes_per_sequence": size, "maximum_sequences": ceiling}}
    return {"tokens": {"bytes_per_token": size, "maximum_tokens": token_ceiling(value, deployment)}}


def token_ceiling(value: Value, deployment: Deployment) -> int:
    """Tokens of the longest sequence for state, of the largest step for all else."""
    if value.usage == "state":
        return deployment.maximum_sequence_tokens
    return deployment.maximum_scheduled_tokens


def _value_descriptor(value: Value, deployment: Deployment) -> Json:
    return {
        "base_resource_id": value.resource_id,
        "demand": value_demand(value, deployment),
        "alignment_bytes": VALUE_ALIGNMENT_BYTES,
        "usage": value.usage,
        "element_type": value.tensor.element_type,
        "lifetime": value.lifetime,
        "kind": "value",
        "storage": storage(value.profile, CONTIGUOUS_LAYOUT_FINGERPRINT),
        "initialization": value.initialization,
        "theoretical_maximum_instances": deployment.maximum_active_sequences,
    }


def _workspace_descriptors(node: Node, deployment: Deployment) -> list[Json]:
    rows = []
    if node.scratch is not None:
        rows.append(_workspace(node, "scratch", node.scratch, deployment))
    if node.binding is not None:
        rows.append(_workspace(node, "binding", node.binding, deployment))
    return rows


def workspace_alignment_bytes(usage: str) -> int:
    """Alignment of a scratch or a binding workspace."""
    return BINDING_ALIGNMENT_BYTES if usage == "binding" else VALUE_ALIGNMENT_BYTES


def _workspace(node: Node, usage: str, formula: Formula, deployment: Deployment) -> Json:
    return {
        "base_resource_id": node.binding_id if usage == "binding" else node.scratch_id,
        "demand": formula.bind(deployment),
        "alignment_bytes": workspace_alignment_bytes(usage),
        "usage": usage,
        "element_type": "u8",
        "lifetime": "invocation",
        "kind": {usage: {"node_id": node.node_id}},
        "storage": storage(LINEAR, OPAQUE_LAYOUT_FINGERPRINT),
        "initialization": "none",
        "theoretical_maximum_instances": deployment.maximum_active_sequences,
    }
