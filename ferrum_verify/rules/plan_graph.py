"""Graph rules of a full execution plan: what its nodes use beside what a fragment shows.

The order of nodes is judged in ``graph``; here are the resources and workspaces of a node.
Data flow, work, state effects and selection have files of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.memory_plan import StaticAllocation
from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.findings.wording import in_series, marked
from ferrum_verify.plan.canonical import CONTIGUOUS_LAYOUT_FINGERPRINT
from ferrum_verify.plan.resource_rows import ResourceRows
from ferrum_verify.rules import data_flow, selection, state_effects, work

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import Row
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Execution-plan rules»"
_NODES = "/plan/payload/nodes"

PARTS = ("scratch", "binding", "persistent")
"""The workspaces that a provider may ask for, in the order of the format."""

NO_NODES = Rule(
    id="graph.no-nodes",
    summary="An execution plan has nodes.",
    why="A plan that runs nothing computes no token, and reusable execution divides its "
    "budgets by a node count of zero.",
    fix="Compile the program again; a program without operations is no plan.",
    source=f"{_FORMAT}; seed 000, `derive_reusable_execution`",
    example=Example(
        "bundle",
        {_NODES: []},
        also=(
            "slot.unused-resource",
            "liveness.rows-not-derived",
            "reusable.no-nodes",
            "binding.owner",
        ),
    ),
)
NO_SCHEDULED_TOKENS = Rule(
    id="capacity.no-scheduled-tokens",
    summary="`maximum_scheduled_tokens` is at least 1.",
    why="It is the ceiling of every token-shaped workspace and the largest batch that admission "
    "schedules: at 0 no request ever runs.",
    fix="Take the ceiling from the runtime policy's `admission.maximum_scheduled_tokens`.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {"/plan/payload/maximum_scheduled_tokens": 0},
    ),
)


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of all graph rules that only a full execution plan can break."""
    header = subject.header
    if header is not None and header.maximum_scheduled_tokens == 0:
        yield NO_SCHEDULED_TOKENS.finding(
            "The plan schedules at most 0 tokens, so no request can ever run.",
            pointer(subject.places.payload, "maximum_scheduled_tokens"),
            expected=1,
            actual=0,
        )
    nodes, order = subject.plan_nodes, subject.order
    if nodes is None or order is None:
        return
    if not nodes:
        yield NO_NODES.finding("The execution plan has no nodes.", subject.places.nodes)
        return
    rows = None
    if subject.memory is not None:
        rows = ResourceRows(subject.memory, subject.places.memory)
    yield from _check_resources(nodes, rows, subject.places.nodes)
    yield from data_flow.check(nodes, order, subject.places.nodes)
    for index, node in enumerate(nodes):
        place = f"{subject.places.nodes}/{index}"
        yield from selection.check_node(node, place)
        yield from work.check_node(node, place)
        yield from state_effects.check_node(node, rows, place)


WORKSPACES_DIFFER = Rule(
    id="graph.workspaces-differ",
    summary="A node names a workspace resource exactly where its provider asks for one.",
    why="Without the resource the kernel would be launched with a pointer that nothing backs; a "
    "resource that nobody asked for holds memory, and no estimate bounds its size.",
    fix="Give the node the resource that was planned for each part of the estimate, and no other.",
    source=_FORMAT,
    example=Example("bundle", {f"{_NODES}/2/scratch_resource": None}),
)


def _check_resources(
    nodes: Sequence[PlanNode], rows: ResourceRows | None, location: str
) -> Iterator[Finding]:
    used: set[str] = set()
    orphaned: set[tuple[str, str]] = set()
    for index, node in enumerate(nodes):
        derived = {
            component.resource_id
            for binding in node.values
            for component in binding.storage.components
        }
        for part in PARTS:
            resource = getattr(node, f"{part}_resource")
            estimated = getattr(node.provider_resources, part) is not None
            if resource is not None:
                derived.add(resource)
            if estimated == (resource is not None):
                continue
            where = f"{location}/{index}/{part}_resource"
            provider = node.provider_resources.provider_id
            if estimated:
                orphaned.add((part, node.id))
                yield WORKSPACES_DIFFER.finding(
                    f"Provider `{provider}` asks for a {part} workspace and node `{node.id}` names "
                    "no resource for it.",
                    where,
                )
            else:
                yield WORKSPACES_DIFFER.finding(
                    f"Node `{node.id}` names `{resource}` as its {part} resource, but provider "
                    f"`{provider}` asks for no {part} workspace.",
                    where,
                    actual=resource,
                )
        listed = set(node.resources)
        used |= derived
        used |= listed
        if listed != derived:
            extra = _without_explained(node, listed - derived, rows, orphaned)
            yield from _differ(node, listed, derived, extra, f"{location}/{index}/resources")
    if rows is not None:
        yield from _unreferenced(rows, used, orphaned)


def _without_explained(
    node: PlanNode,
    extra: set[str],
    rows: ResourceRows | None,
    orphaned: set[tuple[str, str]],
) -> list[str]:
    """The resources that a node lists for nothing, less those that another finding explains.

    The graph rules find resources that the memory plan does not know; and a workspace whose
    name the node has lost is missed as such.
    """
    if rows is None:
        return sorted(extra)
    lost = {owner for owner in orphaned if owner[1] == node.id}
    return [
        resource_id
        for resource_id in sorted(extra)
        if (row := rows.get(resource_id)) is not None and _owner(row) not in lost
    ]


def _owner(row: Row) -> tuple[str, str] | None:
    return None if isinstance(row.kind, str) else (row.kind.tag, row.kind.node_id)


RESOURCES_DIFFER = Rule(
    id="graph.resources-differ",
    summary="A node's `resources` are those of its values and workspaces.",
    why="Liveness and Step slots are derived from `resources`. A resource that the node uses and "
    "does not list may be handed to another node while this one still works on it; one that it "
    "lists and does not use is kept alive for nothing.",
    fix="List exactly the resources of the node's storage components and its scratch, binding "
    "and persistent resources, each once, ascending.",
    source=_FORMAT,
    example=Example("bundle", {f"{_NODES}/1/resources/0": DELETE}),
)


def _differ(
    node: PlanNode, listed: set[str], derived: set[str], extra: list[str], location: str
) -> Iterator[Finding]:
    missing = sorted(derived - listed)
    said = []
    if missing:
        said.append(f"leave out {', '.join(marked(missing))}, which it uses")
    if extra:
        said.append(f"name {', '.join(marked(extra))}, which none of its values or workspaces uses")
    if said:
        yield RESOURCES_DIFFER.finding(
            f"The resources of node `{node.id}` {in_series(said)}.",
            location,
            expected=sorted(derived),
            actual=list(node.resources),
        )


UNREFERENCED = Rule(
    id="graph.unreferenced-resource",
    summary="Every static and dynamic row of the memory plan is used by a node.",
    why="Its bytes are reserved for every request and nothing reads or writes them; in a plan "
    "that the engine derives, every row comes from a node.",
    fix="Remove the row, or name it in the node that needs it.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {
            "/plan/payload/memory/static_allocations/-": {
                "resource_id": "resource.unused",
                "per_instance_bytes": 64,
                "instance_stride_bytes": 64,
                "instance_count": 1,
                "size_bytes": 64,
                "alignment_bytes": 64,
                "usage": "weights",
                "element_type": "f32",
                "lifetime": "plan",
                "kind": "value",
                "storage": {
                    "profile": {"allocator": "linear_arena", "view": "contiguous"},
                    "logical_layout_fingerprint": CONTIGUOUS_LAYOUT_FINGERPRINT,
                },
            },
            "/plan/payload/memory/static_bytes": 2688,
            "/plan/payload/memory/theoretical_ceiling_bytes": "381440",
        },
    ),
)


def _unreferenced(
    rows: ResourceRows, used: set[str], orphaned: set[tuple[str, str]]
) -> Iterator[Finding]:
    for resource_id, row in rows.items():
        if resource_id in used:
            continue
        if row.kind == "initialization_scratch":
            continue  # no node uses it: the model is loaded with it
        if row.lifetime in ("step", "invocation") or _owner(row) in orphaned:
            # Slots and liveness rows miss its user; or the node that should name it does not.
            continue
        what = "static allocation" if isinstance(row, StaticAllocation) else "dynamic resource"
        yield UNREFERENCED.finding(
            f"No node uses the {what} `{resource_id}`.", rows.pointer(resource_id)
        )
