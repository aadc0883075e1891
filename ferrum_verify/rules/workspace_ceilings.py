"""Contract rules of workspace sizes: a row is its estimate's formula, bound to the ceilings.

A formula is bound to ``maximum_active_sequences`` and ``maximum_scheduled_tokens``. Where all
workspaces agree on another ceiling, that one number is wrong, not every row.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.demand import bind
from ferrum_verify.documents.memory_plan import DynamicDescriptor, StaticAllocation
from ferrum_verify.documents.terms import Staircase
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.sizes import describe
from ferrum_verify.rules.descriptor import instances_needed
from ferrum_verify.rules.estimates import formula_faults
from ferrum_verify.rules.workspace_shapes import judged_by_shapes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.demand import Demand, SizeFormula
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.terms import Step
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.rules.workspace_shapes import Ceilings, Workspace

_FORMAT = "docs/format.md, «Workspace estimates»"


_ESTIMATE = "/plan/payload/nodes/2/provider_resources"
SIZE = Rule(
    id="contract.workspace-size",
    # A row that is smaller at some shape is a matter of safety.
    summary="A workspace row has the size of its provider's estimate, bound to the plan's "
    "ceilings.",
    why="A kernel writes as much as its estimate says; in a smaller workspace it writes into the "
    "next resource.",
    fix="Bind the estimate's formula to `maximum_active_sequences` and "
    "`maximum_scheduled_tokens`, and plan the memory again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_ESTIMATE}/scratch/size_formula/affine/fixed_bytes": 8192}),
)


def check_size(workspace: Workspace, ceilings: Ceilings) -> Iterator[Finding]:
    """Findings of one row's size, whatever ceilings it was bound to."""
    row, formula = workspace.row, workspace.estimate.size_formula
    if isinstance(row, StaticAllocation):
        yield from _check_static(workspace, row, ceilings)
        return
    if workspace.estimate.scope == "plan":
        return  # a descriptor lives for less, which is said as such
    if any(formula_faults(workspace.estimate)):
        return  # of a formula that is none
    own = row.demand.terms
    expected = bind(formula, own.limit("sequences") or 1, own.limit("tokens") or 1)
    if row.demand != expected:
        if isinstance(own, Staircase) and isinstance(expected.terms, Staircase):
            said = _bucket_words(own.steps, expected.terms.steps)
        else:
            said = (
                f"has the demand {_words(row.demand)}, but its estimate asks for {_words(formula)}"
            )
        finding = SIZE.finding(
            f"The {workspace.name} {said}.",
            workspace.at("demand"),
            expected=expected.to_wire(),
            actual=row.demand.to_wire(),
            fix=_TAKE_OVER if expected.to_wire() == formula.to_wire() else None,
        )
        yield judged_by_shapes(finding, workspace, ceilings)


_TAKE_OVER = "Plan the memory again, with the estimate's formula as it stands as the row's demand."


def _bucket_words(have: Sequence[Step], want: Sequence[Step]) -> str:
    """The first bucket that two staircases differ in, and how many more there are."""
    pairs = enumerate(itertools.zip_longest(have, want))
    differing = [(index, *pair) for index, pair in pairs if pair[0] != pair[1]]
    index, own, asked = differing[0]
    more = f"; {plural(len(differing) - 1, 'more bucket')} differ" if len(differing) > 1 else ""
    if own is None or asked is None:
        numbers = f"{plural(len(have), 'bucket')}, but its estimate asks for {len(want):,}"
        return f"has {numbers}"
    there = "there" if own[:3] == asked[:3] else _up_to(asked)
    return (
        f"has {plural(own.bytes, 'byte')} in bucket {index} {_up_to(own)}, but its estimate asks "
        f"for {plural(asked.bytes, 'byte')} {there}{more}"
    )


def _up_to(step: Step) -> str:
    return f"(up to {describe(Shape(step.sequences, step.tokens, step.pages))})"


def _check_static(
    workspace: Workspace, row: StaticAllocation, ceilings: Ceilings
) -> Iterator[Finding]:
    formula = workspace.estimate.size_formula.terms
    where = workspace.at("per_instance_bytes")
    if workspace.estimate.scope != "plan":
        return  # a static row lives for longer, which is said as such
    if isinstance(formula, Staircase) or formula.parts:
        return  # no plan has a size that depends on the shape, which is said as such
    if formula.fixed != row.per_instance_bytes:
        finding = SIZE.finding(
            f"The {workspace.name} has {row.per_instance_bytes:,} bytes, but its estimate asks "
            f"for {formula.fixed:,}.",
            where,
            expected=formula.fixed,
            actual=row.per_instance_bytes,
        )
        yield judged_by_shapes(finding, workspace, ceilings)


def check_ceilings(
    workspaces: Sequence[Workspace], ceilings: Ceilings, subject: Subject, memory: MemoryPlan
) -> Iterator[Finding]:
    """Findings of the ceilings that the rows of ``workspaces`` are bound to."""
    dynamic = [(each, each.row) for each in workspaces if isinstance(each.row, DynamicDescriptor)]
    yield from _check_instances(dynamic, ceilings, subject, memory)
    if ceilings.tokens:
        yield from _check_tokens(dynamic, ceilings, subject)


INSTANCES = Rule(
    id="contract.workspace-instances",
    summary="A workspace descriptor has `maximum_active_sequences` instances.",
    why="With fewer, a full batch finds no workspace; with more, the pool's ceiling holds memory "
    "that no batch can use.",
    fix="Plan the memory with the policy's `maximum_active_sequences`.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {"/plan/payload/memory/dynamic_descriptors/11/theoretical_maximum_instances": 5},
        also=("pool.ceiling",),
    ),
)


def _check_instances(
    dynamic: Sequence[tuple[Workspace, DynamicDescriptor]],
    ceilings: Ceilings,
    subject: Subject,
    memory: MemoryPlan,
) -> Iterator[Finding]:
    expected = ceilings.sequences[0]
    counts = {row.theoretical_maximum_instances for _, row in dynamic}
    if len(dynamic) > 1 and len(counts) == 1 and not counts & set(ceilings.sequences):
        count = counts.pop()
        finding = INSTANCES.finding(
            f"The plan runs at most {expected:,} sequences, but all {len(dynamic):,} of its "
            f"dynamic workspaces have {count:,} instances.",
            pointer(subject.places.memory, "maximum_active_sequences"),
            expected=count,
            actual=expected,
        )
        short = any(_is_short(row, count, subject, memory) for _, row in dynamic)
        yield replace(finding, judgment="safety") if short else finding
        return
    for workspace, row in dynamic:
        instances = row.theoretical_maximum_instances
        own = row.demand.terms
        sequences = own.limit("sequences")
        if own.only("sequences") and sequences != instances:
            continue  # no such demand is legal, and the descriptor rules say so
        if instances not in ceilings.sequences:
            finding = INSTANCES.finding(
                f"The {workspace.name} has {instances:,} instances, but the plan runs at most "
                f"{expected:,} sequences.",
                workspace.at("theoretical_maximum_instances"),
                expected=expected,
                actual=instances,
            )
            if _is_short(row, instances, subject, memory):
                finding = replace(finding, judgment="safety")
            yield judged_by_shapes(finding, workspace, ceilings)
        elif sequences is not None and sequences not in ceilings.sequences:
            finding = SIZE.finding(
                f"The {workspace.name} is sized for {sequences:,} sequences, but the plan runs at "
                f"most {expected:,}.",
                workspace.at("demand"),
                expected=expected,
                actual=sequences,
            )
            yield judged_by_shapes(finding, workspace, ceilings)


def _is_short(row: DynamicDescriptor, instances: int, subject: Subject, memory: MemoryPlan) -> bool:
    return instances < instances_needed(subject, memory, row.lifetime)


def _check_tokens(
    dynamic: Sequence[tuple[Workspace, DynamicDescriptor]], ceilings: Ceilings, subject: Subject
) -> Iterator[Finding]:
    expected = ceilings.tokens[0]
    scaled = [
        (workspace, tokens)
        for workspace, row in dynamic
        if (tokens := row.demand.terms.limit("tokens")) is not None
    ]
    counts = {tokens for _, tokens in scaled}
    if len(scaled) > 1 and len(counts) == 1 and not counts & set(ceilings.tokens):
        count = counts.pop()
        finding = SIZE.finding(
            f"The plan schedules at most {expected:,} tokens, but all {len(scaled):,} of its "
            f"token-scaled workspaces are sized for {count:,}.",
            pointer(subject.places.payload, "maximum_scheduled_tokens"),
            expected=count,
            actual=expected,
        )
        yield judged_by_shapes(finding, scaled[0][0], ceilings)
        return
    for workspace, tokens in scaled:
        if tokens not in ceilings.tokens:
            finding = SIZE.finding(
                f"The {workspace.name} is sized for {tokens:,} tokens, but the plan schedules at "
                f"most {expected:,}.",
                workspace.at("demand"),
                expected=expected,
                actual=tokens,
            )
            yield judged_by_shapes(finding, workspace, ceilings)


def _words(form: Demand | SizeFormula) -> str:
    if isinstance(form.terms, Staircase):
        steps = form.terms.steps
        largest = max((step.bytes for step in steps), default=0)
        return f"{form.tag} ({len(steps)} buckets, the largest of {largest:,} bytes)"
    wire = form.to_wire()[form.tag]
    said = ", ".join(f"{name} {value:,}" for name, value in wire.items())
    return f"{form.tag} ({said})"
