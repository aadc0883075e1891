"""A plan's sequence checkpoints under BASE and under HEAD: lost, less, more or the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.contracts.checkpoint_changes import BEST
from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.examples import ATTENTION, CONTRACT, PREFIX, with_plan
from ferrum_verify.contracts.names import code, codes
from ferrum_verify.contracts.spans import (
    boundary_counterexample,
    boundary_words,
    smallest_lost_boundary,
    span_words,
)
from ferrum_verify.derive.checkpoint import derive_checkpoint
from ferrum_verify.derive.reachability import reach
from ferrum_verify.documents.checkpoint import layout_name
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.findings import Rule
from ferrum_verify.rules.checkpoint_causes import clause, grouped, independent_causes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.contracts.compatible import Aspect
    from ferrum_verify.contracts.spans import LostBoundary
    from ferrum_verify.derive.checkpoint_layout import SequenceCheckpointLayout, Unsupported
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_SOURCE = "docs/format.md, «Provider contracts»"
_DERIVE = f"{_SOURCE}; seed 004, `derive_sequence_checkpoint`"
_SPANS = f"{_SOURCE}; seed 004, `intersect_boundaries`"


_Written = dict[str, Any]
"""What was expected and what was found, as findings take it."""


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
        program,
        plan.plan_nodes,
        plan.memory.dynamic_descriptors,
        catalog.providers,
        plan.schema,
    )
    if derivation.refusals:
        return None
    checkpoint = derivation.checkpoint
    return Support(checkpoint.layout, checkpoint.unsupported)


CHECKPOINT_LOST = Rule(
    id="contract.plan-checkpoint-lost",
    summary="A plan that has sequence checkpoints under BASE has them under HEAD.",
    why="Without them every prefix that was restored is computed again, for each request.",
    fix="Undo the change of the provider that the message names, or select another provider.",
    source=_DERIVE,
    example=with_plan(
        {f"/catalog{ATTENTION}/checkpoint_capability": "unsupported"},
        "contract.checkpoint-removed",
    ),
)


def checkpoint_changes(
    before: Support, after: Support, program: ModelProgram, head: Subject
) -> Iterator[Finding]:
    """Findings of what becomes of a plan's checkpoints; at least one."""
    place = head.places.nodes
    written: _Written = {"expected": before.to_wire(), "actual": after.to_wire()}
    kind: Rule | Aspect = "plan-checkpoint-kept"
    if before.layout is not None and after.layout is not None:
        findings = list(_boundary_changes(before, after, place, written))
        findings += _promise_changes(before.layout, after.layout, place, written)
        if findings:
            yield from findings
            return
        said = (
            f"The plan keeps its sequence checkpoints, where a boundary has {_boundaries(after)}."
        )
    elif after.layout is not None:
        kind = "plan-checkpoint-gained"
        said = f"The plan gains sequence checkpoints, where a boundary has {_boundaries(after)}."
    elif before.layout is not None:
        kind = CHECKPOINT_LOST
        said = (
            f"The plan loses its sequence checkpoints, where a boundary had {_boundaries(before)}: "
            f"{_reasons(after, program, head)}."
        )
    else:
        said = "The plan has no sequence checkpoint, neither under BASE nor under HEAD."
    yield change(kind, said, place, **written)


BOUNDARY_LOST = Rule(
    id="contract.plan-boundary-lost",
    summary="A plan's prompt can be cut under HEAD at each boundary at which it can under BASE.",
    why="Prefixes that were captured at a lost boundary are computed again.",
    fix="Widen the constraints of the providers that the message names.",
    source=_SPANS,
    example=with_plan({f"/catalog{PREFIX}/alignment": 8}, "contract.prefix-narrowed"),
)
BOUNDARY_UNREACHABLE = Rule(
    id="contract.plan-boundary-unreachable",
    summary="The first legal boundary that lies within what the plan's states hold under BASE does "
    "so under HEAD.",
    why="Beyond it the plan still claims to support checkpoints and can never take one.",
    fix="Lower the alignment or the minimum of the providers that the message names.",
    source=_SPANS,
    example=with_plan({f"/catalog{PREFIX}/alignment": 512}, "contract.prefix-narrowed"),
)


def _boundary_changes(
    before: Support, after: Support, place: str, written: _Written
) -> Iterator[Finding]:
    assert before.layout is not None
    assert after.layout is not None
    base, head = before.layout.boundaries, after.layout.boundaries
    held = before.held_tokens
    words = _changed_boundary(before, after)
    lost = smallest_lost_boundary(base, head, held)
    if lost is not None:
        unreachable = head.prefix.smallest > after.held_tokens
        rule = BOUNDARY_UNREACHABLE if unreachable else BOUNDARY_LOST
        yield rule.finding(
            f"The plan's prompt of {lost.prompt:,} tokens can no longer be cut at "
            f"{lost.boundary:,}, because of {_refusing(after.layout, lost)}: {words}.",
            place,
            counterexample=boundary_counterexample(base, head, lost),
            **written,
        )
    gained = smallest_lost_boundary(head, base, held)
    if gained is not None:
        yield change(
            "plan-boundary-gained",
            f"The plan's prompt of {gained.prompt:,} tokens can now be cut at "
            f"{gained.boundary:,}: {words}.",
            place,
            **written,
        )


CHECKPOINT_WEAKENED = Rule(
    id="contract.plan-checkpoint-weakened",
    summary="A plan's checkpoints promise under HEAD what they promise under BASE.",
    why="Prefixes may still be captured at the same boundaries, but where less is promised less "
    "may be done with them, or the captured bytes mean something else.",
    fix="Undo the change of the provider that the message names.",
    source=_DERIVE,
    example=with_plan(
        {f"/catalog{CONTRACT}/completed_input_capture": "unsupported"},
        "contract.input-capture-lost",
    ),
)


def _promise_changes(
    base: SequenceCheckpointLayout,
    head: SequenceCheckpointLayout,
    place: str,
    written: _Written,
) -> Iterator[Finding]:
    promises: dict[tuple[str, str, str, str], None] = {}
    for field, noun in (
        ("input_dependency", "the input dependency is"),
        ("completed_input_capture", "the capture of completed inputs is"),
    ):
        promises[field, noun, getattr(base, field), getattr(head, field)] = None
    for before, after in zip(base.providers, head.providers, strict=True):
        numerics = (before.contract.partition_numerics, after.contract.partition_numerics)
        noun = f"the numerics of {code(after.provider_id)} are"
        promises["partition_numerics", noun, *numerics] = None
    better: list[str] = []
    worse: list[str] = []
    for field, noun, was, now in promises:
        if was != now:
            said = f"{noun} {code(now)} instead of {code(was)}"
            (better if now == BEST[field] else worse).append(said)
    worse += [
        f"state {code(after.state_id)} is laid out as {code(layout_name(after.layout))} instead of "
        f"{code(layout_name(before.layout))}"
        for before, after in zip(base.states, head.states, strict=True)
        if before.layout != after.layout
    ]
    kinds: tuple[tuple[Rule | Aspect, list[str]], ...] = (
        (CHECKPOINT_WEAKENED, worse),
        ("plan-checkpoint-strengthened", better),
    )
    for kind, clauses in kinds:
        if clauses:
            yield change(
                kind, f"In the plan's checkpoints, {'; '.join(clauses)}.", place, **written
            )


def _boundaries(of: Support) -> str:
    assert of.layout is not None
    return f"{boundary_words(of.layout.boundaries)}, so the smallest is at {_smallest(of)}"


def _smallest(of: Support) -> str:
    """The smallest boundary, and that nothing reaches it where that is so."""
    assert of.layout is not None
    smallest = of.layout.boundaries.prefix.smallest
    if smallest <= of.held_tokens:
        return f"{smallest:,}"
    state = reach(of.layout).state
    assert state is not None
    return (
        f"{smallest:,}, beyond the {of.held_tokens:,} tokens that state {code(state.state_id)} "
        "holds"
    )


def _changed_boundary(before: Support, after: Support) -> str:
    """What a boundary has before or after it that it had not."""
    assert before.layout is not None
    assert after.layout is not None
    base, head = before.layout.boundaries, after.layout.boundaries
    changed = [
        f"{span_words(now)} {where} it instead of {span_words(was)}"
        for was, now, where in (
            (base.prefix, head.prefix, "before"),
            (base.suffix, head.suffix, "after"),
        )
        if was != now
    ]
    words = f"a boundary has {' and '.join(changed)}"
    was, now = _smallest(before), _smallest(after)
    return words if was == now else f"{words}, and the smallest is at {now}; it was at {was}"


def _refusing(layout: SequenceCheckpointLayout, lost: LostBoundary) -> str:
    prefix, suffix = lost.boundary, lost.prompt - lost.boundary
    return codes(
        provider.provider_id
        for provider in layout.providers
        if not provider.contract.boundaries.prefix.permits(prefix)
        or not provider.contract.boundaries.suffix.permits(suffix)
    )


def _reasons(after: Support, program: ModelProgram, head: Subject) -> str:
    assert head.plan_nodes is not None
    causes = independent_causes(after.reasons, program, head.plan_nodes) or list(after.reasons)
    return "; ".join(clause(group) for group in grouped(causes))
