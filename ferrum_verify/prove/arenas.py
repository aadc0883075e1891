"""Arenas: budgets suffice at every shape that a bucket covers, and binding slots are apart.

Mirrors the budgets of ``rules/reusable_budgets.py`` and ``rules/binding.py``. What is proven
of a binding arena is proven of the layout that the fast path compiled: it is the thing under test.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import (
    ByteRange,
    OverlapCounterexample,
    Shape,
    ShapeCounterexample,
)
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.sizes import Claim, request_bytes
from ferrum_verify.plan.turns import bytes_in_turn, row_groups, slot_groups
from ferrum_verify.prove.formulas import (
    LOGIC,
    SymbolicShape,
    Words,
    is_sound,
    largest_at,
    largest_in_turn,
    shape_of,
    shared_by,
)
from ferrum_verify.prove.obligation import Obligation, Violation
from ferrum_verify.rules import binding, reusable_budgets

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.derive.bindings import BindingLayout, BindingSlot
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool
    from ferrum_verify.documents.reusable import ResolvedBucket
    from ferrum_verify.plan.turns import Group
    from ferrum_verify.prove.obligation import Claims


def budget_claims(
    resolved: ResolvedBucket,
    name: str,
    at: str,
    pool: DynamicPool,
    descriptors: Mapping[str, DynamicDescriptor],
) -> Claims:
    """The claims that a bucket's budget in a pool is enough at every shape that it covers."""
    budget = next((each for each in resolved.pool_budgets if each.pool_id == pool.pool_id), None)
    parts = (("step", slot_groups(pool)), ("invocation", row_groups(pool)))
    known = all(
        resource in descriptors and is_sound(descriptors[resource])
        for _, groups in parts
        for group in groups
        for alternative in group
        for resource in alternative
    )
    if not known:
        return
    capacity = resolved.bucket.capacity
    most = Shape(capacity.maximum_sequences, capacity.maximum_tokens, capacity.maximum_pages)
    for kind, groups in parts:
        if groups:
            limit, limit_from = 0, at
            if budget is not None:
                limit = getattr(budget, f"{kind}_bytes")
                limit_from = f"{at}/{resolved.pool_budgets.index(budget)}/{kind}_bytes"
            yield _enough(kind, groups, limit, limit_from, most, name, at, pool, descriptors)


def _enough(
    kind: str,
    groups: list[Group],
    limit: int,
    limit_from: str,
    most: Shape,
    name: str,
    at: str,
    pool: DynamicPool,
    descriptors: Mapping[str, DynamicDescriptor],
) -> Obligation:
    """The greatest alternative of each group, summed over the groups, is within the limit."""
    claims = {
        resource: Claim.of(descriptors[resource])
        for group in groups
        for alternative in group
        for resource in alternative
    }
    shared = shared_by(groups, claims)
    largest = largest_in_turn(shared, most)

    def encode() -> Violation:
        words, shape = Words.up_to(max(largest, limit)), SymbolicShape.named()
        passes = z3.UGT(words.in_turn(shared, shape), words.constant(limit))
        return Violation((*shape.within(most), passes), shape.counts)

    def witness(values: tuple[int, ...]) -> Counterexample | None:
        shape = shape_of(values)
        try:
            total = bytes_in_turn(shared.items(), lambda claim: claim.bytes_at(shape))
        except SizeError:
            return None
        return ShapeCounterexample(shape, total, limit, limit_from)

    return Obligation(
        id=f"{at}: {kind} of {pool.pool_id}",
        claim=f"At every shape that {name} covers, the {kind} bytes of pool "
        f"`{short_pool(pool.pool_id)}` are at most the {limit:,} that it budgets.",
        names=(name, pool.pool_id),
        logic=LOGIC,
        rule=reusable_budgets.BUDGET,
        location=at,
        key=("budget", frozenset(shared.items()), most, limit),
        violation=encode,
        message=lambda _: (
            f"{name} budgets {limit:,} {kind} bytes in pool `{short_pool(pool.pool_id)}`, which a "
            "shape that it covers passes"
        ),
        witness=witness,
    )


def layout_claims(
    layout: BindingLayout, at: str, descriptors: Mapping[str, DynamicDescriptor], most: Shape
) -> Claims:
    """The claims about one compiled binding arena.

    Overlap is asked of neighbours by offset: as no slot is empty, any two that overlap make
    two neighbours overlap (theorem ``neighbours.decide-disjoint``).
    """
    slots = sorted(layout.slots, key=lambda slot: slot.physical_offset_bytes)
    name = f"the arena of bucket `{short_pool(layout.reusable_execution_bucket_id)}`"
    yield _apart(slots, name, at, most)
    yield _covers(layout, slots, name, at)
    for slot in slots:
        yield _aligned(slot, name, at)
        row = descriptors.get(slot.resource_id)
        if row is not None and is_sound(row):
            yield _projected(slot, row, name, at, most)


def _apart(slots: list[BindingSlot], name: str, at: str, most: Shape) -> Obligation:
    ranges = [
        (slot.physical_offset_bytes, slot.physical_offset_bytes + slot.capacity_size_bytes)
        for slot in slots
    ]

    def encode() -> Violation:
        byte = z3.BitVec("byte", 64)
        words = Words.up_to(max((end for _, end in ranges), default=0))
        wide = words.widened(byte)

        def inside(bounds: tuple[int, int]) -> z3.BoolRef:
            return z3.And(
                z3.UGE(wide, words.constant(bounds[0])), z3.ULT(wide, words.constant(bounds[1]))
            )

        both = [z3.And(inside(left), inside(right)) for left, right in itertools.pairwise(ranges)]
        return Violation((z3.Or(both),), (byte,))

    def witness(values: tuple[int, ...]) -> Counterexample | None:
        (byte,) = values
        holders = [
            (slot, bounds)
            for slot, bounds in zip(slots, ranges, strict=True)
            if bounds[0] <= byte < bounds[1]
        ]
        if len(holders) < 2:
            return None
        left, right = (ByteRange(slot.resource_id, *bounds) for slot, bounds in holders[:2])
        return OverlapCounterexample(most, left, right, byte)

    return Obligation(
        id=f"{at}: apart",
        claim=f"No byte of {name} belongs to two slots.",
        names=tuple(slot.resource_id for slot in slots),
        logic=LOGIC,
        rule=binding.ARENA,
        location=at,
        key=("apart", tuple(ranges)),
        violation=encode,
        message=lambda _: f"two slots of {name} hold the same byte",
        witness=witness,
    )


def _covers(layout: BindingLayout, slots: list[BindingSlot], name: str, at: str) -> Obligation:
    size = layout.physical_size_bytes
    ranges = [(slot.physical_offset_bytes, slot.capacity_size_bytes) for slot in slots]

    def encode() -> Violation:
        byte = z3.BitVec("byte", 64)
        words = Words.up_to(max([size, *(start + length for start, length in ranges)]))
        wide = words.widened(byte)
        covered = [
            z3.And(
                z3.UGE(wide, words.constant(start)), z3.ULT(wide, words.constant(start + length))
            )
            for start, length in ranges
        ]
        outside = z3.And(z3.ULT(wide, words.constant(size)), z3.Not(z3.Or(covered)))
        beyond = z3.And(z3.UGE(wide, words.constant(size)), z3.Or(covered))
        return Violation((z3.Or(outside, beyond),), (byte,))

    return Obligation(
        id=f"{at}: covers",
        claim=f"The slots of {name} hold its {size:,} bytes, every one and none beyond.",
        names=(layout.reusable_execution_bucket_id,),
        logic=LOGIC,
        rule=binding.ARENA,
        location=at,
        key=("covers", tuple(ranges), size),
        violation=encode,
        message=lambda _: f"the slots of {name} do not cover its {size:,} bytes exactly",
    )


def _aligned(slot: BindingSlot, name: str, at: str) -> Obligation:
    offset, size, unit = slot.physical_offset_bytes, slot.capacity_size_bytes, slot.alignment_bytes
    # Only the low bits matter, so slots that agree in them have equal formulas.
    low = (offset % unit if unit else 1, size % unit if unit else 1, bool(size), unit)

    def encode() -> Violation:
        words = Words.up_to(max(offset, size, unit))
        mask = words.constant(max(unit - 1, 0))
        return Violation(
            (
                z3.Or(
                    words.constant(offset) & mask != 0,
                    words.constant(size) & mask != 0,
                    words.constant(size) == 0,
                    z3.BoolVal(unit == 0),
                ),
            )
        )

    return Obligation(
        id=f"{at}: aligned {slot.resource_id}",
        claim=f"The slot of `{slot.node_id}` in {name} is not empty, and begins and ends at a "
        f"multiple of {unit:,}.",
        names=(slot.resource_id,),
        logic=LOGIC,
        rule=binding.ARENA,
        location=at,
        key=("aligned", low),
        violation=encode,
        message=lambda _: (
            f"in {name} the slot of `{slot.node_id}` at {offset:,} with {size:,} bytes is empty or "
            f"not aligned to {unit:,}"
        ),
    )


def _projected(
    slot: BindingSlot, row: DynamicDescriptor, name: str, at: str, most: Shape
) -> Obligation:
    claimed = Claim.of(row)
    size = slot.capacity_size_bytes

    def encode() -> Violation:
        words = Words.up_to(max(largest_at(claimed, most), size))
        shape = SymbolicShape.named()
        outgrows = z3.UGT(words.taken(claimed, shape), words.constant(size))
        return Violation((*shape.within(most), outgrows), shape.counts)

    def witness(values: tuple[int, ...]) -> Counterexample | None:
        shape = shape_of(values)
        try:
            return ShapeCounterexample(shape, request_bytes(row, shape), size, at)
        except SizeError:
            return None

    return Obligation(
        id=f"{at}: projected {slot.resource_id}",
        claim=f"At every shape that the bucket covers, `{slot.resource_id}` fits its {size:,} "
        f"bytes of {name}.",
        names=(slot.resource_id,),
        logic=LOGIC,
        rule=binding.ARENA,
        location=at,
        key=("projected", claimed, size, most),
        violation=encode,
        message=lambda _: f"`{slot.resource_id}` outgrows its {size:,} bytes of {name}",
        witness=witness,
    )


def owner_claims(layout: BindingLayout, at: str, owners: Mapping[int, str | None]) -> Claims:
    """The claim that each slot of an arena is owned by one node, which owns nothing else.

    ``owners`` has each node's own ``binding_resource`` by position. Of slots in the order of
    their nodes, two of one node are neighbours; a node is its position, an integer.
    """
    slots = layout.slots
    name = f"the arena of bucket `{short_pool(layout.reusable_execution_bucket_id)}`"

    positions = sorted(slot.node_index for slot in slots)

    def encode() -> Violation:
        node = z3.Int("node")
        twice = [
            z3.And(node == left, node == right) for left, right in itertools.pairwise(positions)
        ]
        foreign = z3.BoolVal(any(owners.get(slot.node_index) != slot.resource_id for slot in slots))
        return Violation((z3.Or(*twice, foreign),))

    yield Obligation(
        id=f"{at}: owners",
        claim=f"Every slot of {name} belongs to the node that owns its resource, and no node has "
        "two.",
        names=tuple(slot.node_id for slot in slots),
        logic="QF_LIA",
        rule=binding.OWNER,
        location=at,
        key=("owners", tuple((slot.node_index, owners.get(slot.node_index)) for slot in slots)),
        violation=encode,
        message=lambda _: f"a slot of {name} does not belong to exactly the node that owns it",
    )
