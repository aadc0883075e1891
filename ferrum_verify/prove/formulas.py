"""Formulas: demand and quantization over bit-vectors, as the hardware has them.

Counts and bytes are 64-bit. A formula is stated in as many bits as its largest value takes, at
least 66 where it speaks of u64: nothing wraps in it, and "passes u64" is one comparison.
Coefficients are constants of the plan, so each product is a few shifts and additions, which
bit-blasting decides in milliseconds; the narrower the words and the counts, the faster.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import z3

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.primitives import U32_MAX, U64_MAX
from ferrum_verify.documents.terms import COUNTS, Linear, Staircase, Step, Terms
from ferrum_verify.plan.sizes import Claim, is_power_of_two, largest_shape

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import TypeAlias

    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.plan.turns import Group

    Shared: TypeAlias = tuple[tuple[tuple[tuple[tuple[Claim, int], ...], ...], int], ...]
    """Groups that take turns, with the number of each: their alternatives, and of one the claims
    that are live at once, with the number of each."""

LOGIC = "QF_BV"
Counted = TypeVar("Counted")


@dataclass(frozen=True)
class SymbolicShape:
    """A shape whose three counts are unknown: at most 32 bits of sequences, 64 of tokens, pages."""

    sequences: z3.BitVecRef
    tokens: z3.BitVecRef
    pages: z3.BitVecRef

    @classmethod
    def named(cls, suffix: str = "") -> SymbolicShape:
        """The unknown shape of a name; equal names give the same unknowns."""
        return cls(
            z3.BitVec(f"sequences{suffix}", 32),
            z3.BitVec(f"tokens{suffix}", 64),
            z3.BitVec(f"pages{suffix}", 64),
        )

    @classmethod
    def up_to(cls, most: Shape) -> SymbolicShape:
        """The unknown shape within ``most``, in as many bits; a count that must be 1 is known."""
        return cls(
            count_up_to("sequences", min(most.sequences, U32_MAX)),
            count_up_to("tokens", min(most.tokens, U64_MAX)),
            count_up_to("pages", min(most.pages, U64_MAX)),
        )

    @classmethod
    def fixed(cls, shape: Shape) -> SymbolicShape:
        """A shape that is known, as the formulas take it."""
        counts = (shape.sequences, shape.tokens, shape.pages)
        return cls(*(z3.BitVecVal(count, max(count.bit_length(), 1)) for count in counts))

    def within(self, most: Shape) -> tuple[z3.BoolRef, ...]:
        """Every count is at least 1 and at most that of ``most``."""
        bounds: list[z3.BoolRef] = []
        for count, limit in (
            (self.sequences, most.sequences),
            (self.tokens, most.tokens),
            (self.pages, most.pages),
        ):
            bounds += [z3.UGE(count, 1), z3.ULE(count, min(limit, 2 ** count.size() - 1))]
        return tuple(bounds)

    @property
    def counts(self) -> tuple[z3.BitVecRef, z3.BitVecRef, z3.BitVecRef]:
        """Sequences, tokens and pages, in the order in which counterexamples are made small."""
        return self.sequences, self.tokens, self.pages

    @property
    def smallest(self) -> tuple[tuple[z3.BitVecRef, z3.BitVecRef], ...]:
        """Its counts at the smallest shape, at which every demand is defined that is anywhere."""
        return tuple(
            (count, z3.BitVecVal(1, count.size()))
            for count in self.counts
            if not z3.is_bv_value(count)
        )


def count_up_to(name: str, most: int) -> z3.BitVecRef:
    """The unknown count of a name, in as many bits as ``most`` takes; 1 where it can be no other.

    That it is at least 1 is asked of it in any case.
    """
    return z3.BitVecVal(1, 1) if most <= 1 else z3.BitVec(name, most.bit_length())


def shape_of(values: tuple[int, ...]) -> Shape:
    """The shape of the values of ``SymbolicShape.counts``."""
    return Shape(*values[:3])


FREE = Shape(U32_MAX, U64_MAX, U64_MAX)
"""The largest counts that there are."""


def defined_up_to(terms: Terms) -> Shape:
    """The largest counts at which a demand is defined; a count that it ignores is free."""
    if isinstance(terms, Linear):
        return largest_shape(terms, FREE)
    # Not the last step's: that buckets ascend is not taken for given here.
    return Shape(*(max(getattr(step, count) for step in terms.steps) for count in COUNTS))


def defined_at(terms: Terms, shape: SymbolicShape) -> tuple[z3.BoolRef, ...]:
    """The shape is one at which the demand is defined."""
    return (*shape.within(defined_up_to(terms)), *_covered(terms, shape.counts, _at_most))


def any_of(terms: Sequence[z3.BoolRef]) -> z3.BoolRef:
    """That one of them holds, as SMT-LIB writes it: of no term and of one it has no ``or``."""
    if len(terms) > 1:
        return z3.Or(terms)
    return terms[0] if terms else z3.BoolVal(False)


def _covered(
    terms: Terms,
    counts: Iterable[z3.ExprRef],
    at_most: Callable[[Any, int], z3.BoolRef],
) -> list[z3.BoolRef]:
    if isinstance(terms, Linear):
        return []
    return [any_of([_covers(step, counts, at_most) for step in terms.steps])]


def _covers(
    step: Step, counts: Iterable[z3.ExprRef], at_most: Callable[[Any, int], z3.BoolRef]
) -> z3.BoolRef:
    return z3.And([at_most(count, most) for count, most in zip(counts, step[:3], strict=True)])


def _at_most(count: z3.BitVecRef, most: int) -> z3.BoolRef:
    # A constant that takes more bits than the count has would wrap.
    bits: int = count.size()
    return z3.BoolVal(True) if most >= 2**bits - 1 else z3.ULE(count, most)


@dataclass(frozen=True)
class Words:
    """Bit-vectors of one width, wide enough that nothing wraps in them."""

    bits: int

    @classmethod
    def up_to(cls, largest: int) -> Words:
        """Words that hold ``largest``, and u64, with room to compare."""
        return cls(max(66, largest.bit_length() + 2))

    @classmethod
    def beside(cls, largest: int, *counts: z3.BitVecRef) -> Words:
        """Words that hold ``largest`` and the counts, with room to compare, and maybe not u64."""
        return cls(max(largest.bit_length() + 2, *(count.size() for count in counts)))

    @property
    def u64(self) -> z3.BitVecRef:
        """The largest 64-bit number."""
        return self.constant(U64_MAX)

    def constant(self, value: int) -> z3.BitVecRef:
        """A number of bytes or a count."""
        return z3.BitVecVal(value, self.bits)

    def sum(self, values: Iterable[int]) -> z3.BitVecRef:
        """The sum of numbers; it must fit the width."""
        return sum(map(self.constant, values), start=self.constant(0))

    def widened(self, count: z3.BitVecRef) -> z3.BitVecRef:
        """A 32- or 64-bit count in this width."""
        return z3.ZeroExt(self.bits - count.size(), count)

    def aligned(self, value: z3.BitVecRef, alignment: int) -> z3.BitVecRef:
        """The least multiple of a power of two that is at least the value."""
        return (value + self.constant(alignment - 1)) & ~self.constant(alignment - 1)

    def logical(self, terms: Terms, shape: SymbolicShape) -> z3.BitVecRef:
        """The bytes of a demand before quantization; a shape that no bucket covers has 0."""
        if isinstance(terms, Linear):
            parts = [
                self.constant(each) * self.widened(getattr(shape, counted))
                for counted, each, _ in terms.parts
            ]
            return sum(parts, self.constant(terms.fixed))
        size = self.constant(0)
        for step in reversed(terms.steps):
            covers = _covers(step, shape.counts, _at_most)
            size = z3.If(covers, self.constant(step.bytes), size)
        return size

    def taken(self, claim: Claim, shape: SymbolicShape) -> z3.BitVecRef:
        """The bytes that are taken: aligned, then in whole blocks."""
        value = self.aligned(self.logical(claim.terms, shape), claim.alignment)
        return value if claim.blocks[0] < 0 else self.aligned(value, claim.block)

    def least(self, claim: Claim, shape: SymbolicShape) -> z3.BitVecRef:
        """As ``taken``, but by division: the least multiples, of a power of two or not."""
        value = self.logical(claim.terms, shape)
        for unit in (claim.alignment, claim.block):
            value = z3.UDiv(value + self.constant(unit - 1), self.constant(unit)) * unit
        return value

    def in_turn(self, shared: Shared, shape: SymbolicShape) -> z3.BitVecRef:
        """The bytes of groups that take turns: the greatest alternative of each, summed."""
        total = self.constant(0)
        for alternatives, count in shared:
            largest = self.constant(0)
            for alternative in alternatives:
                size = self.constant(0)
                for claim, times in alternative:
                    size += self.constant(times) * self.taken(claim, shape)
                largest = z3.If(z3.UGT(size, largest), size, largest)
            total += self.constant(count) * largest
        return total


def shared_by(groups: Iterable[Group], claims: Mapping[str, Claim]) -> Shared:
    """Groups of resources by what they claim.

    Alike groups are counted: a deep model has a few hundred slots and rows of a few kinds. What
    is alike in two plans, or in two runs, comes in one order, so that formulas are the same.
    """
    alike = Counter(
        frozenset(
            frozenset(Counter(claims[resource] for resource in alternative).items())
            for alternative in group
        )
        for group in groups
    )
    return in_one_order(
        (tuple(sorted(map(in_one_order, alternatives), key=repr)), count)
        for alternatives, count in alike.items()
    )


def in_one_order(counted: Iterable[Counted]) -> tuple[Counted, ...]:
    """What is counted in an order that depends on nothing else, not even on the process."""
    return tuple(sorted(counted, key=repr))


def largest_in_turn(shared: Shared, most: Shape) -> int:
    """No less than what groups that take turns hold at any shape within ``most``."""
    return sum(
        count * times * largest_at(claim, most)
        for alternatives, count in shared
        for alternative in alternatives
        for claim, times in alternative
    )


def largest_of(claim: Claim) -> int:
    """No less than the bytes taken at any shape at which the demand is defined."""
    return largest_at(claim, defined_up_to(claim.terms))


def largest_at(claim: Claim, most: Shape) -> int:
    """No less than the bytes taken at any shape within ``most``, defined there or not."""
    return _asked_at_most(claim.terms, most) + claim.alignment + claim.block


def most_taken(claim: Claim, most: Shape) -> int:
    """The most bytes that are taken at any shape of the demand within ``most``."""
    terms = claim.terms
    if isinstance(terms, Linear):
        value = _asked_at_most(terms, most)
    else:
        # A bucket that an earlier one covers whole is never the first one to cover a shape.
        first = [
            step
            for place, step in enumerate(terms.steps)
            if not any(_is_within(step, earlier) for earlier in terms.steps[:place])
        ]
        value = max(step.bytes for step in first)
    for unit in (claim.alignment, claim.block):
        value = -(-value // unit) * unit
    return value


def _is_within(step: Step, other: Step) -> bool:
    return all(count <= most for count, most in zip(step[:3], other[:3], strict=True))


def _asked_at_most(terms: Terms, most: Shape) -> int:
    if isinstance(terms, Linear):
        value: int = terms.fixed
        for counted, each, _ in terms.parts:
            value += each * getattr(most, counted)
        return value
    return max(step.bytes for step in terms.steps)


def is_sound(row: DynamicDescriptor) -> bool:
    """Whether a row's alignment and block are powers of two, as every formula takes for given.

    The descriptor rules report the others.
    """
    return is_power_of_two(row.alignment_bytes) and is_sound_but_for_alignment(row)


def is_sound_but_for_alignment(row: DynamicDescriptor) -> bool:
    """Whether a row's bytes can be spoken of, and only its alignment may be none."""
    block = row.storage.profile.blocks[0]
    defined = row.demand.terms != Staircase(())
    return defined and row.alignment_bytes > 0 and (block < 0 or is_power_of_two(block))


LINEAR = "QF_LIA"


def linear_counts(suffix: str, most: Shape) -> tuple[list[z3.ArithRef], list[z3.BoolRef]]:
    """Three unknown counts as integers, and that they are at least 1 and at most ``most``."""
    counts = [z3.Int(f"{name}{suffix}") for name in COUNTS]
    limits = (most.sequences, most.tokens, most.pages)
    return counts, [
        bound
        for count, limit in zip(counts, limits, strict=True)
        for bound in (count >= 1, count <= limit)
    ]


def linear(terms: Terms, counts: Sequence[z3.ArithRef]) -> z3.ArithRef:
    """The bytes of a demand as an integer.

    They are linear in the counts, with constants as coefficients. Where nothing is rounded and
    nothing wraps, integers say the same as words, and linear arithmetic compares two shapes at
    once, which bit-blasting does not for coefficients that are no powers of two.
    """
    if isinstance(terms, Linear):
        of = dict(zip(COUNTS, counts, strict=True))
        parts = [each * of[counted] for counted, each, _ in terms.parts]
        return sum(parts, z3.IntVal(terms.fixed))
    size = z3.IntVal(0)
    for step in reversed(terms.steps):
        size = z3.If(_covers(step, counts, operator.le), z3.IntVal(step.bytes), size)
    return size


def linear_covered(terms: Terms, counts: Sequence[z3.ArithRef]) -> list[z3.BoolRef]:
    """Some bucket covers the counts, if the demand has buckets."""
    return _covered(terms, counts, operator.le)
