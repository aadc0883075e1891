"""Who permits or refuses counts of tokens, and by which constraints: data, and its words."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

PartyKind = Literal["base", "head", "every-provider", "provider", "merge", "state", "step"]
"""The catalogs of a comparison; all selected providers, one of them, and what they were merged
to; and what bounds the tokens before a boundary: a state's room, and one step."""

Side = Literal["prefix", "suffix"]
"""The tokens before a boundary, and those after it."""

SIDES: tuple[Side, ...] = ("prefix", "suffix")


class SpanConstraint(NamedTuple):
    """A count of tokens is legal when it is at least the minimum, and a multiple."""

    minimum_tokens: int
    alignment: int

    def permits(self, tokens: int) -> bool:
        """Whether a count is legal."""
        return tokens >= self.minimum_tokens and tokens % self.alignment == 0

    def first_from(self, tokens: int) -> int:
        """The first legal count that is no less than ``tokens``."""
        return -(-max(tokens, self.minimum_tokens) // self.alignment) * self.alignment

    @property
    def words(self) -> str:
        """The legal counts: "a multiple of 16 tokens, at least 32"."""
        if self.alignment == 1:
            return f"{self.minimum_tokens:,} or more tokens"
        multiple = f"a multiple of {self.alignment:,} tokens"
        first = self.first_from(1)
        return multiple if first == self.alignment else f"{multiple}, at least {first:,}"


@dataclass(frozen=True, slots=True)
class Party:
    """Who permits or refuses, and what it asks of the tokens before and after a boundary.

    ``maximum_tokens`` bounds those before it; a merge that found no boundary permits none. Of
    ``base`` and ``head`` it is a provider of an operation that is meant or, without the two, all
    that the plan selects.
    """

    by: PartyKind
    prefix: SpanConstraint | None = None
    suffix: SpanConstraint | None = None
    maximum_tokens: int | None = None
    operation: str | None = None
    provider: str | None = None
    node: str | None = None
    state: str | None = None

    def holding(self, side: Side, constraint: SpanConstraint) -> Party:
        """The same party with a constraint on one side of a boundary."""
        if side == "prefix":
            return replace(self, prefix=constraint)
        return replace(self, suffix=constraint)

    @property
    def words(self) -> str:
        """The party as a reader is told of it."""
        return party_words(self.to_wire())

    def to_wire(self) -> dict[str, Any]:
        """The party's JSON; what does not concern it is left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value._asdict() if isinstance(value, SpanConstraint) else value
            for name, value in values.items()
            if value is not None
        }


def party_words(party: Mapping[str, Any]) -> str:  # noqa: PLR0911  (one sentence a kind)
    """The party of this JSON as a reader is told of it."""
    sides = {side: SpanConstraint(**party[side]) for side in SIDES if side in party}
    stated = [f"{span[0]:,} or more tokens, by {span[1]:,}" for span in sides.values()]
    side: Side = next(iter(sides), "prefix")
    match party["by"]:
        case "base" | "head" as catalog if len(stated) == 1:
            return f"{catalog.upper()} ({stated[0]})"
        case "base" | "head" as catalog:
            prefixes, suffixes = stated
            return f"{catalog.upper()} (prefixes of {prefixes}, and suffixes of {suffixes})"
        case "every-provider":
            return "every provider" if len(sides) == 2 else f"every provider's {side}"
        case "merge" if not sides:
            return "the merge, which found no boundary"
        case "merge":
            return f"the merged {side} ({stated[0]})"
        case "provider" if "node" in party:
            return f"the {side} of provider {party['provider']} in node {party['node']}"
        case "provider":
            return f"{party['provider']} ({sides[side].words})"
        case "state":
            return f"state {party['state']}, which holds {party['maximum_tokens']:,} tokens"
        case "step":
            return f"the policy, which schedules {party['maximum_tokens']:,} tokens in one step"
    raise ValueError(f"no party is called {party['by']}")
