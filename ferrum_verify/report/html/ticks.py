"""Token constraints as rows of ticks: the counts that BASE permits, above those of HEAD."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.report.html.picture import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.counterexamples import SpanConstraint, SpanCounterexample

BEFORE, AFTER, FARTHEST = 24, 8, 128
"""How much is drawn before and after a count, in ticks of the finer row, and how far it may reach
to begin at zero, or to show the next tick of the coarser row."""


class Row(NamedTuple):
    """One party's constraint: on what stands before a boundary, and on what is left after it.

    Without a prefix it permits nothing.
    """

    label: str
    prefix: SpanConstraint | None
    suffix: SpanConstraint | None = None

    def permits(self, tokens: int, prompt: int | None) -> bool:
        """Whether the boundary is legal; without a prompt, whether some prompt has it."""
        if self.prefix is None or not self.prefix.permits(tokens):
            return False
        return prompt is None or self.suffix is None or self.suffix.permits(prompt - tokens)


def span_ticks(counterexample: SpanCounterexample) -> dict[str, Any]:
    """A span counterexample of two catalogs as rows; others are not drawn."""
    parties = (counterexample.permitted, counterexample.refused)
    if {party.by for party in parties} != {"base", "head"}:
        return {"kind": "span"}
    # A count of tokens alone is drawn in the same way on both sides of a boundary.
    rows = [Row(party.by.upper(), party.prefix or party.suffix, party.suffix) for party in parties]
    # The one that permits comes first in a counterexample, and BASE first in a picture.
    rows.sort(key=lambda row: row.label != "BASE")
    at = counterexample.tokens
    if at is None:
        if counterexample.boundary is None or counterexample.processed:
            return {"kind": "span"}
        at = counterexample.boundary
    return {
        "kind": "span",
        **tick_rows(rows, at, counterexample.prompt),
        "at": exact(at),
        "prompt": None if counterexample.prompt is None else exact(counterexample.prompt),
    }


def tick_rows(rows: Sequence[Row], at: int, prompt: int | None = None) -> dict[str, Any]:
    """The window around a count, and in it the counts that each row permits.

    A row whose next count lies beyond the window says where that is.
    """
    prefixes = [row.prefix for row in rows if row.prefix is not None]
    unit = min((span.alignment for span in prefixes), default=1)
    low = 0 if at <= FARTHEST * unit else at - BEFORE * unit
    high = at + AFTER * unit
    for span in prefixes:
        following = span.first_from(at + 1) + unit
        if following <= at + FARTHEST * unit:
            high = max(high, following)
    high = min(high, U64_MAX if prompt is None else prompt)
    return {
        "low": exact(low),
        "high": exact(high),
        "rows": [
            {
                "label": row.label,
                "permits": [exact(count) for count in _permitted(row, low, high, prompt)],
                "next": _beyond(row, high) if prompt is None else None,
            }
            for row in rows
        ],
    }


def _permitted(row: Row, low: int, high: int, prompt: int | None) -> list[int]:
    if row.prefix is None:
        return []
    first = row.prefix.first_from(low)
    return [
        count
        for count in range(first, high + 1, row.prefix.alignment)
        if row.permits(count, prompt)
    ]


def _beyond(row: Row, high: int) -> int | str | None:
    if row.prefix is None:
        return None
    following = row.prefix.first_from(high + 1)
    return exact(following) if following <= U64_MAX else None
