"""Rounding a size up to its alignment, with masks, as the engine does it.

Sixty-four-bit bit-vectors, because the rounding *is* a mask and its only danger is the carry
out of the top bit. The remainder that the binding arena's check takes is compared with the mask
for each of the 64 powers of two in turn: a remainder by a constant power of two is a slice of
bits, while a remainder by a symbolic divisor would be a division circuit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .machine import LARGEST, WORD_BITS, align_up, aligned, constant, power_of_two, wide, word

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_BV"
BREAKING_ALIGNMENT, BREAKING_SIZE = 3, 1


def least(_: Scale) -> Iterator[Check]:
    """Prove what rounding up means: the least aligned value that is large enough."""
    size, alignment, other = word("size"), word("alignment"), word("other")
    rounded = align_up(size, alignment)
    legal = power_of_two(alignment)
    yield from proves(
        "least",
        "The result is aligned, at least the size, and no aligned value in between exists.",
        LOGIC,
        z3.And(
            aligned(rounded.value, alignment),
            z3.UGE(rounded.value, size),
            z3.Implies(
                z3.And(aligned(other, alignment), z3.UGE(other, size)),
                z3.ULE(rounded.value, other),
            ),
        ),
        (legal, rounded.fits),
    )
    yield from proves(
        "padding",
        "The padding is less than the alignment.",
        LOGIC,
        z3.ULT(rounded.value - size, alignment),
        (legal, rounded.fits),
    )
    yield from proves(
        "refusal",
        "When the checked addition overflows, no aligned value of 64 bits is large enough.",
        LOGIC,
        z3.Not(aligned(other, alignment)),
        (legal, z3.Not(rounded.fits), z3.UGE(other, size)),
    )
    reach = wide(size, WORD_BITS + 1) + wide(alignment - 1, WORD_BITS + 1)
    unbounded = reach & ~wide(alignment - 1, WORD_BITS + 1)
    yield from proves(
        "unbounded",
        "Unbounded arithmetic passes 64 bits exactly when the checked addition overflows, and "
        "otherwise gives the same result.",
        LOGIC,
        z3.And(
            rounded.fits == z3.ULE(unbounded, LARGEST),
            z3.Implies(rounded.fits, unbounded == wide(rounded.value, WORD_BITS + 1)),
        ),
        (legal,),
    )
    yield from proves(
        "remainder",
        "For every power of two, the mask is zero exactly when the remainder is.",
        LOGIC,
        z3.And(
            [
                aligned(size, constant(1 << shift)) == (z3.URem(size, constant(1 << shift)) == 0)
                for shift in range(WORD_BITS)
            ]
        ),
    )


def monotone(_: Scale) -> Iterator[Check]:
    """Prove that a smaller size never rounds to more, and never overflows first."""
    small, large, alignment = word("small"), word("large"), word("alignment")
    low, high = align_up(small, alignment), align_up(large, alignment)
    yield from proves(
        "monotone",
        "If the larger size can be rounded up then so can the smaller, to no more.",
        LOGIC,
        z3.And(low.fits, z3.ULE(low.value, high.value)),
        (power_of_two(alignment), high.fits, z3.ULE(small, large)),
    )


def needs_power_of_two(_: Scale) -> Iterator[Check]:
    """Show the first alignment for which masks do not round up."""
    size, alignment = word("size"), word("alignment")
    rounded = align_up(size, alignment)
    wrong = z3.And(alignment != 0, rounded.fits, z3.URem(rounded.value, alignment) != 0)
    yield from exhibits(
        "counterexample",
        f"Size {BREAKING_SIZE} at alignment {BREAKING_ALIGNMENT} rounds to no multiple of it.",
        LOGIC,
        alignment == BREAKING_ALIGNMENT,
        size == BREAKING_SIZE,
        wrong,
    )
    for smaller in range(1, BREAKING_ALIGNMENT):
        yield from excludes(
            f"none-at-{smaller}",
            f"Alignment {smaller} rounds every size to a multiple of it.",
            LOGIC,
            alignment == smaller,
            wrong,
        )
    yield from excludes(
        "no-smaller-size",
        f"No size below {BREAKING_SIZE} breaks alignment {BREAKING_ALIGNMENT}.",
        LOGIC,
        alignment == BREAKING_ALIGNMENT,
        z3.ULT(size, BREAKING_SIZE),
        wrong,
    )


def first_break() -> tuple[int, int] | None:
    """Find the same counterexample by trying alignments and sizes in order."""
    for alignment in range(1, BREAKING_ALIGNMENT + 1):
        for size in range(4 * BREAKING_ALIGNMENT):
            mask = alignment - 1
            if ((size + mask) & ~mask) % alignment != 0:
                return alignment, size
    return None


THEOREMS = (
    Theorem(
        id="align-up.least",
        statement=(
            "Rounded up to a power of two, a size becomes the least aligned value that is not "
            "below it; the padding is less than the alignment; and the checked addition refuses "
            "exactly where no aligned value fits 64 bits, which is where unbounded arithmetic "
            "passes 64 bits. Mask and remainder agree on what is aligned."
        ),
        theory="bit-vectors",
        holds_for="every size and every power of two",
        rests=("ferrum_verify.plan.sizes:align_up",),
        rules=(
            "descriptor.alignment",
            "descriptor.size-overflow",
        ),
        checks=least,
    ),
    Theorem(
        id="align-up.monotone",
        statement=(
            "Rounding up is monotone, overflow included: if a size can be rounded up then every "
            "smaller one can, to no more."
        ),
        theory="bit-vectors",
        holds_for="every size and every power of two",
        rests=("ferrum_verify.plan.sizes:align_up",),
        rules=(),
        checks=monotone,
    ),
    Theorem(
        id="align-up.needs-a-power-of-two",
        statement=(
            "Rounding up with a mask is wrong for other alignments: size 1 at alignment 3 gives 1. "
            "No smaller alignment, and no smaller size at this one, goes wrong."
        ),
        theory="bit-vectors",
        holds_for="counterexample, smallest by alignment, then size",
        rests=("ferrum_verify.plan.sizes:align_up",),
        rules=(
            "descriptor.alignment",
            "static.alignment",
        ),
        checks=needs_power_of_two,
        recheck=lambda _: first_break() == (BREAKING_ALIGNMENT, BREAKING_SIZE),
    ),
)
