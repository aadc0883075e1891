"""Bindings: the slots of a binding arena are apart, and hold what each node takes of its own.

Mirrors ``rules/binding.py``. What is proven of an arena is proven of the layout that the fast
path compiled: it is the thing under test.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import z3

from ferrum_verify.counterexamples import ByteRange, OverlapCounterexample
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.sizes import Claim
from ferrum_verify.prove.formulas import LOGIC, Words, any_of, is_sound
from ferrum_verify.prove.need import Need, fits
from ferrum_verify.prove.obligation import Obligation, Statement, formula
from ferrum_verify.prove.reusable import at_shape
from ferrum_verify.rules import binding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ferrum_verify.counterexamples import Counterexample, Shape
    from ferrum_verify.derive.bindings import BindingLayout, BindingSlot
    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.prove.obligation import Claims

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Bytes of an arena, each range from its start to before its end."""


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
    ranges = _ranges(slots)

    def witness(values: tuple[int, ...]) -> Counterexample | None:
        (byte,) = values
        holders = [
            ByteRange(slot.resource_id, start, end)
            for slot, (start, end) in zip(slots, ranges, strict=True)
            if start <= byte < end
        ]
        if len(holders) < 2:
            return None
        left, right = holders[:2]
        return OverlapCounterexample(most, left, right, byte)

    return Obligation(
        id=f"{at}: apart",
        claim=f"No byte of {name} belongs to two slots.",
        names=tuple(slot.resource_id for slot in slots),
        rule=binding.ARENA,
        location=at,
        formula=formula(neighbours_are_apart, ranges),
        message=f"two slots of {name} hold the same byte",
        witness=witness,
    )


def neighbours_are_apart(ranges: Ranges) -> Statement:
    """No byte is in a range and in the one after it."""
    byte, inside = _bytes_of(ranges)
    both = [z3.And(inside(*left), inside(*right)) for left, right in itertools.pairwise(ranges)]
    return Statement(LOGIC, z3.Not(any_of(both)), least=(byte,))


def _covers(layout: BindingLayout, slots: list[BindingSlot], name: str, at: str) -> Obligation:
    size = layout.physical_size_bytes
    return Obligation(
        id=f"{at}: covers",
        claim=f"The slots of {name} hold its {size:,} bytes, every one and none beyond.",
        names=(layout.reusable_execution_bucket_id,),
        rule=binding.ARENA,
        location=at,
        formula=formula(cover_exactly, _ranges(slots), size),
        message=f"the slots of {name} do not cover its {size:,} bytes exactly",
    )


def cover_exactly(ranges: Ranges, size: int) -> Statement:
    """A byte is in some range exactly when it is one of the first ``size``."""
    _, inside = _bytes_of((*ranges, (0, size)))
    covered = any_of([inside(start, end) for start, end in ranges])
    return Statement(LOGIC, covered == inside(0, size))


def _ranges(slots: Iterable[BindingSlot]) -> Ranges:
    return tuple(
        (slot.physical_offset_bytes, slot.physical_offset_bytes + slot.capacity_size_bytes)
        for slot in slots
    )


def _bytes_of(ranges: Ranges) -> tuple[z3.BitVecRef, Callable[[int, int], z3.BoolRef]]:
    """An unknown byte, and what says that it is in a range, in words that hold all ranges."""
    byte = z3.BitVec("byte", 64)
    words = Words.up_to(max((end for _, end in ranges), default=0))
    wide = words.widened(byte)
    return byte, lambda start, end: z3.And(
        z3.UGE(wide, words.constant(start)), z3.ULT(wide, words.constant(end))
    )


def _aligned(slot: BindingSlot, name: str, at: str) -> Obligation:
    offset, size, unit = slot.physical_offset_bytes, slot.capacity_size_bytes, slot.alignment_bytes
    low = max(unit - 1, 0)
    return Obligation(
        id=f"{at}: aligned {slot.resource_id}",
        claim=f"The slot of `{slot.node_id}` in {name} is not empty, and begins and ends at a "
        f"multiple of {unit:,}.",
        names=(slot.resource_id,),
        rule=binding.ARENA,
        location=at,
        # Only the low bits matter, so slots that agree in them have equal formulas.
        formula=formula(is_aligned, offset & low, size & low, size == 0, unit),
        message=f"in {name} the slot of `{slot.node_id}` at {offset:,} with {size:,} bytes is "
        f"empty or not aligned to {unit:,}",
    )


def is_aligned(offset: int, size: int, empty: bool, unit: int) -> Statement:
    """No bit of the offset and the size is below the unit, and neither unit nor size is 0."""
    words = Words.up_to(unit)
    low = words.constant(max(unit - 1, 0))
    aligned = ((words.constant(offset) | words.constant(size)) & low) == 0
    return Statement(LOGIC, z3.And(aligned, z3.BoolVal(unit > 0 and not empty)))


def _projected(
    slot: BindingSlot, row: DynamicDescriptor, name: str, at: str, most: Shape
) -> Obligation:
    size, need = slot.capacity_size_bytes, Need(0, ((Claim.of(row), 1),))
    return Obligation(
        id=f"{at}: projected {slot.resource_id}",
        claim=f"At every shape that the bucket covers, `{slot.resource_id}` fits its {size:,} "
        f"bytes of {name}.",
        names=(slot.resource_id,),
        rule=binding.ARENA,
        location=at,
        formula=formula(fits, need, most, size),
        message=f"`{slot.resource_id}` outgrows its {size:,} bytes of {name}",
        witness=partial(at_shape, need, size, at),
    )


def owner_claims(layout: BindingLayout, at: str, owners: Mapping[int, str | None]) -> Claims:
    """The claim that each slot of an arena is owned by one node, which owns nothing else.

    ``owners`` has each node's own ``binding_resource`` by position.
    """
    name = f"the arena of bucket `{short_pool(layout.reusable_execution_bucket_id)}`"
    positions = tuple(sorted(slot.node_index for slot in layout.slots))
    own = all(owners.get(slot.node_index) == slot.resource_id for slot in layout.slots)
    yield Obligation(
        id=f"{at}: owners",
        claim=f"Every slot of {name} belongs to the node that owns its resource, and no node has "
        "two.",
        names=tuple(slot.node_id for slot in layout.slots),
        rule=binding.OWNER,
        location=at,
        formula=formula(own_one_each, positions, own),
        message=f"a slot of {name} does not belong to exactly the node that owns it",
    )


def own_one_each(positions: tuple[int, ...], own: bool) -> Statement:
    """No node stands twice in the nodes of the slots, by position, and each owns its slot."""
    node = z3.Int("node")
    twice = [z3.And(node == left, node == right) for left, right in itertools.pairwise(positions)]
    return Statement("QF_LIA", z3.And(z3.Not(any_of(twice)), z3.BoolVal(own)))
