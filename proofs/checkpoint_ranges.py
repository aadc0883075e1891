"""The bytes that a sequence state occupies at a boundary.

Non-linear integers: the end of a token-major prefix is an offset plus bytes times tokens. The
derivation has checked that it fits 64 bits at the largest boundary, so no width is needed.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_NIA"


def ranges(_: Scale) -> Iterator[Check]:
    """Prove that ranges which are disjoint at their largest are disjoint at every boundary."""
    offset, each, most, other_offset, other_each, other_most = z3.Ints(
        "offset each most other.offset other.each other.most"
    )
    boundary, byte, limit = z3.Ints("boundary byte limit")

    def holds(start: z3.ArithRef, token: z3.ArithRef, tokens: z3.ArithRef) -> z3.BoolRef:
        return z3.And(start <= byte, byte < start + token * tokens)

    legal = (each >= 1, other_each >= 1, boundary >= 1, boundary <= most, boundary <= other_most)
    yield from proves(
        "grows",
        "The range at a boundary lies in the range at the largest boundary.",
        LOGIC,
        z3.Implies(holds(offset, each, boundary), holds(offset, each, most)),
        legal,
    )
    yield from proves(
        "disjoint",
        "If the largest ranges of two states end before each other's start, no byte is in both "
        "at any boundary.",
        LOGIC,
        z3.Not(z3.And(holds(offset, each, boundary), holds(other_offset, other_each, boundary))),
        (*legal, offset + each * most <= other_offset),
    )
    yield from proves(
        "bounded",
        "The largest boundary is the logical bytes divided by the bytes of a token, so no range "
        "passes the logical bytes.",
        LOGIC,
        each * boundary <= limit,
        (each >= 1, boundary >= 0, boundary <= most, each * most <= limit),
    )


def neighbouring(_: Scale) -> Iterator[Check]:
    """Prove that ranges sorted by start need only be compared with their neighbours."""
    starts, ends = z3.Ints("x.start y.start z.start"), z3.Ints("x.end y.end z.end")
    content = z3.Ints("x.content y.content z.content")

    def apart_or_equal(left: int, right: int) -> z3.BoolRef:
        equal = z3.And(
            starts[left] == starts[right],
            ends[left] == ends[right],
            content[left] == content[right],
        )
        return z3.Or(ends[left] <= starts[right], equal)

    yield from proves(
        "step",
        "Let each range so far end before the last one starts, or be equal to it in place and "
        "content. If the last stands so to the next, then so does each before it.",
        "QF_LIA",
        apart_or_equal(0, 2),
        (
            *(start < end for start, end in zip(starts, ends, strict=True)),
            apart_or_equal(0, 1),
            apart_or_equal(1, 2),
        ),
    )


def neighbours_agree(_: Scale) -> bool:
    """Try every list of three small ranges with a content each, sorted by place."""

    def fine(left: tuple[int, int, int], right: tuple[int, int, int]) -> bool:
        return left[1] <= right[0] or left == right

    ranges = [(a, b, c) for a in range(4) for b in range(a + 1, 5) for c in range(2)]
    return all(
        fine(x, z)
        for x, y, z in itertools.product(ranges, repeat=3)
        if x[:2] <= y[:2] <= z[:2] and fine(x, y) and fine(y, z)
    )


THEOREMS = (
    Theorem(
        id="checkpoint-ranges.by-largest",
        statement=(
            "Two states whose byte ranges are disjoint at the largest boundary share no byte at "
            "any boundary, and no range passes the logical bytes of its resource."
        ),
        theory="non-linear integers",
        holds_for="every boundary",
        rests=("ferrum_verify.derive.checkpoint_ranges:largest_boundary",),
        rules=("checkpoint.state-layout",),
        checks=ranges,
    ),
    Theorem(
        id="checkpoint-ranges.by-neighbours",
        statement=(
            "Among ranges sorted by place, if each is disjoint from its neighbour, or equal to it "
            "in place and content, then so is every pair."
        ),
        theory="linear integers",
        holds_for="every number of ranges, by induction",
        rests=("ferrum_verify.derive.checkpoint_ranges:conflict",),
        rules=("checkpoint.state-layout",),
        checks=neighbouring,
        recheck=neighbours_agree,
    ),
)
