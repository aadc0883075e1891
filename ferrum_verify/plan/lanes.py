"""Reusable lanes in memory: what each keeps resident, and how many have room."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrum_verify.documents.memory_plan import MemoryPlan


def lane_bytes(memory: MemoryPlan) -> int:
    """The bytes that one lane takes in all pools: its budgets of every bucket."""
    reusable = memory.reusable_execution
    if reusable is None:
        return 0
    return sum(
        budget.step_bytes + budget.invocation_bytes
        for resolved in reusable.buckets
        for budget in resolved.pool_budgets
    )


def lanes_that_fit(memory: MemoryPlan) -> int | None:
    """How many lanes have room beside the static bytes and the smallest request; 0 if none.

    None where all that the plan has do, or where it has none.
    """
    reusable, each = memory.reusable_execution, lane_bytes(memory)
    if reusable is None or not each:
        return None
    taken = memory.static_bytes + memory.minimum_runnable_request_bytes
    fitting = max(0, memory.usable_capacity_bytes - taken) // each
    return None if fitting >= reusable.maximum_reusable_lanes else fitting
