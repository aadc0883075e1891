"""One plan against another, compared by names: what came, went, grew and moved.

The other plan is the earlier one. Slots have no names: one of the later plan is that of the
earlier one with which it has most members in common, so a slot that only stands elsewhere in the
list moves nobody.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import pool_name
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.report.live_bytes import (
    Batch,
    held_bytes,
    limits_of,
    live_bytes,
    sizes_at,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ferrum_verify.documents.memory_plan import DynamicPool, MemoryPlan
    from ferrum_verify.reading.document import Subject


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of both plans, in bytes where its name does not say what it counts."""

    name: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolChange:
    """A pool in both plans: its resources, its Step slots, and what it holds, 0 where it is not."""

    pool_id: str
    holds: str
    resources: tuple[int, int]
    slots: tuple[int, int]
    held_bytes: tuple[int, int] | None

    @property
    def differs(self) -> bool:
        """Whether anything of it changes."""
        pairs = (self.resources, self.slots, self.held_bytes or (0, 0))
        return any(before != after for before, after in pairs)


@dataclass(frozen=True, slots=True)
class Move:
    """A resource whose bytes stand elsewhere: "slot 3 of pool af30907b", "static"."""

    resource: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Lone:
    """A resource of one of the plans alone, where it stands, and its bytes at the batch."""

    resource: str
    place: str
    bytes: int | None


@dataclass(frozen=True, slots=True)
class Resize:
    """A resource that takes other bytes at the batch."""

    resource: str
    before: int
    after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Against:
    """The differences of two plans, at the largest batch that both admit.

    ``other`` is the source of the earlier plan. ``batch`` is None where sizes of one of the plans
    are unknown, for the reason that ``undefined`` completes "the size …" with; bytes at a batch
    are then left out.
    """

    other: str
    batch: Batch | None
    undefined: str | None
    totals: tuple[Figure, ...]
    pools: tuple[PoolChange, ...]
    resources_added: tuple[Lone, ...]
    resources_removed: tuple[Lone, ...]
    resized: tuple[Resize, ...]
    moved: tuple[Move, ...]
    nodes_added: tuple[str, ...]
    nodes_removed: tuple[str, ...]
    nodes_reordered: int

    @property
    def is_same(self) -> bool:
        """Whether nothing that is compared differs."""
        return not (
            self.resources_added
            or self.resources_removed
            or self.resized
            or self.moved
            or self.nodes_added
            or self.nodes_removed
            or self.nodes_reordered
            or any(figure.before != figure.after for figure in self.totals)
            or any(pool.differs for pool in self.pools)
        )

    def to_wire(self) -> dict[str, Any]:
        """The differences as the report's JSON."""
        wire = asdict(self) | {"batch": None if self.batch is None else self.batch._asdict()}
        for lone in (*wire["resources_added"], *wire["resources_removed"]):
            if lone["bytes"] is None:
                del lone["bytes"]
        for pool in wire["pools"]:
            for name in ("resources", "slots", "held_bytes"):
                pair = pool.pop(name)
                if pair is not None:
                    pool[name] = dict(zip(("before", "after"), pair, strict=True))
        return {name: value for name, value in wire.items() if value is not None}


@dataclass(frozen=True, slots=True)
class _At:
    """A plan at the batch: its sizes, and for each pool what it holds; the most that is live."""

    sizes: Mapping[str, int]
    held: Mapping[str, int]
    peak: int


def compared(subject: Subject, other: Subject, source: str) -> Against:
    """A plan against an earlier one; both have a memory plan. ``source`` names the earlier."""
    memory, earlier = subject.memory, other.memory
    assert memory is not None
    assert earlier is not None
    batch, undefined, at = _at_common_batch((other, earlier), (subject, memory))
    before, after = _places(earlier), _places(memory)
    slots = _slots(earlier, memory)
    # A memory plan alone has no nodes, and says nothing of them.
    known = bool(other.nodes and subject.nodes)
    names = [[node.id for node in each.nodes or ()] if known else [] for each in (other, subject)]
    return Against(
        other=source,
        batch=batch,
        undefined=undefined,
        totals=_totals(earlier, memory, at, with_peak=known),
        pools=_pools(earlier, memory, at),
        resources_added=_lone(after, before, at and at[1]),
        resources_removed=_lone(before, after, at and at[0]),
        resized=tuple(
            Resize(name, at[0].sizes[name], size)
            for name, size in (at[1].sizes.items() if at else ())
            if at and name in at[0].sizes and at[0].sizes[name] != size
        ),
        moved=tuple(
            Move(name, _words(before[name]), _words(place))
            for name, place in after.items()
            if name in before and _now(before[name], slots) != place
        ),
        nodes_added=_missing(names[1], names[0]),
        nodes_removed=_missing(names[0], names[1]),
        nodes_reordered=_reordered(*names),
    )


def _now(place: _Place, slots: Mapping[_Place, _Place]) -> _Place | None:
    """The place of the later plan that is the same; None of a slot that is no more."""
    return slots.get(place) if place[2] is not None else place


_Plan = tuple["Subject", "MemoryPlan"]


def _at_common_batch(
    before: _Plan, after: _Plan
) -> tuple[Batch | None, str | None, tuple[_At, _At] | None]:
    limits = [limits_of(*before), limits_of(*after)]
    if limits[0] is None or limits[1] is None:
        return None, "of a resource is defined at no batch", None
    batch = limits[0].common(limits[1]).largest
    try:
        return batch, None, (_at(*before, batch), _at(*after, batch))
    except SizeError as error:
        return None, str(error), None


def _at(subject: Subject, memory: MemoryPlan, batch: Batch) -> _At:
    sizes = sizes_at(memory, batch)
    order = subject.order or HappensBefore(())
    live = live_bytes(memory, order, subject.kept, sizes).values()
    static = {row.resource_id: row.size_bytes for row in memory.static_allocations}
    return _At(
        static | sizes,
        {pool.pool_id: held_bytes(pool, sizes) for pool in memory.dynamic_pools},
        max(map(sum, zip(*live, strict=True)), default=0),
    )


def _lone(
    mine: Mapping[str, _Place], others: Mapping[str, _Place], at: _At | None
) -> tuple[Lone, ...]:
    return tuple(
        Lone(name, _words(place), None if at is None else at.sizes[name])
        for name, place in mine.items()
        if name not in others
    )


def _totals(
    before: MemoryPlan, after: MemoryPlan, at: tuple[_At, _At] | None, *, with_peak: bool
) -> tuple[Figure, ...]:
    figures = [
        Figure("usable_capacity_bytes", before.usable_capacity_bytes, after.usable_capacity_bytes),
        Figure("static_bytes", before.static_bytes, after.static_bytes),
        Figure(
            "minimum_runnable_request_bytes",
            before.minimum_runnable_request_bytes,
            after.minimum_runnable_request_bytes,
        ),
    ]
    if at is not None:
        figures.append(Figure("held_bytes", *(sum(each.held.values()) for each in at)))
        if with_peak:
            figures.append(Figure("peak_live_bytes", *(each.peak for each in at)))
    return tuple(figures)


def _pools(
    before: MemoryPlan, after: MemoryPlan, at: tuple[_At, _At] | None
) -> tuple[PoolChange, ...]:
    pools = [{pool.pool_id: pool for pool in memory.dynamic_pools} for memory in (before, after)]
    return tuple(
        PoolChange(
            pool_id=pool_id,
            holds=f"{key.usage} {key.element_type}",
            resources=_pair(pools, pool_id, lambda pool: len(pool.resource_ids)),
            slots=_pair(pools, pool_id, lambda pool: len(pool.step_resource_slots)),
            held_bytes=None
            if at is None
            else (at[0].held.get(pool_id, 0), at[1].held.get(pool_id, 0)),
        )
        for pool_id, pool in (pools[0] | pools[1]).items()
        for key in (pool.compatibility,)
    )


def _pair(
    pools: list[dict[str, DynamicPool]], pool_id: str, count: Callable[[DynamicPool], int]
) -> tuple[int, int]:
    before, after = (count(each[pool_id]) if pool_id in each else 0 for each in pools)
    return before, after


_Place = tuple[str, str, int | None]
"""Where a resource stands: how it lives, its pool, and of a Step resource its slot."""


def _places(memory: MemoryPlan) -> dict[str, _Place]:
    slots = {
        (pool.pool_id, name): index
        for pool in memory.dynamic_pools
        for index, slot in enumerate(pool.step_resource_slots)
        for name in slot.resource_ids
    }
    places: dict[str, _Place] = {
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


def _words(place: _Place) -> str:
    life, pool, slot = place
    where = f"{life} bytes" if slot is None else f"slot {slot}"
    return f"{where} of pool {pool_name(pool)}" if pool else life


def _slots(before: MemoryPlan, after: MemoryPlan) -> dict[_Place, _Place]:
    """For each slot of the earlier plan the one of the later that is the same, as places."""
    later = _places(after)
    shared: Counter[tuple[_Place, _Place]] = Counter(
        (place, later[name])
        for name, place in _places(before).items()
        if place[2] is not None and _share_a_pool(place, later.get(name))
    )
    found: dict[_Place, _Place] = {}
    taken: set[_Place] = set()
    for (earlier, now), _ in sorted(shared.items(), key=lambda each: (-each[1], each[0])):
        if earlier not in found and now not in taken:
            found[earlier] = now
            taken.add(now)
    return found


def _share_a_pool(slot: _Place, other: _Place | None) -> bool:
    return other is not None and other[2] is not None and other[:2] == slot[:2]


def _missing(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    known = set(others)
    return tuple(name for name in names if name not in known)


def _reordered(before: list[str], after: list[str]) -> int:
    """How many of the nodes in both stand elsewhere among these."""
    both = set(before) & set(after)
    earlier, later = ([name for name in names if name in both] for names in (before, after))
    return sum(one != other for one, other in zip(earlier, later, strict=False))
