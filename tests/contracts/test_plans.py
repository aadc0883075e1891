"""Plans re-judged under HEAD: checkpoints, boundaries, what breaks, and what only is rebuilt."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import derive_sequence_checkpoint
from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts import compare_contracts
from ferrum_verify.counterexamples import SpanCounterexample
from ferrum_verify.counterexamples.checking import check_counterexample
from tests.contracts.catalogs import KINDS, Kind, attention, catalog, contract_of, kind_of

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding
    from ferrum_verify.report.model import DocumentReport

Json = dict[str, Any]


def bundle() -> Json:
    """The sample bundle, with the catalog that the kinds are applied to."""
    document: Json = sample("bundle")
    document["catalog"] = catalog()
    capabilities = document["catalog"]["device"]["capabilities"]
    capabilities.append("capability.spare")
    restamp(document)
    return document


def with_catalog(document: Json, edit: Any) -> Json:
    """The same plan as it would be compiled with an edited catalog."""
    head = deepcopy(document)
    edit(head["catalog"])
    restamp(head)
    for node in head["plan"]["payload"]["nodes"]:
        for provider in head["catalog"]["providers"].get(node["operation_id"], []):
            if provider["provider_id"] == node["selection"]["selected_provider"]:
                node["provider_implementation_fingerprint"] = provider[
                    "provider_implementation_fingerprint"
                ]
    restamp(head)
    return head


def plan_report(base: Json, head: Json, *plans: Json, prove: bool = False) -> DocumentReport:
    report = compare_contracts(base["catalog"], head["catalog"], plans or [base], prove=prove)
    assert len(report.documents) == 2
    return report.documents[1]


def by_rule(report: DocumentReport) -> dict[str, Finding]:
    found = {kind_of(finding): finding for finding in report.findings}
    assert len(found) == len(report.findings), "each rule at most once in these tests"
    return found


def spans_of(document: Json, side: str) -> list[tuple[int, int]]:
    spans = []
    for node in document["plan"]["payload"]["nodes"]:
        providers = document["catalog"]["providers"][node["operation_id"]]
        (selected,) = (
            each
            for each in providers
            if each["provider_id"] == node["selection"]["selected_provider"]
        )
        boundaries = selected["checkpoint_capability"]["completed_boundary"]["boundaries"]
        spans.append((boundaries[side]["minimum_tokens"], boundaries[side]["alignment"]))
    return spans


def legal(document: Json, side: str, most: int = 10_000) -> list[int]:
    """The counts that every provider of the plan permits, found by trying all of them."""
    spans = spans_of(document, side)
    return [n for n in range(1, most + 1) if all(n >= m and n % a == 0 for m, a in spans)]


PLAN_KINDS = [kind for kind in KINDS if kind.name not in ("provider", "profile", "format")]


@pytest.mark.parametrize("kind", PLAN_KINDS, ids=lambda kind: kind.name)
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_checkpoints_before_and_after(kind: Kind, direction: str) -> None:
    base = bundle()
    head = with_catalog(base, kind.edit)
    if direction == "backward":
        base, head = head, base
    report = plan_report(base, head, prove=True)
    assert report.obligations is not None
    assert report.obligations.undecided == 0
    before, after = (derive_sequence_checkpoint(each).layout for each in (base, head))
    stated = [finding for finding in report.findings if ".plan-" in kind_of(finding)]
    shown = next(finding for finding in stated if isinstance(finding.expected, dict))
    for layout, told in ((before, shown.expected), (after, shown.actual)):
        facts = told.get("value", told)
        assert facts["supported"] == (layout is not None)
        if layout is not None:
            assert facts["boundaries"] == layout.boundaries.to_wire()
            assert facts["input_dependency"] == layout.input_dependency
            assert facts["completed_input_capture"] == layout.completed_input_capture
            assert facts["smallest_boundary"] == layout.boundaries.prefix.smallest
    rules = {kind_of(finding) for finding in report.findings}
    if before is not None and after is None:
        assert "contract.plan-checkpoint-lost" in rules
    elif before is None and after is not None:
        assert "contract.plan-checkpoint-gained" in rules
    else:
        assert before is not None
        check_boundaries(base, head, report)


def check_boundaries(base: Json, head: Json, report: DocumentReport) -> None:
    """The lost boundary, against trying every count of the providers' own constraints."""
    held = base["program"]["states"][0]["capacity_demand"]["token_scaled"]["maximum_tokens"]
    before = {side: legal(base, side) for side in ("prefix", "suffix")}
    after = {side: legal(head, side) for side in ("prefix", "suffix")}
    before["prefix"] = [count for count in before["prefix"] if count <= held]
    first = {
        side: min(set(before[side]) - set(after[side]), default=None)
        for side in ("prefix", "suffix")
    }
    found = [
        finding
        for finding in report.findings
        if finding.rule in ("contract.plan-boundary-lost", "contract.plan-boundary-unreachable")
    ]
    assert bool(found) == any(count is not None for count in first.values())
    for finding in found:
        shown = finding.counterexample
        assert isinstance(shown, SpanCounterexample)
        assert shown.processed == 0
        assert shown.boundary is not None
        assert shown.prompt is not None
        shortest = min(
            prefix + suffix
            for prefix, suffix in (
                (first["prefix"], before["suffix"][0]),
                (before["prefix"][0], first["suffix"]),
            )
            if prefix is not None and suffix is not None
        )
        assert shown.prompt == shortest
        documents = {"base": base["catalog"], "head": head["catalog"], "plan": base["plan"]}
        assert check_counterexample(documents, shown)


def test_nothing_changes() -> None:
    base = bundle()
    report = plan_report(base, base, prove=True)
    (kept,) = report.findings
    assert kind_of(kept) == "contract.plan-checkpoint-kept"
    assert kept.message == (
        "The plan keeps its sequence checkpoints, where a boundary has a multiple of 4 tokens, at "
        "least 8 before it and a multiple of 2 tokens, at least 6 after it, so the smallest is "
        "at 8."
    )
    assert report.verdict == "verified"


def test_of_a_boundary_what_changed_is_said() -> None:
    base = bundle()

    def edit(document: Json) -> None:
        attention(document)["checkpoint_capability"]["completed_boundary"]["boundaries"][
            "suffix"
        ] = {"minimum_tokens": 12, "alignment": 2}

    head = with_catalog(base, edit)["catalog"]
    report = compare_contracts(base["catalog"], head, [base], prove=False)
    lost = by_rule(report.documents[1])["contract.plan-boundary-lost"]
    assert lost.message.endswith(
        ": a boundary has a multiple of 2 tokens, at least 12 after it instead of a multiple of 2 "
        "tokens, at least 6."
    )
    narrowed = by_rule(report.documents[0])["contract.suffix-narrowed"]
    assert narrowed.fix == "Lower the minimum from 12 to 6."


def test_another_build_only_has_to_be_rebuilt() -> None:
    base = bundle()

    def edit(document: Json) -> None:
        attention(document)["provider_implementation_fingerprint"] = "0" * 64

    report = compare_contracts(base["catalog"], with_catalog(base, edit)["catalog"], [base])
    assert (report.verdict, report.exit_status) == ("verified", 0)
    found = by_rule(report.documents[1])
    assert set(found) == {"contract.plan-checkpoint-kept", "contract.plan-rebuild"}
    assert found["contract.plan-rebuild"].message == (
        "The plan must be rebuilt: HEAD has other builds of what `node.attention` runs on."
    )


def test_a_lost_contract_names_the_provider() -> None:
    base = bundle()

    def edit(document: Json) -> None:
        attention(document)["checkpoint_capability"] = "unsupported"

    report = plan_report(base, with_catalog(base, edit))
    lost = by_rule(report)["contract.plan-checkpoint-lost"]
    assert "node `node.attention`, provider `provider.attention.reference`" in lost.message
    assert "provider_undeclared" in lost.actual["reasons"][0]
    assert report.verdict == "violated"


def test_a_boundary_out_of_reach() -> None:
    base = bundle()

    def edit(document: Json) -> None:
        contract_of(document)["boundaries"]["prefix"] = {"minimum_tokens": 8, "alignment": 512}

    found = by_rule(plan_report(base, with_catalog(base, edit)))
    assert set(found) == {"contract.plan-boundary-unreachable"}
    unreachable = found["contract.plan-boundary-unreachable"]
    assert "512, beyond the 256 tokens that state `state.cache` holds" in unreachable.message
    assert unreachable.expected["reachable"] is True
    assert unreachable.actual["reachable"] is False


def test_what_no_state_reaches_is_not_lost() -> None:
    base = bundle()

    def edit(document: Json) -> None:
        # Up to the 256 tokens that the cache holds, every multiple of 4 stays legal.
        contract_of(document)["boundaries"]["prefix"] = {"minimum_tokens": 260, "alignment": 4}

    head = with_catalog(base, edit)
    assert "contract.plan-boundary-unreachable" in by_rule(plan_report(base, head))
    # From a plan that could not reach any boundary, none is lost.
    report = plan_report(head, with_catalog(base, lambda _: None))
    assert set(by_rule(report)) == {"contract.plan-boundary-gained"}

    def further(document: Json) -> None:
        contract_of(document)["boundaries"]["prefix"] = {"minimum_tokens": 300, "alignment": 4}

    report = plan_report(head, with_catalog(base, further))
    assert set(by_rule(report)) == {"contract.plan-checkpoint-kept"}


def test_weaker_and_stronger_promises() -> None:
    base = bundle()

    def edit(document: Json) -> None:
        contract = contract_of(document)
        contract["input_dependency"] = "entire_token_input"
        contract["partition_numerics"] = "bitwise_equivalent"

    found = by_rule(plan_report(base, with_catalog(base, edit)))
    assert found["contract.plan-checkpoint-weakened"].message == (
        "In the plan's checkpoints, the input dependency is `entire_token_input` instead of "
        "`exact_token_prefix`."
    )
    assert found["contract.plan-checkpoint-strengthened"].message == (
        "In the plan's checkpoints, the numerics of `provider.attention.reference` are "
        "`bitwise_equivalent` instead of `captured_execution_continuation`."
    )


def test_a_removed_provider_is_told_once_for_all_of_its_nodes() -> None:
    base = models.bundle("llama-3.1-8b", layers=2, schema="5.0")
    head = deepcopy(base)
    head["catalog"]["providers"]["operation/linear"] = []
    report = plan_report(base, head)
    (found,) = report.findings
    assert found.rule == "contract.provider-not-offered"
    assert found.location == "/plan/payload/nodes/2/selection/selected_provider"
    assert found.message.startswith("Under HEAD: Node `node/l0000/q` runs on `provider/linear`")
    assert found.message.endswith(
        "So it is with `node/l0000/k`, `node/l0000/v`, `node/l0000/gate` and 6 more."
    )


def test_storage_that_the_plan_uses() -> None:
    base = bundle()

    def edit(document: Json) -> None:
        document["providers"]["operation.embed"][0]["dynamic_storage_bindings"][2]["storage"] = {
            "accepted_profiles": []
        }

    found = by_rule(plan_report(base, with_catalog(base, edit)))
    assert "contract.storage-not-accepted" in found
    assert "value.hidden" in found["contract.storage-not-accepted"].message


def test_formats_and_requirements_that_the_plan_needs() -> None:
    base = bundle()

    def lose_format(document: Json) -> None:
        attention(document)["accepted_weight_formats"] = []

    found = by_rule(plan_report(base, with_catalog(base, lose_format)))
    assert found["contract.plan-format-refused"].message == (
        "Under HEAD, `provider.attention.reference` does not accept `weight-format.dense`, which "
        "`node.attention` reads."
    )

    def ask_for_newer(document: Json) -> None:
        document["operations"]["operation.attention"]["provider"]["minimum_version"]["minor"] = 2

    found = by_rule(plan_report(base, with_catalog(base, ask_for_newer)))
    assert "at least 1.2" in found["contract.plan-provider-refused"].message

    def lose_device_capability(document: Json) -> None:
        document["device"]["capabilities"].remove("capability.paging")

    found = by_rule(plan_report(base, with_catalog(base, lose_device_capability)))
    assert found["contract.plan-provider-refused"].message == (
        "Under HEAD, `provider.attention.reference` can no longer be selected for "
        "`node.attention`: the device lacks `capability.paging`."
    )


def test_faults_that_the_plan_had_before_are_not_blamed_on_head() -> None:
    base = bundle()
    base["plan"]["payload"]["nodes"][0]["required_capabilities"] = ["capability.absent"]
    restamp(base)
    assert set(by_rule(plan_report(base, base))) == {"contract.plan-checkpoint-kept"}


def test_without_a_program() -> None:
    base = bundle()
    plan = base["plan"]
    report = plan_report(base, base, plan)
    assert set(by_rule(report)) == {"contract.plan-checkpoint-kept"}

    def edit(document: Json) -> None:
        contract_of(document)["boundaries"]["prefix"]["alignment"] = 8

    report = plan_report(base, with_catalog(base, edit), plan)
    found = by_rule(report)["contract.plan-checkpoint-undecided"]
    assert "provider.attention.reference" in found.message
    assert report.verdict == "undecided"


@pytest.mark.parametrize("family", models.families())
def test_model_families(family: str) -> None:
    base = models.bundle(family, layers=4, schema="5.0")
    head = deepcopy(base)
    provider = head["catalog"]["providers"]["operation/paged-attention"][0]
    contract = provider["checkpoint_capability"]["completed_boundary"]
    contract["boundaries"]["prefix"]["alignment"] = 48
    report = compare_contracts(base["catalog"], head["catalog"], [base])
    assert [finding.rule for finding in report.documents[0].findings][:1] == [
        "contract.prefix-narrowed"
    ]
    before, after = (legal(each, "prefix")[0] for each in (base, head))
    lost = by_rule(report.documents[1])["contract.plan-boundary-lost"]
    assert isinstance(lost.counterexample, SpanCounterexample)
    assert lost.counterexample.boundary == before
    assert lost.actual["smallest_boundary"] == after
    assert report.obligations.undecided == 0
    assert report.obligations.refuted == 2
