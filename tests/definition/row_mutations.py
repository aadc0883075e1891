"""Mutations of rows and limits: what a planner with one wrong idea of sizes would have done."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.definition.plan_nodes import UNIT, last_output, place_of, workspace
from tests.definition.value_mutations import bound, values_of

if TYPE_CHECKING:
    from random import Random

    from tests.definition.sizes import Json


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
