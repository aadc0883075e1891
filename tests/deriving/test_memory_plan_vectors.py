"""The memory plan against the reference engine's answers."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify import DerivationError, audit, derive_memory_plan
from tests.vectors import cases, fragment_of, scale

PROBLEMS = [case for case in cases("memory-plans") if "problem" in case]
FRAGMENTS = [case for case in cases("memory-plans") if "memory" in case]


def test_all_cases_are_here() -> None:
    assert (len(PROBLEMS), len(FRAGMENTS)) == (579, 1428)


def test_problems_derive_to_the_exact_plan_or_are_refused() -> None:
    wrong = []
    refused = 0
    for case in PROBLEMS:
        try:
            derived = derive_memory_plan(case["problem"]).to_wire()
        except DerivationError as error:
            derived = None
            refused += bool(error.findings)
        if derived != case["expect"].get("memory"):
            wrong.append(case["id"])
    assert wrong == []
    assert refused == sum(not case["expect"]["derivable"] for case in PROBLEMS)


def test_problems_audit_as_they_derive() -> None:
    for case in PROBLEMS:
        verdict = audit(case["problem"], prove=False).verdict
        assert verdict == ("verified" if case["expect"]["derivable"] else "violated"), case["id"]


def test_fragments_are_judged_right_in_an_expected_family() -> None:
    wrong = []
    for case in FRAGMENTS:
        report = audit(fragment_of(case), prove=False)
        errors = {f.family for f in report.findings if f.severity == "error"}
        expect = case["expect"]
        if expect["conformant"] != (not errors) or (
            errors and not errors & set(expect["families"])
        ):
            wrong.append((case["id"], sorted(errors)))
    assert wrong == []


def test_slots_are_judged_right_in_every_model() -> None:
    compared = 0
    for case in FRAGMENTS:
        expected = case["expect"]["slots"]
        if expected is None:
            continue
        actual = [slot.to_wire() for slot in audit(fragment_of(case), prove=False).slots]
        assert _with_hazards_as_sets(actual) == _with_hazards_as_sets(expected), case["id"]
        compared += len(expected)
    assert compared > 200


def _with_hazards_as_sets(slots: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [slot | {"hazards": sorted(map(tuple, slot["hazards"]))} for slot in slots]


# Mutations that change one thing and must be told as one thing.
SINGLE_CAUSE = {
    "budget_one_byte_short",
    "descriptor_alignment_not_power_of_two",
    "descriptor_bucket_shrinks",
    "descriptor_demand_overflows",
    "descriptor_element_type_of_scratch",
    "descriptor_foreign_pool",
    "descriptor_kind_mismatch",
    "descriptor_lifetime_swapped",
    "descriptor_paged_view_on_linear",
    "descriptor_plan_lifetime",
    "descriptor_quantized_overflow",
    "descriptor_sequence_ceiling_differs",
    "descriptor_zero_demand",
    "descriptor_zero_init_activation",
    "descriptor_zero_instances",
    "descriptors_out_of_order",
    "liveness_claims_concurrent",
    "liveness_foreign_member",
    "liveness_global_mode_wrong",
    "liveness_global_row_dropped",
    "liveness_peak_undercounted",
    "liveness_row_on_wrong_node",
    "liveness_rows_unsorted",
    "plan_ceiling_tampered",
    "policy_exceeds_device",
    "pool_ceiling_tampered",
    "pool_compatibility_changed",
    "pool_identity_forged",
    "pool_member_dropped",
    "pool_missing",
    "pool_request_minimum_tampered",
    "pool_resident_ceiling_lowered",
    "pool_resident_ceiling_raised",
    "pools_out_of_order",
    "reserve_swallows_policy",
    "retained_member_still_shared",
    "reusable_bucket_forged",
    "reusable_buckets_reversed",
    "reusable_budget_dropped",
    "reusable_budget_understated",
    "reusable_budgets_unsorted",
    "reusable_executables_wrong",
    "reusable_lanes_raised",
    "reusable_lanes_zero",
    "runnable_total_tampered",
    "slot_bytes_undercounted",
    "slot_kind_wrong",
    "slot_split",
    "static_duplicate",
    "static_persistent_wrong_layout",
    "static_scratch_kind",
    "static_step_lifetime",
    "static_stride_unaligned",
    "static_total_tampered",
    "static_two_instances",
    "static_zero_bytes",
    "statics_out_of_order",
    "step_total_tampered",
    "usable_off_by_one",
    "zero_device",
    "zero_sequences",
}


def test_one_cause_is_one_finding() -> None:
    wrong = {}
    for case in FRAGMENTS:
        if case["mutation"] not in SINGLE_CAUSE or case["expect"]["conformant"]:
            continue
        errors = [
            f.rule for f in audit(fragment_of(case), prove=False).findings if f.severity == "error"
        ]
        if len(errors) != 1:
            wrong[case["id"]] = errors
    assert wrong == {}


@pytest.mark.parametrize("name", ["decoder-8", "decoder-16-parallel", "decoder-64"])
def test_decoder_stacks_derive_to_the_exact_plan(name: str) -> None:
    case = scale(name)
    memory = derive_memory_plan(case["problem"])
    assert memory.to_wire() == case["expect"]["memory"]
    fragment = {"nodes": case["problem"]["nodes"], "memory": case["expect"]["memory"]}
    assert audit(fragment, prove=False).verdict == "verified"


def test_a_memory_plan_alone_is_undecided() -> None:
    for case in FRAGMENTS[:200]:
        if case["expect"]["conformant"]:
            report = audit(case["memory"], prove=False)
            assert report.verdict == "undecided"
            assert [f.rule for f in report.findings if f.undecided] == ["graph.nodes-missing"]
