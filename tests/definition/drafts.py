"""Small plans for the tests: what a planner drafts, before its memory is planned."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.definition.plan_nodes import UNIT, bind, node, place_of, retained, workspace
from tests.definition.planning import settle, stamp
from tests.definition.plans import dynamic_row, payload

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.definition.sizes import Json

TOKENS = 3


def plan(*steps: tuple[str, Sequence[str], Sequence[str], str]) -> Json:
    """A plan of nodes that each wait for some, read some values and output one, in draft."""
    nodes = []
    for name, waits, reads, output in steps:
        each = node(name)
        each["dependencies"] = list(waits)
        for value in reads:
            bind(each, value, "input")
        bind(each, output, "output")
        nodes.append(each)
    body = payload(nodes, [retained(nodes[-1], nodes[-1]["values"][-1])], TOKENS)
    values = {b["value_id"] for each in nodes for b in each["values"]}
    demand = {"tokens": {"bytes_per_token": UNIT, "maximum_tokens": TOKENS}}
    body["memory"] = {
        "maximum_active_sequences": 2,
        "reusable_execution_policy": None,
        "rows": {
            f"r/{value}": dynamic_row(
                f"r/{value}", demand, "activations", "request" if value == "in" else "step", 2
            )
            for value in values
        },
    }
    return {"plan": {"payload": body, "plan_hash": ""}, "program": {}}


def chain() -> Json:
    """Three nodes, one after the other."""
    return plan(
        ("a", [], ["in"], "first"),
        ("b", ["a"], ["first"], "second"),
        ("c", ["b"], ["second"], "third"),
    )


def fork() -> Json:
    """Two nodes of which neither waits for the other, and one that waits for both."""
    return plan(
        ("a", [], ["in"], "left"),
        ("b", [], ["in"], "right"),
        ("c", ["a", "b"], ["left", "right"], "joined"),
    )


def nodes_of(document: Json) -> list[Json]:
    nodes: list[Json] = document["plan"]["payload"]["nodes"]
    return nodes


def rows_of(document: Json) -> Json:
    rows: Json = document["plan"]["payload"]["memory"]["rows"]
    return rows


def handed_in_late() -> Json:
    """The plan is handed a value for its last node, in bytes that its first node has before."""
    return plan(
        ("a", [], ["in"], "first"),
        ("b", ["a"], ["first"], "second"),
        ("c", ["b"], ["second", "late"], "third"),
    )


def taken_twice() -> Json:
    """A node outputs two values, both exact aliases of one input."""
    document = chain()
    nodes = nodes_of(document)
    bind(nodes[1], "other", "output")
    bind(nodes[2], "other", "input")
    for output in (binding for binding in nodes[1]["values"] if binding["role"] == "output"):
        take(nodes[1], "first", output)
    for binding in (binding for each in nodes for binding in each["values"]):
        if binding["value_id"] in ("second", "other"):
            place_of(binding)["resource_id"] = "r/first"
    return document


def output_twice(*read: str) -> Json:
    """Two nodes output one value, to different bytes; the last one reads ``read``."""
    document = plan(
        ("a", [], ["in"], "first"),
        ("b", ["a"], ["first"], "second"),
        ("c", ["b"], ["first"], "again"),
        ("d", ["c"], ["first", *read], "third"),
    )
    nodes_of(document)[2]["values"][-1]["value_id"] = "second"
    return settle(document)


def take(into: Json, source: str, output: Json) -> None:
    """Have an output be an exact alias of the node's first input."""
    names = {"output_value_id": output["value_id"], "output_ordinal": output["ordinal"]}
    names |= {"input_value_id": source, "input_ordinal": 0}
    into["exact_aliases"].append(names | {"kind": "may_alias"})
    output["alias"] = {"may_alias": {"tensor_index": 0}}


def states_in_a_row(apart: int) -> Json:
    """Two states in one row, the second so many tokens behind the first."""
    document = chain()
    offset = apart * UNIT
    demand = {"fixed_bytes": offset, "bytes_per_sequence": 0, "bytes_per_token": UNIT}
    demand |= {"maximum_sequences": 2, "maximum_tokens": TOKENS}
    rows_of(document)["r/state"] = dynamic_row(
        "r/state", {"affine": demand}, "state", "sequence", 2
    )
    for each, name in zip(nodes_of(document), ("near", "far", "near"), strict=True):
        place = place_of(bind(each, name, "input", "state", "read_write"))
        place |= {"resource_id": "r/state", "offset_bytes": offset if name == "far" else 0}
        names = {"state_id": name, "state_value_id": name, "lifetime": "sequence"}
        effect = names | {"access": "read_write", "resource_ids": ["r/state"]}
        each["state_effects"].append(effect)
    scaled = {"token_scaled": {"bytes_per_token": UNIT, "maximum_tokens": TOKENS}}
    document["plan"]["payload"]["memory"]["states"] = {"near": scaled, "far": scaled}
    return document


def updated_and_retained() -> Json:
    """The last node updates its input in place, and its output there is read afterwards."""
    document = chain()
    last = nodes_of(document)[2]
    source, output = last["values"]
    source["access"] = "read_write"
    place_of(output)["resource_id"] = "r/second"
    take(last, "second", output)
    document["plan"]["payload"]["retained_completion_values"] = [retained(last, output)]
    return document


def one_after_the_other() -> Json:
    """The last output lies where the first one was, which is dead by then."""
    document = chain()
    last = nodes_of(document)[2]
    output = last["values"][1]
    place_of(output)["resource_id"] = "r/first"
    document["plan"]["payload"]["retained_completion_values"] = [retained(last, output)]
    return document


def retained_in_a_wave() -> Json:
    """What is retained shares a slot with a value that is dead before it is there."""
    return merged(chain())


def merged(document: Json) -> Json:
    """A chain, planned, whose first and third value share a slot by hand."""
    settle(document)
    for pool in document["plan"]["payload"]["memory"]["dynamic_pools"]:
        if pool["step_resource_slots"]:
            pool["step_resource_slots"] = [
                {"kind": "ordered_single_fence_step_wave", "resource_ids": ["r/first", "r/third"]},
                {"kind": "dedicated", "resource_ids": ["r/second"]},
            ]
    stamp(document)
    return document


def scratch_unlisted() -> Json:
    """A node has a row for its scratch, and does not list it."""
    document = chain()
    first = nodes_of(document)[0]
    first["provider_resources"]["scratch"] = workspace(Random(1))
    first["scratch_resource"] = "scratch/a"
    settle(document)
    first["resources"].remove("scratch/a")
    stamp(document)
    return document
