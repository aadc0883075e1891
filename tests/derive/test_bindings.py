"""Program bindings: against the reference engine's answers, and rules that no vector breaks."""

from __future__ import annotations

import pytest

from ferrum_verify import DerivationError, compile_program_bindings, derive_memory_plan
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.derive.bindings import BindingSlot, running_end
from tests.vectors import cases


def test_layouts_are_exact_or_refused_at_the_right_stage() -> None:
    wrong = []
    for case in cases("program-bindings"):
        expect = case["expect"]
        try:
            layouts = [layout.to_wire() for layout in compile_program_bindings(case["problem"])]
        except DerivationError as error:
            stage = "bindings" if {f.family for f in error.findings} == {"binding"} else "derive"
            if stage != expect.get("stage"):
                wrong.append((case["id"], stage))
            continue
        if layouts != expect.get("layouts"):
            wrong.append((case["id"], "layouts"))
        assert derive_memory_plan(case["problem"]).to_wire() == expect["memory"]
    assert wrong == []
    assert len(cases("program-bindings")) == 200


def test_a_plan_compiles_to_the_layouts_of_its_problem() -> None:
    from_problem = [layout.to_wire() for layout in compile_program_bindings(sample("problem"))]
    assert len(from_problem) == 3
    fragment = sample("fragment")
    assert [layout.to_wire() for layout in compile_program_bindings(fragment)] == from_problem


def test_no_bindings_or_no_policy_give_no_layouts() -> None:
    problem = sample("problem")
    del problem["reusable_execution_policy"]
    assert compile_program_bindings(problem) == []


def test_what_is_refused_before_any_bucket_is_refused_without_a_policy_too() -> None:
    problem = sample("problem")
    del problem["reusable_execution_policy"]
    problem["dynamic_descriptors"][7]["alignment_bytes"] = 128
    with pytest.raises(DerivationError) as refusal:
        compile_program_bindings(problem)
    assert [finding.rule for finding in refusal.value.findings] == ["binding.several-pools"]


def test_an_invocation_resource_of_two_nodes_is_refused_without_bindings_too() -> None:
    problem = sample("problem")
    problem["dynamic_descriptors"] = [
        row for row in problem["dynamic_descriptors"] if row["usage"] != "binding"
    ]
    for node in problem["nodes"]:
        node["resources"] = [name for name in node["resources"] if "binding/" not in name]
        node.pop("binding_resource", None)
    assert compile_program_bindings(problem) == []
    problem["nodes"][4]["resources"].append("scratch/attention")
    with pytest.raises(DerivationError) as refusal:
        compile_program_bindings(problem)
    assert [finding.rule for finding in refusal.value.findings] == ["binding.not-once"]


def test_slots_that_leave_a_gap_have_no_running_end() -> None:
    def slot(offset: int, size: int) -> BindingSlot:
        return BindingSlot(0, "n", "r", offset, size, 16)

    assert running_end([slot(16, 32), slot(0, 16)]) == 48
    assert running_end([slot(0, 16), slot(32, 16)]) is None
    assert running_end([slot(0, 32), slot(16, 16)]) is None
    assert running_end([slot(16, 16)]) is None


def test_an_arena_past_u64_is_refused() -> None:
    problem = sample("problem")
    for row in problem["dynamic_descriptors"]:
        if row["usage"] == "binding":
            row["demand"] = {"tokens": {"bytes_per_token": 2**57, "maximum_tokens": 64}}
    problem["device_capacity_bytes"] = problem["policy_capacity_bytes"] = 2**63
    with pytest.raises(DerivationError) as refusal:
        compile_program_bindings(problem)
    assert {f.rule for f in refusal.value.findings} & {
        "binding.arena-overflow",
        "pool.total-overflow",
    }
