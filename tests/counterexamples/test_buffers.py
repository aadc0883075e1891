"""Counterexamples of buffer plans: what holds is accepted, and nothing that was tampered with."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ferrum_verify import check_counterexample
from tests.buffer_plans import Json, buffer, dimensions, node, per, plan

PLAN = plan(
    [
        buffer("x", 0, per("n", 4), live_in=True),
        buffer("y", 8, 4),
        buffer("again", None, 4, alias_of="y"),
    ],
    [
        node("i0", "", "y", arms="c=then"),
        node("other", "", "y", arms="c=else"),
        node("i1", "again", "", "i0 other"),
        node("i2", "x"),
    ],
    shape=dimensions(n=(1, 4)),
)
FOUND: Json = {
    "kind": "schedule",
    "nodes": [
        {"id": "i0", "start": 0, "end": 1},
        {"id": "i1", "start": 1, "end": 2},
        {"id": "i2", "start": 2, "end": 3},
    ],
    "left": {"resource": "x", "node": "i2"},
    "right": {"resource": "y", "node": "i0"},
    "at": 0,
    "shape": {"n": 3},
    "arms": {"c": "then"},
    "bytes": {"start": 8, "end": 12},
}


def changed(found: Json, **changes: Any) -> Json:
    return {**copy.deepcopy(found), **changes}


@pytest.mark.parametrize("execution", ["in-order", "fenced", "concurrent"])
def test_two_buffers_that_live_together_are_seen(execution: Any) -> None:
    assert check_counterexample(PLAN, FOUND, execution)


@pytest.mark.parametrize(
    "changes",
    [
        {"shape": {"n": 2}},
        {"shape": {"n": 5}},
        {"shape": {}},
        {"shape": {"n": 3, "m": 1}},
        {"arms": {"c": "else"}},
        {"arms": {"c": "none"}},
        {"arms": {}},
        {"bytes": {"start": 8, "end": 13}},
        {"bytes": {"start": 8, "end": 8}},
        {"right": {"resource": "x", "node": "i2"}},
        {"right": {"resource": "y", "node": "i2"}},
        {"right": {"resource": "lost", "node": "i0"}},
        {"at": 2},
        {"nodes": FOUND["nodes"][1:]},
        {"nodes": [{"id": "i0", "start": 0, "end": 0}, *FOUND["nodes"][1:]]},
        {"nodes": [*FOUND["nodes"], {"id": "other", "start": 3, "end": 4}]},
        {"value": "x"},
    ],
    ids=str,
)
def test_what_does_not_hold_is_refused(changes: Json) -> None:
    assert not check_counterexample(PLAN, changed(FOUND, **changes), "in-order")


def test_a_node_that_is_not_taken_passes_its_order_on() -> None:
    document = plan(
        [buffer("x", 0, live_in=True), buffer("y", 0)],
        [
            node("i0", "x"),
            node("i1", arms="c=a", after="i0"),
            node("i2", "", "y", "i1"),
            node("i3", arms="c=b"),
        ],
    )
    run = [{"id": "i0", "start": 0, "end": 1}, {"id": "i2", "start": 0, "end": 1}]
    found = changed(FOUND, nodes=run, shape={}, arms={"c": "b"}, bytes={"start": 0, "end": 4})
    found |= {"left": {"resource": "x", "node": "i0"}, "right": {"resource": "y", "node": "i2"}}
    assert not check_counterexample(document, found, "concurrent")
    document["nodes"][1]["dependencies"] = []
    assert check_counterexample(document, found, "concurrent")
    assert not check_counterexample(document, found, "in-order")


def test_working_in_place_is_no_clash() -> None:
    document = plan(
        [buffer("x", 0, live_in=True), buffer("y", 0)], [node("i0", "x", "y"), node("i1", "y")]
    )
    run = [{"id": "i0", "start": 0, "end": 2}, {"id": "i1", "start": 2, "end": 3}]
    found = changed(FOUND, nodes=run, shape={}, arms={}, bytes={"start": 0, "end": 4})
    found |= {"left": {"resource": "x", "node": "i0"}, "right": {"resource": "y", "node": "i0"}}
    for at in (0, 1):
        assert not check_counterexample(document, found | {"at": at}, "in-order")
    document["nodes"][1]["reads"] = ["x"]
    assert check_counterexample(document, found, "in-order")


def test_two_nodes_that_meet_in_one_storage_are_seen() -> None:
    document = plan(
        [buffer("x", 0, 8), buffer("left", None, 4, alias_of="x")],
        [node("i0", "", "x"), node("i1", "left")],
    )
    found: Json = {
        "kind": "access",
        "nodes": [{"id": "i0", "start": 0, "end": 1}, {"id": "i1", "start": 0, "end": 1}],
        "resource": "x",
        "bytes": {"start": 0, "end": 4},
        "writer": {"node": "i0"},
        "other": {"node": "i1", "mode": "read"},
        "at": 0,
        "shape": {},
        "arms": {},
    }
    assert check_counterexample(document, found, "concurrent")
    assert check_counterexample(document, found, "fenced")
    assert not check_counterexample(document, found, "in-order")
    assert not check_counterexample(document, changed(found, bytes={"start": 0, "end": 5}))
    assert not check_counterexample(document, changed(found, writer={"node": "i1"}))
    assert not check_counterexample(document, changed(found, other={"node": "i1", "mode": "write"}))


def test_shapes_and_overlaps_are_reckoned_anew() -> None:
    document = plan(
        [buffer("x", 1020, per("n", 4), live_in=True), buffer("y", 2, 4), buffer("z", 0, 4)],
        [node("i0", "x z", "y")],
        shape=dimensions(n=(1, 2)),
    )
    out: Json = {"kind": "shape", "shape": {"n": 2}, "bytes": 1028, "limit": 1024}
    out["limit_from"] = "/arenas/a/bytes"
    assert check_counterexample(document, out)
    assert not check_counterexample(document, changed(out, shape={"n": 1}))
    assert not check_counterexample(document, changed(out, limit=1000))
    part: Json = {
        "kind": "overlap",
        "shape": {"n": 1},
        "left": {"resource": "z", "start": 0, "end": 4},
        "right": {"resource": "y", "start": 2, "end": 6},
        "byte": 2,
    }
    assert check_counterexample(document, part)
    assert not check_counterexample(document, changed(part, byte=4))
    document["nodes"][0]["writes"] = []
    assert not check_counterexample(document, part)
