"""The verifier against the definition, on problems, plans and changed plans drawn at random."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

from ferrum_verify import DerivationError, audit, compile_program_bindings, derive_memory_plan
from ferrum_verify.catalogue.samples import sample
from tests.definition.bindings import compile_bindings
from tests.definition.changes import changed
from tests.definition.memory_plan import as_derived, derive, is_what_the_engine_derives
from tests.definition.problems import derivable, problems
from tests.definition.sharing import slot_facts
from tests.definition.sizes import Json, RefusedError

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

REFUSED = None

# A document is a large thing to draw, and how long that takes says nothing about the verifier.
documents = settings(
    max_examples=200, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def defined_plan(problem: Json) -> Json | None:
    try:
        return derive(problem)
    except RefusedError as refusal:
        note(f"the definition refuses: {refusal}")
        return REFUSED


def defined_layouts(nodes: list[Json], memory: Json | None) -> list[Json] | None:
    if memory is None:
        return REFUSED
    try:
        return compile_bindings(nodes, memory)
    except RefusedError as refusal:
        note(f"the definition refuses bindings: {refusal}")
        return REFUSED


def verifiers_plan(problem: Json) -> Json | None:
    try:
        return derive_memory_plan(problem).to_wire()
    except DerivationError as refusal:
        note(f"the verifier refuses: {refusal}")
        return REFUSED


def verifiers_layouts(document: Json) -> list[Json] | None:
    try:
        return [layout.to_wire() for layout in compile_program_bindings(document)]
    except DerivationError as refusal:
        note(f"the verifier refuses bindings: {refusal}")
        return REFUSED


def fragment_of(problem: Json, memory: Json) -> Json:
    return {
        "nodes": problem["nodes"],
        "memory": memory,
        "retained_completion_resources": problem.get("retained_completion_resources", []),
    }


def assert_derived_alike(problem: Json) -> None:
    memory = defined_plan(problem)
    assert verifiers_plan(problem) == memory
    assert verifiers_layouts(problem) == defined_layouts(problem["nodes"], memory)


# What a problem's nodes do not say, and what the engine accepts and may run short of.
BESIDE = {
    "graph.accesses-unknown",
    "liveness.used-twice",
    "reusable.lanes-exceed-memory",
}


@documents
@given(problems())
def test_a_problem_derives_to_the_defined_plan_and_layouts(problem: Json) -> None:
    assert_derived_alike(problem)


@documents
@given(problems(), st.data())
def test_so_does_a_problem_with_one_change(problem: Json, data: DataObject) -> None:
    what, problem = data.draw(changed(problem))
    note(what)
    assert_derived_alike(problem)


def is_defined(problem: Json) -> bool:
    try:
        derive(problem)
    except RefusedError:
        return False
    return True


@pytest.mark.parametrize("name", ["dependencies", "resources"])
def test_a_node_of_a_problem_lists_a_thing_once(name: str) -> None:
    problem = copy.deepcopy(sample("problem"))
    node = next(node for node in problem["nodes"] if node[name])
    assert derive_memory_plan(problem).to_wire() == derive(problem)
    node[name].append(node[name][0])
    assert not is_defined(problem)
    with pytest.raises(DerivationError):
        derive_memory_plan(problem)


@documents
@given(derivable())
def test_a_derived_plan_is_verified_and_its_slots_judged_as_defined(
    planned: tuple[Json, Json],
) -> None:
    problem, memory = planned
    layouts = defined_layouts(problem["nodes"], memory)
    for document in (problem, fragment_of(problem, memory)):
        report = audit(document, prove=False)
        if layouts is not REFUSED:
            assert report.verdict == "verified"
            assert {finding.rule for finding in report.findings} <= BESIDE
        told = [finding for finding in report.findings if finding.rule not in BESIDE]
        assert {finding.family for finding in told} <= {"binding"}
        shared = [slot.to_wire() for slot in report.slots]
        assert in_any_order(shared) == in_any_order(slot_facts(memory, problem["nodes"]))


def in_any_order(facts: list[Json]) -> list[Json]:
    """Slots in order of their members; hazards are a set of pairs."""
    sets = [fact | {"hazards": sorted(map(list, fact["hazards"]))} for fact in facts]
    return sorted(sets, key=lambda fact: (fact["pool_id"], fact["resource_ids"]))


@documents
@given(derivable(), st.data())
def test_a_changed_plan_is_violated_exactly_when_it_is_not_what_is_derived(
    planned: tuple[Json, Json], data: DataObject
) -> None:
    for _ in range(3):
        what, fragment = data.draw(changed(fragment_of(*planned)))
        note(what)
        assert_judged_alike(fragment)


def assert_judged_alike(fragment: Json) -> None:
    report = audit(fragment, prove=False)
    errors = {
        finding.family
        for finding in report.findings
        if finding.severity == "error" and finding.rule != "descriptor.too-few-instances"
    }
    note(f"{report.verdict}: {[finding.message for finding in report.findings]}")
    if is_what_the_engine_derives(fragment):
        # Layouts that cannot be compiled are no fault of the memory plan, and may be an error.
        assert errors <= {"binding"}
        short = any(each.rule == "descriptor.too-few-instances" for each in report.findings)
        layouts = defined_layouts(fragment["nodes"], as_derived(fragment["memory"]))
        if layouts is not REFUSED and not short:
            assert report.verdict == "verified"
    else:
        assert errors - {"binding"}
        assert report.verdict == "violated"


@settings(documents, max_examples=30)
@given(derivable(), st.booleans())
def test_a_plan_may_leave_out_what_is_nothing(planned: tuple[Json, Json], growth: bool) -> None:
    problem, memory = planned
    fragment = fragment_of(problem, dict(memory))
    if memory["reusable_execution"] is None:
        del fragment["memory"]["reusable_execution"]
    if growth:
        fragment["memory"]["dynamic_pools"] = [
            pool | {"checkpoint_growth_ceiling_bytes": 0} for pool in memory["dynamic_pools"]
        ]
    assert is_what_the_engine_derives(fragment)
    assert_judged_alike(fragment)
