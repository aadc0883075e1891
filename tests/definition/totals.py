"""Totals, by definition: the numbers of a memory plan that do not add up.

Each is held to what the plan itself states of the parts: whether those are right is asked of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.definition.memory_plan import DERIVED_OF_STATIC, liveness_of_all
from tests.definition.pools import invocations_bytes, slots_bytes
from tests.definition.reusable import workspace_ceilings
from tests.definition.rows import complete_static
from tests.definition.sizes import SMALLEST, Json, minimum_bytes, resident_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

MINIMA = (
    "minimum_request_bytes",
    "minimum_sequence_bytes",
    "minimum_step_bytes",
    "minimum_invocation_peak_bytes",
)


def misstated(memory: Json) -> set[str]:
    """The rules of totals that the plan breaks; RefusedError where a row has no size at all."""
    return {rule for rule, holds in _totals(memory) if not holds}


def _totals(memory: Json) -> Iterator[tuple[str, bool]]:
    pools, static = memory["dynamic_pools"], memory["static_bytes"]
    usable = memory["usable_capacity_bytes"]
    runnable = memory["minimum_runnable_request_bytes"]
    yield (
        "capacity.policy-exceeds-device",
        (memory["policy_capacity_bytes"] <= memory["device_capacity_bytes"]),
    )
    yield (
        "capacity.usable-mismatch",
        (usable == memory["policy_capacity_bytes"] - memory["reserve_bytes"]),
    )
    for row in memory["static_allocations"]:
        given = {name: value for name, value in row.items() if name not in DERIVED_OF_STATIC}
        whole = complete_static(given)
        stride = whole["instance_stride_bytes"]
        yield "static.stride-mismatch", row["instance_stride_bytes"] == stride
        yield (
            "static.size-mismatch",
            (row["size_bytes"] == row["instance_stride_bytes"] * row["instance_count"]),
        )
    yield (
        "static.total-mismatch",
        (static == sum(row["size_bytes"] for row in memory["static_allocations"])),
    )
    yield "capacity.static-exceeds-usable", static <= usable
    for name in MINIMA:
        yield "capacity.minimum-mismatch", memory[name] == sum(pool[name] for pool in pools)
    yield "capacity.runnable-mismatch", runnable == sum(memory[name] for name in MINIMA)
    yield "capacity.exceeds-usable", static + runnable <= usable
    told = liveness_of_all(pools)
    yield "liveness.global-rows", memory["invocation_liveness"] == told["invocation_liveness"]
    reusable = memory["reusable_execution"]
    workspaces = {} if reusable is None else workspace_ceilings(reusable)
    for pool in pools:
        yield from _of_pool(pool, memory, workspaces.get(pool["pool_id"], 0))


def _of_pool(pool: Json, memory: Json, workspace: int) -> Iterator[tuple[str, bool]]:
    members = [row for row in memory["dynamic_descriptors"] if row["pool_id"] == pool["pool_id"]]
    rows = {row["base_resource_id"]: row for row in members}
    yield "pool.members", pool["resource_ids"] == sorted(rows)
    for lifetime in ("request", "sequence"):
        least = sum(minimum_bytes(row) for row in members if row["lifetime"] == lifetime)
        yield f"pool.{lifetime}-minimum", pool[f"minimum_{lifetime}_bytes"] == least
    yield (
        "slot.step-minimum",
        (pool["minimum_step_bytes"] == slots_bytes(pool["step_resource_slots"], rows, SMALLEST)),
    )
    mode, lent = pool["invocation_liveness_mode"], pool["invocation_liveness"]
    peak = invocations_bytes(mode, lent, rows, SMALLEST) if lent else 0
    yield "liveness.peak", pool["minimum_invocation_peak_bytes"] == peak
    ceiling = int(pool["theoretical_ceiling_bytes"])
    yield "pool.ceiling", ceiling == sum(resident_bytes(row) for row in members)
    held = pool["reusable_workspace_ceiling_bytes"]
    yield "pool.reusable-ceiling", held == workspace
    resident = pool["provisioning"]
    least, most = resident["minimum_resident_bytes"], resident["maximum_resident_bytes"]
    yield "pool.resident-minimum", least == sum(pool[name] for name in MINIMA)
    yield "pool.minimum-exceeds-ceiling", least <= ceiling
    left = memory["usable_capacity_bytes"] - memory["static_bytes"]
    yield "pool.resident-maximum", most == min(ceiling + held, left)
