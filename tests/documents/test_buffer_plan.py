"""Buffer plans of other planners: their form, and where a document departs from it."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ferrum_verify.documents.buffer_plan import Affine, BufferPlan
from ferrum_verify.reading.parse import subject_of

PLAN: dict[str, Any] = {
    "schema": "ferrum-verify/buffer-plan/v1",
    "shape": {"tokens": {"minimum": 1, "maximum": 4096}},
    "arenas": {"dram": {"bytes": 1048576, "alignment": 64}},
    "buffers": [
        {
            "id": "b0",
            "arena": "dram",
            "offset": 0,
            "bytes": {"fixed": 0, "per": {"tokens": 256}},
            "live_in": True,
        },
        {"id": "b1", "alias_of": "b0", "bytes": 64, "label": "[4, 16] f32"},
    ],
    "nodes": [{"id": "n0", "reads": ["b0"], "writes": ["b1"], "arms": [["cond0", "then"]]}],
    "notes": [{"text": "a custom call", "nodes": ["n0"]}],
}


def test_a_plan_is_read_with_the_parts_that_it_leaves_out() -> None:
    subject, findings = subject_of(PLAN)
    assert findings == []
    assert subject is not None
    plan = subject.buffers
    assert isinstance(plan, BufferPlan)
    assert plan.buffers[0].bytes == Affine(per={"tokens": 256})
    assert plan.buffers[1].offset is None
    assert plan.nodes[0].dependencies == ()
    assert plan.nodes[0].arms == (("cond0", "then"),)
    assert subject.order is not None
    assert subject.order.users == {"b0": [0], "b1": [0]}


@pytest.mark.parametrize(
    ("place", "value", "rule", "location"),
    [
        (("buffers", 0, "bytes"), -4, "wire.range", "/buffers/0/bytes"),
        (("buffers", 0, "bytes"), 2**64, "wire.range", "/buffers/0/bytes"),
        (
            ("buffers", 0, "bytes", "per", "tokens"),
            -1,
            "wire.range",
            "/buffers/0/bytes/per/tokens",
        ),
        (("buffers", 0, "offset"), [0], "wire.type", "/buffers/0/offset"),
        (("buffers", 0, "offset"), 0.5, "wire.type", "/buffers/0/offset"),
        (("buffers", 0, "live_in"), 1, "wire.type", "/buffers/0/live_in"),
        (("arenas", "dram", "alignment"), 0, "wire.range", "/arenas/dram/alignment"),
        (("shape", "tokens", "maximum"), 2**64, "wire.range", "/shape/tokens/maximum"),
        (("nodes", 0, "arms"), [["c"]], "wire.missing-field", "/nodes/0/arms/0"),
        (("nodes", 0, "id"), "", "wire.identity", "/nodes/0/id"),
        (("nodes", 0, "kernel"), "add", "wire.unknown-field", "/nodes/0/kernel"),
    ],
)
def test_faults_of_form_have_their_place(
    place: tuple[Any, ...], value: Any, rule: str, location: str
) -> None:
    document = copy.deepcopy(PLAN)
    holder: Any = document
    for step in place[:-1]:
        holder = holder[step]
    holder[place[-1]] = value
    _, findings = subject_of(document)
    assert [(each.rule, each.location) for each in findings] == [(rule, location)]


def test_nodes_are_ordered_beside_a_buffer_that_cannot_be_read() -> None:
    document = copy.deepcopy(PLAN)
    document["buffers"][0]["bytes"] = -4
    subject, _ = subject_of(document)
    assert subject is not None
    assert subject.buffers is None
    assert subject.order is not None
