"""A small bundle whose sequences can be checkpointed, and hands to edit it with.

Four nodes: an embedding, attention with a key-value state that grows by a position for each
token, a mixer with a recurrent state of fixed size, and a head.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

Json = dict[str, Any]

VERSION = {"major": 1, "minor": 0}
LINEAR = {"allocator": "linear_arena", "view": "contiguous"}
BLOCKS = {"allocator": {"fixed_block_arena": {"block_bytes": 4096}}, "view": "contiguous"}
PAGES = {
    "allocator": {"fixed_block_arena": {"block_bytes": 4096}},
    "view": {"paged_regions": {"block_bytes": 4096}},
}
MAXIMUM_TOKENS = 128


def tensor(*dimensions: int, element_type: str = "f16", layout: Any = "contiguous") -> Json:
    return {"dimensions": list(dimensions), "element_type": element_type, "layout": layout}


def component(resource: str, length: int, offset: int = 0, name: str | None = None) -> Json:
    return {
        "component_id": name,
        "resource_id": resource,
        "offset_bytes": offset,
        "length_bytes": length,
        "element_type": "f16",
    }


def value(
    name: str,
    role: str,
    ordinal: int,
    *,
    access: str | None = None,
    usage: str = "activations",
    resource: str | None = None,
    elements: int = 16,
) -> Json:
    return {
        "value_id": name,
        "role": role,
        "ordinal": ordinal,
        "tensor": tensor(elements),
        "access": access or ("read" if role == "input" else "write"),
        "alias": "no_alias",
        "usage": usage,
        "weight": None,
        "storage": {"components": [component(resource or f"r.{name}", 2 * elements)]},
    }


def node(name: str, *values: Json, effects: tuple[str, ...] = ()) -> Json:
    return {
        "id": name,
        "dependencies": [],
        "operation_id": f"op.{name}",
        "operation_version": VERSION,
        "operation_fingerprint": "a" * 64,
        "provider_implementation_fingerprint": "b" * 64,
        "required_capabilities": [],
        "attributes": {},
        "work": "fixed",
        "selection": {
            "requested_provider": None,
            "selected_provider": f"provider.{name}",
            "selection_reason": "deterministic_compatible",
            "rejected_providers": [],
        },
        "provider_resources": {
            "provider_id": f"provider.{name}",
            "estimator_id": "estimator",
            "estimator_version": VERSION,
            "estimator_implementation_fingerprint": "c" * 64,
            "estimator_input_fingerprint": "d" * 64,
            "estimate_fingerprint": "e" * 64,
            "value_alignment_bytes": 16,
            "scratch": None,
            "binding": None,
            "persistent": None,
        },
        "values": list(values),
        "exact_aliases": [],
        "state_effects": [
            {
                "state_id": f"state.{state}",
                "state_value_id": state,
                "lifetime": "sequence",
                "access": "read_write",
                "resource_ids": [f"r.{state}"],
            }
            for state in effects
        ],
        "scratch_resource": None,
        "binding_resource": None,
        "persistent_resource": None,
        "resources": [],
    }


def span(minimum: int = 1, alignment: int = 1) -> Json:
    return {"minimum_tokens": minimum, "alignment": alignment}


def port(layout: str, ordinal: int = 1, role: str = "input", profile: Json = LINEAR) -> Json:
    return {"role": role, "ordinal": ordinal, "storage_profile": profile, "layout": layout}


def provider(name: str, *ports: Json) -> Json:
    contract: Json = {
        "contract_version": VERSION,
        "input_dependency": "exact_token_prefix",
        "boundaries": {"prefix": span(), "suffix": span()},
        "partition_numerics": "bitwise_equivalent",
        "completed_input_capture": "supported",
    }
    if ports:
        contract["state_ports"] = list(ports)
    return {
        "provider_id": f"provider.{name}",
        "operation_fingerprint": "a" * 64,
        "provider_implementation_fingerprint": "b" * 64,
        "dynamic_storage_bindings": [
            {"role": "input", "ordinal": ordinal, "storage": {"accepted_profiles": [LINEAR]}}
            for ordinal in range(2)
        ],
        "checkpoint_capability": {"completed_boundary": contract},
    }


def state(name: str, contents: str, capacity: Any) -> Json:
    return {
        "id": f"state.{name}",
        "value_id": name,
        "tensor": tensor(16),
        "lifetime": "sequence",
        "capacity_demand": capacity,
        "initialization": "zero",
        "checkpoint": {
            "completed_boundary": {
                "contract_version": VERSION,
                "contents": contents,
                "input_dependency": "exact_token_prefix",
            }
        },
    }


def descriptor(name: str, demand: Json, **changes: Any) -> Json:
    return {
        "base_resource_id": name,
        "demand": demand,
        "alignment_bytes": 16,
        "usage": "state",
        "element_type": "f16",
        "lifetime": "sequence",
        "kind": "value",
        "storage": {"profile": LINEAR, "logical_layout_fingerprint": "f" * 64},
        "pool_id": "dynamic-pool/of.state",
        "initialization": "zero",
        "theoretical_maximum_instances": 8,
        **changes,
    }


def scaled(bytes_per_token: int = 32, maximum_tokens: int = MAXIMUM_TOKENS) -> Json:
    return {"bytes_per_token": bytes_per_token, "maximum_tokens": maximum_tokens}


def sound() -> Json:
    """A new bundle that has a checkpoint layout."""
    nodes = [
        node("embed", value("tokens", "input", 0), value("x0", "output", 0)),
        node(
            "attention",
            value("x0", "input", 0),
            value("kv", "input", 1, access="read_write", usage="state"),
            value("x1", "output", 0),
            effects=("kv",),
        ),
        node(
            "mixer",
            value("x1", "input", 0),
            value("recurrent", "input", 1, access="read_write", usage="state"),
            value("x2", "output", 0),
            effects=("recurrent",),
        ),
        node(
            "head",
            value("x2", "input", 0),
            value("bias", "input", 1),
            value("logits", "output", 0),
        ),
    ]
    bundle = {
        "plan": {
            "payload": {
                "nodes": nodes,
                "memory": {
                    "dynamic_descriptors": [
                        descriptor("r.kv", {"tokens": scaled()}),
                        descriptor("r.recurrent", {"fixed": {"bytes": 32}}),
                    ]
                },
            }
        },
        "program": {
            "inputs": ["tokens", "bias"],
            "states": [
                state("kv", "prefix_positions", {"token_scaled": scaled()}),
                state("recurrent", "boundary_value", "fixed_per_scope"),
            ],
            "checkpoint_inputs": {
                "contract_version": VERSION,
                "token_input": "tokens",
                "conditioning_inputs": [],
                "output_only_inputs": ["bias"],
            },
        },
        "catalog": {
            "providers": {
                "op.embed": [provider("embed")],
                "op.attention": [provider("attention", port("token_major_prefix"))],
                "op.mixer": [provider("mixer", port("contiguous_boundary_value"))],
                "op.head": [provider("head")],
            }
        },
    }
    return deepcopy(bundle)


def nodes_of(bundle: Json) -> list[Json]:
    nodes: list[Json] = bundle["plan"]["payload"]["nodes"]
    return nodes


def node_of(bundle: Json, name: str) -> Json:
    return next(node for node in nodes_of(bundle) if node["id"] == name)


def binding_of(bundle: Json, node: str, value_id: str) -> Json:
    found: Json = next(
        value for value in node_of(bundle, node)["values"] if value["value_id"] == value_id
    )
    return found


def component_of(bundle: Json, node: str, value_id: str) -> Json:
    found: Json = binding_of(bundle, node, value_id)["storage"]["components"][0]
    return found


def provider_of(bundle: Json, node: str) -> Json:
    found: Json = bundle["catalog"]["providers"][f"op.{node}"][0]
    return found


def contract_of(bundle: Json, node: str) -> Json:
    found: Json = provider_of(bundle, node)["checkpoint_capability"]["completed_boundary"]
    return found


def state_of(bundle: Json, name: str) -> Json:
    found: Json = next(state for state in bundle["program"]["states"] if state["value_id"] == name)
    return found


def descriptors_of(bundle: Json) -> list[Json]:
    rows: list[Json] = bundle["plan"]["payload"]["memory"]["dynamic_descriptors"]
    return rows


def descriptor_of(bundle: Json, name: str) -> Json:
    return next(row for row in descriptors_of(bundle) if row["base_resource_id"] == name)
