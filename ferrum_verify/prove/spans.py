"""Spans: the merged boundary constraint permits exactly what every selected provider permits.

Mirrors ``derive/spans.py`` and claims that it is right, for every count of tokens below
2^64: the merged constraint of the checkpoint that the concrete path answered is the thing under
test, and the providers' own declarations are what it is held to. Linear integers with a
certificate are the theory; ``divisibility`` says why.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import Party, Side, SpanConstraint, SpanCounterexample
from ferrum_verify.derive.checkpoint import derive_checkpoint
from ferrum_verify.documents.checkpoint import PagedKeyValue, ProviderContract
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.value_storage import states_are_bound_well
from ferrum_verify.prove.checkpoint_ranges import copied_states, range_claims
from ferrum_verify.prove.divisibility import LOGIC, Span, common, contained, counted, permitted
from ferrum_verify.prove.obligation import Obligation, Statement, formula
from ferrum_verify.prove.reachability import Limit, reach_claims
from ferrum_verify.rules import checkpoint as rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.derive.checkpoint_layout import SequenceCheckpoint
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.checkpoint import TokenSpan
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.prove.obligation import Claims
    from ferrum_verify.reading.document import Subject


@dataclass(frozen=True, slots=True)
class Declared:
    """What a node's selected provider declares about the tokens on both sides of a boundary."""

    node_id: str
    provider_id: str
    prefix: Span
    suffix: Span

    def on(self, side: Side) -> Span:
        """The constraint of one side."""
        return self.prefix if side == "prefix" else self.suffix


def span_claims(subject: Subject, answer: SequenceCheckpoint | None = None) -> Claims:
    """The claims about a bundle's sequence checkpoint.

    ``answer`` is what is put to the test; by default what the concrete path derives. A plan
    that has no checkpoint has no merged constraint and no boundary to reach, and where seed
    004's derivation fails nothing is claimed: of that the contract rules speak.
    """
    nodes, memory = subject.plan_nodes, subject.memory
    program, catalog = subject.program, subject.catalog
    if nodes is None or memory is None or program is None or catalog is None:
        return
    declared = declarations(nodes, catalog)
    if declared is None or not states_are_bound_well(program, nodes):
        return
    if answer is None:
        derivation = derive_checkpoint(
            program, nodes, memory.dynamic_descriptors, catalog.providers, subject.schema
        )
        if derivation.refusals:
            return
        answer = derivation.checkpoint
    at = subject.places.catalog
    if answer.layout is not None and declared:
        merged = answer.layout.boundaries
        yield from merge_claims(declared, "prefix", merged.prefix, at)
        yield from merge_claims(declared, "suffix", merged.suffix, at)
        prefixes = [(each.node_id, each.provider_id, each.prefix) for each in declared]
        yield from reach_claims(prefixes, program, _scheduled(subject), subject.places)
    elif any(reason.kind == "boundary_intersection" for reason in answer.unsupported):
        yield refusal_claim(declared, at)
    # Of blocks of keys and values the checks speak: they are no range that grows by the token.
    paged = {
        state.state_id
        for state in (() if answer.layout is None else answer.layout.states)
        if isinstance(state.layout, PagedKeyValue)
    }
    states = [
        state
        for state in copied_states(program, nodes, memory, subject.places)
        if state.state_id not in paged
    ]
    captured = all(reason.kind == "state_layout" for reason in answer.unsupported)
    yield from range_claims(states, f"{subject.places.program}/states", captured=captured)


def declarations(
    nodes: Sequence[PlanNode], catalog: CapabilityCatalog
) -> tuple[Declared, ...] | None:
    """The constraints of all selected providers in plan order; None where one is not there."""
    found = []
    for node in nodes:
        provider = next(
            (
                provider
                for provider in catalog.providers.get(node.operation_id, ())
                if provider.provider_id == node.selection.selected_provider
            ),
            None,
        )
        if provider is None:
            return None
        contract = provider.capability
        if isinstance(contract, ProviderContract):
            spans = contract.boundaries
            found.append(
                Declared(
                    node.id,
                    provider.provider_id,
                    Span(spans.prefix.minimum_tokens, spans.prefix.alignment),
                    Span(spans.suffix.minimum_tokens, spans.suffix.alignment),
                )
            )
    return tuple(found)


def _scheduled(subject: Subject) -> Limit | None:
    if subject.policy is not None:
        tokens = subject.policy.admission.maximum_scheduled_tokens
    elif subject.header is not None:
        tokens = subject.header.maximum_scheduled_tokens
    else:
        return None
    return Limit(tokens, Party("step", maximum_tokens=tokens), ("maximum_scheduled_tokens",))


def merge_claims(declared: Sequence[Declared], side: Side, merged: TokenSpan, at: str) -> Claims:
    """The two claims that a merged constraint is exactly what all providers permit."""
    spans = tuple(sorted({each.on(side) for each in declared}))
    candidate = Span(merged.minimum_tokens, merged.alignment)
    merge = Party("merge").holding(side, SpanConstraint(*candidate))
    name = merge.words
    everyone = Party("every-provider").holding(side, common(spans))
    providers = tuple(dict.fromkeys(each.provider_id for each in declared))

    def first_to_refuse(values: tuple[int, ...]) -> SpanCounterexample | None:
        (tokens,) = values
        for each in declared:
            if not each.on(side).permits(tokens):
                refusing = Party("provider", provider=each.provider_id, node=each.node_id)
                own = SpanConstraint(*each.on(side))
                return SpanCounterexample(merge, refusing.holding(side, own), tokens=tokens)
        return None

    yield Obligation(
        id=f"{at}: merged {side} is strict enough",
        claim=f"Whatever count of tokens below 2^64 {name} permits, the {side} of each of the "
        f"{len(declared):,} selected providers permits.",
        names=(side, *providers),
        rule=rules.BOUNDARY_INTERSECTION,
        location=f"{at}/providers",
        formula=formula(contained, (candidate,), spans, U64_MAX),
        message=lambda found: f"{name} permits {_count(found)}, which a provider refuses",
        witness=first_to_refuse,
    )
    yield Obligation(
        id=f"{at}: merged {side} is no stricter",
        claim=f"Whatever count of tokens below 2^64 the {side} of each of the {len(declared):,} "
        f"selected providers permits, {name} permits.",
        names=(side, *providers),
        rule=rules.BOUNDARY_INTERSECTION,
        location=f"{at}/providers",
        formula=formula(contained, spans, (candidate,), U64_MAX),
        message=lambda found: f"{name} refuses {_count(found)}, which every provider permits",
        witness=lambda values: SpanCounterexample(everyone, merge, tokens=values[0]),
    )


def _count(found: object) -> str:
    tokens = found.tokens if isinstance(found, SpanCounterexample) else None
    return "a count of tokens" if tokens is None else f"{tokens:,} tokens"


def refusal_claim(declared: Sequence[Declared], at: str) -> Obligation:
    """The claim that providers whose merge was refused really have no boundary in common.

    Neither for a fresh sequence nor after tokens that were processed before, in any prompt of
    less than 2^64 tokens.
    """

    prefixes = tuple(sorted({each.prefix for each in declared}))
    suffixes = tuple(sorted({each.suffix for each in declared}))

    def witness(values: tuple[int, ...]) -> SpanCounterexample:
        prompt, processed, prefix = values
        return SpanCounterexample(
            Party("every-provider", common(prefixes), common(suffixes)),
            Party("merge", maximum_tokens=0),
            processed=processed,
            boundary=processed + prefix,
            prompt=prompt,
        )

    return Obligation(
        id=f"{at}: no common boundary",
        claim=f"No prompt of less than 2^64 tokens has a boundary that all {len(declared):,} "
        "selected providers permit.",
        names=tuple(dict.fromkeys(each.provider_id for each in declared)),
        rule=rules.BOUNDARY_INTERSECTION,
        location=f"{at}/providers",
        formula=formula(have_no_boundary, prefixes, suffixes),
        message="the providers' boundaries were merged to none, and they have one",
        witness=witness,
    )


def have_no_boundary(prefixes: tuple[Span, ...], suffixes: tuple[Span, ...]) -> Statement:
    """No prompt that fits u64 has a boundary that all prefixes and all suffixes permit."""
    processed, prefix, suffix = z3.Ints("processed prefix suffix")
    prompt = processed + prefix + suffix
    boundary = z3.And(*permitted(prefix, prefixes).given, *permitted(suffix, suffixes).given)
    given = (*counted(prefix), *counted(suffix), processed >= 0, prompt <= U64_MAX)
    return Statement(LOGIC, z3.Not(boundary), given, least=(prompt, processed, prefix))
