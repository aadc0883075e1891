"""The definition of lost bytes, mechanism by mechanism, and the verifier held to it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from ferrum_verify import audit
from ferrum_verify.counterexamples.checking import check_counterexample
from tests.definition.agreement import compare
from tests.definition.bytes import faults
from tests.definition.drafts import (
    TOKENS,
    chain,
    fork,
    handed_in_late,
    merged,
    nodes_of,
    one_after_the_other,
    output_twice,
    plan,
    retained_in_a_wave,
    rows_of,
    scratch_unlisted,
    states_in_a_row,
    take,
    taken_twice,
    updated_and_retained,
)
from tests.definition.plan_nodes import UNIT, place_of, retained
from tests.definition.planning import settle, stamp
from tests.definition.runs import MODELS, moments
from tests.definition.sweep import mutants

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.definition.runs import Execution
    from tests.definition.sizes import Json

SAMPLE = 240


def kinds(document: Json) -> dict[str, set[str]]:
    """The kinds of faults under each model."""
    settle(document)
    return {model: {fault.kind for fault in faults(document, model)} for model in MODELS}


def in_all(*kinds_of_fault: str) -> dict[str, set[str]]:
    return {model: set(kinds_of_fault) for model in MODELS}


def test_moments_are_those_of_the_model() -> None:
    waits = (frozenset[int](), frozenset[int](), frozenset({0}))
    assert len(moments("in-order", waits)) == 7
    overlap = {
        model: any(m.runs(1) and m.runs(2) for m in moments(model, waits)) for model in MODELS
    }
    assert overlap == {"in-order": False, "fenced": True, "concurrent": True}
    barrier = (frozenset[int](), frozenset[int](), frozenset({1}))
    assert not any(m.runs(0) and m.runs(2) for m in moments("fenced", barrier))
    assert any(m.runs(0) and m.runs(2) for m in moments("concurrent", barrier))


@pytest.mark.parametrize("make", [chain, fork])
def test_a_sound_plan_loses_nothing(make: object) -> None:
    assert callable(make)
    assert kinds(make()) == in_all()


@pytest.mark.parametrize("lent", [("first",), ("first", "second")])
def test_a_value_in_lent_bytes_is_lost_when_another_node_is_lent_them(lent: tuple[str]) -> None:
    document = plan(
        ("a", [], ["in"], "first"),
        ("b", ["a"], ["in"], "second"),
        ("c", ["b"], ["first"], "third"),
    )
    for name in lent:
        rows_of(document)[f"r/{name}"]["lifetime"] = "invocation"
    lost = {"carried", "overwritten"} if "second" in lent else set()
    assert kinds(document) == in_all(*lost)


def test_a_lent_resource_is_one_however_many_rows_give_it() -> None:
    """Two nodes were lent it in different places, and the later one writes over the earlier."""
    document = plan(
        ("a", [], ["in"], "first"),
        ("b", ["a"], ["first"], "second"),
        ("c", ["b"], ["in"], "third"),
        ("d", ["c"], ["second", "third"], "fourth"),
    )
    for name in ("first", "second"):
        rows_of(document)[f"r/{name}"]["lifetime"] = "invocation"
    for each in nodes_of(document):
        for binding in each["values"]:
            if binding["value_id"] == "third":
                place_of(binding)["resource_id"] = "r/second"
    del rows_of(document)["r/third"]
    assert kinds(document) == in_all("overwritten")
    for model in MODELS:
        assert compare(document, model).name == "violated"


def test_an_input_stands_from_the_start() -> None:
    document = plan(
        ("a", [], ["in"], "first"),
        ("b", ["a"], ["first", "late"], "second"),
    )
    settle(document)
    pool = next(
        pool
        for pool in document["plan"]["payload"]["memory"]["dynamic_pools"]
        if len(pool["step_resource_slots"]) > 1
    )
    pool["step_resource_slots"] = [
        {"kind": "dedicated", "resource_ids": ["r/second"]},
        {"kind": "ordered_single_fence_step_wave", "resource_ids": ["r/first", "r/late"]},
    ]
    found = {fault.kind for fault in faults(document, "in-order")}
    assert {"shared", "overwritten"} <= found


def test_values_side_by_side_meet_when_they_grow() -> None:
    document = fork()
    for each in nodes_of(document):
        for binding in each["values"]:
            if binding["value_id"] == "right":
                place_of(binding).update({"resource_id": "r/left", "offset_bytes": UNIT})
    demand = {"tokens": {"bytes_per_token": UNIT * 2, "maximum_tokens": TOKENS}}
    rows_of(document)["r/left"]["demand"] = demand
    settle(document)
    fault = next(each for each in faults(document, "in-order") if each.kind == "overwritten")
    assert fault.shape is not None
    assert fault.shape.tokens == 2


def test_a_race_needs_nodes_that_run_at_once() -> None:
    document = fork()
    nodes_of(document)[1]["values"][0]["access"] = "read_write"
    assert kinds(document) == {"in-order": set(), "fenced": {"race"}, "concurrent": {"race"}}


def test_a_read_may_come_before_the_write() -> None:
    document = chain()
    nodes_of(document)[1]["dependencies"] = []
    found = kinds(document)
    assert found["in-order"] == set()
    assert {"race", "stale"} <= found["fenced"]
    assert {"race", "stale"} <= found["concurrent"]


def test_rows_have_bytes_for_every_step_and_sequence() -> None:
    document = chain()
    rows_of(document)["r/first"]["demand"] = {"fixed": {"bytes": UNIT}}
    assert kinds(document) == in_all("outside")
    document = chain()
    rows_of(document)["r/in"]["theoretical_maximum_instances"] = 1
    assert kinds(document) == in_all("instances")


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("make", "kind", "rule"),
    [
        (handed_in_late, "overwritten", "value.input-lost"),
        (taken_twice, "muddled", "value.outputs-collide"),
        (lambda: states_in_a_row(TOKENS - 1), "overwritten", "value.grows-into"),
    ],
    ids=["handed_in_late", "taken_twice", "states_in_a_row"],
)
def test_what_is_lost_is_said(
    make: Callable[[], Json], kind: str, rule: str, model: Execution
) -> None:
    document = make()
    assert kind in kinds(document)[model]
    errors = [e for e in audit(document, execution=model).findings if e.severity == "error"]
    shown = [e.counterexample for e in errors if e.rule == rule]
    assert shown
    for each in shown:
        assert each is not None
        assert check_counterexample(document, each, model)
    assert {each.judgment for each in errors} == {"safety"}


@pytest.mark.parametrize("model", MODELS)
def test_states_behind_one_another_are_apart(model: Execution) -> None:
    document = states_in_a_row(TOKENS)
    assert kinds(document) == in_all()
    assert audit(document, execution=model).verdict == "verified"
    report = audit(document["plan"], execution=model)
    assert report.verdict == "undecided"
    assert "value.growth-undecided" in {each.rule for each in report.findings}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: settle(updated_and_retained()), "value.retained-overwritten"),
        (lambda: settle(one_after_the_other()), "value.overlap"),
        (retained_in_a_wave, "slot.retained-shared"),
        (scratch_unlisted, "liveness.rows-not-derived"),
        (output_twice, "value.inconsistent"),
    ],
    ids=["in_place", "in_turn", "comes_last", "given", "unread"],
)
def test_what_the_engine_refuses_without_a_loss_is_conformance(
    make: Callable[[], Json], rule: str, model: Execution
) -> None:
    document = make()
    assert faults(document, model) == []
    errors = [e for e in audit(document, execution=model).findings if e.severity == "error"]
    assert rule in {each.rule for each in errors}
    assert {each.judgment for each in errors} == {"conformance"}


def over_what_is_read() -> Json:
    """The last node has its output over its own input, and does not say so."""
    document = one_after_the_other()
    body = document["plan"]["payload"]
    for holder in (
        place_of(nodes_of(document)[2]["values"][1]),
        *body["retained_completion_values"],
    ):
        holder["resource_id"] = "r/second"
    return settle(document)


def retained_and_given_away() -> Json:
    """What is retained shares a slot with the value that is written last."""
    document = chain()
    first = nodes_of(document)[0]
    entry = retained(first, first["values"][1])
    document["plan"]["payload"]["retained_completion_values"] = [entry]
    return merged(document)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (over_what_is_read, "value.overlap"),
        (retained_and_given_away, "slot.retained-shared"),
        (lambda: output_twice("second"), "value.inconsistent"),
    ],
    ids=["over_what_is_read", "retained_and_given_away", "read"],
)
def test_the_same_with_a_loss_is_safety(
    make: Callable[[], Json], rule: str, model: Execution
) -> None:
    document = make()
    assert faults(document, model)
    findings = [each for each in audit(document, execution=model).findings if each.rule == rule]
    assert {each.judgment for each in findings} == {"safety"}


def test_a_workspace_that_its_user_is_not_given_is_safety() -> None:
    document = scratch_unlisted()
    memory = document["plan"]["payload"]["memory"]
    rows = [row for pool in memory["dynamic_pools"] for row in pool["invocation_liveness"]]
    for row in (*rows, *memory["invocation_liveness"]):
        row["node_id"] = "b"
    stamp(document)
    assert {each.kind for each in faults(document, "fenced")} >= {"unclaimed"}
    rule = "liveness.rows-not-derived"
    findings = [each for each in audit(document).findings if each.rule == rule]
    assert {each.judgment for each in findings} == {"safety"}


@pytest.mark.parametrize("model", MODELS)
def test_a_value_that_is_written_again_before_it_is_read_is_there(model: Execution) -> None:
    document = plan(
        ("a", [], ["in"], "first"),
        ("b", ["a"], ["first"], "second"),
        ("c", ["b"], ["second"], "again"),
        ("d", ["c"], ["first"], "third"),
    )
    nodes = nodes_of(document)
    nodes[2]["values"][1]["value_id"] = "first"
    for each in nodes[1:3]:
        take(each, each["values"][0]["value_id"], each["values"][1])
        for binding in each["values"]:
            place_of(binding)["resource_id"] = "r/first"
    assert kinds(document) == in_all()
    assert audit(document["plan"], execution=model).verdict == "verified"
    run = [{"id": name, "start": 2 * at, "end": 2 * at + 1} for at, name in enumerate("abcd")]
    overwritten = {
        "kind": "access",
        "nodes": run,
        "resource": "r/first",
        "bytes": {"start": 0, "end": UNIT},
        "value": "first",
        "writer": {"node": "b"},
        "other": {"node": "d", "mode": "read"},
        "at": run[1]["start"],
    }
    assert not check_counterexample(document, overwritten, model)
    nodes[2]["values"][1]["value_id"] = "again"
    assert check_counterexample(document, overwritten, model)


@pytest.mark.parametrize("model", MODELS)
def test_verdicts_and_lost_bytes_agree(model: Execution) -> None:
    disagreements: Counter[tuple[str, str]] = Counter()
    for mutant in mutants(seed=1, count=SAMPLE):
        outcome = compare(mutant.document, model)
        if not outcome.agrees:
            disagreements[outcome.name, ", ".join(outcome.about)] += 1
    assert disagreements == {}
