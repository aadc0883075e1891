"""Mutations of nodes and values: what a planner with one wrong idea of them would have done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.definition.plan_nodes import UNIT, bind, last_output, place_of, retained, take_in_place

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


def take_twice(random: Random, body: Json) -> bool:
    """A node writes another output over the input that it takes; somebody may read it."""
    nodes = body["nodes"]
    node = random.choice(nodes)
    if not node["exact_aliases"]:
        take_in_place(nodes, node, random)
    if not node["exact_aliases"] or bound(nodes, "again"):
        return False
    carry_retained(body)
    alias = node["exact_aliases"][0]
    first, output = last_output(node), bind(node, "again", "output")
    output["alias"] = first["alias"]
    place_of(output).update(place_of(first))
    told = {"output_value_id": "again", "output_ordinal": output["ordinal"]}
    node["exact_aliases"].append(alias | told)
    reader = random.choice(nodes)
    if nodes.index(reader) > nodes.index(node):
        place_of(bind(reader, "again", "input")).update(place_of(first))
        reader["dependencies"] = sorted({*reader["dependencies"], node["id"]})
    return True


def hand_in(random: Random, body: Json) -> bool:
    """Another input, which has the lifetime of the step and is read by a node of any place."""
    rows = body["memory"]["rows"]
    if "r/late" in rows:
        return False
    bind(random.choice(body["nodes"]), "late", "input")
    rows["r/late"] = rows["r/in"] | {"base_resource_id": "r/late", "lifetime": "step"}
    return True


def pack_states(random: Random, body: Json) -> bool:
    """Another state lies behind the state in its row; the state may grow into it."""
    nodes, rows, tokens = body["nodes"], body["memory"]["rows"], body["maximum_scheduled_tokens"]
    touching = [node for node in nodes if node["state_effects"]]
    if not touching or "states" in body["memory"]:
        return False
    chosen, effect = random.choice(nodes), touching[0]["state_effects"][0]
    offset = UNIT * random.choice([tokens, tokens - 1])
    bind(chosen, "behind", "input", "state", "read_write")
    behind = place_of(chosen["values"][-1])
    behind.update(place_of(bound(touching, "state")[0]) | {"offset_bytes": offset})
    told = {"state_id": "behind", "state_value_id": "behind", "access": "read_write"}
    chosen["state_effects"] = [effect | told, *chosen["state_effects"]]
    scaled = {"token_scaled": {"bytes_per_token": UNIT, "maximum_tokens": tokens}}
    body["memory"]["states"] = {"state": scaled, "behind": scaled}
    limits = {"maximum_sequences": rows["r/state"]["theoretical_maximum_instances"]}
    form = {"fixed_bytes": offset, "bytes_per_sequence": 0, "bytes_per_token": UNIT}
    rows["r/state"]["demand"] = {"affine": form | limits | {"maximum_tokens": tokens}}
    return True


def retain_early(random: Random, body: Json) -> bool:
    """A value of an earlier node is read on completion as well."""
    node = random.choice(body["nodes"][:-1])
    entry = retained(node, last_output(node))
    kept = {each["value_id"]: each for each in body["retained_completion_values"]}
    kept[entry["value_id"]] = entry
    body["retained_completion_values"] = [kept[name] for name in sorted(kept)]
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
