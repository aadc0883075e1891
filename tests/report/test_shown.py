"""What is shown holds: every counterexample of every command is borne out, and changed ones not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import check_counterexample
from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.examples import broken_document, report_of
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts import check_contracts, compare_contracts
from ferrum_verify.counterexamples import Shape, ShapeCounterexample, checking
from ferrum_verify.report.shown import gate, shown
from tests.prove.span_bundles import told
from tests.report.findings import finding

if TYPE_CHECKING:
    from ferrum_verify.findings import Example
    from ferrum_verify.report.model import Report

WITH_EXAMPLE = [rule for rule in catalogue().values() if rule.example is not None]
CONCRETE = {
    "buffer.alias-outside",
    "buffer.out-of-arena",
    "buffer.overflow",
    "buffer.partial-overlap",
    "contract.plan-boundary-lost",
    "contract.plan-boundary-unreachable",
    "contract.plan-memory-growth",
    "contract.prefix-narrowed",
    "contract.span-beyond-step",
    "contract.span-unreachable",
    "contract.suffix-narrowed",
    "contract.workspace-exceeds-policy",
    "contract.workspace-formula",
    "value.grows-into",
    "value.overlap",
    "contract.workspace-size",
    "value.row-too-small",
    "value.state-row-too-small",
}
"""The rules that show a counterexample without the solver's help."""


def given_to(example: Example) -> tuple[Any, Any]:
    """What the command was given, as ``check_counterexample`` takes it: document and schedule."""
    document = broken_document(example)
    if example.sample == "schedule":
        return sample("fragment"), document
    if example.command != "contracts compare":
        return document, None
    pair = [sample(example.sample), document]
    base, head = reversed(pair) if example.reverse else pair
    return {"base": base, "head": head}, None


def changes(wire: dict[str, Any]) -> list[dict[str, Any]]:
    """The counterexample with one thing changed, so that it no longer holds."""
    match wire["kind"]:
        case "schedule" | "dependency" as kind:
            turned = {"node": wire.get("dependency"), "dependency": wire.get("node")}
            last = {"at": max(node["end"] for node in wire["nodes"])}
            nodes = wire["nodes"][1:]
            return [wire | (last if kind == "schedule" else turned), wire | {"nodes": nodes}]
        case "access":
            writer, other = wire["writer"], wire["other"]
            return [
                {**wire, "at": max(node["end"] for node in wire["nodes"])},
                {**wire, "nodes": wire["nodes"][1:]},
                {**wire, "writer": {"node": other["node"]}},
                {**wire, "other": {**other, "node": writer["node"]}},
                {**wire, "bytes": {"start": 2**64, "end": 2**64 + 1}},
            ]
        case "overlap":
            return [{**wire, "byte": wire["left"]["end"]}]
        case "shape" if wire.get("overflow"):
            return [{**wire, "shape": {**wire["shape"], "tokens": 0}}]
        case "shape":
            return [
                {**wire, "bytes": wire["bytes"] + 1},
                {**wire, "limit": wire["limit"] + 1},
                {**wire, "limit_from": f"{wire['limit_from']}/0"},
                {**wire, "limit_from": ""},
            ]
    count = "tokens" if "tokens" in wire else "boundary"
    permitted, refused = wire["permitted"], wire["refused"]
    side = "prefix" if "prefix" in permitted else "suffix"
    wider = {**permitted[side], "minimum_tokens": permitted[side]["minimum_tokens"] + 1}
    return [
        {**wire, count: 0},
        {**wire, "refused_by": wire["permitted_by"]},
        told({**wire, "permitted": refused, "refused": permitted}),
        told({**wire, "permitted": {**permitted, side: wider}}),
        told({**wire, "refused": permitted}),
    ]


@pytest.mark.parametrize("prove", [False, True])
@pytest.mark.parametrize("rule", WITH_EXAMPLE, ids=lambda rule: rule.id)
def test_the_counterexamples_of_an_example(rule: Any, prove: bool) -> None:
    example = rule.example
    document, schedule = given_to(example)
    report = report_of(example, prove=prove)
    found = [each for each in report.findings if each.counterexample is not None]
    if rule.id in CONCRETE or not prove:
        assert any(each.rule == rule.id for each in found) == (rule.id in CONCRETE)
    assert not [each for each in report.findings if "independent check" in each.message]
    for each in found:
        assert each.counterexample is not None
        wire = each.counterexample.to_wire()
        assert check_counterexample(document, wire, example.execution, schedule)
        for changed in changes(wire):
            holds = check_counterexample(document, changed, example.execution, schedule)
            assert not holds, changed


def test_each_limit_of_a_memory_plan_has_its_place() -> None:
    """With proofs on, shapes of these rules are refuted, and their pointers lead to the limit."""
    pool = "/memory/dynamic_pools/0"
    for rule, place, value in (
        ("liveness.peak", "/memory/dynamic_pools/3/minimum_invocation_peak_bytes", 512),
        ("pool.reusable-ceiling", f"{pool}/reusable_workspace_ceiling_bytes", 0),
        ("pool.ceiling", f"{pool}/theoretical_ceiling_bytes", 64),
        ("reusable.budget", "/memory/reusable_execution/buckets/1/pool_budgets/0/step_bytes", 896),
    ):
        fragment = sample("fragment")
        apply_edits(fragment, {place: value})
        (found,) = [each for each in audit(fragment).findings if each.rule == rule]
        assert isinstance(found.counterexample, ShapeCounterexample)
        assert (found.counterexample.limit, found.counterexample.limit_from) == (value, place)
        assert check_counterexample(fragment, found.counterexample)
        elsewhere = replace(found.counterexample, limit_from=f"{pool}/pool_id")
        assert not check_counterexample(fragment, elsewhere)
        # In a bundle the plan stands deeper, and its pointers with it.
        inside = replace(found.counterexample, limit_from=f"/plan{place}")
        assert check_counterexample({"plan": fragment}, inside)


def test_separate_documents_are_checked_as_a_bundle() -> None:
    documents = {name: sample(name) for name in ("catalog", "program", "policy")}
    providers = documents["catalog"]["providers"]["operation.attention"]
    for provider in providers:
        boundaries = provider["checkpoint_capability"]["completed_boundary"]["boundaries"]
        boundaries["prefix"]["alignment"] = 512
    report = check_contracts(documents["catalog"], documents["program"], documents["policy"])
    found = [each.counterexample for each in report.findings if each.counterexample is not None]
    assert found
    assert all(check_counterexample(documents, each) for each in found)
    # Nothing in the catalog alone says how many tokens a state holds.
    assert not any(check_counterexample(documents["catalog"], each) for each in found)


def test_a_refused_counterexample_is_not_shown() -> None:
    fragment = sample("fragment")
    wrong = ShapeCounterexample(Shape(1, 1, 1), bytes=2, limit=1, limit_from="/memory")
    given = [finding(counterexample=wrong, location="/a"), finding(location="/b")]
    first, said, last = shown(given, gate(fragment))
    assert (first, last) == (replace(given[0], counterexample=None), given[1])
    assert (said.rule, said.location) == ("integrity.proof-disagreement", "/a")
    assert said.counterexample is None
    assert given[0].rule in said.message


def reports() -> list[Report]:
    """A report of each command that shows counterexamples where the evaluator accepts them."""
    rules = catalogue()
    growth = rules["contract.plan-memory-growth"].example
    unreachable = rules["contract.span-unreachable"].example
    shared = rules["slot.shared-while-live"].example
    assert growth is not None
    assert unreachable is not None
    assert shared is not None
    before, after = sample("bundle"), broken_document(growth)
    return [
        audit(broken_document(shared), execution=shared.execution),
        check_contracts(broken_document(unreachable)),
        compare_contracts(before, after, [before, after]),
    ]


def test_every_command_has_the_same_gate(monkeypatch: pytest.MonkeyPatch) -> None:
    for report in reports():
        assert any(each.counterexample is not None for each in report.findings)
    monkeypatch.setattr(checking, "check_counterexample", lambda *_: False)
    for report in reports():
        rules = {each.rule for each in report.findings}
        assert all(each.counterexample is None for each in report.findings)
        assert rules & {"integrity.proof-disagreement", "integrity.proof-undecided"}
