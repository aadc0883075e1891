"""A plan's sequence checkpoints under BASE and under HEAD: lost, less, more or the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.contracts import plan_rules
from ferrum_verify.contracts.spans import (
    boundary_counterexample,
    boundary_words,
    smallest_lost_boundary,
)
from ferrum_verify.derive.checkpoint import derive_checkpoint
from ferrum_verify.derive.reachability import reach
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.rules.checkpoint_causes import clause, grouped, independent_causes, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.contracts.spans import LostBoundary
    from ferrum_verify.derive.checkpoint_layout import SequenceCheckpointLayout, Unsupported
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.subject import Subject

_BEST = {
    "input_dependency": "exact_token_prefix",
    "completed_input_capture": "supported",
    "partition_numerics": "bitwise_equivalent",
}


@dataclass(frozen=True, slots=True)
class Support:
    """A plan's checkpoints under one catalog.

    Neither a layout nor reasons: the plan cannot be built there at all.
    """

    layout: SequenceCheckpointLayout | None
    reasons: tuple[Unsupported, ...]

    @property
    def held_tokens(self) -> int:
        """The most tokens that the states of the layout hold; u64 where none grows."""
        assert self.layout is not None
        held = reach(self.layout).held_tokens
        return U64_MAX if held is None else held

    def to_wire(self) -> dict[str, Any]:
        """The facts that are compared, as JSON."""
        if self.layout is None:
            return {"supported": False, "reasons": [reason.to_wire() for reason in self.reasons]}
        smallest = self.layout.boundaries.prefix.smallest
        facts: dict[str, Any] = {
            "supported": True,
            "boundaries": self.layout.boundaries.to_wire(),
            "input_dependency": self.layout.input_dependency,
            "completed_input_capture": self.layout.completed_input_capture,
            "smallest_boundary": smallest,
            "reachable": smallest <= self.held_tokens,
        }
        return facts


def support(plan: Subject, program: ModelProgram, catalog: CapabilityCatalog) -> Support | None:
    """The plan's checkpoints under a catalog; None where the plan cannot be built on it."""
    assert plan.plan_nodes is not None
    assert plan.memory is not None
    derivation = derive_checkpoint(
        program, plan.plan_nodes, plan.memory.dynamic_descriptors, catalog.providers
    )
    if derivation.refusals:
        return None
    checkpoint = derivation.checkpoint
    return Support(checkpoint.layout, checkpoint.unsupported)


def checkpoint_changes(
    before: Support, after: Support, program: ModelProgram, head: Subject
) -> Iterator[Finding]:
    """Findings of what becomes of a plan's checkpoints; at least one."""
    place = head.places.nodes
    written: dict[str, Any] = {"expected": before.to_wire(), "actual": after.to_wire()}
    if after.layout is None:
        if before.layout is None:
            yield plan_rules.CHECKPOINT_KEPT.finding(
                "The plan has no sequence checkpoint, neither under BASE nor under HEAD.",
                place,
                **written,
            )
            return
        yield plan_rules.CHECKPOINT_LOST.finding(
            f"The plan loses its sequence checkpoints, where a boundary had {_boundaries(before)}: "
            f"{_reasons(after, program, head)}.",
            place,
            **written,
        )
        return
    if before.layout is None:
        yield plan_rules.CHECKPOINT_GAINED.finding(
            f"The plan gains sequence checkpoints, where a boundary has {_boundaries(after)}.",
            place,
            **written,
        )
        return
    findings = list(_boundary_changes(before, after, place, written))
    findings += _promise_changes(before.layout, after.layout, place, written)
    if not findings:
        findings.append(
            plan_rules.CHECKPOINT_KEPT.finding(
                "The plan keeps its sequence checkpoints, where a boundary has "
                f"{_boundaries(after)}.",
                place,
                **written,
            )
        )
    yield from findings


def _boundary_changes(
    before: Support, after: Support, place: str, written: dict[str, Any]
) -> Iterator[Finding]:
    assert before.layout is not None
    assert after.layout is not None
    base, head = before.layout.boundaries, after.layout.boundaries
    held = before.held_tokens
    change = f"a boundary had {_boundaries(before)}, and has {_boundaries(after)}"
    lost = smallest_lost_boundary(base, head, held)
    if lost is not None:
        unreachable = head.prefix.smallest > after.held_tokens
        rule = plan_rules.BOUNDARY_UNREACHABLE if unreachable else plan_rules.BOUNDARY_LOST
        yield rule.finding(
            f"The plan's prompt of {lost.prompt:,} tokens can no longer be cut at "
            f"{lost.boundary:,}, because of {_refusing(after.layout, lost)}: {change}.",
            place,
            counterexample=boundary_counterexample(base, head, lost),
            **written,
        )
    gained = smallest_lost_boundary(head, base, held)
    if gained is not None:
        yield plan_rules.BOUNDARY_GAINED.finding(
            f"The plan's prompt of {gained.prompt:,} tokens can now be cut at "
            f"{gained.boundary:,}: {change}.",
            place,
            **written,
        )


def _promise_changes(
    base: SequenceCheckpointLayout,
    head: SequenceCheckpointLayout,
    place: str,
    written: dict[str, Any],
) -> Iterator[Finding]:
    worse: list[str] = []
    better: list[str] = []
    for field, noun in (
        ("input_dependency", "the input dependency"),
        ("completed_input_capture", "the capture of completed inputs"),
    ):
        was, now = getattr(base, field), getattr(head, field)
        if was != now:
            (better if now == _BEST[field] else worse).append(f"{noun} is {now} instead of {was}")
    numerics: dict[tuple[str, str, str], None] = {}
    for before, after in zip(base.providers, head.providers, strict=True):
        was, now = before.contract.partition_numerics, after.contract.partition_numerics
        if was != now:
            numerics.setdefault((after.provider_id, now, was))
    for provider, now, was in numerics:
        (better if now == _BEST["partition_numerics"] else worse).append(
            f"the numerics of {provider} are {now} instead of {was}"
        )
    worse += [
        f"state {after.state_id} is laid out as {after.layout} instead of {before.layout}"
        for before, after in zip(base.states, head.states, strict=True)
        if before.layout != after.layout
    ]
    for rule, said in (
        (plan_rules.CHECKPOINT_WEAKENED, worse),
        (plan_rules.CHECKPOINT_STRENGTHENED, better),
    ):
        if said:
            yield rule.finding(f"In the plan's checkpoints, {'; '.join(said)}.", place, **written)


def _boundaries(of: Support) -> str:
    assert of.layout is not None
    smallest = of.layout.boundaries.prefix.smallest
    text = f"{boundary_words(of.layout.boundaries)}, so the smallest is at {smallest:,}"
    if smallest <= of.held_tokens:
        return text
    state = reach(of.layout).state
    assert state is not None
    return f"{text}, beyond the {of.held_tokens:,} tokens that state {state.state_id} holds"


def _refusing(layout: SequenceCheckpointLayout, lost: LostBoundary) -> str:
    prefix, suffix = lost.boundary, lost.prompt - lost.boundary
    names = dict.fromkeys(
        provider.provider_id
        for provider in layout.providers
        if not provider.contract.boundaries.prefix.permits(prefix)
        or not provider.contract.boundaries.suffix.permits(suffix)
    )
    return listed(list(names))


def _reasons(after: Support, program: ModelProgram, head: Subject) -> str:
    assert head.plan_nodes is not None
    causes = independent_causes(after.reasons, program, head.plan_nodes) or list(after.reasons)
    return "; ".join(clause(group) for group in grouped(causes))
