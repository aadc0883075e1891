"""Audits of buffer plans: under schedules, in all formats, and of many buffers."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify import (
    FerrumVerifyError,
    audit,
    best_slots,
    check_counterexample,
    compile_program_bindings,
    derive_sequence_checkpoint,
)
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.report.formats import FORMATS, render
from tests.buffer_plans import Json, buffer, node, plan


def schedule(*host: Json, **more: Any) -> Json:
    return {"schema": "ferrum-verify/schedule/v1", "host": list(host), **more}


def launch(name: str, stream: str) -> Json:
    return {"launch": name, "stream": stream}


PLAN = plan(
    [buffer("x", 0, live_in=True), buffer("y", 8), buffer("z", 0, live_out=True)],
    [node("i0", "x", "y"), node("i1", "y", "z", "i0")],
)
APART = (launch("i0", "one"), launch("i1", "two"))
WAITING = (
    launch("i0", "one"),
    {"record": "done", "stream": "one"},
    {"wait": "done", "stream": "two"},
    launch("i1", "two"),
)


def told(report: Any) -> set[str]:
    return {each.rule for each in report.findings if each.severity != "note"}


def test_a_schedule_takes_the_place_of_the_execution_model() -> None:
    report = audit(PLAN, schedule=schedule(*WAITING))
    assert (report.verdict, told(report)) == ("verified", set())
    under = schedule(*APART)
    report = audit(PLAN, schedule=under)
    assert told(report) == {
        "schedule.dependency-not-kept",
        "buffer.shared-while-live",
        "buffer.race",
    }
    for finding in report.findings:
        if finding.counterexample is not None:
            assert check_counterexample(PLAN, finding.counterexample, schedule=under)
            assert not check_counterexample(
                PLAN, finding.counterexample, schedule=schedule(*WAITING)
            )
            assert {each["stream"] for each in finding.counterexample.to_wire()["nodes"]} == {
                "one",
                "two",
            }


def test_the_host_reads_what_it_waited_for() -> None:
    reading = {"access": "z", "mode": "read", "name": "out"}
    report = audit(PLAN, schedule=schedule(*WAITING, reading))
    assert told(report) == {"buffer.race"}
    waiting = {"synchronize": {"stream": "two"}}
    assert audit(PLAN, schedule=schedule(*WAITING, waiting, reading)).verdict == "verified"


def test_several_steps_are_left_open() -> None:
    report = audit(PLAN, schedule=schedule(*WAITING, steps={"in_flight": 2}))
    assert (report.verdict, told(report)) == ("undecided", {"buffer.one-step"})


def test_a_schedule_of_another_plan_is_told() -> None:
    report = audit(PLAN, schedule=schedule(*WAITING[:3], launch("other", "two")))
    assert {"schedule.node-not-launched", "schedule.unknown-node"} <= told(report)
    report = audit(PLAN, schedule=schedule(*WAITING, launch("i0", "one")))
    assert told(report) == {"schedule.launched-again"}


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_tells_of_a_clash(form: Any) -> None:
    document = sample("buffer-plan")
    document["buffers"][2]["offset"] = 4096
    text = render(audit(document), form)
    assert "buffer.shared-while-live" in text


def test_a_chain_of_many_aliases_and_many_conditions_is_judged_in_time() -> None:
    count = 3_000
    buffers = [buffer("b0", 0, 8)]
    buffers += [buffer(f"b{i}", None, 8, alias_of=f"b{i - 1}") for i in range(1, count)]
    nodes = [node("first", "", "b0")]
    nodes += [node(f"n{i}", f"b{i}", "", arms=f"c{i}=then") for i in range(1, count)]
    assert audit(plan(buffers, nodes), "in-order", prove=False).verdict == "verified"


def test_combinations_of_arms_are_bounded() -> None:
    arms = [f"c{i}=x" for i in range(24)]
    nodes = [node(f"n{i}", "", f"p{i}", arms=each) for i, each in enumerate(arms)]
    nodes += [node(f"e{i}", arms=f"c{i}=y") for i, _ in enumerate(arms)]
    buffers = [buffer("b", 0, 25)]
    buffers += [buffer(f"p{i}", i, 1, alias_of="b") for i, _ in enumerate(arms)]
    report = audit(plan(buffers, [*nodes, node("last", "b")]), "in-order", prove=False)
    assert told(report) <= {"buffer.read-before-write", "buffer.undecided"}
    assert report.verdict in ("violated", "undecided")


def test_what_is_no_plan_of_the_engine_is_refused_by_commands_that_need_one() -> None:
    for ask in (best_slots, compile_program_bindings, derive_sequence_checkpoint):
        with pytest.raises(FerrumVerifyError, match="buffer-plan"):
            ask(PLAN)


def test_who_reads_without_waiting_races_and_loses_nothing_else() -> None:
    """Two that read bytes of two buffers at once take nothing from each other."""
    buffers = [
        buffer("x", 0, 8, live_in=True),
        buffer("h", 8, 8),
        buffer("y", 0, 8, live_out=True),
    ]
    document = plan(buffers, [node("a", "x", "h"), node("b", "h", "y", "a")])
    reading = {"access": "y", "mode": "read", "name": "host"}
    under = schedule(launch("a", "one"), launch("b", "one"), reading)
    report = audit(document, schedule=under)
    assert [each.rule for each in report.findings if each.severity == "error"] == ["buffer.race"]
