"""Re-judging one plan: what HEAD refuses of it that BASE accepts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.contracts import plan_rules
from ferrum_verify.contracts.catalog_changes import providers_by_id
from ferrum_verify.contracts.plan_checkpoint import checkpoint_changes, support
from ferrum_verify.contracts.plan_memory import memory_changes
from ferrum_verify.contracts.provider_changes import ProviderPair
from ferrum_verify.contracts.rebuilt import named_builds, rebuilt_on
from ferrum_verify.contracts.selectability import new_plan_obstacles
from ferrum_verify.findings import pointer
from ferrum_verify.plan.resource_rows import ResourceRows
from ferrum_verify.rules import catalog_provenance
from ferrum_verify.rules.checkpoint_causes import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.contracts.plan_checkpoint import Support
    from ferrum_verify.contracts.sources import PlanSource
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.subject import Subject


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
    findings = list(_refused_by_head(plan, before, after, base, head))
    findings += _provider_findings(plan, base, head)
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


def plan_under_head(plan: PlanSource, head: CapabilityCatalog) -> list[Finding]:
    """Findings of a plan that was compiled under HEAD, and of which BASE had none."""
    after = rebuilt_on(plan, head)
    findings = [
        plan_rules.PLAN_OF_HEAD.finding(
            "The plan was compiled under HEAD, and no plan of BASE with its program and policy was "
            "given to compare it with.",
            plan.subject.places.plan,
        )
    ]
    rows = ResourceRows(plan.memory, plan.subject.places.memory)
    findings += catalog_provenance.check(after, head, rows)
    return findings


def _refused_by_head(
    plan: PlanSource,
    before: Subject,
    after: Subject,
    base: CapabilityCatalog,
    head: CapabilityCatalog,
) -> Iterator[Finding]:
    """What the catalog's rules say under HEAD and not under BASE, once for each provider."""
    rows = ResourceRows(plan.memory, plan.subject.places.memory)
    known = {(each.rule, each.location) for each in catalog_provenance.check(before, base, rows)}
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in catalog_provenance.check(after, head, rows):
        if (finding.rule, finding.location) in known:
            continue
        node = _node_at(plan, finding.location)
        if node is None:
            key = (finding.rule, finding.location, "")
        else:
            key = (finding.rule, node.operation_id, node.selection.selected_provider)
        groups.setdefault(key, []).append(finding)
    for alike in groups.values():
        first = alike[0]
        nodes = dict.fromkeys(
            node.id for each in alike[1:] if (node := _node_at(plan, each.location)) is not None
        )
        own = _node_at(plan, first.location)
        if own is not None:
            nodes.pop(own.id, None)
        others = f" So it is with {listed(list(nodes))}." if nodes else ""
        yield replace(first, message=f"Under HEAD: {first.message}{others}")


def _node_at(plan: PlanSource, location: str) -> PlanNode | None:
    prefix = f"{plan.subject.places.nodes}/"
    if not location.startswith(prefix):
        return None
    return plan.nodes[int(location.removeprefix(prefix).partition("/")[0])]


def _provider_findings(
    plan: PlanSource, base: CapabilityCatalog, head: CapabilityCatalog
) -> Iterator[Finding]:
    """Of each selected provider: what keeps it from being selected, and formats it lost."""
    selected: dict[tuple[str, str], list[int]] = {}
    for index, node in enumerate(plan.nodes):
        key = (node.operation_id, node.selection.selected_provider)
        selected.setdefault(key, []).append(index)
    for (operation_id, provider_id), indices in selected.items():
        before = providers_by_id(base, operation_id).get(provider_id)
        after = providers_by_id(head, operation_id).get(provider_id)
        if before is None or after is None:
            continue
        pair = ProviderPair(operation_id, before.provider, after.provider, "")
        names = listed([plan.nodes[index].id for index in indices])
        place = pointer(plan.subject.places.nodes, indices[0])
        if obstacles := new_plan_obstacles(pair, base, head):
            yield plan_rules.PROVIDER_REFUSED.finding(
                f"Under HEAD, {provider_id} can no longer be selected for {names}: "
                f"{'; '.join(obstacles)}.",
                pointer(place, "selection", "selected_provider"),
            )
        if lost := list(_lost_formats(plan, pair, indices)):
            yield plan_rules.FORMAT_REFUSED.finding(
                f"Under HEAD, {provider_id} does not accept {', '.join(lost)}, which {names} read.",
                place,
            )


def _lost_formats(plan: PlanSource, pair: ProviderPair, indices: list[int]) -> Iterator[str]:
    weights = [
        binding.weight
        for index in indices
        for binding in plan.nodes[index].values
        if binding.weight is not None
    ]
    if not weights:
        return
    for used, field in (
        (dict.fromkeys(weight.format_id for weight in weights), "accepted_weight_formats"),
        (dict.fromkeys(plan.header.quantization_formats), "accepted_quantization_formats"),
    ):
        was, now = getattr(pair.base, field), getattr(pair.head, field)
        yield from (name for name in used if name in was and name not in now)


def _capacity(
    plan: PlanSource, base: CapabilityCatalog, head: CapabilityCatalog
) -> Iterator[Finding]:
    granted = plan.memory.policy_capacity_bytes
    was, now = base.device.total_memory_bytes, head.device.total_memory_bytes
    if now < granted <= was:
        yield plan_rules.MEMORY_EXCEEDED.finding(
            f"The plan's policy grants {granted:,} bytes, and the device of HEAD has {now:,} "
            f"instead of {was:,}.",
            pointer(plan.subject.places.memory, "policy_capacity_bytes"),
            expected=was,
            actual=now,
        )


def _checkpoints_without_program(
    plan: PlanSource, base: CapabilityCatalog, head: CapabilityCatalog
) -> Iterator[Finding]:
    place = plan.subject.places.nodes
    changed = dict.fromkeys(
        node.selection.selected_provider
        for node in plan.nodes
        if _declarations(node, base) != _declarations(node, head)
    )
    if changed:
        yield plan_rules.CHECKPOINT_UNDECIDED.finding(
            f"HEAD changes what {listed(list(changed))} declare of checkpoints, and without "
            "its program nobody can say what the plan makes of it.",
            place,
        )
    else:
        yield plan_rules.CHECKPOINT_KEPT.finding(
            "All selected providers declare the same of checkpoints under HEAD.", place
        )


def _declarations(node: PlanNode, catalog: CapabilityCatalog) -> object:
    found = providers_by_id(catalog, node.operation_id).get(node.selection.selected_provider)
    if found is None:
        return None
    return found.provider.checkpoint_capability, found.provider.dynamic_storage_bindings


def _rebuild(plan: PlanSource, after: Subject) -> Iterator[Finding]:
    renamed = [
        node.id
        for node, now in zip(plan.nodes, after.plan_nodes or (), strict=True)
        if named_builds(node) != named_builds(now)
    ]
    if renamed:
        yield plan_rules.REBUILD.finding(
            f"The plan must be rebuilt: HEAD has other builds of what {listed(renamed)} "
            f"run{'s' if len(renamed) == 1 else ''} on.",
            plan.subject.places.nodes,
        )
