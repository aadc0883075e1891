"""What the slots cost: in the report's formats, where it was asked for, and only there."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

import models
from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.report.formats import render
from ferrum_verify.report.schema import report_schema
from tests.definition.best_slots import draw, row

if TYPE_CHECKING:
    from pathlib import Path

    from ferrum_verify.report.model import Report

MIB = 2**20


@pytest.fixture(scope="module")
def report() -> Report:
    return audit(models.bundle("qwen3.5-4b", 4), prove=False, memory=True)


def test_the_json_has_bytes_least_and_best(report: Report) -> None:
    wire = json.loads(render(report, "json"))
    jsonschema.validate(wire, report_schema())
    memory = wire["documents"][0]["memory"]
    assert memory["shape"] == {"sequences": 1, "tokens": 4096, "pages": 1}
    (pool,) = memory["pools"]
    assert pool.pop("pool_id").startswith("dynamic-pool/")
    assert pool == {
        "bytes": 340 * MIB,
        "safe": True,
        "least_bytes": 232 * MIB,
        "best_bytes": 232 * MIB,
        "proved": True,
    }


def test_it_is_only_there_where_it_was_asked_for() -> None:
    silent = audit(sample("fragment"), prove=False)
    assert "memory" not in silent.to_wire()["documents"][0]
    assert "what they cost" not in render(silent, "text")
    assert "what they cost" not in render(silent, "html")


def test_where_it_cannot_be_told_nothing_is_said() -> None:
    (document,) = audit(sample("fragment")["memory"], memory=True).documents
    assert document.memory is None


@pytest.mark.parametrize("name", ["text", "html"])
def test_people_see_pools_buckets_members_and_room(name: str, report: Report) -> None:
    told = " ".join(render(report, name).split())
    for words in ("340 MiB", "232 MiB", "proved least", "decode 64/64/32,768", "72.0 MiB for"):
        assert words in told
    assert "one sequence can have 4,096 tokens" in told


def test_room_that_better_slots_give_is_counted() -> None:
    plan = sample("fragment")
    cost = audit(plan, prove=False, memory=True).documents[0].memory
    assert cost is not None
    assert cost.before is not None
    assert cost.after is not None
    tight = cost.best.pools[0]
    plan["memory"]["dynamic_pools"][0]["step_resource_slots"] = [
        {"kind": "dedicated", "resource_ids": [name]}
        for name in sorted(name for slot in tight.slots for name in slot)
    ]
    loose = audit(plan, prove=False, memory=True).documents[0].memory
    assert loose is not None
    assert loose.best.pools[0].bytes > tight.bytes
    assert loose.best.pools[0].best_bytes == tight.best_bytes
    assert loose.after == cost.after


def test_a_pool_whose_members_end_sooner_says_so() -> None:
    problem = draw(Random(1))
    shorter = row("shorter", {"tokens": {"bytes_per_token": 1, "maximum_tokens": 3}})
    problem["dynamic_descriptors"].append(shorter | {"alignment_bytes": 2})
    problem["nodes"][0]["resources"].append("shorter")
    (document,) = audit(problem, prove=False, memory=True).to_wire()["documents"]
    shapes = [pool.get("shape") for pool in document["memory"]["pools"]]
    assert document["memory"]["shape"]["tokens"] == 4
    assert [shape["tokens"] for shape in shapes if shape] == [3]
    assert None in shapes


def test_the_command_line_asks_for_it(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(sample("fragment")))
    assert run(["audit", str(path), "--no-prove", "--memory"]) == 0
    assert "Slots: what they cost" in capsys.readouterr().out
