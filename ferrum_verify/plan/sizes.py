"""Sizes: alignment, quantization and demand, in the engine's checked 64-bit arithmetic.

Every function takes and returns bytes. What the engine refuses raises ``SizeError``, whose
text completes the sentence "the size of X …".
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.documents.terms import COUNTS, Linear, Staircase, Terms

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.documents.problem import ProblemDescriptor
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.documents.terms import Count

UNIT = Shape(1, 1, 1)
"""The smallest shape: one sequence, one token, one page."""


def is_power_of_two(value: int) -> bool:
    """Whether ``value`` is 1, 2, 4, …"""
    return value > 0 and value & (value - 1) == 0


def align_up(value: int, alignment: int) -> int:
    """The least multiple of ``alignment``, a power of two, that is at least ``value`` bytes."""
    if alignment < 1 or alignment & (alignment - 1):
        raise SizeError(f"cannot be aligned to {alignment}, which is no power of two")
    aligned = (value + alignment - 1) & -alignment
    if aligned > U64_MAX:
        raise SizeError(f"passes u64 when {value} bytes are aligned to {alignment}")
    return aligned


def quantize(value: int, alignment: int, profile: StorageProfile) -> int:
    """The bytes that storage really takes: aligned, then rounded up to whole blocks."""
    return _in_blocks(align_up(value, alignment), profile.blocks[0])


def _in_blocks(aligned: int, block: int) -> int:
    return aligned if block < 0 else align_up(aligned, block)


def maximal_shape(terms: Terms) -> Shape:
    """The largest shape at which the demand may be evaluated; raises SizeError if none is."""
    return largest_shape(terms, UNIT)


def largest_shape(terms: Terms, free: Shape) -> Shape:
    """The largest counts that a demand admits, with those of ``free`` where it bounds none."""
    if isinstance(terms, Linear):
        return replace(free, **{part.counted: part.most for part in terms.parts})
    if not terms.steps:
        raise SizeError("is not defined, as its demand has no bucket")
    last = terms.steps[-1]
    return Shape(last.sequences, last.tokens, last.pages)


def smaller(*shapes: Shape) -> Shape:
    """The largest shape that is within all of ``shapes``."""
    return Shape(
        min(shape.sequences for shape in shapes),
        min(shape.tokens for shape in shapes),
        min(shape.pages for shape in shapes),
    )


def demand_bytes(terms: Terms, shape: Shape) -> int:
    """The logical bytes of a demand at a shape, before quantization."""
    value = _linear(terms, shape) if isinstance(terms, Linear) else _staircase(terms, shape)
    if not 0 < value <= U64_MAX:
        raise SizeError("is 0 bytes" if value == 0 else "passes u64")
    return value


def _linear(terms: Linear, shape: Shape) -> int:
    value = terms.fixed
    for counted, each, most in terms.parts:
        count = getattr(shape, counted)
        if count > most:
            raise SizeError(f"is not defined at {count:,} {counted}, its limit is {most:,}")
        value += each * count
    return value


def _staircase(terms: Staircase, shape: Shape) -> int:
    for sequences, tokens, pages, size in terms.steps:
        if shape.sequences <= sequences and shape.tokens <= tokens and shape.pages <= pages:
            return size
    raise SizeError(f"is not defined at {describe(shape)}, which no bucket of its demand covers")


class Claim(NamedTuple):
    """What one claim of a resource asks for: a demand, aligned and stored in some way.

    Rows that agree in it take the same bytes at every shape. ``blocks`` are those of the
    storage's allocator and view in bytes, -1 where one has none.
    """

    terms: Terms
    alignment: int
    blocks: tuple[int, int]

    @classmethod
    def of(cls, row: DynamicDescriptor | ProblemDescriptor) -> Claim:
        """What a row claims."""
        return cls(row.demand.terms, row.alignment_bytes, row.storage.profile.blocks)

    @property
    def block(self) -> int:
        """The allocator's block in bytes, or 1 where it hands out single bytes."""
        return max(self.blocks[0], 1)

    @property
    def granule(self) -> int:
        """The bytes that every quantized size is a multiple of, if all are powers of two."""
        return max(self.alignment, self.block)

    def bytes_at(self, shape: Shape) -> int:
        """The quantized bytes at a shape; raises SizeError where there are none."""
        aligned = align_up(demand_bytes(self.terms, shape), self.alignment)
        return _in_blocks(aligned, self.blocks[0])


def request_bytes(descriptor: DynamicDescriptor | ProblemDescriptor, shape: Shape) -> int:
    """The quantized bytes of one claim of a descriptor at a shape."""
    return Claim.of(descriptor).bytes_at(shape)


def minimum_bytes(descriptor: DynamicDescriptor | ProblemDescriptor) -> int:
    """The quantized bytes of one claim at the smallest shape."""
    return request_bytes(descriptor, UNIT)


def maximum_bytes(descriptor: DynamicDescriptor | ProblemDescriptor) -> int:
    """The quantized bytes of one claim at the largest shape; raises SizeError without one."""
    claim = Claim.of(descriptor)
    return claim.bytes_at(maximal_shape(claim.terms))


def bytes_at(
    rows: Iterable[DynamicDescriptor] | Iterable[ProblemDescriptor], shape: Shape
) -> dict[str, int]:
    """The quantized bytes of one claim of each row at a shape, by resource.

    Rows that claim the same, as most rows of a deep plan do, are evaluated once. Raises
    SizeError as ``request_bytes`` does.
    """
    return {row.base_resource_id: size for row, size in _each(rows, lambda c: c.bytes_at(shape))}


def resident_ceilings(
    rows: Iterable[DynamicDescriptor] | Iterable[ProblemDescriptor],
) -> dict[str, int]:
    """The resident ceiling of each row, by resource; see ``resident_ceiling``."""
    return {
        row.base_resource_id: size * row.theoretical_maximum_instances
        for row, size in _each(rows, _largest_instance)
    }


def _each(
    rows: Iterable[DynamicDescriptor] | Iterable[ProblemDescriptor],
    evaluate: Callable[[Claim], int],
) -> Iterator[tuple[DynamicDescriptor | ProblemDescriptor, int]]:
    known: dict[tuple[object, ...], int] = {}
    for row in rows:
        # What ``Claim.of`` has: this runs for every row at every shape.
        asked = row.demand.terms, row.alignment_bytes, row.storage.profile.blocks
        size = known.get(asked)
        if size is None:
            size = known[asked] = evaluate(Claim(*asked))
        yield row, size


def resident_ceiling(descriptor: DynamicDescriptor | ProblemDescriptor) -> int:
    """The most bytes that all instances of a descriptor together can hold; may pass u64."""
    return _largest_instance(Claim.of(descriptor)) * descriptor.theoretical_maximum_instances


def _largest_instance(claim: Claim) -> int:
    # The sequences of one batch share the ceiling of an ``actual_sequences`` demand, so the
    # worst padding is one claim for each.
    alone = claim.terms.only("sequences") is not None
    return claim.bytes_at(UNIT if alone else maximal_shape(claim.terms))


def describe(shape: Shape, counts: Collection[Count] = COUNTS) -> str:
    """A shape in words: "1 sequence, 16 tokens, 1 page"; of its counts those asked for."""

    def count(number: int, noun: str) -> str:
        return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

    return ", ".join(count(getattr(shape, each), each[:-1]) for each in COUNTS if each in counts)
