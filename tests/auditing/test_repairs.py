"""Ways to make a plan safe: each is safe, costs what it says, and leaves the rest as it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import audit
from ferrum_verify.auditing.repairs import repairs
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.deriving.best_slots import read_shared

if TYPE_CHECKING:
    from pathlib import Path

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.report.repairs import Repairs

MIB = 2**20


def repaired(document: Any, execution: Execution) -> Repairs:
    shared = read_shared(document)
    return repairs(shared, shared.best_slots(execution, lambda largest: largest))


def clashing() -> Any:
    """A fragment in which two resources that live together share a slot."""
    example = catalogue()["slot.shared-while-live"].example
    assert example is not None
    document = sample(example.sample)
    apply_edits(document, example.edits)
    return document


@pytest.fixture(scope="module")
def plan() -> Any:
    return models.bundle("qwen3.5-4b", 4)


@pytest.fixture(scope="module")
def found(plan: Any) -> Repairs:
    return repaired(plan, "concurrent")


def test_each_way_is_safe_and_costs_what_it_says(plan: Any, found: Repairs) -> None:
    assert audit(plan, "concurrent", judge="safety").verdict == "violated"
    assert (found.unsafe, found.bytes) == (3, 340 * MIB)
    others, dependencies, own = found.ways
    assert others.bytes == 232 * MIB
    assert (dependencies.bytes, dependencies.way.split()[0]) == (340 * MIB, "3")
    assert own.bytes == 360 * MIB
    for way in found.ways:
        assert way.refused_because == ""
        assert audit(way.document, "concurrent", judge="safety").verdict == "verified"


def test_dependencies_change_nothing_but_nodes_and_hashes(plan: Any, found: Repairs) -> None:
    payload = found.ways[1].document["plan"]["payload"]
    before = plan["plan"]["payload"]
    assert payload["memory"] == before["memory"]
    assert payload["plan_id"] != before["plan_id"]
    changed = [
        node for node, old in zip(payload["nodes"], before["nodes"], strict=True) if node != old
    ]
    assert [node["id"] for node in changed] == [f"node/l000{layer}/delta" for layer in range(3)]
    assert found.ways[1].path >= found.path


def test_what_is_safe_needs_nothing() -> None:
    found = repaired(models.problem("llama-3.1-8b", 2), "fenced")
    assert (found.unsafe, found.ways) == (0, ())


def test_plan_order_cannot_be_mended_by_dependencies() -> None:
    document = clashing()
    found = repaired(document, "in-order")
    refused = [way for way in found.ways if way.refused_because]
    assert [way.way for way in refused] == ["dependencies"]
    assert "uses both" in refused[0].refused_because or "cannot wait" in refused[0].refused_because
    for way in found.ways:
        if way.document is not None:
            assert audit(way.document, "in-order", judge="safety").verdict == "verified"


def test_a_way_that_leaves_a_fault_is_not_offered() -> None:
    document = clashing()
    apply_edits(document, {"/memory/minimum_request_bytes": 12345})
    found = repaired(document, "fenced")
    assert found.unsafe
    others, _, own = found.ways
    for way in (others, own):
        assert "violated: " in way.refused_because
        assert "12,345" in way.refused_because


def test_the_command_shows_the_ways_side_by_side(plan: Any, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))
    assert run(["slots", str(path), "--make-safe", "concurrent"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "3 pairs of resources share bytes and may be live together" in told
    assert "other slots 232 MiB" in told
    assert "own slots for 3 resources 360 MiB" in told
    assert "dependency from `node/l0000/z` to `node/l0000/delta`" in told
    assert run(["slots", str(path), "--make-safe", "fenced"]) == 0
    assert "the plan is safe under fenced" in " ".join(capsys.readouterr().out.split())
