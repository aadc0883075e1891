"""Invocation liveness: which workspace bytes are live while a node runs, and their peak."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.documents.memory_plan import Binding, InvocationLiveness

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ferrum_verify.documents.memory_plan import DynamicDescriptor, LivenessMode
    from ferrum_verify.plan.order import HappensBefore


@dataclass(frozen=True, slots=True)
class PoolLiveness:
    """The liveness of one pool: its mode, and its rows in plan order."""

    mode: LivenessMode
    rows_in_plan_order: tuple[InvocationLiveness, ...]

    @property
    def rows(self) -> tuple[InvocationLiveness, ...]:
        """The rows as a plan lists them, ascending by node id."""
        return tuple(sorted(self.rows_in_plan_order, key=lambda row: row.node_id))


def derive_pool_liveness(
    members: Sequence[DynamicDescriptor], order: HappensBefore
) -> PoolLiveness:
    """A pool's liveness (seed 000, ``derive_pool_invocation_liveness``).

    Rows may reuse one extent only when each happens before the next in plan order; a pool
    with program bindings never reuses, since captured programs keep their addresses.
    """
    invocation = {member.base_resource_id for member in members if member.lifetime == "invocation"}
    if not invocation:
        return PoolLiveness("no_invocation_resources", ())
    positions = sorted(
        {index for resource in invocation for index in order.listed.get(resource, ())}
    )
    rows = tuple(
        InvocationLiveness.trusted(
            node_id=order.nodes[index].id,
            resource_ids=tuple(
                sorted({r for r in order.nodes[index].resources if r in invocation})
            ),
        )
        for index in positions
    )
    has_binding = any(
        member.lifetime == "invocation" and isinstance(member.kind, Binding) for member in members
    )
    ordered = not has_binding and all(
        order.precedes(earlier, later) for earlier, later in itertools.pairwise(positions)
    )
    return PoolLiveness("total_order_reuse" if ordered else "conservative_concurrent", rows)


def peak_bytes(
    mode: LivenessMode, rows: Iterable[InvocationLiveness], bytes_of: Mapping[str, int]
) -> int:
    """The bytes that a pool's invocations take at once: the largest row when rows reuse one
    extent, the sum of all rows when any may overlap.
    """
    sizes = [sum(bytes_of[resource] for resource in row.resource_ids) for row in rows]
    if not sizes:
        return 0
    return max(sizes) if mode == "total_order_reuse" else sum(sizes)


def summarise_liveness(
    pools: Iterable[tuple[LivenessMode, Sequence[InvocationLiveness]]],
) -> tuple[LivenessMode, tuple[InvocationLiveness, ...]]:
    """The plan's mode and rows from its pools' (seed 000,
    ``summarize_pool_invocation_liveness``).
    """
    by_node: dict[str, set[str]] = {}
    modes: set[LivenessMode] = set()
    for mode, rows in pools:
        modes.add(mode)
        for row in rows:
            by_node.setdefault(row.node_id, set()).update(row.resource_ids)
    if "conservative_concurrent" in modes:
        summary: LivenessMode = "conservative_concurrent"
    elif "total_order_reuse" in modes:
        summary = "total_order_reuse"
    else:
        summary = "no_invocation_resources"
    return summary, tuple(
        InvocationLiveness.trusted(node_id=node, resource_ids=tuple(sorted(resources)))
        for node, resources in sorted(by_node.items())
    )
