"""The evaluator's own reading of schedules: which runs are theirs, and what a run shows."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from ferrum_verify import check_counterexample
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples.under_schedule import run_under
from tests.definition.schedules import small_plan

Json = dict[str, Any]
Times = dict[tuple[str, int], tuple[int, int]]

NODES = [
    {"id": "a", "dependencies": [], "resources": ["act/x"], "reads": [], "writes": ["act/x"]},
    {
        "id": "b",
        "dependencies": ["a"],
        "resources": ["act/x", "act/y"],
        "reads": ["act/x"],
        "writes": ["act/y"],
    },
]
PLAN = small_plan(NODES, [["act/x", "act/y"]])
A, B = {"launch": "a", "stream": "s"}, {"launch": "b", "stream": "t"}
RECORD, WAIT = {"record": "e", "stream": "s"}, {"wait": "e", "stream": "t"}
READ = {"access": "act/y", "mode": "read", "name": "host/x"}


def of(*host: Json, **steps: Any) -> Json:
    schedule: Json = {"schema": "ferrum-verify/schedule/v1", "host": list(host)}
    return schedule | ({"steps": steps} if steps else {})


def listed(times: Times) -> list[Json]:
    return [
        {"id": name, "step": step, "start": start, "end": end}
        for (name, step), (start, end) in times.items()
    ]


@pytest.mark.parametrize(
    ("schedule", "times", "admitted"),
    [
        (of(A, B), {("a", 0): (0, 1), ("b", 0): (0, 1)}, True),
        (of(A, RECORD, WAIT, B), {("a", 0): (0, 1), ("b", 0): (0, 1)}, False),
        (of(A, RECORD, WAIT, B), {("a", 0): (0, 1), ("b", 0): (1, 2)}, True),
        (of(A, WAIT, RECORD, B), {("a", 0): (0, 1), ("b", 0): (0, 1)}, True),
        # What is not listed has not ended.
        (of(A, RECORD, WAIT, B), {("b", 0): (5, 6)}, False),
        (of(A, B), {("b", 0): (5, 6)}, True),
        # The host reads in its turn, and what it launches later comes later.
        (of(A, READ, B), {("a", 0): (0, 3), ("host/x", 0): (1, 2), ("b", 0): (2, 3)}, True),
        (of(A, READ, B), {("a", 0): (0, 3), ("host/x", 0): (1, 2), ("b", 0): (1, 3)}, False),
        (of(A, READ, B), {("a", 0): (0, 3), ("b", 0): (1, 3)}, False),
        (
            of(A, {"synchronize": {"stream": "s"}}, READ, B),
            {("a", 0): (0, 3), ("host/x", 0): (2, 3)},
            False,
        ),
        (
            of(A, RECORD, {"synchronize": {"event": "e"}}, READ, B),
            {("a", 0): (0, 3), ("host/x", 0): (3, 4)},
            True,
        ),
        # Steps: a stream goes on, and the host waits for the step that is so many before.
        (of(A, B, carried=[]), {("a", 0): (0, 2), ("a", 1): (1, 3)}, False),
        (of(A, B, carried=[]), {("a", 0): (0, 2), ("a", 1): (2, 3)}, True),
        (of(A, B, in_flight=1), {("a", 0): (0, 1), ("b", 0): (0, 2), ("a", 1): (1, 2)}, False),
        (of(A, B, in_flight=1), {("a", 0): (0, 1), ("b", 0): (0, 2), ("a", 1): (2, 3)}, True),
        (of(A, B, in_flight=2), {("a", 0): (0, 1), ("b", 0): (0, 2), ("a", 1): (1, 2)}, True),
        # Without `steps` there is one, and a node that is not launched does not run.
        (of(A, B), {("a", 0): (0, 1), ("a", 1): (1, 2)}, False),
        (of(A), {("b", 0): (0, 1)}, False),
        (of(A, B), {("a", 0): (1, 1)}, False),
        # Without end: a step that no counterexample needs.
        (of(A, B, carried=[]), {("a", 10**9): (0, 1)}, False),
    ],
)
def test_runs(schedule: Json, times: Times, admitted: bool) -> None:
    assert (run_under(schedule, listed(times)) is not None) == admitted


def test_a_stream_that_is_named_is_the_node_s() -> None:
    (run,) = listed({("a", 0): (0, 1)})
    assert run_under(of(A), [run | {"stream": "s"}]) is not None
    assert run_under(of(A), [run | {"stream": "t"}]) is None


def holds(found: Json, schedule: Json, plan: Json = PLAN) -> bool:
    return check_counterexample(plan, found, schedule=schedule)


def altered(found: Json, **changes: Any) -> Json:
    return copy.deepcopy(found) | changes


def test_dependencies() -> None:
    found: Json = {
        "kind": "dependency",
        "nodes": listed({("a", 0): (0, 2), ("b", 0): (1, 2)}),
        "node": "b",
        "dependency": "a",
    }
    assert holds(found, of(A, B))
    assert not holds(found, of(A, RECORD, WAIT, B))
    assert not holds(altered(found, node="a", dependency="b"), of(A, B))
    assert not holds(altered(found, nodes=listed({("a", 0): (0, 1), ("b", 0): (1, 2)})), of(A, B))
    carried = [{"from": "b", "to": "a", "distance": 1}]
    steps = listed({("a", 0): (0, 1), ("b", 0): (1, 3), ("a", 1): (2, 3)})
    later = altered(found, nodes=steps, node="a", dependency="b", step=1, dependency_step=0)
    assert holds(later, of(A, B, carried=carried))
    assert not holds(later, of(A, B, carried=[carried[0] | {"distance": 2}]))
    assert not holds(later, of(A, B, in_flight=1, carried=carried))


def test_lives_that_share_a_slot() -> None:
    found: Json = {
        "kind": "schedule",
        "nodes": listed({("a", 0): (0, 1), ("b", 0): (1, 3), ("a", 1): (2, 3), ("b", 1): (3, 4)}),
        "left": {"resource": "act/y", "node": "b", "step": 0},
        "right": {"resource": "act/x", "node": "a", "step": 1},
        "at": 2,
    }
    both = {"act/x": 2, "act/y": 2}
    assert holds(found, of(A, B, in_flight=2))
    assert not holds(found, of(A, B, in_flight=1))
    assert not holds(found, of(A, B, in_flight=2, buffers=both))
    assert not holds(found, of(A, B, in_flight=2, buffers={"act/x": 2}))
    assert not holds(altered(found, at=1), of(A, B, in_flight=2))
    assert not holds(found, of(A, B, in_flight=2), small_plan(NODES, [["act/x"], ["act/y"]]))
    # Every user of a life is listed.
    fewer = [run for run in found["nodes"] if (run["id"], run["step"]) != ("b", 1)]
    assert not holds(altered(found, nodes=fewer), of(A, B, in_flight=2))
    same = altered(found, left={"resource": "act/x", "node": "b", "step": 0})
    assert holds(same, of(A, B, in_flight=2))
    itself = altered(found, left=found["right"])
    assert not holds(itself, of(A, B, in_flight=2))


def test_an_access_of_the_host_lengthens_a_life() -> None:
    found: Json = {
        "kind": "schedule",
        "nodes": listed({("a", 0): (0, 1), ("b", 0): (1, 2), ("host/x", 0): (3, 4)}),
        "left": {"resource": "act/x", "node": "a"},
        "right": {"resource": "act/y", "node": "b"},
        "at": 1,
    }
    assert holds(found, of(A, B, READ))
    found["nodes"].pop()
    assert not holds(found, of(A, B, READ))
    assert holds(found, of(A, B))


def test_accesses() -> None:
    found: Json = {
        "kind": "access",
        "nodes": listed({("a", 0): (0, 1), ("b", 0): (1, 3), ("a", 1): (2, 3)}),
        "resource": "act/x",
        "bytes": {"start": 0, "end": 1},
        "writer": {"node": "a", "step": 1},
        "other": {"node": "b", "mode": "read", "step": 0},
        "at": 2,
    }
    assert holds(found, of(A, B, in_flight=2))
    assert not holds(found, of(A, B, in_flight=2, buffers={"act/x": 2}))
    assert not holds(found, of(A, B, in_flight=1))
    assert not holds(altered(found, at=1), of(A, B, in_flight=2))
    assert not holds(altered(found, resource="act/y"), of(A, B, in_flight=2))
    assert not holds(altered(found, bytes={"start": 1, "end": 1}), of(A, B, in_flight=2))
    assert not holds(altered(found, other={"node": "b", "mode": "write"}), of(A, B, in_flight=2))


def test_the_host_s_own_access() -> None:
    found: Json = {
        "kind": "access",
        "nodes": listed({("b", 0): (0, 1), ("host/x", 0): (0, 1)}),
        "resource": "act/y",
        "bytes": {"start": 0, "end": 1},
        "writer": {"node": "b"},
        "other": {"node": "host/x", "mode": "read"},
        "at": 0,
    }
    assert holds(found, of(A, B, READ))
    assert not holds(found, of(A, B, READ | {"access": "act/x"}))
    assert not holds(found, of(A, B, READ | {"mode": "write"}))
    assert not holds(found, of(A, B, {"synchronize": {"stream": "t"}}, READ))


def test_rows_of_one_extent() -> None:
    plan = sample("fragment")
    names = [each["id"] for each in plan["nodes"]]
    schedule = of(*({"launch": name, "stream": name} for name in names))
    found: Json = {
        "kind": "schedule",
        "nodes": listed({("node/attention", 0): (0, 1), ("node/head", 0): (0, 1)}),
        "left": {"resource": "scratch/attention", "node": "node/attention"},
        "right": {"resource": "scratch/head", "node": "node/head"},
        "at": 0,
    }
    assert holds(found, schedule, plan)
    assert not holds(
        altered(found, right={"resource": "scratch/none", "node": "node/head"}), schedule, plan
    )
    in_turn = of(*({"launch": name, "stream": "s"} for name in names))
    assert not holds(found, in_turn, plan)


@pytest.mark.parametrize("broken", [{}, {"host": 3}, {"host": [{"launch": 3}]}, {"host": [3]}, 7])
def test_a_faulty_schedule_shows_nothing(broken: Any) -> None:
    found = {"kind": "dependency", "nodes": [], "node": "b", "dependency": "a"}
    assert not check_counterexample(PLAN, found, schedule=broken)
