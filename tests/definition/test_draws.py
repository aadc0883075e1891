"""The draws themselves: agreement on problems that reach nothing of interest would say little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, Phase, find, settings

from tests.definition.bindings import compile_bindings
from tests.definition.memory_plan import derive
from tests.definition.problems import problems
from tests.definition.sharing import slot_facts
from tests.definition.sizes import Json, RefusedError

if TYPE_CHECKING:
    from collections.abc import Callable


def shares_a_slot_of_three(problem: Json, memory: Json) -> bool:
    return any(len(fact["resource_ids"]) > 2 for fact in slot_facts(memory, problem["nodes"]))


def breaks_when_nodes_overlap(problem: Json, memory: Json) -> bool:
    return any(fact["hazards"] for fact in slot_facts(memory, problem["nodes"]))


def has_layouts_of_two_slots(problem: Json, memory: Json) -> bool:
    try:
        layouts = compile_bindings(problem["nodes"], memory)
    except RefusedError:
        return False
    return any(len(layout["slots"]) > 1 for layout in layouts)


def derives_without_layouts(problem: Json, memory: Json) -> bool:
    try:
        compile_bindings(problem["nodes"], memory)
    except RefusedError:
        return True
    return False


def reuses_an_invocations_bytes(_: Json, memory: Json) -> bool:
    return any(
        pool["invocation_liveness_mode"] == "total_order_reuse"
        and len(pool["invocation_liveness"]) > 1
        for pool in memory["dynamic_pools"]
    )


def keeps_one_for_completion(problem: Json, memory: Json) -> bool:
    return "retained_completion_resources" in problem and bool(memory["dynamic_pools"])


def captures_programs(_: Json, memory: Json) -> bool:
    return "program_policy" in (memory["reusable_execution"] or {})


def needs_every_byte(_: Json, memory: Json) -> bool:
    needed = memory["static_bytes"] + memory["minimum_runnable_request_bytes"]
    return bool(0 < needed == memory["usable_capacity_bytes"])


@pytest.mark.parametrize(
    "interesting",
    [
        shares_a_slot_of_three,
        breaks_when_nodes_overlap,
        has_layouts_of_two_slots,
        derives_without_layouts,
        reuses_an_invocations_bytes,
        keeps_one_for_completion,
        captures_programs,
        needs_every_byte,
    ],
)
def test_some_problem_that_derives(interesting: Callable[[Json, Json], bool]) -> None:
    def reached(problem: Json) -> bool:
        try:
            return interesting(problem, derive(problem))
        except RefusedError:
            return False

    find(problems(), reached, settings=until_found)


@pytest.mark.parametrize("rule", ["a number stays within u64", "one request can run"])
def test_some_problem_is_refused_for(rule: str) -> None:
    def refused(problem: Json) -> bool:
        try:
            derive(problem)
        except RefusedError as refusal:
            return str(refusal) == rule
        return False

    find(problems(), refused, settings=until_found)


# The first that is found will do, and a run must not fail by a new draw.
until_found = settings(
    max_examples=1500,
    phases=[Phase.generate],
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
