"""Live bytes: what the resources of a plan hold while each node runs, one after the other.

A Step resource is live from its first user to its last one, or to the end of the step where it is
read past the terminal fence; what an invocation needs while its node runs; a sequence's and a
request's own bytes, and static ones, through the whole step.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.documents.terms import Linear
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.sizes import bytes_at
from ferrum_verify.plan.turns import row_groups, slot_groups
from ferrum_verify.report.headroom import scheduled_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.documents.terms import Count, Terms
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.reading.document import Subject

OF_A_SEQUENCE = ("request", "sequence")
"""The lifetimes of which every sequence of a batch has bytes of its own."""


class Batch(NamedTuple):
    """A batch: what its step runs, all sequences together, and the tokens that each one holds."""

    sequences: int
    tokens: int
    held: int
    pages: int

    @property
    def step(self) -> Shape:
        """The shape at which Step and invocation resources are sized."""
        return Shape(self.sequences, self.tokens, self.pages)

    @property
    def words(self) -> str:
        """The batch in words."""
        step = f"{plural(self.sequences, 'sequence')}, {plural(self.tokens, 'token')}"
        return f"{step}, {self.held:,} held by each, {plural(self.pages, 'page')}"

    @property
    def own(self) -> Shape:
        """The shape at which the bytes of each sequence are sized."""
        return Shape(1, self.held, self.pages)


class Limits(NamedTuple):
    """The most of each count that a plan's demands admit; None of what no demand counts."""

    sequences: int
    tokens: int | None
    held: int | None
    pages: int | None

    def common(self, other: Limits) -> Limits:
        """The counts that both admit."""
        return Limits(
            min(self.sequences, other.sequences),
            _lesser(self.tokens, other.tokens),
            _lesser(self.held, other.held),
            _lesser(self.pages, other.pages),
        )

    @property
    def largest(self) -> Batch:
        """The largest batch, whose sequences hold what the step runs of them."""
        tokens = self.tokens or 1
        each = -(-tokens // self.sequences)
        return Batch(self.sequences, tokens, min(each, self.held or each), self.pages or 1)


def limits_of(subject: Subject, memory: MemoryPlan) -> Limits | None:
    """The counts within which every size is defined; None where there are none."""
    own = [row for row in memory.dynamic_descriptors if row.lifetime in OF_A_SEQUENCE]
    step = [row for row in memory.dynamic_descriptors if row.lifetime not in OF_A_SEQUENCE]
    scheduled = scheduled_tokens(subject)
    tokens = _least(step, "tokens")
    most = Limits(
        sequences=min(
            memory.maximum_active_sequences,
            _least(step, "sequences") or memory.maximum_active_sequences,
            *(row.theoretical_maximum_instances for row in own),
        ),
        tokens=min(tokens, scheduled or tokens) if tokens else scheduled,
        held=_least(own, "tokens"),
        pages=_least([*own, *step], "pages"),
    )
    return None if 0 in most else most


def _lesser(one: int | None, other: int | None) -> int | None:
    return min((count for count in (one, other) if count is not None), default=None)


def _least(rows: Iterable[DynamicDescriptor], count: Count) -> int | None:
    each = (_limit(row.demand.terms, count) for row in rows)
    return min((limit for limit in each if limit is not None), default=None)


def _limit(terms: Terms, count: Count) -> int | None:
    if isinstance(terms, Linear):
        return terms.limit(count)
    limit: int = getattr(terms.steps[-1], count) if terms.steps else 0
    return limit


class Sizes(dict[str, int]):
    """The bytes of every dynamic resource at a batch, those of all its sequences together.

    ``own`` are the resources of which each sequence has bytes of its own.
    """

    own: frozenset[str]


def sizes_at(memory: MemoryPlan, batch: Batch) -> Sizes:
    """The sizes at a batch; raises SizeError where one is not defined there.

    So it does where a pool names a resource that has no descriptor.
    """
    own = [row for row in memory.dynamic_descriptors if row.lifetime in OF_A_SEQUENCE]
    step = [row for row in memory.dynamic_descriptors if row.lifetime not in OF_A_SEQUENCE]
    each = {name: batch.sequences * size for name, size in bytes_at(own, batch.own).items()}
    sizes = Sizes(each | bytes_at(step, batch.step))
    sizes.own = frozenset(each)
    for pool in memory.dynamic_pools:
        for groups in (pool.step_resource_slots, pool.invocation_liveness):
            for name in (name for group in groups for name in group.resource_ids):
                if name not in sizes:
                    raise SizeError(f"of `{name}` is unknown, as it has no descriptor")
    return sizes


def held_bytes(pool: DynamicPool, sizes: Sizes) -> int:
    """What a pool's slots, extents and bytes of a sequence's own take."""
    groups = slot_groups(pool) + row_groups(pool)
    in_turn = (max(sum(sizes[name] for name in each) for each in group) for group in groups)
    return sum(in_turn) + sum(sizes[name] for name in sizes.own.intersection(pool.resource_ids))


def live_bytes(
    memory: MemoryPlan, order: HappensBefore, kept: frozenset[str], sizes: Sizes
) -> dict[str, list[int]]:
    """For each pool the bytes that are live while each node runs."""
    return {pool.pool_id: _of_pool(pool, sizes, order, kept) for pool in memory.dynamic_pools}


def _of_pool(
    pool: DynamicPool,
    sizes: Sizes,
    order: HappensBefore,
    kept: frozenset[str],
) -> list[int]:
    changes = [0] * (len(order.nodes) + 1)

    def live(first: int, last: int, size: int) -> None:
        changes[first] += size
        changes[last + 1] -= size

    end = len(order.nodes) - 1
    for name in {name for slot in pool.step_resource_slots for name in slot.resource_ids}:
        users = order.users.get(name)
        if users:
            live(users[0], end if name in kept else users[-1], sizes[name])
    for row in pool.invocation_liveness:
        place = order.position.get(row.node_id)
        if place is not None:
            live(place, place, sum(sizes[name] for name in row.resource_ids))
    if order.nodes:
        live(0, end, sum(sizes[name] for name in sizes.own.intersection(pool.resource_ids)))
    return list(accumulate(changes[:-1]))
