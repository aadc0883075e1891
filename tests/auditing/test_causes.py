"""Five mistakes of a planner: the first finding is the mistake, and the text is short."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify.auditing.audit import audit
from ferrum_verify.auditing.causes import MOST_TRIALS
from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.findings.ordering import causes_first, of_places
from ferrum_verify.report.formats import render
from tests.report.findings import finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.report.model import Report

MOST_LINES = 40


@cache
def _sound() -> Any:
    return models.bundle("llama-3.1-8b", layers=2)


@pytest.fixture(scope="module")
def payload() -> Any:
    return _sound()["plan"]["payload"]


def edited(change: Callable[[Any], None]) -> Any:
    document = deepcopy(_sound())
    change(document["plan"]["payload"])
    restamp(document)
    return document


def told(document: Any, *, prove: bool = False) -> Report:
    report = audit(document, prove=prove)
    text = render(report, "text")
    assert len(text.splitlines()) <= MOST_LINES, text
    return report


def alone(report: Report) -> list[str]:
    """The rules of the errors that follow from no other finding."""
    errors = [each for each in report.findings if each.severity == "error"]
    return [each.rule for each in errors if each.cause is None]


def slots_of(payload: Any) -> Any:
    (slots,) = (
        pool["step_resource_slots"]
        for pool in payload["memory"]["dynamic_pools"]
        if len(pool["step_resource_slots"]) > 1
    )
    return slots


def every_dependency() -> list[tuple[int, str]]:
    nodes = _sound()["plan"]["payload"]["nodes"]
    return [(index, name) for index, node in enumerate(nodes) for name in node["dependencies"]]


PAIRS = list(combinations(range(5), 2))
PROVED = [(6, "node/l0000/attn"), (12, "node/l0000/down")]


@pytest.mark.parametrize(("index", "name"), every_dependency())
def test_one_dependency_removed(payload: Any, index: int, name: str) -> None:
    def change(plan: Any) -> None:
        plan["nodes"][index]["dependencies"].remove(name)

    report = told(edited(change), prove=(index, name) in PROVED)
    node = payload["nodes"][index]
    if report.verdict == "verified":
        # The node waits for it through another one.
        others = {each["id"]: set(each["dependencies"]) for each in payload["nodes"]}
        reached, front = set[str](), set(node["dependencies"]) - {name}
        while front:
            reached |= front
            front = set().union(*(others[each] for each in front)) - reached
        assert name in reached
        return
    first = report.findings[0]
    assert first.rule == "graph.read-before-write"
    assert f"`{node['id']}`" in first.message
    assert f"`{name}`" in first.message
    assert alone(report) == ["graph.read-before-write"]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("in_order", [True, False])
def test_two_slots_merged(pair: tuple[int, int], in_order: bool) -> None:
    def change(plan: Any) -> None:
        slots = slots_of(plan)
        left, right = slots[pair[0]], slots.pop(pair[1])
        left["resource_ids"] += right["resource_ids"]
        if in_order:
            left["resource_ids"].sort()
            slots.sort(key=lambda slot: slot["resource_ids"])

    report = told(edited(change))
    assert report.findings[0].rule == "slot.not-derived"
    assert "the engine has one more slot, for" in report.findings[0].message
    assert alone(report) == ["slot.not-derived"]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("place", [0, -1])
def test_two_members_swapped(payload: Any, pair: tuple[int, int], place: int) -> None:
    def change(plan: Any) -> None:
        left, right = (slots_of(plan)[index]["resource_ids"] for index in pair)
        left[place], right[place] = right[place], left[place]

    report = told(edited(change))
    first = report.findings[0]
    assert first.rule == "slot.not-derived"
    for here, there in (pair, pair[::-1]):
        name = slots_of(payload)[there]["resource_ids"][place]
        assert f"`{name}`: slot {here}, the engine has slot {there}" in first.message
    assert alone(report) == ["slot.not-derived"]


@pytest.mark.parametrize("index", range(32))
def test_one_descriptor_renamed(payload: Any, index: int) -> None:
    name = payload["memory"]["dynamic_descriptors"][index]["base_resource_id"]

    def change(plan: Any) -> None:
        plan["memory"]["dynamic_descriptors"][index]["base_resource_id"] = f"{name}x"

    report = told(edited(change))
    first = report.findings[0]
    assert first.rule == "pool.members"
    assert f"`{name}x`" in first.message
    assert f"`{name}`" in first.message
    assert alone(report) == ["pool.members"]


@pytest.mark.parametrize("index", range(25))
def test_one_node_removed(payload: Any, index: int) -> None:
    name = payload["nodes"][index]["id"]
    report = told(edited(lambda plan: plan["nodes"].pop(index)))
    first = report.findings[0]
    assert first.rule == "contract.program-nodes"
    assert f"`{name}`" in first.message
    if name not in ("node/embedding", "node/head"):  # no other node is like them
        assert alone(report) == ["contract.program-nodes"]


def test_a_plan_without_its_program_that_lost_a_node() -> None:
    plan = edited(lambda plan: plan["nodes"].pop(5))["plan"]
    report = told(plan)
    assert report.findings[0].rule == "graph.unknown-dependency"
    assert "`node/l0000/attn`, which is no node" in report.findings[0].message


def test_two_mistakes_have_two_causes() -> None:
    def change(plan: Any) -> None:
        plan["nodes"][6]["dependencies"].remove("node/l0000/attn")
        slots = slots_of(plan)
        left, right = slots[0]["resource_ids"], slots[1]["resource_ids"]
        left[-1], right[-1] = right[-1], left[-1]

    report = audit(edited(change), prove=False)
    assert alone(report) == ["graph.read-before-write", "slot.not-derived"]
    causes = {each.cause for each in report.findings if each.rule == "slot.shared-while-live"}
    assert causes == {0, 1}


def test_a_hash_that_no_longer_fits_follows_from_what_was_edited() -> None:
    document = deepcopy(_sound())
    document["plan"]["payload"]["nodes"][6]["dependencies"].remove("node/l0000/attn")
    report = told(document)
    assert alone(report) == ["graph.read-before-write"]
    assert {each.cause for each in report.findings if each.family == "integrity"} == {0}


def test_slots_that_the_engine_derives_cause_nothing() -> None:
    report = audit(models.bundle("qwen3.5-4b", layers=2), execution="concurrent", prove=False)
    assert report.verdict == "violated"
    assert all(each.cause is None for each in report.findings)


def test_more_causes_than_are_tried_change_no_verdict() -> None:
    def change(plan: Any) -> None:
        for node in plan["nodes"]:
            node["dependencies"] = []

    report = audit(edited(change), prove=False)
    lost = [each for each in report.findings if each.rule == "graph.read-before-write"]
    assert len(lost) > MOST_TRIALS
    assert report.verdict == "violated"
    assert len({each.cause for each in report.findings} - {None}) <= MOST_TRIALS


def test_of_safety_alone_nothing_follows_from_what_is_not_told() -> None:
    def change(plan: Any) -> None:
        slots = slots_of(plan)
        slots[0]["resource_ids"] += slots.pop(1)["resource_ids"]

    report = audit(edited(change), prove=False, judge="safety")
    assert {each.rule for each in report.findings if each.severity == "error"} == {
        "slot.shared-while-live"
    }
    assert all(each.cause is None for each in report.findings)
    text = render(report, "text")
    assert "… and 6 more of slot.shared-while-live, in 1 slot. --all shows them." in text


def test_the_json_names_the_cause_by_its_place() -> None:
    document = edited(lambda plan: plan["nodes"][6]["dependencies"].remove("node/l0000/attn"))
    findings = json.loads(render(audit(document, prove=False), "json"))["documents"][0]["findings"]
    assert "cause" not in findings[0]
    caused = [each for each in findings if each.get("cause") == 0]
    assert [each["rule"] for each in caused].count("slot.shared-while-live") == 12


def test_causes_come_first_and_keep_what_follows() -> None:
    note = finding("note", severity="note")
    other, cause = finding("other"), finding("cause")
    told = causes_first([note, finding("first", cause=3), other, cause])
    assert [each.message for each in told] == ["cause", "other", "note", "first"]
    assert told[3].cause == 0
    assert [each.cause for each in of_places(told, [1, 2, 3])] == [None, None, None]
    assert [each.cause for each in of_places(told, [0, 2, 3])] == [None, None, 0]
