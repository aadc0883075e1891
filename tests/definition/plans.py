"""Small full plans, drawn at random: most are sound, and some are not by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.definition.plan_parts import WORKSPACES
from tests.definition.rows import CONTIGUOUS_LAYOUT, LINEAR
from tests.definition.sizes import Json, canonical_hash

if TYPE_CHECKING:
    from random import Random

VERSION = {"major": 1, "minor": 0}
ALIGNMENT = 32
# A tensor of one token: 8 elements of f32.
UNIT = 32


def draw(random: Random) -> Json:
    """A bundle of a plan and its program. Its memory is not planned yet; ``settle`` does that."""
    count = random.choice([3, 4, 4, 5, 5])
    sequences = random.choice([1, 2])
    tokens = random.choice([2, 3, 4])
    names = [f"node/{letter}" for letter in "abcde"[:count]]
    nodes = [node(name) for name in names]
    available = ["in"]
    writer: dict[str, str] = {}
    places: dict[str, Json] = {}
    for at, each in enumerate(nodes):
        for name in random.sample(available, min(len(available), random.choice([1, 1, 2]))):
            place_of(bind(each, name, "input")).update(places.get(name, {}))
        output = f"v{at}"
        bind(each, output, "output")
        if random.random() < 0.12:
            take_in_place(nodes, each, random)
        places[output] = place_of(last_output(each))
        data = {writer[b["value_id"]] for b in each["values"] if b["value_id"] in writer}
        extra = {name for name in names[:at] if random.random() < 0.25}
        each["dependencies"] = sorted(data | extra)
        writer[output] = each["id"]
        available.append(output)
        if random.random() < 0.3:
            bind(each, f"w{at}", "input", usage="weights")
        if random.random() < 0.4:
            each["provider_resources"]["scratch"] = workspace(random)
            each["scratch_resource"] = f"scratch/{each['id']}"
    if random.random() < 0.5:
        draw_state(random, nodes, writer)
    last = last_output(nodes[-1])
    document: Json = {
        "plan": {
            "payload": payload(nodes, [retained(nodes[-1], last)], tokens),
            "plan_hash": "",
        },
        "program": {},
    }
    draft = document["plan"]["payload"]["memory"]
    draft |= {"maximum_active_sequences": sequences, "reusable_execution_policy": None}
    if random.random() < 0.3:
        draft["reusable_execution_policy"] = policy(sequences, tokens, random)
    draft["rows"] = rows_of(nodes, sequences, tokens)
    return document


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


def draw_state(random: Random, nodes: list[Json], writer: dict[str, str]) -> None:
    """A state of each sequence that one or two nodes touch, in order."""
    first, *more = sorted(random.sample(range(len(nodes)), random.choice([1, 2])))
    for at in (first, *more):
        access = random.choice(["read_write", "read_write", "read"])
        bind(nodes[at], "state", "input", "state", access)
        effect = {"state_id": "state", "state_value_id": "state", "lifetime": "sequence"}
        nodes[at]["state_effects"] = [effect | {"access": access, "resource_ids": ["r/state"]}]
    if more:
        nodes[more[0]]["dependencies"] = sorted(
            {*nodes[more[0]]["dependencies"], nodes[first]["id"]}
        )


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


def payload(nodes: list[Json], kept: list[Json], tokens: int) -> Json:
    """An execution plan's payload, its memory still a draft."""
    return {
        "schema": {"major": 5, "minor": 0},
        "plan_id": "",
        "family_id": "family",
        "device_id": "device",
        "device_runtime_implementation_fingerprint": canonical_hash(""),
        "prepared_family_fingerprint": canonical_hash(""),
        "program_fingerprint": canonical_hash(""),
        "capability_catalog_fingerprint": canonical_hash(""),
        "policy_version": VERSION,
        "policy_fingerprint": canonical_hash(""),
        "maximum_scheduled_tokens": tokens,
        "weight_format": "dense",
        "quantization_formats": [],
        "retained_completion_values": kept,
        "nodes": nodes,
        "memory": {},
    }


def policy(sequences: int, tokens: int, random: Random) -> Json:
    """Reusable execution of one lane or two, for one token and for the largest step."""
    sizes = sorted({(1, 1), (sequences, tokens)})
    return {
        "maximum_reusable_lanes": random.choice([1, 2]),
        "buckets": [
            {
                "class_id": "class",
                "maximum_sequences": most,
                "maximum_tokens": each,
                "maximum_pages": 1,
            }
            for most, each in sizes
        ],
    }


def rows_of(nodes: list[Json], sequences: int, tokens: int) -> Json:
    """A row for each value's own resource: as large as its value in the largest step."""
    rows: Json = {}
    for each in nodes:
        for binding in each["values"]:
            value, usage = binding["value_id"], binding["usage"]
            lifetime = {"state": "sequence"}.get(usage, "request" if value == "in" else "step")
            name = f"r/{value}"
            if usage == "weights":
                rows[name] = static_row(name)
            else:
                demand = {"tokens": {"bytes_per_token": UNIT, "maximum_tokens": tokens}}
                rows[name] = dynamic_row(name, demand, usage, lifetime, sequences)
    return rows


def static_row(name: str) -> Json:
    """The row of a weight."""
    return {
        "resource_id": name,
        "per_instance_bytes": UNIT,
        "alignment_bytes": ALIGNMENT,
        "usage": "weights",
        "element_type": "f32",
        "kind": "value",
        "storage": {"profile": LINEAR, "logical_layout_fingerprint": CONTIGUOUS_LAYOUT},
    }


def dynamic_row(name: str, demand: Json, usage: str, lifetime: str, instances: int) -> Json:
    """The row of a value that is no weight."""
    return {
        "base_resource_id": name,
        "demand": demand,
        "alignment_bytes": ALIGNMENT,
        "usage": usage,
        "element_type": "f32",
        "lifetime": lifetime,
        "kind": "value",
        "storage": {"profile": LINEAR, "logical_layout_fingerprint": CONTIGUOUS_LAYOUT},
        "initialization": "none",
        "theoretical_maximum_instances": instances,
    }
