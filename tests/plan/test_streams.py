"""Schedules that are written keep every dependency, with as little order as that takes."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import audit
from ferrum_verify.cli import run
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.schedule import Schedule
from ferrum_verify.plan.streams import parse_assignment, schedule_on, stream_of
from ferrum_verify.plan.unrolling import unroll
from tests.definition.schedules import draw

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]
GATED = "docs/examples/gated.json"


def order(schedule: Json) -> set[tuple[str, str]]:
    """Which node happens before which, as the reading of the schedule has it."""
    run_, _ = unroll(Schedule.model_validate(schedule))
    names = [each.id for each in run_.instances]
    return {
        (names[earlier], names[later])
        for later in range(len(names))
        for earlier in range(later)
        if run_.before[later] >> earlier & 1
    }


def least(nodes: list[Json], streams: list[str]) -> set[tuple[str, str]]:
    """The closure of dependencies and of the streams' own order."""
    found = {(name, node["id"]) for node in nodes for name in node["dependencies"]}
    found |= {
        (nodes[i]["id"], nodes[j]["id"])
        for j in range(len(nodes))
        for i in range(j)
        if streams[i] == streams[j]
    }
    while True:
        more = {(a, d) for a, b in found for c, d in found if b == c} - found
        if not more:
            return found
        found |= more


def lost(plan: Json, schedule: Json) -> bool:
    report = audit(plan, prove=False, schedule=schedule)
    return "schedule.dependency-not-kept" in {each.rule for each in report.findings}


@pytest.mark.parametrize("seed", range(40))
def test_every_event_is_needed_and_no_order_is_added(seed: int) -> None:
    random = Random(seed)
    plan, _ = draw(random)
    nodes = plan["nodes"]
    streams = [random.choice("abc") for _ in nodes]
    models = [FragmentNode.model_validate(node) for node in nodes]
    schedule = schedule_on(models, streams)
    assert order(schedule) == least(nodes, streams)
    assert not lost(plan, schedule)
    for index, action in enumerate(schedule["host"]):
        if "launch" not in action:
            without = copy.deepcopy(schedule)
            del without["host"][index]
            assert lost(plan, without), action


def test_the_first_pattern_that_matches_counts() -> None:
    assignment = parse_assignment("copy=node/*/load, compute=*")
    assert stream_of("node/l0/load", assignment) == "copy"
    assert stream_of("node/l0/gate", assignment) == "compute"
    assert stream_of("node/x", parse_assignment("copy=y")) is None
    for text in ("", "copy", "=*", "copy="):
        with pytest.raises(ValueError, match=r"no STREAM=PATTERN"):
            parse_assignment(text)
    for text in ("@=*", "a b=*", "ü=*", f"{'s' * 161}=*", "a=x,b~=*"):
        with pytest.raises(ValueError, match=r"no name of a stream"):
            parse_assignment(text)


def test_the_command_writes_what_an_audit_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "schedule.json"
    streams = "side=gate,main=*"
    status = run(["schedule", GATED, "--streams", streams, "--in-flight", "2", "-o", str(target)])
    assert status == 0
    document = json.loads(target.read_text())
    assert document["steps"] == {"in_flight": 2}
    assert run(["audit", GATED, "--schedule", str(target), "--no-prove"]) == 1
    assert "gated.json  (fragment, schedule)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([GATED, "--streams", "side=gate"], 2, "no pattern for the node norm"),
        ([GATED, "--streams", "side"], 2, "is no STREAM=PATTERN"),
        (["none.json", "--streams", "a=*"], 2, "There is no file none.json."),
    ],
)
def test_what_cannot_be_written_is_refused(
    arguments: list[str], status: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["schedule", *arguments]) == status
    assert words in capsys.readouterr().err


def test_a_schedule_takes_the_place_of_a_model(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    arguments = ["audit", GATED, "--schedule", "none.json", "--no-prove"]
    assert run([*arguments, "--execution", "fenced"]) == 2
    assert "give one of the two" in capsys.readouterr().err
    assert run(arguments) == 2
    assert "There is no file none.json." in capsys.readouterr().out
