"""What HEAD refuses of a plan's providers that BASE accepts, once for each provider."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.contracts.examples import ATTENTION, OPERATION, with_plan
from ferrum_verify.contracts.names import code, codes
from ferrum_verify.contracts.providers import ProviderPair, providers_by_id
from ferrum_verify.contracts.selectability import new_plan_obstacles
from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.plan.canonical import semantics_fingerprint
from ferrum_verify.plan.resource_rows import ResourceRows
from ferrum_verify.rules import catalog_provenance, execution_weights, selection_provenance

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.contracts.sources import PlanSource
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_SOURCE = "docs/format.md, «Provider contracts»"


def refused_by_head(plan: PlanSource, before: Subject, after: Subject) -> Iterator[Finding]:
    """What the catalog's rules say of the plan rebuilt on HEAD, and not on BASE."""
    rows = ResourceRows(plan.memory, plan.subject.places.memory)
    assert before.catalog is not None
    assert after.catalog is not None
    known = {(each.rule, each.location) for each in catalog_findings(before, before.catalog, rows)}
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in catalog_findings(after, after.catalog, rows):
        if (finding.rule, finding.location) in known:
            continue
        if finding.rule == selection_provenance.WEIGHT_FORMAT.id:
            continue  # the format that HEAD dropped has a finding of its own
        node = _node_at(plan, finding.location)
        if node is None:
            key = (finding.rule, finding.location, "")
        else:
            key = (finding.rule, node.operation_id, node.selection.selected_provider)
        groups.setdefault(key, []).append(finding)
    for alike in groups.values():
        nodes = [node.id for each in alike if (node := _node_at(plan, each.location)) is not None]
        others = [name for name in nodes[1:] if name != nodes[0]]
        more = f" So it is with {codes(others)}." if others else ""
        yield replace(alike[0], message=f"Under HEAD: {alike[0].message}{more}")


def catalog_findings(
    subject: Subject, catalog: CapabilityCatalog, rows: ResourceRows
) -> Iterator[Finding]:
    """What a catalog's rules say of a plan: of its nodes, and of who makes its weights."""
    yield from catalog_provenance.check(subject, catalog, rows)
    yield from execution_weights.check_materializer(subject)


def _node_at(plan: PlanSource, location: str) -> PlanNode | None:
    prefix = f"{plan.subject.places.nodes}/"
    if not location.startswith(prefix):
        return None
    return plan.nodes[int(location.removeprefix(prefix).partition("/")[0])]


PROVIDER_REFUSED = Rule(
    id="contract.plan-provider-refused",
    summary="A plan's provider that can be selected under BASE can be under HEAD.",
    why="The plan cannot be rebuilt as it is; the engine would select another provider, or none.",
    fix="Make the provider meet what the device and the operation require, or rebuild the plan "
    "on another provider.",
    source=_SOURCE,
    example=with_plan(
        {f"/catalog{OPERATION}/provider/minimum_version/minor": 1},
        "contract.no-longer-selectable",
    ),
)
FORMAT_REFUSED = Rule(
    id="contract.plan-format-refused",
    summary="A plan's provider accepts under HEAD the formats of its weights that it accepts under "
    "BASE.",
    why="The provider cannot read the weights.",
    fix="Keep the format, or convert the weights and rebuild the plan.",
    source=_SOURCE,
    example=with_plan(
        {f"/catalog{ATTENTION}/accepted_weight_formats": []}, "contract.format-dropped"
    ),
)
_SEMANTICS = "/catalog/providers/operation.mixer/0/execution_semantics"
PLAN_REPLAY_LOST = Rule(
    id="contract.plan-replay-lost",
    summary="A plan's provider whose replays give the bits of an eager run under BASE does so "
    "under HEAD, unless the plan's policy is at hand and does not require it.",
    why="Under a policy that requires it the plan cannot be rebuilt with this provider; under "
    "another one its captured programs may answer with other bits than before.",
    fix="Make captured programs give the same bits again, or rebuild the plan on another provider.",
    source="docs/format.md, «Plan schema 8.1» (execution semantics)",
    example=Example(
        "bundle-8.1",
        {
            f"{_SEMANTICS}/replay_equivalence": "bitwise_eager_equivalent",
            f"{_SEMANTICS}/contract_fingerprint": semantics_fingerprint(1, 0, replayed=True),
            "/policy": DELETE,
        },
        also=("contract.replay-lost",),
        command="contracts compare",
        reverse=True,
    ),
)


def _replay_lost(plan: PlanSource, pair: ProviderPair) -> bool:
    policy = plan.subject.policy
    if policy is not None and policy.execution_determinism == "bitwise_same_runtime":
        return False
    was, now = (
        semantics is not None and semantics.replay_equivalence == "bitwise_eager_equivalent"
        for semantics in (pair.base.execution_semantics, pair.head.execution_semantics)
    )
    return was and not now


def provider_findings(
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
        nodes = [plan.nodes[index] for index in indices]
        names = codes(node.id for node in nodes)
        place = pointer(plan.subject.places.nodes, indices[0])
        if obstacles := new_plan_obstacles(pair, base, head):
            yield PROVIDER_REFUSED.finding(
                f"Under HEAD, {code(provider_id)} can no longer be selected for {names}: "
                f"{'; '.join(obstacles)}.",
                pointer(place, "selection", "selected_provider"),
            )
        if _replay_lost(plan, pair):
            yield PLAN_REPLAY_LOST.finding(
                f"Under HEAD, the replays of {code(provider_id)}, which {names} run"
                f"{'s' if len(nodes) == 1 else ''} on, no longer give the bits of an eager run.",
                place,
            )
        if lost := list(_lost_formats(nodes, plan.header.quantization_formats, pair)):
            reads = "reads" if len(nodes) == 1 else "read"
            yield FORMAT_REFUSED.finding(
                f"Under HEAD, {code(provider_id)} does not accept {', '.join(map(code, lost))}, "
                f"which {names} {reads}.",
                place,
            )


def _lost_formats(
    nodes: Sequence[PlanNode], quantization: Sequence[str], pair: ProviderPair
) -> Iterator[str]:
    weights = [each.weight for node in nodes for each in node.values if each.weight is not None]
    if not weights:
        return
    for used, field in (
        ([weight.format_id for weight in weights], "accepted_weight_formats"),
        (quantization, "accepted_quantization_formats"),
    ):
        was, now = getattr(pair.base, field), getattr(pair.head, field)
        yield from (name for name in dict.fromkeys(used) if name in was and name not in now)
