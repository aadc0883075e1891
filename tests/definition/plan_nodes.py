"""The nodes of a drawn plan: their bindings, workspaces and aliases as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.definition.plan_parts import WORKSPACES
from tests.definition.rows import LINEAR
from tests.definition.sizes import Json, canonical_hash

if TYPE_CHECKING:
    from random import Random

VERSION = {"major": 1, "minor": 0}
ALIGNMENT = 32
# A tensor of one token: 8 elements of f32.
UNIT = 32


def node(name: str) -> Json:
    """A node of a provider of its own, without values as yet."""
    return {
        "id": name,
        "dependencies": [],
        "operation_id": f"operation/{name}",
        "operation_version": VERSION,
        "operation_fingerprint": canonical_hash(name),
        "provider_implementation_fingerprint": canonical_hash(name),
        "required_capabilities": [],
        "attributes": {},
        "work": "fixed",
        "selection": {
            "requested_provider": None,
            "selected_provider": "provider",
            "selection_reason": "deterministic_compatible",
            "rejected_providers": [],
        },
        "provider_resources": {
            "provider_id": "provider",
            "estimator_id": "estimator",
            "estimator_version": VERSION,
            "estimator_implementation_fingerprint": canonical_hash(""),
            "estimator_input_fingerprint": canonical_hash(""),
            "estimate_fingerprint": "",
            "value_alignment_bytes": ALIGNMENT,
            **dict.fromkeys(WORKSPACES),
        },
        "values": [],
        "exact_aliases": [],
        "state_effects": [],
        **{f"{part}_resource": None for part in WORKSPACES},
        "resources": [],
    }


def bind(
    into: Json, value: str, role: str, usage: str = "activations", access: str | None = None
) -> Json:
    """Bind a value to the next port of a node; in a resource of its own."""
    ordinal = sum(each["role"] == role for each in into["values"])
    weight = None
    if usage == "weights":
        component = {"component_id": value, "role": "values", "physical_dimensions": [1, 8]}
        weight = {
            "weight_id": value,
            "format_id": "dense",
            "layout_id": "dense",
            "schema_version": VERSION,
            "physical_layout": {"dense": {"component_id": value}},
            "components": [component | {"encoding": {"dense": {"element_type": "f32"}}}],
        }
    place = {"resource_id": f"r/{value}", "offset_bytes": 0, "length_bytes": UNIT}
    component_id = value if usage == "weights" else None
    binding = {
        "value_id": value,
        "role": role,
        "ordinal": ordinal,
        "tensor": {"dimensions": [1, 8], "element_type": "f32", "layout": "contiguous"},
        "access": access or ("read" if role == "input" else "write"),
        "alias": "no_alias",
        "usage": usage,
        "weight": weight,
        "storage": {"components": [{"component_id": component_id, "element_type": "f32"} | place]},
    }
    into["values"].append(binding)
    return binding


def place_of(binding: Json) -> Json:
    """The one component of a binding."""
    place: Json = binding["storage"]["components"][0]
    return place


def last_output(of: Json) -> Json:
    """The binding of the output that a node has last."""
    return next(each for each in reversed(of["values"]) if each["role"] == "output")


def take_in_place(nodes: list[Json], chosen: Json, random: Random) -> None:
    """Have a node write its output over one of its inputs, and say so."""
    inputs = [b for b in chosen["values"] if b["usage"] == "activations" and b["role"] == "input"]
    output = next((b for b in chosen["values"] if b["role"] == "output"), None)
    if not inputs or output is None or chosen["exact_aliases"]:
        return
    source = random.choice(inputs)
    if source["value_id"] == output["value_id"]:
        return
    output["alias"] = {"may_alias": {"tensor_index": source["ordinal"]}}
    for each in nodes:
        for binding in each["values"]:
            if binding["value_id"] == output["value_id"]:
                place_of(binding).update(place_of(source))
    alias = {f"input_{key}": source[key] for key in ("value_id", "ordinal")}
    alias |= {f"output_{key}": output[key] for key in ("value_id", "ordinal")}
    chosen["exact_aliases"] = [alias | {"kind": "may_alias"}]


def workspace(random: Random) -> Json:
    """What a provider asks for as scratch."""
    formula = random.choice(
        [
            {"fixed": {"bytes": 64}},
            {"tokens": {"bytes_per_token": 32}},
            {"affine": {"fixed_bytes": 32, "bytes_per_sequence": 0, "bytes_per_token": 16}},
        ]
    )
    storage = {"accepted_profiles": [LINEAR]}
    return {
        "size_formula": formula,
        "alignment_bytes": 32,
        "scope": "invocation",
        "storage": storage,
    }


def retained(producer: Json, output: Json) -> Json:
    """The entry of an output that is read when the step is complete."""
    return {
        "value_id": output["value_id"],
        "producer_node_id": producer["id"],
        "output_ordinal": output["ordinal"],
        "resource_id": place_of(output)["resource_id"],
        "logical_offset_bytes": place_of(output)["offset_bytes"],
        "tensor": output["tensor"],
    }
