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
from ferrum_verify.report.formats import Screen, render
from ferrum_verify.report.hiding import hide
from models.schemas import LATEST
from tests.report.findings import finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.report.model import Report

MOST_LINES = 40


@cache
def _sound(schema: str = LATEST) -> Any:
    return models.bundle("llama-3.1-8b", layers=2, schema=schema)


@pytest.fixture(scope="module")
def payload() -> Any:
    return _sound()["plan"]["payload"]


def edited(change: Callable[[Any], None], *, stamped: bool = True, schema: str = LATEST) -> Any:
    document = deepcopy(_sound(schema))
    change(document["plan"]["payload"])
    if stamped:
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
@pytest.mark.parametrize("in_pools", [False, True])
def test_one_descriptor_renamed(payload: Any, index: int, in_pools: bool) -> None:
    name = payload["memory"]["dynamic_descriptors"][index]["base_resource_id"]

    def change(plan: Any) -> None:
        plan["memory"]["dynamic_descriptors"][index]["base_resource_id"] = f"{name}x"
        for pool in plan["memory"]["dynamic_pools"] if in_pools else ():
            ids = pool["resource_ids"]
            pool["resource_ids"] = [f"{name}x" if each == name else each for each in ids]

    report = told(edited(change))
    first = report.findings[0]
    assert first.rule == "graph.unknown-resource"
    row = f"/plan/payload/memory/dynamic_descriptors/{index}/base_resource_id"
    assert (first.location, first.expected, first.actual) == (row, name, f"{name}x")
    assert first.fix is not None
    assert first.fix.startswith(f"Rename `{name}x` to `{name}` in the memory plan")
    assert alone(report) == ["graph.unknown-resource"]


def test_a_row_of_a_memory_plan_alone_that_was_renamed(payload: Any) -> None:
    memory = deepcopy(payload["memory"])
    memory["dynamic_descriptors"][5]["base_resource_id"] += "x"
    first = told(memory).findings[0]
    assert first.rule == "pool.members"
    assert first.location == "/dynamic_descriptors/5/base_resource_id"
    assert "Rename `resource/activation/l0000/kx`" in (first.fix or "")


def forgotten(index: int) -> Callable[[Any], None]:
    """A node removed with its name: who waited for it waits for what it waited for."""

    def change(plan: Any) -> None:
        gone = plan["nodes"].pop(index)
        for node in plan["nodes"]:
            if gone["id"] in node["dependencies"]:
                node["dependencies"].remove(gone["id"])
                node["dependencies"] = sorted({*node["dependencies"], *gone["dependencies"]})

    return change


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("index", range(25))
def test_one_node_removed(payload: Any, index: int, stamped: bool) -> None:
    name = payload["nodes"][index]["id"]
    document = edited(lambda plan: plan["nodes"].pop(index), stamped=stamped)
    report = told(document)
    assert f"The plan lacks `{name}`" in report.findings[0].message
    assert alone(report) == ["contract.program-nodes"]
    report = told(document["plan"])
    assert f"The plan lacks `{name}`" in report.findings[0].message
    assert alone(report) == ["checkpoint.layout-differs"]


@pytest.mark.parametrize("index", range(25))
def test_one_node_removed_and_no_dependency_names_it(payload: Any, index: int) -> None:
    name = payload["nodes"][index]["id"]
    document = edited(forgotten(index))
    report = told(document)
    assert f"The plan lacks `{name}`" in report.findings[0].message
    assert alone(report) == ["contract.program-nodes"]
    report = told(document["plan"])
    assert f"The plan lacks `{name}`" in report.findings[0].message
    assert "value.input-lost" not in alone(report)


@pytest.mark.parametrize(
    ("index", "change", "rule", "said"),
    [
        (5, None, "graph.unknown-dependency", "waits for `node/l0000/attn`, which is no node"),
        (5, forgotten, "binding.owner", "belongs to `node/l0000/attn`, which is no node"),
        (7, forgotten, "reusable.executables", "200 device executables, those of 25 nodes, but 24"),
        (24, None, "value.retained-unproduced", "`node/head`, its producer, is no node"),
    ],
)
def test_a_node_removed_from_a_plan_that_names_its_nodes_nowhere(
    index: int, change: Any, rule: str, said: str
) -> None:
    remove = change(index) if change else lambda plan: plan["nodes"].pop(index)
    report = told(edited(remove, schema="5.0")["plan"])
    assert report.findings[0].rule == rule
    assert said in report.findings[0].message
    assert alone(report) == [rule]


def test_executables_of_more_nodes_than_there_are_explain_nothing_in_a_sound_plan() -> None:
    def change(plan: Any) -> None:
        plan["memory"]["reusable_execution"]["maximum_device_executables"] = 208

    report = told(edited(change))
    assert alone(report) == ["reusable.executables"]
    assert all(each.cause is None for each in report.findings)


def exchanged(left: int, right: int) -> Callable[[Any], None]:
    def change(plan: Any) -> None:
        nodes = plan["nodes"]
        nodes[left], nodes[right] = nodes[right], nodes[left]

    return change


@pytest.mark.parametrize("stamped", [True, False])
@pytest.mark.parametrize("part", ["plan", None])
@pytest.mark.parametrize("pair", [(3, 4), (2, 4), (8, 9), (0, 1), (2, 9), (23, 24)])
def test_two_nodes_in_another_order(
    payload: Any, pair: tuple[int, int], part: str | None, stamped: bool
) -> None:
    document = edited(exchanged(*pair), stamped=stamped)
    report = told(document if part is None else document[part])
    first, names = report.findings[0], [payload["nodes"][each]["id"] for each in pair]
    if first.rule != "graph.later-dependency":
        assert first.rule == "checkpoint.layout-differs"
        assert "stand in another order than its checkpoint layout names them" in first.message
        assert f"the plan has `{names[1]}`, the layout has `{names[0]}`" in first.message
    assert alone(report) == [first.rule]


def test_the_order_of_a_program_and_of_slots_tells_of_two_nodes() -> None:
    document = edited(exchanged(3, 4), schema="5.0")
    first = told(document).findings[0]
    assert first.rule == "slot.not-derived"
    assert "the plan has `node/l0000/v`, the program has `node/l0000/k`" in first.message
    first = told(document["plan"]).findings[0]
    assert "if `node/l0000/v` and `node/l0000/k` stood in each other's place" in first.message


@pytest.mark.parametrize("judge", ["all", "safety", "conformance"])
def test_order_that_was_not_judged_is_said(judge: Any) -> None:
    document = edited(lambda plan: plan["nodes"][24]["dependencies"].append("node/lost"))
    report = audit(document, prove=False, judge=judge)
    (open_,) = (each for each in report.findings if each.rule == "graph.order-not-judged")
    assert (open_.undecided, open_.cause) == (True, None)
    assert "because of 1 of graph.unknown-dependency" in open_.message
    assert report.verdict == ("undecided" if judge == "safety" else "violated")
    assert {slot.fenced for slot in report.documents[0].slots} == {None}


@pytest.mark.parametrize("dependency", PROVED)
@pytest.mark.parametrize("execution", ["fenced", "concurrent"])
def test_what_follows_has_its_counterexample_where_a_run_shows_it(
    dependency: tuple[int, str], execution: Any
) -> None:
    index, name = dependency
    document = edited(lambda plan: plan["nodes"][index]["dependencies"].remove(name))
    report = audit(document, execution=execution)
    pairs = [each for each in report.findings if each.rule == "slot.shared-while-live"]
    assert {each.cause for each in pairs} == {0}
    for each in pairs:
        kept_apart = "only the order of other nodes keeps them apart" in each.message
        assert (each.counterexample is None) == kept_apart
    shown = [each for each in pairs if each.counterexample is not None]
    assert shown
    text = render(report, "text", Screen(show_all=True))
    every = sum(each.counterexample is not None for each in report.findings)
    assert text.count("counterexample:") == every
    selected, _ = hide(report, "ignored", lambda _, each: None if each in pairs else "another")
    assert "counterexample:" in render(selected, "text")


def node_of(payload: Any, name: str) -> Any:
    return next(node for node in payload["nodes"] if node["id"] == name)


def row_of(payload: Any, name: str) -> Any:
    rows = payload["memory"]["dynamic_descriptors"]
    return next(row for row in rows if row["base_resource_id"] == name)


def widen(payload: Any) -> None:
    node_of(payload, "node/l0000/gate")["values"][0]["access"] = "read_write"


def narrow(payload: Any) -> None:
    node_of(payload, "node/l0000/gate")["values"][2]["access"] = "read"


def bind_another(payload: Any) -> None:
    node_of(payload, "node/l0000/down")["values"][0]["value_id"] = "value/l0000/gate"


def halve(payload: Any) -> None:
    row_of(payload, "resource/activation/l0000/gate")["demand"]["tokens"]["bytes_per_token"] //= 2


def align(payload: Any) -> None:
    row_of(payload, "resource/activation/l0000/gate")["alignment_bytes"] = 128


def halve_workspace(payload: Any) -> None:
    row_of(payload, "resource/scratch/l0000/down")["demand"]["tokens"]["bytes_per_token"] //= 2


def halve_weight(payload: Any) -> None:
    row = payload["memory"]["static_allocations"][0]
    for size in ("per_instance_bytes", "instance_stride_bytes", "size_bytes"):
        row[size] //= 2


def halve_bucket(payload: Any) -> None:
    bucket = payload["memory"]["reusable_execution"]["buckets"][2]["bucket"]
    bucket["capacity"]["maximum_tokens"] //= 2


@pytest.mark.parametrize(
    ("change", "cause", "follow"),
    [
        (widen, "contract.port-differs", {"value.race"}),
        (narrow, "contract.port-differs", {"value.malformed"}),
        (
            bind_another,
            "contract.program-values-differ",
            {"graph.work-unmatched-projection", "value.overwritten"},
        ),
        (halve_workspace, "contract.workspace-size", {"pool.ceiling"}),
        (halve, "value.row-too-small", set()),
        (halve_weight, "value.exceeds-resource", set()),
        (align, "contract.value-misaligned", {"descriptor.foreign-pool"}),
        (halve_bucket, "contract.policy-reusable-execution", set()),
    ],
)
def test_what_the_plan_was_made_from_leads_and_sums_come_last(
    change: Callable[[Any], None], cause: str, follow: set[str]
) -> None:
    findings = told(edited(change, stamped=False)).findings
    assert findings[0].rule == cause
    followers = {each.rule for each in findings if each.cause == 0}
    assert followers == {*follow, "integrity.plan-hash"}


def test_two_unknown_names_are_two_causes() -> None:
    def mislay(payload: Any) -> None:
        payload["nodes"][5]["dependencies"].append("node/zzz")
        payload["nodes"][20]["dependencies"].append("node/yyy")

    causes = alone(told(edited(mislay)))
    assert causes.count("graph.unknown-dependency") == 2


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
