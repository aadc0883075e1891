"""The engine's own execution plans, as they are and with one thing changed in each."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify.auditing.audit import audit
from tests.vectors import cases

PLANS = cases("execution-plans")

# What each change breaks. The rules are those that only full plans and their sources can break,
# and of a change that none of these sees, the one rule of another family that does.
EXPECTED: dict[str, set[str]] = {
    "intact": set(),
    "alias_claimed": {"value.false-alias"},
    "component_shorter_than_tensor": {"value.malformed"},
    "dependency_later": {"graph.cycle"},
    "dependency_on_itself": {"graph.cycle"},
    "dependency_unknown": {"graph.unknown-dependency"},
    "estimate_edited": {"integrity.estimate-fingerprint"},
    "estimate_of_other_provider": {"contract.estimate-of-other-provider"},
    "fingerprint_not_hex": {"wire.fingerprint"},
    "hash_forged": {"integrity.plan-hash"},
    "implementation_fingerprint_short": {"wire.fingerprint"},
    "no_nodes": {"graph.no-nodes"},
    "node_repeated": {"graph.duplicate-node"},
    "nodes_reversed": {"graph.later-dependency"},
    "payload_edited_without_rehash": {"integrity.plan-hash", "contract.policy-limit"},
    "payload_unknown_key": {"wire.unknown-field"},
    "persistent_static_wrong_node": {"contract.workspace-kind"},
    "plan_id_forged": {"integrity.plan-id"},
    "pool_minimum_tampered": {"pool.sequence-minimum"},
    "resource_dropped": {"graph.resources-differ"},
    "resource_repeated": {"graph.resources-not-canonical"},
    "resource_unknown": {"graph.unknown-resource"},
    "resources_unsorted": {"graph.resources-not-canonical"},
    "scratch_estimate_grown": {"contract.workspace-size"},
    "scratch_identity_dropped": {"graph.workspaces-differ"},
    "selected_also_rejected": {"graph.selected-rejected"},
    "selection_reason_inconsistent": {"graph.selection-reason"},
    "state_effect_access": {"graph.state-effect-access"},
    "state_effect_lifetime": {"graph.state-effect-lifetime"},
    "usable_off_by_one": {"capacity.usable-mismatch"},
    "value_unknown_key": {"wire.unknown-field"},
    "values_overlap": {"value.overlap", "graph.unreferenced-resource"},
    "work_without_projections": {
        "graph.work-without-projections",
        "contract.program-node-differs",
    },
    "zero_scheduled_tokens": {"capacity.no-scheduled-tokens"},
}

# Where nodes or their lists are gone, the rows that were derived from them no longer follow.
CONSEQUENCES = {"slot.unused-resource", "liveness.rows-not-derived", "reusable.no-nodes"} | {
    "binding.owner"
}
MAY_HAVE_CONSEQUENCES = {"no_nodes", "resource_dropped", "scratch_identity_dropped"}


def told(case: dict[str, Any]) -> set[str]:
    report = audit(case["bundle"], prove=False)
    return {finding.rule for finding in report.findings if finding.severity != "note"}


def test_the_fixture_is_whole() -> None:
    assert len(PLANS) == 485
    assert sum(case["expect"]["conformant"] for case in PLANS) == 104


@pytest.mark.parametrize("mutation", sorted({case["mutation"] for case in PLANS}))
def test_judged_as_the_engine_judges(mutation: str) -> None:
    for case in PLANS:
        if case["mutation"] != mutation:
            continue
        report = audit(case["bundle"], prove=False)
        expected = case["expect"]
        errors = {f.family for f in report.findings if f.severity == "error"}
        assert report.verdict == ("verified" if expected["conformant"] else "violated"), case["id"]
        assert expected["conformant"] or errors & set(expected["families"]), case["id"]


@pytest.mark.parametrize("mutation", sorted(EXPECTED))
def test_one_cause_breaks_one_rule(mutation: str) -> None:
    for case in PLANS:
        if case["mutation"] != mutation:
            continue
        found = told(case)
        if mutation in MAY_HAVE_CONSEQUENCES:
            found -= CONSEQUENCES
        if mutation == "values_overlap":
            # What the values of the reference are made for is no fault of the mutation.
            found -= {"value.request-lifetime"}
        if mutation == "values_overlap" and "slot.unused-resource" in found:
            # Of a Step resource that nobody uses, the slot rules speak.
            assert found == {"value.overlap", "slot.unused-resource"}
            continue
        assert found == EXPECTED[mutation], case["id"]


@pytest.mark.parametrize("expected", [True, False], ids=["kept", "moved"])
def test_an_invented_retained_value(expected: bool) -> None:
    chosen = [
        case
        for case in PLANS
        if case["mutation"] == "retained_value_invented"
        and case["expect"]["conformant"] == expected
    ]
    assert chosen
    for case in chosen:
        assert told(case) == (set() if expected else {"value.retained-differs"}), case["id"]


def test_every_mutation_is_expected() -> None:
    assert {case["mutation"] for case in PLANS} == {*EXPECTED, "retained_value_invented"}
