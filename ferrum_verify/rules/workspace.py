"""Contract rules of workspaces: each workspace row is what its provider asked for.

A row's usage, element type and, but for persistent ones, lifetime follow from its kind; the
static and descriptor rules hold them to that.
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING

from ferrum_verify.documents.memory_plan import StaticAllocation
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.canonical import CONTIGUOUS_LAYOUT_FINGERPRINT, OPAQUE_LAYOUT_FINGERPRINT
from ferrum_verify.plan.resource_rows import describe_profile
from ferrum_verify.rules import estimates
from ferrum_verify.rules.integrity import estimate_holds
from ferrum_verify.rules.workspace_ceilings import check_ceilings, check_size
from ferrum_verify.rules.workspace_shapes import Ceilings, Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Workspace estimates»"
_ESTIMATE = "/plan/payload/nodes/2/provider_resources"


def check(subject: Subject, rows: ResourceRows | None) -> Iterator[Finding]:
    """Findings of all rules of estimates and workspace rows."""
    nodes, memory = subject.plan_nodes, subject.memory
    if nodes is None:
        return
    ceilings = None if memory is None else Ceilings.of(subject, memory)
    workspaces: list[Workspace] = []
    misaligned: dict[str, list[PlanNode]] = {}
    for index, node in enumerate(nodes):
        at_most = (1, 1) if ceilings is None else (*ceilings.sequences[:1], *ceilings.tokens[:1])
        place = f"{subject.places.nodes}/{index}"
        findings = list(estimates.check_node(node, place, *at_most))
        own = [] if rows is None else list(_workspaces(node, rows))
        short = [] if rows is None or findings else _misaligned(node, rows)
        if ceilings is not None:
            for workspace in own:
                findings += _check_row(workspace, ceilings)
        if (findings or short) and not estimate_holds(subject, index):
            continue
        for resource in short:
            misaligned.setdefault(resource, []).append(node)
        yield from findings
        workspaces += [each for each in own if _has_its_kind(each)]
    if rows is not None:
        yield from _check_value_alignment(misaligned, rows)
    if memory is not None and ceilings is not None:
        yield from check_ceilings(workspaces, ceilings, subject, memory)


def _workspaces(node: PlanNode, rows: ResourceRows) -> Iterator[Workspace]:
    resources = (node.scratch_resource, node.binding_resource, node.persistent_resource)
    for (part, estimate), resource_id in zip(estimates.parts(node), resources, strict=True):
        if estimate is None or resource_id is None:
            continue  # that only one of the two is there is for the graph rules to say
        row = rows.get(resource_id)
        if row is not None:
            yield Workspace(part, node, estimate, resource_id, row, rows)


VALUE_ALIGNMENT = Rule(
    id="contract.value-misaligned",
    summary="A node's value lies in a resource that is aligned as its provider wants.",
    why="Kernels load vectors from aligned addresses; at a smaller alignment they fault, or read "
    "the wrong bytes.",
    fix="Align the resource to the largest `value_alignment_bytes` of the nodes that bind it.",
    source="docs/format.md, «Execution-plan rules» (`value_alignment_bytes`)",
    judgment="safety",
    example=Example(
        "bundle", {"/plan/payload/nodes/1/provider_resources/value_alignment_bytes": 128}
    ),
)


def _check_value_alignment(
    misaligned: Mapping[str, Sequence[PlanNode]], rows: ResourceRows
) -> Iterator[Finding]:
    for resource, nodes in misaligned.items():
        aligned = rows[resource].alignment_bytes
        most = max(nodes, key=lambda node: node.provider_resources.value_alignment_bytes)
        wanted = most.provider_resources.value_alignment_bytes
        others = len(nodes) - 1
        yield VALUE_ALIGNMENT.finding(
            f"The plan aligns `{resource}` to {plural(aligned, 'byte')}, but provider "
            f"`{most.provider_resources.provider_id}` wants the values of node `{most.id}` "
            f"aligned to {wanted:,}"
            + (
                f", and {plural(others, 'more node')} cannot do with so few either."
                if others
                else "."
            ),
            rows.pointer(resource, "alignment_bytes"),
            expected=lcm(wanted, aligned),
            actual=aligned,
        )


def _misaligned(node: PlanNode, rows: ResourceRows) -> list[str]:
    """The resources of a node's values that are not aligned as its provider wants."""
    wanted = node.provider_resources.value_alignment_bytes
    bound = dict.fromkeys(
        component.resource_id for binding in node.values for component in binding.storage.components
    )
    return [name for name in bound if name in rows and rows[name].alignment_bytes % wanted]


KIND = Rule(
    id="contract.workspace-kind",
    summary="A node's workspace resource is a workspace of that kind and of that node.",
    why="Another node, or another use, owns the bytes: both would write to them.",
    fix="Name the row that was planned for this node's estimate.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {"/plan/payload/memory/dynamic_descriptors/11/kind/scratch/node_id": "node.head"},
    ),
)
ALIGNMENT = Rule(
    id="contract.workspace-alignment",
    summary="A workspace row has the alignment of its provider's estimate.",
    why="Kernels load vectors from aligned addresses; at another alignment they fault, or read "
    "the wrong bytes.",
    fix="Give the row the estimate's alignment and plan the memory again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_ESTIMATE}/scratch/alignment_bytes": 128}),
)
LIFETIME = Rule(
    id="contract.workspace-lifetime",
    summary="A persistent workspace lives for the scope that its estimate asks for.",
    why="A shorter life loses what the provider keeps between invocations; a longer one mixes "
    "requests.",
    fix="Make scope plan a static allocation, and any other scope a descriptor of that lifetime.",
    source=_FORMAT,
    example=Example("workspaces", {f"{_ESTIMATE}/persistent/scope": "request"}),
)
LAYOUT = Rule(
    id="contract.workspace-layout",
    summary="A workspace descriptor has the layout of opaque bytes.",
    why="The layout decides which pool backs the row: workspace bytes in a pool of tensors are "
    "shared with resources that the engine believes to be tensors.",
    fix="Give the row the fingerprint of `opaque_bytes_v1`.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {
            "/plan/payload/memory/dynamic_descriptors/11/storage"
            "/logical_layout_fingerprint": CONTIGUOUS_LAYOUT_FINGERPRINT
        },
        also=("descriptor.foreign-pool",),
    ),
)
PROFILE = Rule(
    id="contract.workspace-profile",
    summary="A workspace row is stored in a way that its provider accepts.",
    why="A kernel that expects contiguous bytes walks past the end of the first page.",
    fix="Store the row in one of the profiles that the estimate accepts.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {
            f"{_ESTIMATE}/scratch/storage/accepted_profiles/0/allocator": {
                "fixed_block_arena": {"block_bytes": 4096}
            }
        },
    ),
)


def _check_row(workspace: Workspace, ceilings: Ceilings) -> Iterator[Finding]:
    row, estimate = workspace.row, workspace.estimate
    if not _has_its_kind(workspace):
        kind = row.kind
        what = "a value" if isinstance(kind, str) else f"the {kind.tag} of node `{kind.node_id}`"
        yield KIND.finding(
            f"Node `{workspace.node.id}` names `{workspace.resource_id}` as its {workspace.part} "
            f"resource, but that is {what}.",
            workspace.at("kind"),
            expected={workspace.part: {"node_id": workspace.node.id}},
            actual=kind if isinstance(kind, str) else kind.to_wire(),
        )
        return
    if workspace.part == "persistent" and row.lifetime != estimate.scope != "invocation":
        yield LIFETIME.finding(
            f"The {workspace.name} lives for one {row.lifetime}, but its estimate has scope "
            f"{estimate.scope}.",
            workspace.at("lifetime"),
            expected=estimate.scope,
            actual=row.lifetime,
        )
    if row.alignment_bytes != estimate.alignment_bytes:
        yield ALIGNMENT.finding(
            f"The {workspace.name} is aligned to {row.alignment_bytes:,} bytes, but its estimate "
            f"asks for {estimate.alignment_bytes:,}.",
            workspace.at("alignment_bytes"),
            expected=estimate.alignment_bytes,
            actual=row.alignment_bytes,
        )
    if not estimate.storage.accepts(row.storage.profile):
        accepted = "; ".join(map(describe_profile, estimate.storage.accepted_profiles))
        yield PROFILE.finding(
            f"The {workspace.name} is stored as {describe_profile(row.storage.profile)}, but its "
            f"estimate accepts {accepted or 'nothing'}.",
            workspace.at("storage/profile"),
            actual=row.storage.profile.to_wire(),
        )
    layout = row.storage.logical_layout_fingerprint
    if layout != OPAQUE_LAYOUT_FINGERPRINT and not isinstance(row, StaticAllocation):
        yield LAYOUT.finding(
            f"The {workspace.name} does not have the layout of opaque bytes.",
            workspace.at("storage/logical_layout_fingerprint"),
            expected=OPAQUE_LAYOUT_FINGERPRINT,
            actual=layout,
        )
    yield from check_size(workspace, ceilings)


def _has_its_kind(workspace: Workspace) -> bool:
    kind = workspace.row.kind
    return not isinstance(kind, str) and (
        (kind.tag, kind.node_id) == (workspace.part, workspace.node.id)
    )
