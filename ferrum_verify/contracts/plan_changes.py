"""Judging one plan again: what HEAD makes of it, rebuilt."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.examples import NEW_POLICY, PREFIX, ZERO, with_plan
from ferrum_verify.contracts.names import codes
from ferrum_verify.contracts.plan_checkpoint import checkpoint_changes, support
from ferrum_verify.contracts.plan_memory import MEMORY_EXCEEDED, memory_changes
from ferrum_verify.contracts.plan_providers import (
    catalog_findings,
    provider_findings,
    refused_by_head,
)
from ferrum_verify.contracts.providers import providers_by_id
from ferrum_verify.contracts.rebuilt import named_builds, rebuilt_on
from ferrum_verify.findings import DELETE, Rule, pointer
from ferrum_verify.plan.resource_rows import ResourceRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.contracts.plan_checkpoint import Support
    from ferrum_verify.contracts.sources import PlanSource
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_SOURCE = "docs/format.md, «Provider contracts»"
_BUILD = "/catalog/providers/operation.embed/0/provider_implementation_fingerprint"


class PlanChanges(NamedTuple):
    """What HEAD makes of a plan, and its checkpoints before and after where both are known."""

    findings: list[Finding]
    before: Support | None
    after: Support | None


def plan_changes(
    plan: PlanSource,
    rebuilt: PlanSource | None,
    base: CapabilityCatalog,
    head: CapabilityCatalog,
) -> PlanChanges:
    """What changes of one plan that was compiled under BASE, rebuilt on HEAD.

    ``rebuilt`` is the same plan as HEAD really compiled it, where it is at hand.
    """
    before, after = rebuilt_on(plan, base), rebuilt_on(plan, head)
    assert before.plan_nodes is not None
    assert after.plan_nodes is not None
    findings = list(refused_by_head(plan, before, after))
    findings += provider_findings(plan, base, head)
    findings += _capacity(plan, base, head)
    under_base = under_head = None
    if plan.program is None:
        findings += _checkpoints_without_program(plan, base, head)
    else:
        under_base = support(before, plan.program, base)
        under_head = support(after, plan.program, head)
        # A plan that cannot be built any more has its finding, and no checkpoints to speak of.
        if under_base is not None and under_head is not None:
            findings += checkpoint_changes(under_base, under_head, plan.program, after)
    findings += memory_changes(plan, rebuilt, before.plan_nodes, after.plan_nodes)
    findings += _rebuild(plan, after)
    return PlanChanges(findings, under_base, under_head)


PLAN_OF_HEAD = Rule(
    id="contract.plan-of-head",
    summary="For a plan that was compiled under HEAD its counterpart of BASE is given.",
    why="Without a plan from before nothing can be compared.",
    fix="Give the plan that was compiled under BASE as well.",
    source=_SOURCE,
    severity="note",
    example=with_plan({_BUILD: ZERO, **NEW_POLICY}),
)


def plan_under_head(plan: PlanSource, head: CapabilityCatalog) -> list[Finding]:
    """Findings of a plan that was compiled under HEAD, and of which BASE had none."""
    after = rebuilt_on(plan, head)
    findings = [
        PLAN_OF_HEAD.finding(
            "The plan was compiled under HEAD, and no plan of BASE with its program and policy was "
            "given to compare it with.",
            plan.subject.places.plan,
        )
    ]
    rows = ResourceRows(plan.memory, plan.subject.places.memory)
    findings += catalog_findings(after, head, rows)
    return findings


def _capacity(
    plan: PlanSource, base: CapabilityCatalog, head: CapabilityCatalog
) -> Iterator[Finding]:
    granted = plan.memory.policy_capacity_bytes
    was, now = base.device.total_memory_bytes, head.device.total_memory_bytes
    if now < granted <= was:
        yield MEMORY_EXCEEDED.finding(
            f"The plan's policy grants {granted:,} bytes, and the device of HEAD has {now:,} "
            f"instead of {was:,}.",
            pointer(plan.subject.places.memory, "policy_capacity_bytes"),
            expected=was,
            actual=now,
        )


CHECKPOINT_UNDECIDED = Rule(
    id="contract.plan-checkpoint-undecided",
    summary="A plan whose providers change what they declare of checkpoints comes with its "
    "program.",
    why="The program says what the states are; a plan alone does not.",
    fix="Give the plan in a bundle with its program.",
    source=f"{_SOURCE}; seed 004, `derive_sequence_checkpoint`",
    severity="warning",
    undecided=True,
    example=with_plan({"/program": DELETE, f"/catalog{PREFIX}/alignment": 8}, reverse=True),
)


def _checkpoints_without_program(
    plan: PlanSource, base: CapabilityCatalog, head: CapabilityCatalog
) -> Iterator[Finding]:
    place = plan.subject.places.nodes
    changed = [
        node.selection.selected_provider
        for node in plan.nodes
        if _declarations(node, base) != _declarations(node, head)
    ]
    if changed:
        yield CHECKPOINT_UNDECIDED.finding(
            f"HEAD changes what {codes(changed)} declare of checkpoints, and without "
            "its program nobody can say what the plan makes of it.",
            place,
        )
    else:
        yield change(
            "plan-checkpoint-kept",
            "All selected providers declare the same of checkpoints under HEAD.",
            place,
        )


def _declarations(node: PlanNode, catalog: CapabilityCatalog) -> object:
    found = providers_by_id(catalog, node.operation_id).get(node.selection.selected_provider)
    if found is None:
        return None
    return found.provider.capability, found.provider.dynamic_storage_bindings


REBUILD = Rule(
    id="contract.plan-rebuild",
    summary="A plan names the builds of providers and operations that HEAD has.",
    why="The engine refuses a plan of other builds than its own, so the plan must be compiled "
    "again even where nothing that is declared changes.",
    fix="Compile the plan against HEAD.",
    source=_SOURCE,
    severity="note",
    example=with_plan({_BUILD: ZERO}),
)


def _rebuild(plan: PlanSource, after: Subject) -> Iterator[Finding]:
    renamed = [
        node.id
        for node, now in zip(plan.nodes, after.plan_nodes or (), strict=True)
        if named_builds(node) != named_builds(now)
    ]
    weights = after.header is not None and (
        plan.header.execution_weights != after.header.execution_weights
    )
    if not renamed and not weights:
        return
    named = [f"what {codes(renamed)} run{'s' if len(renamed) == 1 else ''} on"] if renamed else []
    named += ["who makes its weights"] if weights else []
    yield REBUILD.finding(
        f"The plan must be rebuilt: HEAD has other builds of {' and of '.join(named)}.",
        plan.subject.places.nodes if renamed else plan.subject.places.payload,
    )
