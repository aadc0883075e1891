"""Best slots: how few bytes the Step resources of a pool can take, and in which slots.

Nothing changes but who shares with whom. Two resources may share where the execution model keeps
them apart (``plan/sharing.py``) and the engine would share them at all: one that is retained past
the terminal fence, or is no token-scaled activation, keeps bytes of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ferrum_verify.counterexamples import Shape
from ferrum_verify.derive.slots import is_transient_activation
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.partition import Partition, best_partition, partition_bytes
from ferrum_verify.plan.sharing import sharing_before, slot_safety
from ferrum_verify.plan.sizes import bytes_at, largest_shape, request_bytes, smaller
from ferrum_verify.plan.unordered import Level, least_bytes, levels

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.plan.order import HappensBefore

Improve: TypeAlias = Callable[
    [Sequence[int], Sequence[int], Sequence[Sequence[int]], Sequence[Level]], Partition
]
"""Looks for better slots where those at hand miss the bound: from the members' sizes, from those
that may share with each by coming first, from the slots, and from the levels of the bound."""

_UNBOUNDED = Shape(2**64, 2**64, 2**64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Unordered:
    """Resources of at least ``bytes`` bytes each, of which no two may share.

    Each needs a slot of its own, so as many slots are that large in every partition.
    """

    bytes: int
    resource_ids: tuple[str, ...]

    def to_wire(self) -> dict[str, Any]:
        """The set as JSON."""
        return {"bytes": self.bytes, "resource_ids": list(self.resource_ids)}


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolSlots:
    """What the Step slots of one pool take at a shape, and how little would do.

    ``bytes`` are those of the plan's slots, ``best_bytes`` those of ``slots``, the best that were
    found. The plan's are ``safe`` where no two resources that share are live together under the
    execution model; other ones cannot be kept, whatever they take. No slots take less than
    ``least_bytes``: the ``certificate`` shows it, or where ``exhausted`` is set a search that left
    out nothing better.
    """

    pool_id: str
    shape: Shape
    bytes: int
    least_bytes: int
    best_bytes: int
    slots: tuple[tuple[str, ...], ...]
    certificate: tuple[Unordered, ...]
    exhausted: bool = False
    safe: bool = True

    @property
    def proved(self) -> bool:
        """Whether no other slots take less than the best that were found."""
        return self.best_bytes == self.least_bytes

    def to_wire(self) -> dict[str, Any]:
        """The pool as JSON."""
        return {
            "pool_id": self.pool_id,
            "shape": self.shape.to_wire(),
            "bytes": self.bytes,
            "safe": self.safe,
            "least_bytes": self.least_bytes,
            "best_bytes": self.best_bytes,
            "proved": self.proved,
            "exhausted": self.exhausted,
            "slots": [list(slot) for slot in self.slots],
            "certificate": [level.to_wire() for level in self.certificate],
        }


@dataclass(frozen=True, slots=True)
class BestSlots:
    """The best slots of a plan under one execution model, pool by pool."""

    execution: Execution
    pools: tuple[PoolSlots, ...]

    @property
    def slots(self) -> dict[str, tuple[tuple[str, ...], ...]]:
        """The best slots by pool."""
        return {pool.pool_id: pool.slots for pool in self.pools}

    def to_wire(self) -> dict[str, Any]:
        """All pools as JSON."""
        return {"execution": self.execution, "pools": [pool.to_wire() for pool in self.pools]}


@dataclass(frozen=True, slots=True)
class Sharing:
    """What decides who may share: the order of the nodes, how they run, and what outlives them."""

    order: HappensBefore
    retained: frozenset[str]
    execution: Execution


def always(shape: Shape) -> Callable[[Shape], Shape]:
    """Every pool at one shape, whatever its largest."""
    return lambda _: shape


def derive_best_slots(
    memory: MemoryPlan,
    sharing: Sharing,
    shape_of: Callable[[Shape], Shape],
    improve: Improve | None = None,
) -> tuple[PoolSlots, ...]:
    """The best slots of each pool that has Step slots.

    ``shape_of`` says at which shape a pool is taken, from the largest at which all of its Step
    resources are defined. Every Step resource must be in one slot of its pool. Raises SizeError,
    whose text is a sentence here, where a size is not defined at the shape.
    """
    rows = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    return tuple(
        _pool_slots(pool, rows, sharing, shape_of, improve)
        for pool in memory.dynamic_pools
        if pool.step_resource_slots
    )


def _pool_slots(
    pool: DynamicPool,
    rows: dict[str, DynamicDescriptor],
    sharing: Sharing,
    shape_of: Callable[[Shape], Shape],
    improve: Improve | None,
) -> PoolSlots:
    members = by_first_user(
        (name for slot in pool.step_resource_slots for name in slot.resource_ids),
        sharing.order,
    )
    descriptors = [rows[name] for name in members]
    shape = shape_of(largest_shape_of(descriptors))
    sizes = _sizes(descriptors, shape)
    before = _permitted(members, descriptors, sharing)
    bound = levels(sizes, before)
    least = least_bytes(bound)
    place = {name: index for index, name in enumerate(members)}
    stated = [[place[name] for name in slot.resource_ids] for slot in pool.step_resource_slots]
    found = best_partition(sizes, before, least)
    if improve is not None and partition_bytes(found.slots, sizes) > least and not found.exhausted:
        found = improve(sizes, before, found.slots, bound)
    taken = partition_bytes(stated, sizes)
    best = partition_bytes(found.slots, sizes)
    slots = found.slots
    if taken <= best and all(_may_share(slot, before) for slot in stated):
        slots, best = stated, taken  # what the plan has already is no worse
    exhausted = found.exhausted and best > least
    return PoolSlots(
        pool_id=pool.pool_id,
        shape=shape,
        bytes=taken,
        least_bytes=best if exhausted else least,
        best_bytes=best,
        slots=tuple(sorted(tuple(sorted(members[each] for each in slot)) for slot in slots)),
        certificate=tuple(
            Unordered(bytes=level.size, resource_ids=tuple(members[each] for each in level.members))
            for level in bound
        ),
        exhausted=exhausted,
        safe=all(
            safety.safe(sharing.execution)
            for slot in pool.step_resource_slots
            if len(slot.resource_ids) > 1
            and (safety := slot_safety(slot.resource_ids, sharing.order)) is not None
        ),
    )


def _sizes(descriptors: Sequence[DynamicDescriptor], shape: Shape) -> list[int]:
    try:
        bytes_of = bytes_at(descriptors, shape)
    except SizeError:
        for row in descriptors:
            try:
                request_bytes(row, shape)
            except SizeError as error:
                raise SizeError(f"the size of `{row.base_resource_id}` {error}") from None
        raise
    return [bytes_of[row.base_resource_id] for row in descriptors]


def by_first_user(resources: Iterable[str], order: HappensBefore) -> list[str]:
    """Resources by first user, then last user and id; those that nobody uses come first."""
    users = order.users

    def key(resource: str) -> tuple[int, int, str]:
        mine = users.get(resource)
        return (mine[0], mine[-1], resource) if mine else (-1, -1, resource)

    return sorted(resources, key=key)


def largest_shape_of(descriptors: Iterable[DynamicDescriptor]) -> Shape:
    """The largest shape at which all are defined; a count that bounds none of them is 1."""
    shape = smaller(*(largest_shape(row.demand.terms, _UNBOUNDED) for row in descriptors))
    counts = ((shape.sequences, 2**32), (shape.tokens, 2**64), (shape.pages, 2**64))
    return Shape(*(1 if count >= beyond else count for count, beyond in counts))


def _permitted(
    members: Sequence[str],
    descriptors: Sequence[DynamicDescriptor],
    sharing: Sharing,
) -> list[int]:
    """For each member, as bits, those that may share with it by coming first."""
    shares = 0
    for place, row in enumerate(descriptors):
        if is_transient_activation(row) and members[place] not in sharing.retained:
            shares |= 1 << place
    before = sharing_before(members, sharing.order, sharing.execution)
    return [earlier & shares if shares >> place & 1 else 0 for place, earlier in enumerate(before)]


def _may_share(slot: Sequence[int], before: Sequence[int]) -> bool:
    members = sorted(slot)
    earlier = 0
    for member in members:
        if earlier & ~before[member]:
            return False
        earlier |= 1 << member
    return True
