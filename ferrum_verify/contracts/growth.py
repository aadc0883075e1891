"""How much more memory one demand takes than another, at the worst admissible shape.

Both are quantized: aligned, and rounded up to whole blocks. The largest difference is found
among a few candidate shapes, for each pair of forms by its own argument:

- two linear forms differ by a linear part and by padding, which repeats. A step by the period
  of the padding along one dimension changes the difference by a constant, so along each
  dimension only the last period matters if that constant is positive, else only the first;
- within one bucket a staircase is constant and the other form grows with the shape, so the
  candidates are the largest shape of each bucket, or the smallest ones where the staircase is
  the new demand;
- of two staircases each pair of buckets has a largest common shape, which is in both if any
  shape is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from math import gcd
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.demand import (
    ActualSequences,
    Affine,
    BoundedShapeBuckets,
    Pages,
    Tokens,
)
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.sizes import demand_bytes, maximal_shape, quantize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.demand import Demand, ShapeBucket
    from ferrum_verify.documents.storage import StorageProfile

EXHAUSTIVE = 1 << 16
"""Candidate shapes that are tried; of two odd forms there can be more, and a bound is given."""

_Counts = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Claim:
    """What one claim of a resource asks for: a demand, aligned and stored in some way."""

    demand: Demand
    alignment_bytes: int
    profile: StorageProfile

    @property
    def granule(self) -> int:
        """The bytes that every quantized size is a multiple of, a power of two."""
        return max(self.alignment_bytes, self.profile.block_bytes or 1)

    def bytes_at(self, shape: Shape) -> int:
        """The quantized bytes at a shape; raises SizeError where there are none."""
        return quantize(demand_bytes(self.demand, shape), self.alignment_bytes, self.profile)


@dataclass(frozen=True, slots=True)
class Growth:
    """The largest growth of a claim, in bytes, and the smallest candidate shape that has it.

    ``at_most`` bounds the growth at any shape; it is ``grown`` itself unless there were too
    many candidates to try.
    """

    shape: Shape
    before: int
    after: int
    at_most: int

    @property
    def grown(self) -> int:
        """How many bytes more HEAD takes at the shape; not positive where it takes no more."""
        return self.after - self.before


def largest_growth(base: Claim | None, head: Claim, limits: Shape) -> Growth:
    """The largest growth at a shape that both claims are defined at.

    Without ``base`` all of ``head`` is growth. ``limits`` are the most sequences, tokens and
    pages that are ever in flight. Raises SizeError where a size passes u64, or there is no shape
    at which both are defined.
    """
    if isinstance(head.demand, BoundedShapeBuckets) and not head.demand.buckets:
        raise SizeError("is not defined at any shape")
    if base is None:
        shape = Shape(*_common(_counts(maximal_shape(head.demand)), _counts(limits)))
        size = head.bytes_at(shape)
        return Growth(shape, 0, size, size)
    shapes, exhaustive = _candidates(base, head, limits)
    best: Growth | None = None
    for counts in shapes:
        shape = Shape(*counts)
        before, after = base.bytes_at(shape), head.bytes_at(shape)
        if best is None or (after - before, *_smaller(shape)) > (best.grown, *_smaller(best.shape)):
            best = Growth(shape, before, after, after - before)
    if best is None:
        raise SizeError("is not defined at any shape of the other")
    if exhaustive:
        return _at_lower_counts(best, base, head)
    # The padding that was not tried adds less than one granule of HEAD.
    raw = demand_bytes(head.demand, best.shape) - demand_bytes(base.demand, best.shape)
    return Growth(best.shape, best.before, best.after, raw + head.granule - 1)


def refused_shape(base: Demand, head: Demand, limits: Shape) -> Shape | None:
    """The smallest shape along one dimension that ``base`` has a size at and ``head`` has not.

    Where ``base`` does not bound pages no shape is given, as nothing says how many there are.
    """
    before, after = _reach(base, limits), _reach(head, limits)
    for dimension in range(3):
        if dimension == 2 and not isinstance(base, Pages | BoundedShapeBuckets):
            continue
        if after[dimension] < before[dimension]:
            counts = [1, 1, 1]
            counts[dimension] = after[dimension] + 1
            return Shape(*counts)
    return None


def _at_lower_counts(growth: Growth, base: Claim, head: Claim) -> Growth:
    """The same growth with each count as low as 1, or the first step of a staircase, allows."""
    shape = growth.shape
    for dimension, name in enumerate(("sequences", "tokens", "pages")):
        for count in _steps(dimension, base.demand, head.demand):
            less = replace(shape, **{name: count})
            if count >= getattr(shape, name):
                break
            if head.bytes_at(less) - base.bytes_at(less) == growth.grown:
                shape = less
                break
    return Growth(shape, base.bytes_at(shape), head.bytes_at(shape), growth.at_most)


def _steps(dimension: int, *demands: Demand) -> list[int]:
    counts = {1}
    for demand in demands:
        if isinstance(demand, BoundedShapeBuckets):
            counts |= {_capacity(bucket)[dimension] + 1 for bucket in demand.buckets}
    return sorted(counts)


def _smaller(shape: Shape) -> tuple[int, ...]:
    return (-shape.sequences, -shape.tokens, -shape.pages)


def _candidates(base: Claim, head: Claim, limits: Shape) -> tuple[Iterator[_Counts], bool]:
    old, new = base.demand, head.demand
    reach = _common(_reach(old, limits), _reach(new, limits))
    if isinstance(old, BoundedShapeBuckets):
        if isinstance(new, BoundedShapeBuckets):
            return _bucket_pairs(old, new, reach), True
        return _largest_of_buckets(old, reach), True
    if isinstance(new, BoundedShapeBuckets):
        return _smallest_of_buckets(new, reach), True
    return _windows(base, head, reach)


def _bucket_pairs(
    old: BoundedShapeBuckets, new: BoundedShapeBuckets, reach: _Counts
) -> Iterator[_Counts]:
    for before, after in product(old.buckets, new.buckets):
        yield _common(_common(_capacity(before), _capacity(after)), reach)


def _largest_of_buckets(old: BoundedShapeBuckets, reach: _Counts) -> Iterator[_Counts]:
    for bucket in old.buckets:
        yield _common(_capacity(bucket), reach)


def _smallest_of_buckets(new: BoundedShapeBuckets, reach: _Counts) -> Iterator[_Counts]:
    yield (1, 1, 1)
    for bucket in new.buckets[:-1]:
        for dimension, count in enumerate(_capacity(bucket)):
            if count < reach[dimension]:
                counts = [1, 1, 1]
                counts[dimension] = count + 1
                yield (counts[0], counts[1], counts[2])


def _windows(base: Claim, head: Claim, reach: _Counts) -> tuple[Iterator[_Counts], bool]:
    old, new = _coefficients(base.demand), _coefficients(head.demand)
    windows = []
    for before, after, most in zip(old, new, reach, strict=True):
        # Both periods are powers of two, so the larger one is a multiple of the other.
        period = max(
            base.granule // gcd(before, base.granule), head.granule // gcd(after, head.granule)
        )
        grows = after > before
        first = max(1, most - period + 1) if grows else 1
        last = most if grows else min(period, most)
        windows.append(_Window(range(first, last + 1), last if grows else 1))
    sequences, tokens, pages = windows
    if len(sequences.counts) * len(tokens.counts) * len(pages.counts) <= EXHAUSTIVE:
        return product(sequences.counts, tokens.counts, pages.counts), True
    return iter([(sequences.steepest, tokens.steepest, pages.steepest)]), False


class _Window(NamedTuple):
    """The counts of one dimension that matter, and the one where the linear parts differ most."""

    counts: range
    steepest: int


def _coefficients(demand: Demand) -> _Counts:
    """Bytes for each sequence, token and page of a linear form."""
    match demand:
        case ActualSequences(bytes_per_sequence=each):
            return each, 0, 0
        case Tokens(bytes_per_token=each):
            return 0, each, 0
        case Affine(bytes_per_sequence=sequence, bytes_per_token=token):
            return sequence, token, 0
        case Pages(bytes_per_page=each):
            return 0, 0, each
        case _:
            return 0, 0, 0


def _reach(demand: Demand, limits: Shape) -> _Counts:
    """The largest counts at which the demand is defined and that ``limits`` allows."""
    most = _counts(limits)
    match demand:
        case ActualSequences(maximum_sequences=sequences):
            own = (sequences, most[1], most[2])
        case Tokens(maximum_tokens=tokens):
            own = (most[0], tokens, most[2])
        case Affine(maximum_sequences=sequences, maximum_tokens=tokens):
            own = (sequences, tokens, most[2])
        case Pages(maximum_pages=pages):
            own = (most[0], most[1], pages)
        case BoundedShapeBuckets(buckets=buckets) if buckets:
            own = _capacity(buckets[-1])
        case _:
            own = most
    return _common(own, most)


def _counts(shape: Shape) -> _Counts:
    return shape.sequences, shape.tokens, shape.pages


def _capacity(bucket: ShapeBucket) -> _Counts:
    return bucket.maximum_sequences, bucket.maximum_tokens, bucket.maximum_pages


def _common(left: _Counts, right: _Counts) -> _Counts:
    return min(left[0], right[0]), min(left[1], right[1]), min(left[2], right[2])
