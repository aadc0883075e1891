"""Mutations of a planner's kind: what a planner with one wrong idea would have done.

Those of ``DRAFTS`` change the plan before its memory is planned, so that nothing but the idea is
wrong; those of ``PLANNED`` change the planned memory by hand. Each returns whether it found
something to change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.definition.plans import (
    UNIT,
    bind,
    last_output,
    place_of,
    retained,
    take_in_place,
    workspace,
)

if TYPE_CHECKING:
    from random import Random

    from tests.definition.sizes import Json


def bound(nodes: list[Json], value: str) -> list[Json]:
    return [each for node in nodes for each in node["values"] if each["value_id"] == value]


def values_of(nodes: list[Json], *usages: str) -> list[str]:
    return sorted({b["value_id"] for n in nodes for b in n["values"] if b["usage"] in usages})


def drop_dependency(random: Random, body: Json) -> bool:
    waiting = [node for node in body["nodes"] if node["dependencies"]]
    if not waiting:
        return False
    node = random.choice(waiting)
    node["dependencies"].remove(random.choice(node["dependencies"]))
    return True


def alias_in_place(random: Random, body: Json) -> bool:
    node = random.choice(body["nodes"])
    take_in_place(body["nodes"], node, random)
    if node["exact_aliases"]:
        carry_retained(body)
    return bool(node["exact_aliases"])


def place_in_place_untold(random: Random, body: Json) -> bool:
    """The output lies over an input, and no alias says so."""
    if not alias_in_place(random, body):
        return False
    for node in body["nodes"]:
        node["exact_aliases"] = []
        last_output(node)["alias"] = "no_alias"
    return True


def move_value(random: Random, body: Json) -> bool:
    """A value is moved behind its place, in a row that may or may not be large enough."""
    nodes = body["nodes"]
    value = random.choice(values_of(nodes, "activations", "state"))
    for binding in bound(nodes, value):
        place_of(binding)["offset_bytes"] += UNIT
    if random.random() < 0.6:
        row = body["memory"]["rows"][place_of(bound(nodes, value)[0])["resource_id"]]
        for fields in row["demand"].values():
            fields.update({k: n * 2 for k, n in fields.items() if k == "bytes_per_token"})
    carry_retained(body)
    return True


def move_reader(random: Random, body: Json) -> bool:
    """One reader looks elsewhere than where the value is."""
    reading = [b for n in body["nodes"] for b in n["values"] if b["access"] == "read"]
    place = place_of(random.choice(reading))
    if random.random() < 0.5:
        place["offset_bytes"] += UNIT
    else:
        place["resource_id"] = random.choice(sorted(body["memory"]["rows"]))
    return True


def pack_values(random: Random, body: Json) -> bool:
    """Two values share a row: at the same bytes, or one behind the other."""
    nodes = body["nodes"]
    names = values_of(nodes, "activations")
    if len(names) < 2:
        return False
    one, other = random.sample(names, 2)
    target = place_of(bound(nodes, one)[0])
    shift = random.choice([0, UNIT])
    for binding in bound(nodes, other):
        place_of(binding).update(target | {"offset_bytes": target["offset_bytes"] + shift})
    if shift and random.random() < 0.7:
        row = body["memory"]["rows"][target["resource_id"]]
        row["demand"] = {"tokens": {"bytes_per_token": UNIT * 2, "maximum_tokens": 4}}
    carry_retained(body)
    return True


def resize_row(random: Random, body: Json) -> bool:
    """A row of another form, or of another number."""
    name = random.choice(sorted(body["memory"]["rows"]))
    row = body["memory"]["rows"][name]
    tokens = body["maximum_scheduled_tokens"]
    if "resource_id" in row:
        row["per_instance_bytes"] = random.choice([UNIT // 2, UNIT * 2])
        return True
    most = row["theoretical_maximum_instances"]
    affine = {"maximum_sequences": most, "maximum_tokens": tokens}
    row["demand"] = random.choice(
        [
            {"fixed": {"bytes": UNIT}},
            {"fixed": {"bytes": UNIT * tokens}},
            {"tokens": {"bytes_per_token": UNIT // 2, "maximum_tokens": tokens}},
            {"tokens": {"bytes_per_token": UNIT * 2, "maximum_tokens": tokens}},
            {"tokens": {"bytes_per_token": UNIT, "maximum_tokens": max(1, tokens - 1)}},
            {"tokens": {"bytes_per_token": UNIT, "maximum_tokens": tokens + 1}},
            {"actual_sequences": {"bytes_per_sequence": UNIT, "maximum_sequences": most}},
            {
                "affine": affine
                | {"fixed_bytes": 64, "bytes_per_sequence": 0, "bytes_per_token": 16}
            },
            {"affine": affine | {"fixed_bytes": 0, "bytes_per_sequence": 0, "bytes_per_token": 32}},
            {
                "bounded_shape_buckets": {
                    "buckets": [
                        {"maximum_sequences": most, "maximum_pages": 1}
                        | {"maximum_tokens": each, "bytes": UNIT * each - random.choice([0, 0, 4])}
                        for each in sorted({1, tokens})
                    ]
                }
            },
        ]
    )
    return True


def lessen_instances(random: Random, body: Json) -> bool:
    rows = [row for row in body["memory"]["rows"].values() if "resource_id" not in row]
    row = random.choice(rows)
    row["theoretical_maximum_instances"] = 1
    return True


def admit_more(_: Random, body: Json) -> bool:
    """More sequences than the rows were made for."""
    if body["maximum_scheduled_tokens"] < 3:
        return False
    body["memory"]["maximum_active_sequences"] += 1
    return True


def schedule_more(_: Random, body: Json) -> bool:
    """More tokens in a step than the rows were made for."""
    body["maximum_scheduled_tokens"] += 1
    return True


def swap_access(random: Random, body: Json) -> bool:
    """An input is written as well, or a state is touched in another way than before."""
    node = random.choice(body["nodes"])
    inputs = [b for b in node["values"] if b["role"] == "input" and b["usage"] != "weights"]
    if not inputs:
        return False
    binding = random.choice(inputs)
    binding["access"] = "read" if binding["access"] == "read_write" else "read_write"
    for effect in node["state_effects"]:
        if effect["state_value_id"] == binding["value_id"]:
            effect["access"] = binding["access"]
    return True


def write_unsaid(random: Random, body: Json) -> bool:
    """A state effect says something else than the binding, or is not there."""
    touching = [node for node in body["nodes"] if node["state_effects"]]
    if not touching:
        return False
    node = random.choice(touching)
    if random.random() < 0.5:
        node["state_effects"] = []
    else:
        node["state_effects"][0]["access"] = random.choice(["read", "read_write"])
    return True


def unlist(random: Random, body: Json) -> bool:
    """A node binds a resource that it does not list."""
    node = random.choice(body["nodes"])
    place = place_of(random.choice(node["values"]))
    node["unlisted"] = [place["resource_id"]]
    return True


def carry(random: Random, body: Json) -> bool:
    """A value lies in a resource that is given back after each invocation."""
    nodes = body["nodes"]
    value = random.choice(values_of(nodes, "activations"))
    row = body["memory"]["rows"].get(place_of(bound(nodes, value)[0])["resource_id"])
    if row is None or "lifetime" not in row:
        return False
    row["lifetime"] = "invocation"
    if random.random() < 0.7:
        other = place_of(last_output(random.choice(nodes)))["resource_id"]
        body["memory"]["rows"][other]["lifetime"] = "invocation"
    return True


def outlive(random: Random, body: Json) -> bool:
    """A row of another lifetime: of the request where it was of the step, or the reverse."""
    rows = [
        row
        for row in body["memory"]["rows"].values()
        if row["usage"] == "activations" and row["lifetime"] in ("step", "request")
    ]
    row = random.choice(rows)
    row["lifetime"] = "request" if row["lifetime"] == "step" else "step"
    return True


def read_late(random: Random, body: Json) -> bool:
    """A node later in the plan reads a value too; it may wait for the writer or not."""
    nodes = body["nodes"]
    at = random.randrange(len(nodes))
    value = random.choice(values_of(nodes, "activations"))
    reader = nodes[at]
    if any(b["value_id"] == value for b in reader["values"]):
        return False
    place_of(bind(reader, value, "input")).update(place_of(bound(nodes, value)[0]))
    if random.random() < 0.6:
        writers = {
            node["id"]
            for node in nodes[:at]
            if any(b["value_id"] == value and b["role"] == "output" for b in node["values"])
        }
        reader["dependencies"] = sorted(writers | set(reader["dependencies"]))
    return True


def write_twice(random: Random, body: Json) -> bool:
    """Another node outputs a value too."""
    nodes = body["nodes"]
    value = random.choice(values_of(nodes, "activations"))
    node = random.choice(nodes)
    if any(b["value_id"] == value for b in node["values"]):
        return False
    place_of(bind(node, value, "output")).update(place_of(bound(nodes, value)[0]))
    return True


def retain_early(random: Random, body: Json) -> bool:
    """A value of an earlier node is read on completion as well."""
    node = random.choice(body["nodes"][:-1])
    entry = retained(node, last_output(node))
    kept = {each["value_id"]: each for each in body["retained_completion_values"]}
    kept[entry["value_id"]] = entry
    body["retained_completion_values"] = [kept[name] for name in sorted(kept)]
    return True


def fix_value(random: Random, body: Json) -> bool:
    """No work projects a value."""
    value = random.choice(values_of(body["nodes"], "activations"))
    for node in body["nodes"]:
        node["fixed"] = [value]
    return True


def declare_state(random: Random, body: Json) -> bool:
    """The program's state grows otherwise than its row."""
    tokens = body["maximum_scheduled_tokens"]
    size = random.choice([UNIT, UNIT * 2])
    most = random.choice([tokens, tokens + 1, max(1, tokens - 1)])
    scaled = {"token_scaled": {"bytes_per_token": size, "maximum_tokens": most}}
    body["memory"]["states"] = {"state": random.choice([scaled, "fixed_per_scope"])}
    return bool(values_of(body["nodes"], "state"))


def share_scratch(random: Random, body: Json) -> bool:
    """A node has the scratch of another."""
    one, other = random.sample(body["nodes"], 2)
    if one["scratch_resource"] is None or other["scratch_resource"] is not None:
        return False
    other["provider_resources"]["scratch"] = workspace(random)
    other["scratch_resource"] = one["scratch_resource"]
    return True


def carry_retained(body: Json) -> None:
    """Retained values are where their producer's output is."""
    producers = {node["id"]: node for node in body["nodes"]}
    body["retained_completion_values"] = [
        retained(producers[each["producer_node_id"]], binding)
        for each in body["retained_completion_values"]
        for binding in producers[each["producer_node_id"]]["values"]
        if binding["role"] == "output" and binding["value_id"] == each["value_id"]
    ]


DRAFTS = [
    drop_dependency,
    alias_in_place,
    place_in_place_untold,
    move_value,
    move_reader,
    pack_values,
    resize_row,
    lessen_instances,
    admit_more,
    schedule_more,
    swap_access,
    write_unsaid,
    unlist,
    carry,
    outlive,
    read_late,
    write_twice,
    retain_early,
    fix_value,
    declare_state,
    share_scratch,
]
