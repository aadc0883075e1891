"""Where each resource of a plan stands, and which slots of two plans are the same.

Slots have no names: one of the later plan is that of the earlier one with which it has most
members in common, so a slot that only stands elsewhere in the list moves nobody.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeAlias

from ferrum_verify.findings.wording import pool_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.documents.memory_plan import MemoryPlan

Place: TypeAlias = tuple[str, str, int | None]
"""Where a resource stands: how it lives, its pool, and of a Step resource its slot."""


def places_of(memory: MemoryPlan) -> dict[str, Place]:
    """The place of every resource, dynamic and static."""
    slots = {
        (pool.pool_id, name): index
        for pool in memory.dynamic_pools
        for index, slot in enumerate(pool.step_resource_slots)
        for name in slot.resource_ids
    }
    places: dict[str, Place] = {
        row.base_resource_id: (
            row.lifetime,
            row.pool_id,
            slots.get((row.pool_id, row.base_resource_id)),
        )
        for row in memory.dynamic_descriptors
    }
    for allocation in memory.static_allocations:
        places.setdefault(allocation.resource_id, ("static", "", None))
    return places


def place_words(place: Place) -> str:
    """A place in words: "slot 3 of pool af30907b", "sequence bytes of pool fa87eec3", "static"."""
    life, pool, slot = place
    where = f"{life} bytes" if slot is None else f"slot {slot}"
    return f"{where} of pool {pool_name(pool)}" if pool else life


def same_slots(before: MemoryPlan, after: MemoryPlan) -> dict[Place, Place]:
    """For each slot of the earlier plan the one of the later that is the same, as places."""
    later = places_of(after)
    shared: Counter[tuple[Place, Place]] = Counter(
        (place, later[name])
        for name, place in places_of(before).items()
        if place[2] is not None and _share_a_pool(place, later.get(name))
    )
    found: dict[Place, Place] = {}
    taken: set[Place] = set()
    for (earlier, now), _ in sorted(shared.items(), key=lambda each: (-each[1], each[0])):
        if earlier not in found and now not in taken:
            found[earlier] = now
            taken.add(now)
    return found


def _share_a_pool(slot: Place, other: Place | None) -> bool:
    return other is not None and other[2] is not None and other[:2] == slot[:2]


def now_at(place: Place, slots: Mapping[Place, Place]) -> Place | None:
    """The place of the later plan that is the same; None of a slot that is no more."""
    return slots.get(place) if place[2] is not None else place
