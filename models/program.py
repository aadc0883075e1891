"""The model program: what the model computes, before devices and memory come in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .operations import TOKENS, VERSION
from .planning import token_ceiling

if TYPE_CHECKING:
    from .deployment import Deployment
    from .network import Network, Node, Value
    from .storage import Json


def model_program(network: Network, deployment: Deployment) -> Json:
    """The program in the engine's field order, which its fingerprint depends on."""
    token_input, *conditioning = network.inputs
    return {
        "family_id": family_id(network),
        "inputs": [value.value_id for value in network.inputs],
        "blocks": [
            {"id": f"block/{name}", "nodes": [_program_node(node) for node in nodes]}
            for name, nodes in network.blocks
        ],
        "states": [_state(value, deployment) for value in network.of_usage("state")],
        "weights": [_weight(value) for value in network.of_usage("weights")],
        "outputs": [value.value_id for value in network.outputs],
        "checkpoint_inputs": {
            "contract_version": dict(VERSION),
            "token_input": token_input.value_id,
            "conditioning_inputs": [value.value_id for value in conditioning],
        },
    }


def family_id(network: Network) -> str:
    """Identity of the family in programs and plans."""
    return f"family/{network.family}"


def _program_node(node: Node) -> Json:
    return {
        "id": node.node_id,
        "operation_id": node.operation.operation_id,
        "required_version": dict(VERSION),
        "work": {"tokens": {"source": _token_source(node)}},
        "inputs": [value.value_id for value in node.inputs],
        "outputs": [value.value_id for value in node.outputs],
        "attributes": {},
    }


def _token_source(node: Node) -> Json:
    """The value and axis whose extent is the node's work."""
    source = next(
        value
        for role, _, port, value in node.ports()
        if role == "input" and port.dimensions[0] == TOKENS
    )
    return {"value_id": source.value_id, "axis": 0}


def _state(state: Value, deployment: Deployment) -> Json:
    """A cache is captured as the positions of a prefix, a recurrent state as one value."""
    capacity: str | Json = "fixed_per_scope"
    contents = "boundary_value"
    if state.growth == "tokens":
        capacity = {
            "token_scaled": {
                "bytes_per_token": state.tensor.size_bytes,
                "maximum_tokens": token_ceiling(state, deployment),
            }
        }
        contents = "prefix_positions"
    return {
        "id": state.name,
        "value_id": state.value_id,
        "tensor": state.tensor.to_json(),
        "lifetime": state.lifetime,
        "capacity_demand": capacity,
        "initialization": state.initialization,
        "checkpoint": {
            "completed_boundary": {
                "contract_version": dict(VERSION),
                "contents": contents,
                "input_dependency": "exact_token_prefix",
            }
        },
    }


def _weight(weight: Value) -> Json:
    return {
        "weight_id": weight.name,
        "value_id": weight.value_id,
        "tensor": weight.tensor.to_json(),
    }
