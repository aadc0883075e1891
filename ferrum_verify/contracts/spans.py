"""Comparing token spans: the smallest count that one permits and another refuses, exactly.

The counts that a span permits are ``n0, n0 + a, n0 + 2a, …``, where ``a`` is its alignment and
``n0`` the smallest multiple of it that is no less than the minimum. Another span refuses one of
them exactly if it refuses one of the first two: permitting ``n0`` puts all of them above its
minimum and ``n0`` on its alignment, and permitting ``n0 + a`` too makes its alignment divide
``a``, and with it every one that follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import Party, SpanConstraint, SpanCounterexample
from ferrum_verify.documents.primitives import U64_MAX

if TYPE_CHECKING:
    from ferrum_verify.documents.checkpoint import BoundaryConstraint, TokenSpan


def smallest_refused(base: TokenSpan, head: TokenSpan, limit: int = U64_MAX) -> int | None:
    """The smallest count of tokens that ``base`` permits and ``head`` refuses, up to ``limit``.

    None where ``head`` permits all that ``base`` permits.
    """
    first = base.smallest
    for count in (first, first + base.alignment):
        if count > limit:
            return None
        if not head.permits(count):
            return count
    return None


@dataclass(frozen=True, slots=True)
class LostBoundary:
    """A boundary, in tokens, of the shortest prompt that could be cut there and no longer can."""

    boundary: int
    prompt: int


def smallest_lost_boundary(
    base: BoundaryConstraint, head: BoundaryConstraint, held_tokens: int = U64_MAX
) -> LostBoundary | None:
    """The shortest prompt with a boundary that ``base`` permits and ``head`` refuses.

    No tokens are processed before it, and the boundary is one that states of ``held_tokens``
    reach. None where ``head`` permits every such boundary.
    """
    lost = []
    prefix = smallest_refused(base.prefix, head.prefix, held_tokens)
    if prefix is not None:
        lost.append(LostBoundary(prefix, prefix + base.suffix.smallest))
    suffix = smallest_refused(base.suffix, head.suffix)
    if suffix is not None and base.prefix.smallest <= held_tokens:
        lost.append(LostBoundary(base.prefix.smallest, base.prefix.smallest + suffix))
    fits = [each for each in lost if each.prompt <= U64_MAX]
    return min(fits, key=lambda each: (each.prompt, each.boundary), default=None)


def constraint_of(span: TokenSpan) -> SpanConstraint:
    """The span as a counterexample holds it."""
    return SpanConstraint(span.minimum_tokens, span.alignment)


def span_words(span: TokenSpan) -> str:
    """The counts that a span permits: "a multiple of 16 tokens, at least 32"."""
    return constraint_of(span).words


def boundary_words(boundaries: BoundaryConstraint) -> str:
    """What a boundary constraint permits before a boundary and after it."""
    return f"{span_words(boundaries.prefix)} before it and {span_words(boundaries.suffix)} after it"


def boundary_counterexample(
    base: BoundaryConstraint, head: BoundaryConstraint, lost: LostBoundary
) -> SpanCounterexample:
    """The lost boundary of a plan as a counterexample, from an empty state."""
    return SpanCounterexample(
        Party("base", constraint_of(base.prefix), constraint_of(base.suffix)),
        Party("head", constraint_of(head.prefix), constraint_of(head.suffix)),
        processed=0,
        boundary=lost.boundary,
        prompt=lost.prompt,
    )
