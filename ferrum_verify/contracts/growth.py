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
from itertools import product, starmap
from math import gcd, prod
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.documents.terms import COUNTS, Staircase
from ferrum_verify.plan.sizes import UNIT, demand_bytes, largest_shape, maximal_shape, smaller

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.terms import Count, Linear, Step, Terms
    from ferrum_verify.plan.sizes import Claim

EXHAUSTIVE = 1 << 16
"""Candidate shapes that are tried; of two odd forms there can be more, and a bound is given."""


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
    if head.terms == Staircase(()):
        raise SizeError("is not defined at any shape")
    if base is None:
        shape = smaller(maximal_shape(head.terms), limits)
        size = head.bytes_at(shape)
        return Growth(shape, 0, size, size)
    if base.terms == Staircase(()):
        raise SizeError("is not defined at any shape of the other")
    shapes, exhaustive = _candidates(base, head, common_reach(base.terms, head.terms, limits))
    best: Growth | None = None
    for shape in shapes:
        before, after = base.bytes_at(shape), head.bytes_at(shape)
        if best is None or (after - before, *_smaller(shape)) > (best.grown, *_smaller(best.shape)):
            best = Growth(shape, before, after, after - before)
    if best is None:
        raise SizeError("is not defined at any shape of the other")
    if exhaustive:
        return _at_lower_counts(best, base, head)
    # The padding that was not tried adds less than one granule of HEAD.
    raw = demand_bytes(head.terms, best.shape) - demand_bytes(base.terms, best.shape)
    return Growth(best.shape, best.before, best.after, raw + head.granule - 1)


def common_reach(base: Terms, head: Terms, limits: Shape) -> Shape:
    """The largest counts at which both demands are defined and that ``limits`` allows."""
    return smaller(largest_shape(base, limits), largest_shape(head, limits), limits)


def refused_shape(base: Terms, head: Terms, limits: Shape) -> Shape | None:
    """The smallest shape along one dimension that ``base`` has a size at and ``head`` has not.

    Where ``base`` does not bound pages no shape is given, as nothing says how many there are.
    """
    before = smaller(largest_shape(base, limits), limits)
    after = smaller(largest_shape(head, limits), limits)
    for count in COUNTS:
        if count == "pages" and "pages" not in base.counts:
            continue
        if getattr(after, count) < getattr(before, count):
            return replace(UNIT, **{count: getattr(after, count) + 1})
    return None


def _at_lower_counts(growth: Growth, base: Claim, head: Claim) -> Growth:
    """The same growth with each count as low as 1, or the first step of a staircase, allows."""
    shape = growth.shape
    for name in COUNTS:
        for count in _steps(name, base.terms, head.terms):
            less = replace(shape, **{name: count})
            if count >= getattr(shape, name):
                break
            if head.bytes_at(less) - base.bytes_at(less) == growth.grown:
                shape = less
                break
    return Growth(shape, base.bytes_at(shape), head.bytes_at(shape), growth.at_most)


def _steps(count: Count, *demands: Terms) -> list[int]:
    steps = (step for terms in demands if isinstance(terms, Staircase) for step in terms.steps)
    return sorted({1, *(getattr(step, count) + 1 for step in steps)})


def _smaller(shape: Shape) -> tuple[int, ...]:
    return (-shape.sequences, -shape.tokens, -shape.pages)


def _candidates(base: Claim, head: Claim, reach: Shape) -> tuple[Iterator[Shape], bool]:
    old, new = base.terms, head.terms
    if isinstance(old, Staircase):
        others: tuple[Step | Shape, ...] = new.steps if isinstance(new, Staircase) else (reach,)
        pairs = product(old.steps, others)
        return (smaller(_top(before), _top(after), reach) for before, after in pairs), True
    if isinstance(new, Staircase):
        return _smallest_of_steps(new, reach), True
    return _windows((old, base.granule), (new, head.granule), reach)


def _top(step: Step | Shape) -> Shape:
    return Shape(step.sequences, step.tokens, step.pages)


def _smallest_of_steps(new: Staircase, reach: Shape) -> Iterator[Shape]:
    yield UNIT
    for step in new.steps[:-1]:
        for count in COUNTS:
            if getattr(step, count) < getattr(reach, count):
                yield replace(UNIT, **{count: getattr(step, count) + 1})


def _windows(
    base: tuple[Linear, int], head: tuple[Linear, int], reach: Shape
) -> tuple[Iterator[Shape], bool]:
    (old, granule), (new, new_granule) = base, head
    windows = []
    for count in COUNTS:
        before, after, most = old.rate(count), new.rate(count), getattr(reach, count)
        # Both periods are powers of two, so the larger one is a multiple of the other.
        period = max(granule // gcd(before, granule), new_granule // gcd(after, new_granule))
        grows = after > before
        first = max(1, most - period + 1) if grows else 1
        last = most if grows else min(period, most)
        windows.append(_Window(range(first, last + 1), last if grows else 1))
    if prod(len(window.counts) for window in windows) <= EXHAUSTIVE:
        return starmap(Shape, product(*(window.counts for window in windows))), True
    return iter([Shape(*(window.steepest for window in windows))]), False


class _Window(NamedTuple):
    """The counts of one dimension that matter, and the one where the linear parts differ most."""

    counts: range
    steepest: int
