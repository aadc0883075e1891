"""One pass over slots sorted by offset, each of which must begin where the last one ended.

By induction on the slots. The claim is about sets of bytes, and is stated of one arbitrary byte:
how many of the slots so far hold it. Exactly one for a byte below the running end and none above
says both that no two slots share a byte and that none is left over. Sixty-four-bit words with the
engine's checked addition, because an end that wraps would make the claim false. The same claim
said outright of a dozen slots is in linear integers, where the ends are known to fit: a dozen
adders of 64 bits are out of reach, a dozen linear equations are nothing.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .machine import LARGEST, align_up, aligned, constant, power_of_two, word

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_BV"
FULL_SLOTS, QUICK_SLOTS = 12, 4


def once_below(holders: z3.BitVecRef, byte: z3.BitVecRef, end: z3.BitVecRef) -> z3.BoolRef:
    """State the invariant: one holder for each byte below the end, none at or above it."""
    return holders == z3.If(z3.ULT(byte, end), constant(1), constant(0))


def holds(byte: z3.BitVecRef, offset: z3.BitVecRef, size: z3.BitVecRef) -> z3.BoolRef:
    """State that a slot holds the byte, without adding offset and size."""
    return z3.And(z3.UGE(byte, offset), z3.ULT(byte - offset, size))


def exact_cover(scale: Scale) -> Iterator[Check]:
    """Prove that a sweep that passes leaves no byte shared and none out."""
    byte, end, size, holders = word("byte"), word("end"), word("size"), word("holders")
    fits = z3.ULE(size, constant(LARGEST) - end)
    yield from proves(
        "base",
        "Before the first slot the running end is 0, and no byte is held.",
        LOGIC,
        once_below(holders, byte, end),
        (holders == 0, end == 0),
    )
    yield from proves(
        "step",
        "A slot that begins at the running end, and whose end fits 64 bits, keeps it so.",
        LOGIC,
        once_below(
            holders + z3.If(holds(byte, end, size), constant(1), constant(0)), byte, end + size
        ),
        (once_below(holders, byte, end), fits),
    )
    count = FULL_SLOTS if scale == "full" else QUICK_SLOTS
    place = z3.Int("place")
    offsets = [z3.Int(f"offset.{index}") for index in range(count)]
    sizes = [z3.Int(f"size.{index}") for index in range(count)]
    ends = [z3.IntVal(0), *(at + size for at, size in zip(offsets, sizes, strict=True))]
    swept = [
        z3.And(at == start, size >= 0)
        for at, size, start in zip(offsets, sizes, ends, strict=False)
    ]
    held = [z3.And(at <= place, place < end) for at, end in zip(offsets, ends[1:], strict=True)]
    apart = [z3.Not(z3.And(left, right)) for left, right in itertools.combinations(held, 2)]
    yield from proves(
        "direct",
        f"Said outright of {count} slots whose ends fit: no two hold one byte, and a byte is held "
        "exactly when it is below the last end.",
        "QF_LIA",
        z3.And(*apart, z3.Or(*held) == z3.And(place >= 0, place < ends[-1])),
        swept,
    )


def complete(_: Scale) -> Iterator[Check]:
    """Prove that the sweep refuses nothing that is disjoint and exact."""
    end, arena, offset = word("end"), word("arena"), word("offset")
    holder, holder_size = word("holder.offset"), word("holder.size")
    yield from proves(
        "step",
        "Let the slots so far hold exactly the bytes below the running end. The next slot's "
        "first byte is held by none of them, and is in the arena; a byte at the end is held by "
        "a slot that comes now or later, and so begins no sooner than the next. Then the next "
        "begins at the end: else the byte at the end would be held by nobody.",
        LOGIC,
        offset == end,
        (
            z3.Not(z3.ULT(offset, end)),
            z3.ULT(offset, arena),
            z3.UGE(holder, offset),
            z3.Implies(z3.ULT(end, arena), holds(end, holder, holder_size)),
        ),
    )


def running_alignment(_: Scale) -> Iterator[Check]:
    """Prove that running ends stay aligned when every size is quantized to one alignment."""
    end, size, alignment = word("end"), word("size"), word("alignment")
    taken = align_up(size, alignment)
    yield from proves(
        "base",
        "The first slot begins at 0, which every alignment divides.",
        LOGIC,
        aligned(constant(0), alignment),
        (power_of_two(alignment),),
    )
    yield from proves(
        "step",
        "An aligned end plus a quantized size is an aligned end.",
        LOGIC,
        aligned(end + taken.value, alignment),
        (
            power_of_two(alignment),
            taken.fits,
            aligned(end, alignment),
            z3.ULE(taken.value, constant(LARGEST) - end),
        ),
    )


def mixed_alignment(_: Scale) -> Iterator[Check]:
    """Show that slots of different alignments need more than running ends."""
    size, first, second = word("size"), word("first"), word("second")
    taken = align_up(size, first)
    wrong = z3.And(
        power_of_two(first),
        power_of_two(second),
        z3.UGT(size, 0),
        taken.fits,
        z3.Not(aligned(taken.value, second)),
    )
    yield from exhibits(
        "counterexample",
        "One byte at alignment 1 and then a slot of alignment 2: it would begin at byte 1.",
        LOGIC,
        first == 1,
        second == 2,
        size == 1,
        wrong,
    )
    yield from excludes(
        "none-smaller",
        "If the second alignment is no greater than the first, nothing goes wrong.",
        LOGIC,
        z3.ULE(second, first),
        wrong,
    )


def first_misaligned() -> tuple[int, int, int] | None:
    """Find the first pair of alignments, and size, that puts the second slot wrong."""
    powers = (1, 2, 4, 8)
    for second in powers:
        for first in powers:
            for size in range(1, 9):
                if -(-size // first) * first % second:
                    return first, second, size
    return None


THEOREMS = (
    Theorem(
        id="bindings.sweep-is-an-exact-cover",
        statement=(
            "If slots sorted by offset each begin at the end of the one before, and the first at "
            "0, then no two share a byte, and together they hold exactly the bytes below the last "
            "end."
        ),
        theory="bit-vectors, integers",
        holds_for="every number of slots, by induction; and outright for twelve",
        rests=(
            "ferrum_verify.derive.bindings:running_end",
            "ferrum_verify.derive.bindings:compile_layouts",
        ),
        rules=("binding.arena",),
        checks=exact_cover,
    ),
    Theorem(
        id="bindings.sweep-is-complete",
        statement=(
            "Conversely, non-empty slots that share no byte and cover an arena exactly pass the "
            "sweep: it refuses no good arena."
        ),
        theory="bit-vectors",
        holds_for="every number of slots, by induction",
        rests=("ferrum_verify.derive.bindings:running_end",),
        rules=("binding.arena",),
        checks=complete,
    ),
    Theorem(
        id="bindings.running-ends-stay-aligned",
        statement=(
            "When all sizes are quantized to one alignment, every running end is a multiple of "
            "it, so every slot of a binding arena is aligned."
        ),
        theory="bit-vectors",
        holds_for="every number of slots, by induction",
        rests=("ferrum_verify.derive.bindings:wave_projections",),
        rules=("binding.arena",),
        checks=running_alignment,
    ),
    Theorem(
        id="bindings.mixed-alignments-break",
        statement=(
            "Slots of different alignments cannot simply follow each other: after one byte at "
            "alignment 1, a slot of alignment 2 begins at byte 1. It is the pool's key, which "
            "holds the alignment, that rules this out."
        ),
        theory="bit-vectors",
        holds_for="counterexample, smallest by the second alignment",
        rests=("ferrum_verify.derive.pools:compatibility_of",),
        rules=("pool.compatibility",),
        checks=mixed_alignment,
        recheck=lambda _: first_misaligned() == (1, 2, 1),
    ),
)
