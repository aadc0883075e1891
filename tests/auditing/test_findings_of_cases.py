"""What an audit says of real mechanisms: each fact once, with its cause and its counterexample."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
import z3

from ferrum_verify import audit, check_counterexample
from ferrum_verify.auditing.audit import audit_document
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.plan.sharing import EXECUTIONS
from ferrum_verify.reading.load import from_memory
from tests.cases import case

if TYPE_CHECKING:
    from pathlib import Path

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.findings import Finding

ORDER_RULES = ("slot.shared-while-live", "slot.repeated-member", "liveness.rows-overlap")


def errors(document: Any, execution: Execution = "concurrent", prove: bool = True) -> list[Finding]:
    report = audit(document, execution=execution, prove=prove)
    for finding in report.findings:
        assert "please report" not in finding.message
        if finding.counterexample is not None:
            assert check_counterexample(document, finding.counterexample, execution)
    return [finding for finding in report.findings if finding.severity == "error"]


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_a_use_that_is_not_listed_makes_its_slot_unsafe(execution: Execution) -> None:
    report = audit(case("unlisted-use"), execution=execution)
    unsafe = {slot.resource_ids: slot for slot in report.slots}["resource.hidden", "resource.mixed"]
    assert (unsafe.in_order, unsafe.fenced, unsafe.concurrent) == (False, False, False)
    found = errors(case("unlisted-use"), execution)
    assert [each.rule for each in found] == ["slot.shared-while-live", "graph.resources-differ"]
    assert found[0].counterexample is not None
    assert found[0].counterexample.kind == "schedule"


@pytest.mark.parametrize("execution", EXECUTIONS)
@pytest.mark.parametrize(
    "name", ["resource-in-two-slots", "dedicated-of-three", "rows-and-clash", "hurt-reader"]
)
def test_order_is_judged_beside_other_faults_with_and_without_proofs(
    name: str, execution: Execution
) -> None:
    said = [
        {(each.rule, each.message) for each in errors(case(name), execution, prove)}
        for prove in (True, False)
    ]
    assert said[0] == said[1]
    rules = {rule for rule, _ in said[0]}
    assert rules & set(ORDER_RULES) or (name, execution) == ("rows-and-clash", "in-order")


def test_a_dedicated_slot_of_three_that_clash_is_of_another_kind_and_not_derived() -> None:
    found = errors(case("dedicated-of-three"))
    rules = Counter(each.rule for each in found)
    assert rules == {"slot.not-derived": 1, "slot.kind": 1, "slot.shared-while-live": 3}
    clashes = [each for each in found if each.rule == "slot.shared-while-live"]
    assert all(each.counterexample is not None for each in clashes)


def test_a_resource_in_two_slots_is_one_fact_with_what_it_meets_there() -> None:
    (found,) = errors(case("resource-in-two-slots"))
    assert (found.rule, found.judgment) == ("slot.repeated-member", "safety")
    assert "live together with `x`, `z`" in found.message
    assert found.counterexample is not None


def test_rows_that_are_not_derived_and_clash_are_two_facts() -> None:
    found = {each.rule: each for each in errors(case("rows-and-clash"))}
    assert {"liveness.rows-not-derived", "liveness.rows-overlap"} <= found.keys()
    shown = found["liveness.rows-overlap"].counterexample
    assert shown is not None
    # Both nodes have a workspace of one name, and each invocation has one of its own.
    wire = shown.to_wire()
    assert [wire[side] for side in ("left", "right")] == [
        {"resource": "w/2", "node": "z1"},
        {"resource": "w/2", "node": "z2"},
    ]
    assert not check_counterexample(case("rows-and-clash"), wire | {"right": wire["left"]})
    assert not check_counterexample(case("rows-and-clash"), wire | {"at": wire["at"] - 1})


def test_a_mode_that_follows_from_wrong_rows_is_no_second_fact() -> None:
    fragment = sample("fragment")
    fragment["memory"]["dynamic_pools"][3]["invocation_liveness"].pop()
    rules = [each.rule for each in errors(fragment)]
    assert "liveness.mode-not-derived" not in rules


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_the_witness_is_the_reader_that_is_hurt(execution: Execution) -> None:
    (found,) = [
        each
        for each in errors(case("hurt-reader"), execution)
        if each.rule == "slot.shared-while-live"
    ]
    assert found.counterexample is not None
    wire = found.counterexample.to_wire()
    assert wire["left"] == {"resource": "index", "node": "gather-1"}
    assert wire["right"] == {"resource": "partial-0", "node": "reduce-0"}


def test_every_row_outside_the_shape_of_a_bucket_is_named() -> None:
    said = " ".join(each.message for each in errors(case("every-row-named")))
    for name in ("attention.scratch", "attention.binding", "head.scratch", "mixer.binding"):
        assert f"`resource.{name}`" in said


def test_every_retained_member_that_shares_its_bytes_has_its_counterexample() -> None:
    found = errors(case("retained-counterexample"))
    assert [each.about for each in found] == [("r1",), ("r2",)]
    for each in found:
        assert each.counterexample is not None
        assert each.counterexample.to_wire()["left"]["resource"] == each.about[0]


@pytest.mark.parametrize("faulty", ["a", "r1", "r2"])
def test_one_faulty_row_hides_no_other_counterexample(faulty: str) -> None:
    document = case("retained-counterexample")
    for row in document["memory"]["dynamic_descriptors"]:
        if row["base_resource_id"] == faulty:
            row["alignment_bytes"] = 0
    shown = {
        each.about[0]
        for each in errors(document)
        if each.rule == "slot.retained-shared" and each.counterexample is not None
    }
    assert shown == {"r1", "r2"} - {faulty}


def test_a_row_aligned_to_0_leaves_the_other_fault_its_counterexample() -> None:
    found = {each.rule: each for each in errors(case("alignment-0"))}
    assert "descriptor.alignment" in found
    assert found["liveness.peak"].counterexample is not None


@pytest.mark.parametrize("execution", EXECUTIONS)
def test_values_that_overlap_are_one_finding_with_their_bytes(execution: Execution) -> None:
    (found,) = errors(case("partial-overlap"), execution)
    assert found.rule == "value.overlap"
    assert found.counterexample is not None
    assert found.counterexample.kind == "overlap"


def test_an_alias_that_is_shifted_is_one_finding() -> None:
    bundle = sample("bundle")
    for node in bundle["plan"]["payload"]["nodes"]:
        for binding in node["values"]:
            if binding["value_id"] == "value.residual":
                binding["storage"]["components"][0]["offset_bytes"] = 16
    found = [each for each in errors(bundle) if each.family == "value"]
    assert [each.rule for each in found] == ["value.overlap"]
    assert "not the exact aliases that they are said to be" in found[0].message


def test_a_binding_that_two_nodes_use_is_no_fault_of_the_verifier() -> None:
    fragment = sample("problem")
    apply_edits(fragment, {"/nodes/4/resources/-": "binding/attention"})
    report = audit(fragment)
    assert "binding.not-once" in {each.rule for each in report.findings}
    assert errors(fragment) == []


def test_a_binding_without_an_owner_is_one_finding_for_each_node() -> None:
    fragment = sample("fragment")
    for node in fragment["nodes"]:
        node.pop("binding_resource", None)
    found = [each for each in audit(fragment).findings if each.family == "binding"]
    assert [(each.rule, each.severity) for each in found] == [("binding.owner", "warning")] * 2
    assert errors(fragment) == []


def test_an_arena_of_one_slot_exports_as_smt_lib(tmp_path: Path) -> None:
    document = from_memory(case("one-binding", "sound"))
    report = audit_document(document, smt2=tmp_path)
    assert report.verdict == "verified"
    files = list(tmp_path.glob("*.smt2"))
    assert any(" apart" in file.read_text(encoding="utf-8") for file in files)
    for file in files:
        z3.parse_smt2_file(str(file))


def test_a_second_opinion_leaves_an_arena_of_one_slot_verified() -> None:
    pytest.importorskip("cvc5")
    document = from_memory(case("one-binding", "sound"))
    assert audit_document(document, second_opinion=True).verdict == "verified"
