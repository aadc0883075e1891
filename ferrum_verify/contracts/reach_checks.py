"""A catalog's spans against a program and a policy: can any boundary be reached at all?"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING

from ferrum_verify.contracts.examples import PREFIX, checked
from ferrum_verify.contracts.names import code
from ferrum_verify.contracts.program_uses import operation_uses, selectable
from ferrum_verify.contracts.spans import constraint_of, span_words
from ferrum_verify.counterexamples import Party, SpanCounterexample
from ferrum_verify.derive.checkpoint_layout import LayoutProvider
from ferrum_verify.derive.reachability import culprits
from ferrum_verify.documents.checkpoint import ProviderContract, StateSemantics, smallest_legal
from ferrum_verify.documents.program import TokenScaled
from ferrum_verify.findings import Rule, pointer
from ferrum_verify.rules.checkpoint_causes import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.findings import Finding


@dataclass(frozen=True, slots=True)
class _Limit:
    """The most tokens that may stand before a boundary, who says so, and the rule for more."""

    tokens: int
    party: Party
    rule: Rule

    @property
    def name(self) -> str:
        """Who says so, with the tokens; a state's name is marked as one."""
        words, state = self.party.words, self.party.state
        return words if state is None else words.replace(f" {state}", f" {code(state)}", 1)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A provider that a plan may select, where it stands, and whether there is another choice."""

    provider: LayoutProvider
    operation_id: str
    place: str
    contract_place: str
    forced: bool


def reach_findings(
    catalog: CapabilityCatalog,
    program: ModelProgram | None,
    policy: RuntimePolicy | None,
    usable: Sequence[StorageProfile],
    place: str,
) -> Iterator[Finding]:
    """Findings of spans that no sequence meets: of one provider, or of several together.

    Several are judged together where the program leaves no other choice than them.
    """
    limits = sorted(_limits(program, policy), key=lambda limit: limit.rule.severity != "warning")
    candidates = list(_candidates(catalog, program, usable, place))
    guilty: set[str] = set()
    for limit in limits:
        for candidate in candidates:
            span = candidate.provider.contract.boundaries.prefix
            if span.smallest > limit.tokens and candidate.place not in guilty:
                guilty.add(candidate.place)
                yield limit.rule.finding(
                    f"Provider {code(candidate.provider.provider_id)} of "
                    f"{code(candidate.operation_id)} takes {span_words(span)} before a boundary: "
                    f"the first has {span.smallest:,}, too many for {limit.name}.",
                    pointer(_span_place(candidate), "prefix"),
                    counterexample=SpanCounterexample(
                        Party(
                            "provider",
                            constraint_of(span),
                            operation=candidate.operation_id,
                            provider=candidate.provider.provider_id,
                        ),
                        limit.party,
                        tokens=span.smallest,
                    ),
                )
    forced = [each for each in candidates if each.forced and each.place not in guilty]
    for limit in limits:
        found = culprits([each.provider for each in forced], limit.tokens)
        if found:
            yield _joint(found, forced, limit)
            return


def _joint(found: Sequence[LayoutProvider], forced: Sequence[_Candidate], limit: _Limit) -> Finding:
    spans = [provider.contract.boundaries.prefix for provider in found]
    smallest = smallest_legal(
        max(span.minimum_tokens for span in spans), lcm(*(span.alignment for span in spans))
    )
    names = listed(
        [
            f"{code(each.provider_id)} ({span_words(each.contract.boundaries.prefix)})"
            for each in found
        ]
    )
    first = next(each for each in forced if each.provider == found[0])
    return limit.rule.finding(
        f"The program leaves no other choice than {names}, and the first prefix that all of them "
        f"permit has {smallest:,} tokens, too many for {limit.name}.",
        pointer(_span_place(first), "prefix"),
    )


def _span_place(candidate: _Candidate) -> str:
    return pointer(candidate.contract_place, "boundaries")


SPAN_UNREACHABLE = Rule(
    id="contract.span-unreachable",
    summary="The first prefix that providers permit is no longer than what the program's states "
    "hold.",
    why="A plan whose states hold less claims to support checkpoints and can never take one.",
    fix="Lower the alignment or the minimum of the providers that the message names.",
    source="docs/format.md, «Provider contracts»; seed 004, `intersect_boundaries`",
    severity="warning",
    example=checked({f"/catalog{PREFIX}/alignment": 512}),
)
SPAN_BEYOND_STEP = Rule(
    id="contract.span-beyond-step",
    summary="The first prefix that providers permit has no more tokens than the policy schedules "
    "in one step.",
    why="A sequence that runs one step at a time otherwise never stands at a boundary.",
    fix="Lower the providers' alignment or minimum, or raise `maximum_scheduled_tokens`.",
    source="docs/format.md, «Provider contracts»; seed 004, `intersect_boundaries`",
    severity="note",
    example=checked({"/policy/admission/maximum_scheduled_tokens": 2}),
)


def _limits(program: ModelProgram | None, policy: RuntimePolicy | None) -> list[_Limit]:
    limits = []
    held = [
        (state.capacity_demand.maximum_tokens, state.id)
        for state in (() if program is None else program.states)
        if isinstance(state.capacity_demand, TokenScaled)
        and isinstance(state.checkpoint, StateSemantics)
    ]
    if held:
        tokens, state_id = min(held)
        party = Party("state", maximum_tokens=tokens, state=state_id)
        limits.append(_Limit(tokens, party, SPAN_UNREACHABLE))
    if policy is not None:
        tokens = policy.admission.maximum_scheduled_tokens
        party = Party("step", maximum_tokens=tokens)
        limits.append(_Limit(tokens, party, SPAN_BEYOND_STEP))
    return limits


def _candidates(
    catalog: CapabilityCatalog,
    program: ModelProgram | None,
    usable: Sequence[StorageProfile],
    place: str,
) -> Iterator[_Candidate]:
    """The providers with a checkpoint contract that the program, or any, may run on."""
    if program is None:
        wanted = dict.fromkeys(catalog.providers, "")
    else:
        wanted = {name: use.nodes[0].id for name, use in operation_uses(program).items()}
    for operation_id, node_id in wanted.items():
        found = [
            (position, provider, provider.capability)
            for position, provider in selectable(catalog, operation_id, usable)
            if isinstance(provider.capability, ProviderContract)
        ]
        for position, provider, contract in found:
            at = pointer(place, "providers", operation_id, position)
            yield _Candidate(
                LayoutProvider(
                    node_id=node_id,
                    provider_id=provider.provider_id,
                    operation_fingerprint=provider.operation_fingerprint,
                    implementation_fingerprint=provider.provider_implementation_fingerprint,
                    contract=contract,
                ),
                operation_id,
                at,
                pointer(at, provider.checkpoint_key, contract.tag),
                forced=program is not None and len(found) == 1,
            )
