"""Lanes of reusable execution against the memory that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule
from ferrum_verify.plan.lanes import lane_bytes, lanes_that_fit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.reusable import ReusableExecution
    from ferrum_verify.findings import Finding

LANES_MEMORY = Rule(
    id="reusable.lanes-exceed-memory",
    summary="All reusable lanes can be resident together, beside static rows and one request.",
    why="Pools grow on demand: the lane that finds no room is not captured, or evicts what serves "
    "requests.",
    fix="Lower `maximum_reusable_lanes` to the number that fits, leave buckets out, or grant more "
    "memory.",
    source="docs/format.md, «Reusable execution»",
    judgment="safety",
    severity="warning",
    example=Example("problem", {"/reusable_execution_policy/maximum_reusable_lanes": 1_000_000}),
)


def check_lanes(
    memory: MemoryPlan, reusable: ReusableExecution, location: str
) -> Iterator[Finding]:
    """Whether the lanes of a plan fit its memory; ``at`` is where reusable execution stands."""
    fitting, lanes = lanes_that_fit(memory), reusable.maximum_reusable_lanes
    if fitting is None:
        return
    total, usable = lanes * lane_bytes(memory), memory.usable_capacity_bytes
    beside = memory.static_bytes + memory.minimum_runnable_request_bytes
    yield LANES_MEMORY.finding(
        f"the {lanes:,} reusable lanes take {total:,} bytes when all are resident, but of "
        f"{usable:,} usable bytes static rows and the smallest request leave "
        f"{max(0, usable - beside):,}: {fitting:,} lanes fit",
        f"{location}/maximum_reusable_lanes",
        expected=fitting,
        actual=lanes,
    )
