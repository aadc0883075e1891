"""Formulas: demand and quantization over bit-vectors, as the hardware has them.

Counts and bytes are 64-bit. A formula is stated in as many bits as its largest value takes, at
least 66: nothing wraps in it, and "passes u64" is one comparison. Coefficients are constants of
the plan, so each product is a few shifts and additions, which bit-blasting decides in
milliseconds; the narrower the words, the faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.demand import (
    ActualSequences,
    Affine,
    BoundedShapeBuckets,
    Fixed,
    Pages,
    Tokens,
)
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.plan.sizes import is_power_of_two

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    from ferrum_verify.documents.demand import Demand, ShapeBucket
    from ferrum_verify.documents.memory_plan import DynamicDescriptor

    Alternative: TypeAlias = frozenset[tuple["Claimed", int]]
    """Rows that are live at once: each kind of row with how many there are of it."""

LOGIC = "QF_BV"


@dataclass(frozen=True)
class SymbolicShape:
    """A shape whose three counts are unknown: 32 bits of sequences, 64 of tokens and pages."""

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
    def fixed(cls, shape: Shape) -> SymbolicShape:
        """A shape that is known, as the formulas take it."""
        return cls(
            z3.BitVecVal(shape.sequences, 32),
            z3.BitVecVal(shape.tokens, 64),
            z3.BitVecVal(shape.pages, 64),
        )

    def within(self, most: Shape) -> tuple[z3.BoolRef, ...]:
        """Every count is at least 1 and at most that of ``most``."""
        bounds: list[z3.BoolRef] = []
        for count, limit, bits in (
            (self.sequences, most.sequences, 32),
            (self.tokens, most.tokens, 64),
            (self.pages, most.pages, 64),
        ):
            bounds += [z3.UGE(count, 1), z3.ULE(count, min(limit, 2**bits - 1))]
        return tuple(bounds)

    @property
    def counts(self) -> tuple[z3.BitVecRef, z3.BitVecRef, z3.BitVecRef]:
        """Sequences, tokens and pages, in the order in which counterexamples are made small."""
        return self.sequences, self.tokens, self.pages

    @property
    def smallest(self) -> tuple[tuple[z3.BitVecRef, z3.BitVecRef], ...]:
        """Its counts at the smallest shape, at which every demand is defined that is anywhere."""
        return tuple((count, z3.BitVecVal(1, count.size())) for count in self.counts)


def shape_of(values: tuple[int, ...]) -> Shape:
    """The shape of the values of ``SymbolicShape.counts``."""
    return Shape(*values[:3])


def defined_up_to(demand: Demand) -> Shape:
    """The largest counts at which a demand is defined; a count that it ignores is free."""
    free = Shape(2**32 - 1, U64_MAX, U64_MAX)
    match demand:
        case ActualSequences(maximum_sequences=sequences):
            return Shape(sequences, free.tokens, free.pages)
        case Tokens(maximum_tokens=tokens):
            return Shape(free.sequences, tokens, free.pages)
        case Affine(maximum_sequences=sequences, maximum_tokens=tokens):
            return Shape(sequences, tokens, free.pages)
        case Pages(maximum_pages=pages):
            return Shape(free.sequences, free.tokens, pages)
        case BoundedShapeBuckets(buckets=buckets):
            return Shape(
                max(bucket.maximum_sequences for bucket in buckets),
                max(bucket.maximum_tokens for bucket in buckets),
                max(bucket.maximum_pages for bucket in buckets),
            )
    return free


def any_of(terms: Sequence[z3.BoolRef]) -> z3.BoolRef:
    """That one of them holds, as SMT-LIB writes it: of no term and of one it has no ``or``."""
    if len(terms) > 1:
        return z3.Or(terms)
    return terms[0] if terms else z3.BoolVal(False)


def defined_at(demand: Demand, shape: SymbolicShape) -> tuple[z3.BoolRef, ...]:
    """The shape is one at which the demand is defined."""
    most = defined_up_to(demand)
    within = shape.within(most)
    if isinstance(demand, BoundedShapeBuckets):
        covered = [_covers(bucket, shape) for bucket in demand.buckets]
        return (*within, covered[0] if len(covered) == 1 else z3.Or(covered))
    return within


def _covers(bucket: ShapeBucket, shape: SymbolicShape) -> z3.BoolRef:
    return z3.And(
        z3.ULE(shape.sequences, bucket.maximum_sequences),
        z3.ULE(shape.tokens, bucket.maximum_tokens),
        z3.ULE(shape.pages, bucket.maximum_pages),
    )


@dataclass(frozen=True)
class Words:
    """Bit-vectors of one width, wide enough that nothing wraps in them."""

    bits: int

    @classmethod
    def up_to(cls, largest: int) -> Words:
        """Words that hold ``largest``, and u64, with room to compare."""
        return cls(max(66, largest.bit_length() + 2))

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

    def logical(self, demand: Demand, shape: SymbolicShape) -> z3.BitVecRef:
        """The bytes of a demand before quantization; a shape that no bucket covers has 0."""
        match demand:
            case Fixed(bytes=fixed):
                return self.constant(fixed)
            case ActualSequences(bytes_per_sequence=each):
                return self.constant(each) * self.widened(shape.sequences)
            case Tokens(bytes_per_token=each):
                return self.constant(each) * self.widened(shape.tokens)
            case Affine() as affine:
                return (
                    self.constant(affine.fixed_bytes)
                    + self.constant(affine.bytes_per_sequence) * self.widened(shape.sequences)
                    + self.constant(affine.bytes_per_token) * self.widened(shape.tokens)
                )
            case Pages(bytes_per_page=each):
                return self.constant(each) * self.widened(shape.pages)
            case BoundedShapeBuckets(buckets=buckets):
                size = self.constant(0)
                for bucket in reversed(buckets):
                    size = z3.If(_covers(bucket, shape), self.constant(bucket.bytes), size)
                return size

    def taken(self, claimed: Claimed, shape: SymbolicShape) -> z3.BitVecRef:
        """The bytes that are taken: aligned, then in whole blocks."""
        value = self.aligned(self.logical(claimed.demand, shape), claimed.alignment)
        return value if claimed.block < 0 else self.aligned(value, claimed.block)

    def least(self, claimed: Claimed, shape: SymbolicShape) -> z3.BitVecRef:
        """As ``taken``, but by division: the least multiples, of a power of two or not."""
        value = self.logical(claimed.demand, shape)
        for unit in (claimed.alignment, max(claimed.block, 1)):
            value = z3.UDiv(value + self.constant(unit - 1), self.constant(unit)) * unit
        return value

    def greatest(self, alternatives: Iterable[Alternative], shape: SymbolicShape) -> z3.BitVecRef:
        """The bytes of the greatest of alternatives that take turns in the same bytes."""
        largest = self.constant(0)
        for alternative in alternatives:
            size = self.constant(0)
            for claimed, times in alternative:
                size += self.constant(times) * self.taken(claimed, shape)
            largest = z3.If(z3.UGT(size, largest), size, largest)
        return largest


@dataclass(frozen=True)
class Claimed:
    """What a descriptor's bytes depend on; descriptors that agree in it have equal formulas."""

    demand: Demand
    alignment: int
    block: int

    @classmethod
    def of(cls, row: DynamicDescriptor) -> Claimed:
        """The formula of a descriptor's bytes."""
        return cls(row.demand, row.alignment_bytes, row.storage.profile.blocks[0])

    @property
    def largest(self) -> int:
        """No less than the bytes taken at any shape at which the demand is defined."""
        return self.largest_at(defined_up_to(self.demand))

    def largest_at(self, most: Shape) -> int:
        """No less than the bytes taken at any shape within ``most``, defined there or not."""
        match self.demand:
            case ActualSequences(bytes_per_sequence=each):
                value = each * most.sequences
            case Tokens(bytes_per_token=each):
                value = each * most.tokens
            case Affine() as affine:
                value = (
                    affine.fixed_bytes
                    + affine.bytes_per_sequence * most.sequences
                    + affine.bytes_per_token * most.tokens
                )
            case Pages(bytes_per_page=each):
                value = each * most.pages
            case Fixed(bytes=fixed):
                value = fixed
            case BoundedShapeBuckets(buckets=buckets):
                value = max(bucket.bytes for bucket in buckets)
        return value + self.alignment + max(self.block, 0)


def is_sound(row: DynamicDescriptor) -> bool:
    """Whether a row's alignment and block are powers of two, as every formula takes for given.

    The descriptor rules report the others.
    """
    return is_power_of_two(row.alignment_bytes) and is_sound_but_for_alignment(row)


def is_sound_but_for_alignment(row: DynamicDescriptor) -> bool:
    """Whether a row's bytes can be spoken of, and only its alignment may be none."""
    block = row.storage.profile.blocks[0]
    buckets = getattr(row.demand, "buckets", (None,))
    return bool(buckets) and row.alignment_bytes > 0 and (block < 0 or is_power_of_two(block))


LINEAR = "QF_LIA"


def linear_counts(suffix: str, demand: Demand) -> tuple[list[z3.ArithRef], list[z3.BoolRef]]:
    """Three unknown counts as integers, and that the demand is defined at them."""
    most = defined_up_to(demand)
    limits = (most.sequences, most.tokens, most.pages)
    counts = [z3.Int(f"{name}{suffix}") for name in ("sequences", "tokens", "pages")]
    given = [
        bound
        for count, limit in zip(counts, limits, strict=True)
        for bound in (count >= 1, count <= limit)
    ]
    if isinstance(demand, BoundedShapeBuckets):
        covered = [_covers_linear(bucket, counts) for bucket in demand.buckets]
        given.append(covered[0] if len(covered) == 1 else z3.Or(covered))
    return counts, given


def linear(demand: Demand, counts: list[z3.ArithRef]) -> z3.ArithRef:
    """The bytes of a demand as an integer.

    They are linear in the counts, with constants as coefficients. Where nothing is rounded and
    nothing wraps, integers say the same as words, and linear arithmetic compares two shapes at
    once, which bit-blasting does not for coefficients that are no powers of two.
    """
    sequences, tokens, pages = counts
    match demand:
        case Fixed(bytes=fixed):
            return z3.IntVal(fixed)
        case ActualSequences(bytes_per_sequence=each):
            return each * sequences
        case Tokens(bytes_per_token=each):
            return each * tokens
        case Affine() as affine:
            return (
                affine.fixed_bytes
                + affine.bytes_per_sequence * sequences
                + affine.bytes_per_token * tokens
            )
        case Pages(bytes_per_page=each):
            return each * pages
        case BoundedShapeBuckets(buckets=buckets):
            size = z3.IntVal(0)
            for bucket in reversed(buckets):
                size = z3.If(_covers_linear(bucket, counts), z3.IntVal(bucket.bytes), size)
            return size


def _covers_linear(bucket: ShapeBucket, counts: list[z3.ArithRef]) -> z3.BoolRef:
    limits = (bucket.maximum_sequences, bucket.maximum_tokens, bucket.maximum_pages)
    return z3.And([count <= limit for count, limit in zip(counts, limits, strict=True)])
