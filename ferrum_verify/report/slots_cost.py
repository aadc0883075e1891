"""What the slots of a plan cost: its own, the least, and the headroom that better ones give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples import Shape
from ferrum_verify.derive.other_slots import slots_bytes, with_slots
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.frontier import capacity_of, largest_sequences, largest_tokens
from ferrum_verify.plan.sizes import bytes_at
from ferrum_verify.report.headroom import scheduled_tokens

if TYPE_CHECKING:
    from ferrum_verify.derive.best_slots import BestSlots, PoolSlots
    from ferrum_verify.documents.memory_plan import DynamicPool, MemoryPlan
    from ferrum_verify.reading.document import Subject

SHORT_SEQUENCE = 64
"""Tokens of the sequences that are counted, where the question is how many have room."""
SHOWN_MEMBERS = 5


@dataclass(frozen=True, slots=True)
class Room:
    """How long one sequence can be, and how many of 64 tokens have room together."""

    tokens: int
    sequences: int


@dataclass(frozen=True, slots=True)
class Costly:
    """A slot of the plan by its largest member, which says what it takes, and who shares it."""

    resource_id: str
    bytes: int
    others: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeCost:
    """What all Step slots take at one shape: the plan's, the least, and the best slots'.

    The best slots are those that were found for another shape. ``proved`` says that no slots
    take less here.
    """

    name: str
    bytes: int
    least_bytes: int
    best_bytes: int

    @property
    def proved(self) -> bool:
        """Whether no other slots take less than these at this shape."""
        return self.best_bytes == self.least_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotsCost:
    """The best slots of a document beside its own.

    ``elsewhere`` has other shapes; ``before`` and ``after`` are the room with the plan's slots
    and with the best, None where a size that it depends on is unknown.
    """

    best: BestSlots
    costly: tuple[Costly, ...]
    elsewhere: tuple[ShapeCost, ...] = ()
    before: Room | None = None
    after: Room | None = None

    @property
    def shape(self) -> Shape:
        """The largest counts of all pools; a pool whose members end sooner says so itself."""
        shapes = [pool.shape for pool in self.best.pools] or [Shape(1, 1, 1)]
        return Shape(
            max(shape.sequences for shape in shapes),
            max(shape.tokens for shape in shapes),
            max(shape.pages for shape in shapes),
        )

    def to_wire(self) -> dict[str, Any]:
        """The cost as the report's JSON."""
        return {
            "pools": [_pool_wire(pool, self.shape) for pool in self.best.pools],
            "shape": self.shape.to_wire(),
        }


def _pool_wire(pool: PoolSlots, shape: Shape) -> dict[str, Any]:
    wire: dict[str, Any] = {
        "pool_id": pool.pool_id,
        "bytes": pool.bytes,
        "safe": pool.safe,
        "least_bytes": pool.least_bytes,
        "best_bytes": pool.best_bytes,
        "proved": pool.proved,
    }
    return wire if pool.shape == shape else {**wire, "shape": pool.shape.to_wire()}


def slots_cost(
    subject: Subject,
    memory: MemoryPlan,
    best: BestSlots,
    elsewhere: tuple[tuple[str, BestSlots], ...] = (),
) -> SlotsCost:
    """What a document's slots cost; ``elsewhere`` has the best slots of other shapes, by name."""
    return SlotsCost(
        best=best,
        costly=_costly(memory, best),
        elsewhere=tuple(_at_shape(name, memory, best, there) for name, there in elsewhere),
        before=_room(subject, memory),
        after=_room(subject, with_slots(memory, best.slots)),
    )


def _costly(memory: MemoryPlan, best: BestSlots) -> tuple[Costly, ...]:
    pools = {pool.pool_id: pool for pool in memory.dynamic_pools}
    slots = [each for pool in best.pools for each in _slots_of(pools[pool.pool_id], memory, pool)]
    return tuple(sorted(slots, key=lambda each: (-each.bytes, each.resource_id))[:SHOWN_MEMBERS])


def _slots_of(pool: DynamicPool, memory: MemoryPlan, at: PoolSlots) -> list[Costly]:
    members = {name for slot in pool.step_resource_slots for name in slot.resource_ids}
    rows = [row for row in memory.dynamic_descriptors if row.base_resource_id in members]
    sizes = bytes_at(rows, at.shape)
    found = []
    for slot in pool.step_resource_slots:
        largest = max(slot.resource_ids, key=sizes.__getitem__)
        found.append(Costly(largest, sizes[largest], len(slot.resource_ids) - 1))
    return found


def _at_shape(name: str, memory: MemoryPlan, best: BestSlots, there: BestSlots) -> ShapeCost:
    shapes = {pool.pool_id: pool.shape for pool in there.pools}
    return ShapeCost(
        name=name,
        bytes=sum(pool.bytes for pool in there.pools),
        least_bytes=sum(pool.least_bytes for pool in there.pools),
        best_bytes=sum(
            slots_bytes(memory, pool.slots, shapes[pool.pool_id]) for pool in best.pools
        ),
    )


def _room(subject: Subject, memory: MemoryPlan) -> Room | None:
    try:
        capacity = capacity_of(memory, scheduled_tokens(subject))
    except SizeError:
        return None
    return Room(
        tokens=largest_tokens(capacity, 1).tokens,
        sequences=largest_sequences(capacity, SHORT_SEQUENCE).sequences,
    )
