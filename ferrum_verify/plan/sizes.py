"""Sizes: alignment, quantization and demand, in the engine's checked 64-bit arithmetic.

Every function takes and returns bytes. What the engine refuses raises ``SizeError``, whose
text completes the sentence "the size of X …".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from ferrum_verify.documents.tensor import SizeError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ferrum_verify.documents.demand import Demand
    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.documents.problem import ProblemDescriptor
    from ferrum_verify.documents.storage import StorageProfile

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
    aligned = align_up(value, alignment)
    if profile.allocator == "linear_arena":
        return aligned
    return align_up(aligned, profile.allocator.block_bytes)


def maximal_shape(demand: Demand) -> Shape:
    """The largest shape at which the demand may be evaluated."""
    match demand:
        case Tokens(maximum_tokens=tokens):
            return Shape(1, tokens, 1)
        case Fixed():
            return UNIT
        case ActualSequences(maximum_sequences=sequences):
            return Shape(sequences, 1, 1)
        case Affine(maximum_sequences=sequences, maximum_tokens=tokens):
            return Shape(sequences, tokens, 1)
        case Pages(maximum_pages=pages):
            return Shape(1, 1, pages)
        case BoundedShapeBuckets(buckets=buckets):
            last = buckets[-1]
            return Shape(last.maximum_sequences, last.maximum_tokens, last.maximum_pages)


def demand_bytes(demand: Demand, shape: Shape) -> int:
    """The logical bytes of a demand at a shape, before quantization."""
    value = _EVALUATE[type(demand)](demand, shape)
    if not 0 < value <= U64_MAX:
        raise SizeError("is 0 bytes" if value == 0 else "passes u64")
    return value


def _fixed(demand: Fixed, _shape: Shape) -> int:
    return demand.bytes


def _actual_sequences(demand: ActualSequences, shape: Shape) -> int:
    if shape.sequences > demand.maximum_sequences:
        raise _beyond(shape.sequences, demand.maximum_sequences, "sequences")
    return demand.bytes_per_sequence * shape.sequences


def _tokens(demand: Tokens, shape: Shape) -> int:
    if shape.tokens > demand.maximum_tokens:
        raise _beyond(shape.tokens, demand.maximum_tokens, "tokens")
    return demand.bytes_per_token * shape.tokens


def _affine(demand: Affine, shape: Shape) -> int:
    if shape.sequences > demand.maximum_sequences:
        raise _beyond(shape.sequences, demand.maximum_sequences, "sequences")
    if shape.tokens > demand.maximum_tokens:
        raise _beyond(shape.tokens, demand.maximum_tokens, "tokens")
    return (
        demand.fixed_bytes
        + demand.bytes_per_sequence * shape.sequences
        + demand.bytes_per_token * shape.tokens
    )


def _pages(demand: Pages, shape: Shape) -> int:
    if shape.pages > demand.maximum_pages:
        raise _beyond(shape.pages, demand.maximum_pages, "pages")
    return demand.bytes_per_page * shape.pages


def _shape_buckets(demand: BoundedShapeBuckets, shape: Shape) -> int:
    for bucket in demand.buckets:
        if (
            shape.sequences <= bucket.maximum_sequences
            and shape.tokens <= bucket.maximum_tokens
            and shape.pages <= bucket.maximum_pages
        ):
            return bucket.bytes
    raise SizeError(f"is not defined at {describe(shape)}, which no bucket of its demand covers")


# Demands are evaluated tens of thousands of times in an audit: a table is several times as
# fast as matching the forms one after the other.
_EVALUATE: dict[type, Callable[[Any, Shape], int]] = {
    Fixed: _fixed,
    ActualSequences: _actual_sequences,
    Tokens: _tokens,
    Affine: _affine,
    Pages: _pages,
    BoundedShapeBuckets: _shape_buckets,
}


def request_bytes(descriptor: DynamicDescriptor | ProblemDescriptor, shape: Shape) -> int:
    """The quantized bytes of one claim of a descriptor at a shape."""
    return quantize(
        demand_bytes(descriptor.demand, shape),
        descriptor.alignment_bytes,
        descriptor.storage.profile,
    )


def bytes_at(
    rows: Iterable[DynamicDescriptor] | Iterable[ProblemDescriptor], shape: Shape
) -> dict[str, int]:
    """The quantized bytes of one claim of each row at a shape, by resource.

    Rows that share demand and storage, as most rows of a deep plan do, are evaluated once.
    Raises SizeError as ``request_bytes`` does.
    """
    return _evaluated(rows, lambda row: request_bytes(row, shape))


def resident_ceilings(
    rows: Iterable[DynamicDescriptor] | Iterable[ProblemDescriptor],
) -> dict[str, int]:
    """The resident ceiling of each row, by resource; see ``resident_ceiling``."""
    return _evaluated(rows, resident_ceiling)


def _evaluated(
    rows: Iterable[DynamicDescriptor] | Iterable[ProblemDescriptor],
    evaluate: Callable[[DynamicDescriptor | ProblemDescriptor], int],
) -> dict[str, int]:
    known: dict[tuple[int, int, int, int], int] = {}
    sizes: dict[str, int] = {}
    for row in rows:
        # ``formula_key``, written out: this runs for every row at every shape.
        key = (
            id(row.demand),
            row.alignment_bytes,
            id(row.storage),
            row.theoretical_maximum_instances,
        )
        size = known.get(key)
        if size is None:
            size = known[key] = evaluate(row)
        sizes[row.base_resource_id] = size
    return sizes


def formula_key(row: DynamicDescriptor | ProblemDescriptor) -> tuple[int, int, int, int]:
    """What a row's bytes depend on; valid as long as the row is alive.

    Equal demands and storages are mostly one object, so their identities tell rows apart.
    """
    return (
        id(row.demand),
        row.alignment_bytes,
        id(row.storage),
        row.theoretical_maximum_instances,
    )


def minimum_bytes(descriptor: DynamicDescriptor | ProblemDescriptor) -> int:
    """The quantized bytes of one claim at the smallest shape."""
    return request_bytes(descriptor, UNIT)


def resident_ceiling(descriptor: DynamicDescriptor | ProblemDescriptor) -> int:
    """The most bytes that all instances of a descriptor together can hold; may pass u64.

    The sequences of one batch share the ceiling of an ``actual_sequences`` demand, so the
    worst padding is one claim for each.
    """
    instances = descriptor.theoretical_maximum_instances
    if isinstance(descriptor.demand, ActualSequences):
        return minimum_bytes(descriptor) * instances
    return request_bytes(descriptor, maximal_shape(descriptor.demand)) * instances


def describe(shape: Shape) -> str:
    """A shape in words: "1 sequence, 16 tokens, 1 page"."""

    def count(number: int, noun: str) -> str:
        return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"

    return ", ".join(
        (
            count(shape.sequences, "sequence"),
            count(shape.tokens, "token"),
            count(shape.pages, "page"),
        )
    )


def _beyond(count: int, limit: int, noun: str) -> SizeError:
    return SizeError(f"is not defined at {count:,} {noun}, its limit is {limit:,}")
