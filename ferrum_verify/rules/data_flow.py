"""Graph rules of data flow: a node that reads a value runs after the node that writes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import DELETE, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.order import HappensBefore

READ_BEFORE_WRITE = Rule(
    id="graph.read-before-write",
    summary="A node that reads a value waits for a node that writes it.",
    why="Only dependencies order nodes. Without one the read may come first, and the kernel takes "
    "what an earlier step, or another request, left in those bytes.",
    fix="Let the reader depend on the writer, directly or through other nodes.",
    source="docs/format.md, «Execution-plan rules» (what the engine does not check)",
    judgment="safety",
    example=Example("bundle", {"/plan/payload/nodes/1/dependencies/0": DELETE}),
)


def check(nodes: Sequence[PlanNode], order: HappensBefore, location: str) -> Iterator[Finding]:
    """Findings of the data flow between the nodes that stand at the pointer ``place``.

    Says nothing where the dependencies give no order, as other graph rules then report.
    """
    if not order.is_tractable or not _is_ordered(order):
        return
    writers: dict[str, list[int]] = {}
    for index, node in enumerate(nodes):
        for binding in node.values:
            if binding.role == "output":
                writers.setdefault(binding.value_id, []).append(index)
    for index, node in enumerate(nodes):
        before = order.ancestors[index]
        for position, binding in enumerate(node.values):
            if binding.role != "input":
                continue
            written = writers.get(binding.value_id)
            if written is None or index in written or any(before >> w & 1 for w in written):
                continue
            writer = nodes[written[0]].id
            later = ", and even stands before it" if written[0] > index else ""
            yield READ_BEFORE_WRITE.finding(
                f"Node `{node.id}` reads `{binding.value_id}`, which `{writer}` writes, but does "
                f"not wait for it{later}.",
                f"{location}/{index}/values/{position}",
                actual=list(node.dependencies),
                about=(node.id, writer, binding.value_id),
            )


def _is_ordered(order: HappensBefore) -> bool:
    return len(order.position) == len(order.nodes) and all(
        order.position.get(dependency, index) < index
        for index, node in enumerate(order.nodes)
        for dependency in node.dependencies
    )
