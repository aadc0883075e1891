"""Reachability: some boundary lies within what the states hold and one step schedules.

Mirrors ``derive/reachability.py``. That a boundary exists within a limit is decided by the
smallest one: linear integers, as everything but the count is a constant of the plan. Which
providers keep it out of reach is found by arithmetic and then proved: together their constraints
permit nothing up to the limit, and without any one of them they permit something.
"""

from __future__ import annotations

from itertools import combinations
from math import lcm
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import z3

from ferrum_verify.counterexamples import Party, SpanCounterexample
from ferrum_verify.documents.checkpoint import StateSemantics
from ferrum_verify.documents.program import TokenScaled
from ferrum_verify.findings import pointer
from ferrum_verify.prove.divisibility import LOGIC, Span, common, counted, permitted
from ferrum_verify.prove.obligation import Obligation, Proved, Refuted, Statement, formula
from ferrum_verify.rules import checkpoint_reach as rules
from ferrum_verify.rules.checkpoint_causes import listed

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.findings import Rule
    from ferrum_verify.prove.obligation import Claims, Outcome
    from ferrum_verify.reading.document import Places

Prefix: TypeAlias = tuple[str, str, Span]
"""A node, its selected provider, and the provider's constraint on prefixes."""

_ALL_PAIRS = 48
"""Different constraints up to which every pair is tried before a larger set is looked for."""


class Limit(NamedTuple):
    """The tokens that something can take at most, what it is, and the names in it."""

    tokens: int
    party: Party
    about: tuple[str, ...]

    @property
    def name(self) -> str:
        """What takes them, with the tokens."""
        return self.party.words


def reach_claims(
    prefixes: Sequence[Prefix], program: ModelProgram, scheduled: Limit | None, places: Places
) -> Claims:
    """The claims that a sequence can come to a boundary before its state is full.

    And, where states grow, that it can do so in one step. Where none grows, one step's tokens
    are all that bounds a span.
    """
    held = _held(program)
    first = held or scheduled
    if first is None:
        return
    limits = [limit for limit in (held, scheduled) if limit is not None]
    outcome = yield from _claim(first, limits, prefixes, rules.NEVER_REACHABLE, places)
    if held is not None and scheduled is not None and isinstance(outcome, Proved):
        yield from _claim(scheduled, limits, prefixes, rules.BEYOND_ONE_STEP, places)


def _held(program: ModelProgram) -> Limit | None:
    """What the state that holds the fewest positions can take."""
    capacities = [
        (state.capacity_demand.maximum_tokens, state.id)
        for state in program.states
        if isinstance(state.capacity_demand, TokenScaled)
        and isinstance(state.checkpoint, StateSemantics)
        and state.checkpoint.contents == "prefix_positions"
    ]
    if not capacities:
        return None
    tokens, state_id = min(capacities, key=lambda each: each[0])
    return Limit(tokens, Party("state", maximum_tokens=tokens, state=state_id), (state_id,))


def _claim(
    limit: Limit,
    limits: Sequence[Limit],
    prefixes: Sequence[Prefix],
    rule: Rule,
    places: Places,
) -> Generator[Obligation, Outcome, Outcome]:
    outcome = yield _within(limit, prefixes, rule, places, lemma=True)
    guilty: tuple[Prefix, ...] = ()
    because = ""
    if isinstance(outcome, Refuted):
        (smallest,) = outcome.values
        exceeded = [each for each in limits if smallest > each.tokens]
        # Who stands in the way of the widest limit stands in the way of all.
        guilty = yield from _guilty(prefixes, max(each.tokens for each in exceeded), places)
        names = listed([f"`{provider}` (node `{node}`)" for node, provider, _ in guilty])
        because = f"{smallest:,} tokens{f', because of {names}' if guilty else ''}"
        because += f", beyond {' and '.join(each.name for each in exceeded)}"
    return (yield _within(limit, prefixes, rule, places, guilty=guilty, because=because))


def _within(
    limit: Limit,
    prefixes: Sequence[Prefix],
    rule: Rule,
    places: Places,
    *,
    guilty: Sequence[Prefix] = (),
    because: str = "",
    lemma: bool = False,
) -> Obligation:
    spans = tuple(sorted({span for _, _, span in prefixes}))
    node = guilty[0][0] if guilty else None
    position = next((i for i, each in enumerate(prefixes) if each[0] == node), None)
    at = places.nodes if position is None else pointer(places.nodes, position)
    return Obligation(
        id=f"{places.nodes}: a boundary within {limit.name}",
        claim=f"Some boundary of at most {limit.tokens:,} tokens is one that all "
        f"{len(prefixes):,} selected providers permit, so that it lies within {limit.name}.",
        names=(*limit.about, *(provider for _, provider, _ in guilty)),
        rule=rule,
        location=at,
        formula=formula(smallest_is_within, spans, limit.tokens),
        message=f"the smallest boundary that all providers permit is {because}",
        witness=lambda values: SpanCounterexample(
            Party("every-provider", common(spans)), limit.party, tokens=values[0]
        ),
        lemma=lemma,
    )


def _guilty(
    prefixes: Sequence[Prefix], limit: int, places: Places
) -> Generator[Obligation, Outcome, tuple[Prefix, ...]]:
    """The providers without any of which a boundary would be within the limit, if proved."""
    first_with: dict[Span, Prefix] = {}
    for prefix in prefixes:
        first_with.setdefault(prefix[2], prefix)
    chosen = _candidates(list(first_with), limit)
    outcome = yield _nothing_within(chosen, limit, places)
    if not isinstance(outcome, Proved):
        return ()
    for spared in chosen:
        rest = [span for span in chosen if span != spared]
        outcome = yield _nothing_within(rest, limit, places)
        if not isinstance(outcome, Refuted):
            return ()
    return tuple(first_with[span] for span in chosen)


def _candidates(spans: Sequence[Span], limit: int) -> list[Span]:
    """A set of constraints that exclude all counts up to a limit, none of which can be spared.

    One constraint if one is enough, then two, in plan order; beyond that, constraints are left
    out one after the other, in plan order, as long as the rest is enough.
    """

    def exclude(chosen: Sequence[Span]) -> bool:
        step = lcm(*(span.alignment for span in chosen))
        least = max((span.minimum for span in chosen), default=1)
        return -(-least // step) * step > limit

    for size in (1, 2) if len(spans) <= _ALL_PAIRS else (1,):
        for chosen in combinations(spans, size):
            if exclude(chosen):
                return list(chosen)
    kept = list(spans)
    for span in spans:
        rest = [other for other in kept if other != span]
        if exclude(rest):
            kept = rest
    return kept


def smallest_is_within(spans: tuple[Span, ...], limit: int) -> Statement:
    """The smallest count that all spans permit is at most the limit.

    It is a count that is permitted and, one step less, below some minimum.
    """
    tokens = z3.Int("tokens")
    merged = common(spans)
    smallest = tokens - merged.alignment < merged.minimum_tokens
    given = (*permitted(tokens, spans).given, tokens >= 1, smallest)
    return Statement(LOGIC, tokens <= limit, given, least=(tokens,))


def _nothing_within(spans: Sequence[Span], limit: int, places: Places) -> Obligation:
    return Obligation(
        id=f"{places.nodes}: nothing within {limit} of {len(spans)} constraints",
        claim=f"No count of at most {limit:,} tokens satisfies these constraints.",
        names=(),
        rule=rules.NEVER_REACHABLE,
        location=places.nodes,
        formula=formula(all_are_beyond, tuple(sorted(spans)), limit),
        lemma=True,
    )


def all_are_beyond(spans: tuple[Span, ...], limit: int) -> Statement:
    """Whatever count all spans permit is above the limit."""
    tokens = z3.Int("tokens")
    return Statement(LOGIC, tokens > limit, (*counted(tokens), *permitted(tokens, spans).given))
