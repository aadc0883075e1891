"""Other slots: a memory plan with other Step slots, and everything that follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.reusable import capacity_shape, step_slot_bytes, workspace_ceilings
from ferrum_verify.documents.memory_plan import StepSlot
from ferrum_verify.plan.sizes import UNIT, bytes_at

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrum_verify.counterexamples import Shape
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.documents.reusable import ReusableExecution


def with_slots(memory: MemoryPlan, slots: Mapping[str, Sequence[Sequence[str]]]) -> MemoryPlan:
    """The plan with other slots in the pools that are named: minimums, ceilings and budgets too.

    What does not follow from slots stays as it is. Raises SizeError where a member has no size
    at the smallest shape or at a bucket's.
    """
    rows = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    steps = {
        pool: [_slot(members) for members in sorted(map(sorted, own))]
        for pool, own in slots.items()
    }
    reusable = memory.reusable_execution and _with_budgets(memory.reusable_execution, steps, rows)
    ceilings = workspace_ceilings(reusable)
    pools = tuple(
        _with_totals(
            pool,
            steps[pool.pool_id],
            rows,
            ceilings.get(pool.pool_id, 0),
            memory.usable_capacity_bytes - memory.static_bytes,
        )
        if pool.pool_id in steps
        else pool
        for pool in memory.dynamic_pools
    )
    before = memory.dynamic_pools
    more = sum(pool.minimum_step_bytes for pool in pools)
    more -= sum(pool.minimum_step_bytes for pool in before)
    higher = sum(pool.reusable_workspace_ceiling_bytes for pool in pools)
    higher -= sum(pool.reusable_workspace_ceiling_bytes for pool in before)
    return memory.changed(
        minimum_step_bytes=memory.minimum_step_bytes + more,
        minimum_runnable_request_bytes=memory.minimum_runnable_request_bytes + more,
        theoretical_ceiling_bytes=memory.theoretical_ceiling_bytes + higher,
        dynamic_pools=pools,
        reusable_execution=reusable,
    )


def slots_bytes(memory: MemoryPlan, slots: Sequence[Sequence[str]], shape: Shape) -> int:
    """The bytes that slots take at a shape; raises SizeError where a member has no size there."""
    rows = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    return _bytes([_slot(members) for members in slots], rows, shape)


def _slot(members: Sequence[str]) -> StepSlot:
    return StepSlot.trusted(
        kind="dedicated" if len(members) == 1 else "ordered_single_fence_step_wave",
        resource_ids=tuple(members),
    )


def _bytes(slots: Sequence[StepSlot], rows: Mapping[str, DynamicDescriptor], shape: Shape) -> int:
    members = (rows[name] for slot in slots for name in slot.resource_ids)
    return step_slot_bytes(slots, bytes_at(members, shape))


def _with_totals(
    pool: DynamicPool,
    slots: Sequence[StepSlot],
    rows: Mapping[str, DynamicDescriptor],
    ceiling: int,
    dynamic_capacity: int,
) -> DynamicPool:
    step = _bytes(slots, rows, UNIT)
    resident = pool.provisioning.minimum_resident_bytes + step - pool.minimum_step_bytes
    provisioning = pool.provisioning.changed(
        minimum_resident_bytes=resident,
        maximum_resident_bytes=min(
            pool.theoretical_ceiling_bytes + ceiling + pool.checkpoint_growth_ceiling_bytes,
            dynamic_capacity,
        ),
    )
    return pool.changed(
        minimum_step_bytes=step,
        step_resource_slots=tuple(slots),
        reusable_workspace_ceiling_bytes=ceiling,
        provisioning=provisioning,
    )


def _with_budgets(
    reusable: ReusableExecution,
    slots: Mapping[str, Sequence[StepSlot]],
    rows: Mapping[str, DynamicDescriptor],
) -> ReusableExecution:
    buckets = []
    for resolved in reusable.buckets:
        shape = capacity_shape(resolved.bucket.capacity)
        budgets = tuple(
            budget.changed(step_bytes=_bytes(slots[budget.pool_id], rows, shape))
            if budget.pool_id in slots
            else budget
            for budget in resolved.pool_budgets
        )
        buckets.append(resolved.changed(pool_budgets=budgets))
    return reusable.changed(buckets=tuple(buckets))
