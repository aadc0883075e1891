"""What sharing saves: each pool with its members, slots and bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.derive.liveness import peak_bytes
from ferrum_verify.derive.reusable import step_slot_bytes
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.sizes import maximum_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.documents.memory_plan import DynamicPool, MemoryPlan


@dataclass(frozen=True, slots=True)
class PoolSummary:
    """A pool in one line.

    ``slots`` counts its Step slots. ``resident`` are its bytes at least and at most. ``saved``
    are the bytes of one batch, every resource at its own largest shape, that Step slots and
    reused invocation rows save against bytes of its own for each resource; None where a size
    cannot be evaluated.
    """

    pool_id: str
    holds: str
    members: int
    slots: int
    resident: tuple[int, int]
    saved: int | None


def pool_summaries(memory: MemoryPlan) -> list[PoolSummary]:
    """A line for each pool, as they stand in the plan."""
    largest: dict[str, int] = {}
    for descriptor in memory.dynamic_descriptors:
        try:
            size = maximum_bytes(descriptor)
        except SizeError:
            continue
        largest[descriptor.base_resource_id] = size
    return [_summary(pool, largest) for pool in memory.dynamic_pools]


def _summary(pool: DynamicPool, largest: Mapping[str, int]) -> PoolSummary:
    provisioning = pool.provisioning
    saved: int | None
    try:
        slots = [slot for slot in pool.step_resource_slots if slot.resource_ids]
        saved = sum(largest[name] for slot in slots for name in slot.resource_ids)
        saved -= step_slot_bytes(slots, largest)
        if pool.invocation_liveness_mode == "total_order_reuse":
            rows = pool.invocation_liveness
            used = {name for row in rows for name in row.resource_ids}
            saved += sum(largest[name] for name in used)
            saved -= peak_bytes(pool.invocation_liveness_mode, rows, largest)
    except KeyError:
        saved = None
    return PoolSummary(
        pool_id=pool.pool_id,
        holds=f"{pool.compatibility.usage} {pool.compatibility.element_type}",
        members=len(pool.resource_ids),
        slots=len(pool.step_resource_slots),
        resident=(provisioning.minimum_resident_bytes, provisioning.maximum_resident_bytes),
        saved=saved,
    )
