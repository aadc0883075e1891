"""Small full plans, drawn at random: most are sound, and some are not by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.definition.plan_nodes import (
    ALIGNMENT,
    UNIT,
    VERSION,
    bind,
    last_output,
    node,
    place_of,
    retained,
    take_in_place,
    workspace,
)
from tests.definition.rows import CONTIGUOUS_LAYOUT, LINEAR
from tests.definition.sizes import Json, canonical_hash

if TYPE_CHECKING:
    from random import Random


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
