"""Compares two plans by names: nodes and resources by ids, pools by theirs, slots by members."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.report.against import Against, Figure, Lone, Move, PoolChange, Resize
from ferrum_verify.report.live_bytes import held_bytes, limits_of, live_bytes, sizes_at
from ferrum_verify.report.places import now_at, place_words, places_of, same_slots
from ferrum_verify.report.stated_differences import stated_differences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ferrum_verify.documents.memory_plan import DynamicPool, MemoryPlan
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.live_bytes import Batch
    from ferrum_verify.report.places import Place


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
    before, after = places_of(earlier), places_of(memory)
    slots = same_slots(earlier, memory)
    # A memory plan alone has no nodes, and says nothing of them.
    known = bool(other.nodes and subject.nodes)
    names = [[node.id for node in each.nodes or ()] if known else [] for each in (other, subject)]
    resized = tuple(
        Resize(name, at[0].sizes[name], size)
        for name, size in (at[1].sizes.items() if at else ())
        if at and name in at[0].sizes and at[0].sizes[name] != size
    )
    stated = stated_differences(subject, other, frozenset(each.resource for each in resized))
    return Against(
        other=source,
        batch=batch,
        undefined=undefined,
        totals=_totals(earlier, memory, at, with_peak=known),
        pools=_pools(earlier, memory, at),
        resources_added=_lone(after, before, at and at[1]),
        resources_removed=_lone(before, after, at and at[0]),
        resized=resized,
        moved=tuple(
            Move(name, place_words(before[name]), place_words(place))
            for name, place in after.items()
            if name in before and now_at(before[name], slots) != place
        ),
        nodes_added=_missing(names[1], names[0]),
        nodes_removed=_missing(names[0], names[1]),
        nodes_reordered=_reordered(*names),
        nodes_compared=known,
        **stated._asdict(),
    )


_Plan: TypeAlias = "tuple[Subject, MemoryPlan]"


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
    mine: Mapping[str, Place], others: Mapping[str, Place], at: _At | None
) -> tuple[Lone, ...]:
    return tuple(
        Lone(name, place_words(place), None if at is None else at.sizes[name])
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


def _missing(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    known = set(others)
    return tuple(name for name in names if name not in known)


def _reordered(before: list[str], after: list[str]) -> int:
    """How many of the nodes in both stand elsewhere among these."""
    both = set(before) & set(after)
    earlier, later = ([name for name in names if name in both] for names in (before, after))
    return sum(one != other for one, other in zip(earlier, later, strict=False))
