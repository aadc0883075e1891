"""Runs, and what the evaluator takes for a schedule or an access of a plan."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from ferrum_verify import audit
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.counterexamples.document import Document
from ferrum_verify.counterexamples.runs import run_of
from tests.definition.runs import MODELS, Execution, may_start, moments, waits_of

GATED = json.loads(Path("docs/examples/gated.json").read_text())


def listed(*times: tuple[str, int, int]) -> list[dict[str, Any]]:
    return [{"id": name, "start": start, "end": end} for name, start, end in times]


SLOW_GATE = {
    "kind": "schedule",
    "nodes": listed(
        ("norm", 0, 1), ("gate", 1, 4), ("project", 1, 2), ("update", 2, 3), ("combine", 4, 5)
    ),
    "left": {"resource": "normed", "node": "gate"},
    "right": {"resource": "updated", "node": "update"},
    "at": 2,
}


def test_a_dependency_is_a_barrier_for_all_before_it() -> None:
    """`update` waits for `project`, and under `fenced` so for `gate`, which stands before it."""
    assert check_counterexample(GATED, SLOW_GATE, "concurrent")
    assert not check_counterexample(GATED, SLOW_GATE, "fenced")
    assert audit(GATED, execution="fenced").verdict == "verified"


@pytest.mark.parametrize("execution", MODELS)
def test_resources_that_share_no_byte_are_no_counterexample(execution: Execution) -> None:
    run = {
        "kind": "schedule",
        "nodes": listed(*((node["id"], at, at + 1) for at, node in enumerate(GATED["nodes"]))),
        "left": {"resource": "normed", "node": "gate"},
        "right": {"resource": "gated", "node": "gate"},
        "at": 1,
    }
    assert not check_counterexample(GATED, run, execution)
    shared = json.loads(json.dumps(GATED))
    shared["memory"]["dynamic_pools"][0]["step_resource_slots"] = [
        {"resource_ids": ["gated", "normed"]}
    ]
    assert check_counterexample(shared, run, execution)


PLANS = [
    [[], []],
    [[], [], [0]],
    [[], [], [1]],
    [[], [0], [0]],
]


@pytest.mark.parametrize("waits", PLANS, ids=str)
@pytest.mark.parametrize("execution", MODELS)
def test_runs_are_those_of_the_definition(waits: list[list[int]], execution: Execution) -> None:
    """Every way to give nodes a start and an end within a few ticks."""
    nodes = [
        {"id": f"n{at}", "dependencies": [f"n{each}" for each in before]}
        for at, before in enumerate(waits)
    ]
    document = Document({"nodes": nodes})
    spans = [(start, end) for start in range(4) for end in range(start + 1, 5)]
    for chosen in product(spans, repeat=len(nodes)):
        run = listed(*((f"n{at}", start, end) for at, (start, end) in enumerate(chosen)))
        admitted = run_of(document, run, execution) is not None
        assert admitted == _follows(execution, nodes, chosen), (run, admitted)


def _follows(model: str, nodes: list[Any], spans: tuple[tuple[int, int], ...]) -> bool:
    """Whether the events, ends before starts and starts in plan order, are a path of moments."""
    waits = waits_of(nodes)
    now = next(iter(moments(model, waits)))
    events = sorted(
        [(start, 1, at) for at, (start, _) in enumerate(spans)]
        + [(end, 0, at) for at, (_, end) in enumerate(spans)]
    )
    for _, is_start, at in events:
        if not is_start:
            now = now._replace(ended=now.ended | 1 << at)
        elif may_start(model, waits, at, now):
            now = now._replace(started=now.started | 1 << at)
        else:
            return False
    return True


def test_a_run_is_told_with_what_stands_before() -> None:
    """What is left out might be what keeps two nodes apart, unless nothing but chains does."""
    document = Document({"nodes": [{"id": name, "dependencies": []} for name in "abc"]})
    run = listed(("a", 0, 1), ("c", 1, 2))
    assert run_of(document, run, "concurrent") is not None
    for execution in MODELS[:2]:
        assert run_of(document, run, execution) is None
        assert run_of(document, run[:1], execution) is not None


def bound(value: str, access: str, start: int = 0, length: int = 64) -> dict[str, Any]:
    part = {"resource_id": "r", "offset_bytes": start, "length_bytes": length}
    return {
        "value_id": value,
        "role": "input" if access == "read" else "output",
        "ordinal": 0,
        "access": access,
        "usage": "activations",
        "storage": {"components": [part]},
    }


def in_place(*dependencies: str) -> dict[str, Any]:
    """`make` writes x, `take` overwrites it with y, and `late` reads x."""
    values = {
        "make": [bound("x", "write")],
        "take": [bound("y", "write", length=32)],
        "late": [bound("x", "read")],
    }
    waits = {"make": [], "take": ["make"], "late": list(dependencies)}
    return {
        "nodes": [
            {"id": name, "dependencies": waits[name], "values": of, "work": "none"}
            for name, of in values.items()
        ]
    }


TOO_LATE = {
    "kind": "access",
    "nodes": listed(("make", 0, 1), ("take", 1, 2), ("late", 2, 3)),
    "resource": "r",
    "bytes": {"start": 0, "end": 32},
    "value": "x",
    "writer": {"node": "take"},
    "other": {"node": "late", "mode": "read"},
    "at": 1,
}


@pytest.mark.parametrize("execution", MODELS)
def test_a_reader_that_comes_too_late(execution: Execution) -> None:
    document = in_place("take")
    assert check_counterexample(document, TOO_LATE, execution)
    for changed in (
        {"at": 2},
        {"at": 0},
        {"value": "y"},
        {"bytes": {"start": 0, "end": 33}},
        {"bytes": {"start": 0, "end": 0}},
        {"resource": "s"},
        {"writer": {"node": "make"}},
        {"other": {"node": "take", "mode": "write"}},
        {"other": {"node": "late", "mode": "write"}},
        {"nodes": TOO_LATE["nodes"][:2]},  # type: ignore[index]
    ):
        assert not check_counterexample(document, TOO_LATE | changed, execution), changed


def test_a_reader_that_runs_beside_the_writer() -> None:
    document = in_place("make")
    together = TOO_LATE | {"nodes": listed(("make", 0, 1), ("take", 1, 2), ("late", 1, 2))}
    assert check_counterexample(document, together, "concurrent")
    assert check_counterexample(document, together, "fenced")
    assert not check_counterexample(document, together, "in-order")
    assert not check_counterexample(in_place("take"), together, "concurrent")
