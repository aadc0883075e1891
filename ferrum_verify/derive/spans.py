"""Merging token-span constraints: which boundaries all providers permit."""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

from ferrum_verify.documents.checkpoint import BoundaryConstraint, TokenSpan, smallest_legal
from ferrum_verify.documents.primitives import U64_MAX

if TYPE_CHECKING:
    from collections.abc import Iterable


class NoCommonSpan(ValueError):  # noqa: N818 - it is an answer, not a fault
    """No count of tokens below 2^64 satisfies all constraints; the text says which fail."""


def merge_spans(spans: Iterable[TokenSpan]) -> TokenSpan:
    """The span that permits exactly the counts of tokens that every given span permits.

    The alignment is the least common multiple, the minimum the largest one (seed 004,
    ``intersect_boundaries``). Without spans every positive count is legal. Raises
    NoCommonSpan where the alignment or the smallest legal count passes u64.
    """
    minimum, alignment = 1, 1
    for span in spans:
        merged = lcm(alignment, span.alignment)
        if merged > U64_MAX:
            raise NoCommonSpan(
                f"alignments {alignment:,} and {span.alignment:,} have no common multiple "
                "below 2^64 tokens"
            )
        alignment = merged
        minimum = max(minimum, span.minimum_tokens)
    if smallest_legal(minimum, alignment) > U64_MAX:
        raise NoCommonSpan(
            f"no multiple of {alignment:,} tokens that is at least {minimum:,} is below 2^64"
        )
    return TokenSpan(minimum_tokens=minimum, alignment=alignment)


def merge_boundaries(constraints: Iterable[BoundaryConstraint]) -> BoundaryConstraint:
    """The constraint that permits exactly the boundaries that every given one permits.

    Raises NoCommonSpan where a merged span, or the smallest prefix and suffix together, pass
    u64.
    """
    constraints = tuple(constraints)
    prefix = _merge_side("prefixes", (constraint.prefix for constraint in constraints))
    suffix = _merge_side("suffixes", (constraint.suffix for constraint in constraints))
    if prefix.smallest + suffix.smallest > U64_MAX:
        raise NoCommonSpan(
            f"the smallest legal prefix of {prefix.smallest:,} tokens and the smallest legal "
            f"suffix of {suffix.smallest:,} together pass 2^64"
        )
    return BoundaryConstraint(prefix=prefix, suffix=suffix)


def _merge_side(side: str, spans: Iterable[TokenSpan]) -> TokenSpan:
    try:
        return merge_spans(spans)
    except NoCommonSpan as none:
        raise NoCommonSpan(f"among the {side}, {none}") from None
