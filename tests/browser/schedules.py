"""A schedule in which two resources that are apart in plan order are live together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import LiveResource, ScheduleCounterexample, ScheduledNode
from ferrum_verify.order import HappensBefore, bits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.node import FragmentNode, PlanNode


def reversed_schedule(
    nodes: Sequence[FragmentNode | PlanNode], left: str, right: str
) -> ScheduleCounterexample:
    """One node after the other, with a user of ``left`` held back as long as may be."""
    order = HappensBefore(nodes)
    lefts, rights = order.users[left], order.users[right]
    held, early = next(
        (user, other) for other in rights for user in lefts if not order.precedes(user, other)
    )
    needed = {*lefts, *rights}
    for user in (*lefts, *rights):
        needed.update(bits_of(order.ancestors[user]))
    late = [node for node in sorted(needed) if node == held or order.precedes(held, node)]
    run = [node for node in sorted(needed) if node not in late] + late
    starts = {node: time for time, node in enumerate(run)}
    return ScheduleCounterexample(
        nodes=tuple(ScheduledNode(nodes[node].id, starts[node], starts[node] + 1) for node in run),
        left=LiveResource(left, nodes[held].id),
        right=LiveResource(right, nodes[early].id),
        at=starts[early],
    )
