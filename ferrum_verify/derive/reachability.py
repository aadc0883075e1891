"""Whether any boundary of a checkpoint layout can be reached, and who stands in the way."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import lcm
from typing import TYPE_CHECKING

from ferrum_verify.derive.checkpoint_ranges import largest_boundary
from ferrum_verify.documents.checkpoint import holds_prefix, smallest_legal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.derive.checkpoint_layout import (
        LayoutProvider,
        LayoutState,
        SequenceCheckpointLayout,
    )

_EXHAUSTIVE = 48
"""Different spans up to which all pairs are tried; beyond, a set is minimal, not smallest."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The smallest boundary of a layout against the tokens that its states can hold.

    All are counts of tokens. ``state`` is the state of a prefix that holds the fewest, None
    where no state grows with tokens.
    """

    smallest_boundary: int
    state: LayoutState | None
    held_tokens: int | None


def reach(layout: SequenceCheckpointLayout) -> Reach:
    """How far a sequence must run to its first boundary, and how far its states reach."""
    growing = [state for state in layout.states if holds_prefix(state.layout)]
    narrowest = min(growing, key=largest_boundary, default=None)
    return Reach(
        smallest_boundary=layout.boundaries.prefix.smallest,
        state=narrowest,
        held_tokens=None if narrowest is None else largest_boundary(narrowest),
    )


def culprits(providers: Sequence[LayoutProvider], limit: int) -> tuple[LayoutProvider, ...]:
    """A minimal set of providers whose prefix constraints permit nothing up to ``limit``.

    Of it no provider can be spared. Each constraint is represented by the first node that
    has it, and the answer is the first in plan order among those of one or two constraints.
    Empty where all constraints together permit a count up to the limit (tokens).
    """
    representatives: dict[tuple[int, int], LayoutProvider] = {}
    for provider in providers:
        prefix = provider.contract.boundaries.prefix
        representatives.setdefault((prefix.minimum_tokens, prefix.alignment), provider)
    spans = list(representatives)
    if _smallest(spans) <= limit:
        return ()
    for size in (1, 2) if len(spans) <= _EXHAUSTIVE else (1,):
        for chosen in combinations(spans, size):
            if _smallest(chosen) > limit:
                return tuple(representatives[span] for span in chosen)
    kept = spans
    for span in spans:
        rest = [other for other in kept if other != span]
        if _smallest(rest) > limit:
            kept = rest
    return tuple(representatives[span] for span in kept)


def _smallest(spans: Sequence[tuple[int, int]]) -> int:
    minimum = max((minimum for minimum, _ in spans), default=1)
    return smallest_legal(minimum, lcm(*(alignment for _, alignment in spans)))
