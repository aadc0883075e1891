"""The timeline as data: nodes along, slots down, each resource a bar over its users.

What the page's script draws is plain JSON. Resources and nodes are named once and meant by
their position from then on, so that a plan of 64 layers stays well below a megabyte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.documents.terms import Staircase
from ferrum_verify.findings.wording import plural, pool_name, printable, short_pool
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.plan.sharing import explain_clash, slot_safety
from ferrum_verify.plan.sizes import maximum_bytes, minimum_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.counterexamples import Execution, Runs
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, MemoryPlan
    from ferrum_verify.documents.terms import Terms
    from ferrum_verify.reading.document import Subject

MAXIMUM_HAZARDS = 200
"""Hazards that are marked in one slot; a broken slot of a thousand members has half a million."""

LARGEST_EXACT = 2**53 - 1
"""The largest integer that the page's script reads from JSON without rounding."""


def exact(number: int) -> int | str:
    """An integer for the page's script: as text where JavaScript would round it."""
    return number if number <= LARGEST_EXACT else str(number)


@dataclass(frozen=True, slots=True)
class Names:
    """Where each node, resource and pool stands in the lists that the page's script reads.

    ``users`` has for each resource the positions of the nodes that list it, ascending. Pools
    are known by their ids, and by those as messages shorten them. ``end`` is the position of the
    last node, -1 where there is none, and ``kept`` are the resources that are read after it.
    """

    nodes: dict[str, int]
    resources: dict[str, int]
    users: dict[str, list[int]]
    pools: dict[str, int]
    kept: frozenset[str]
    end: int


def names_of(subject: Subject, memory: MemoryPlan) -> Names:
    """The positions of all nodes, pools and resources: dynamic ones first, then static ones."""
    order = subject.order or HappensBefore(())
    resources: dict[str, int] = {}
    for row in memory.dynamic_descriptors:
        resources.setdefault(row.base_resource_id, len(resources))
    for allocation in memory.static_allocations:
        resources.setdefault(allocation.resource_id, len(resources))
    pools = {pool.pool_id: index for index, pool in enumerate(memory.dynamic_pools)}
    pools |= {short_pool(pool_id): index for pool_id, index in pools.items()}
    end = len(order.nodes) - 1
    return Names(order.position, resources, order.users, pools, subject.kept, end)


def picture(subject: Subject, memory: MemoryPlan, names: Names, execution: Runs) -> Any:
    """Nodes, resources and the groups of rows that the timeline draws."""
    order = subject.order or HappensBefore(())
    return {
        "execution": execution,
        "nodes": [
            {
                "name": printable(node.id),
                "after": sorted(
                    names.nodes[name] for name in node.dependencies if name in names.nodes
                ),
            }
            for node in subject.nodes or ()
        ],
        "resources": _resources(memory, names),
        "groups": [
            *sorted(
                (
                    _pool_group(index, memory, names, order, execution)
                    for index in range(len(memory.dynamic_pools))
                ),
                # Where bytes are shared is what people come to see.
                key=lambda group: -sum(len(row["bars"]) for row in group["rows"] if "slot" in row),
            ),
            *_static_group(memory, names),
        ],
    }


def _resources(memory: MemoryPlan, names: Names) -> list[dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    pools = {pool.pool_id: index for index, pool in enumerate(memory.dynamic_pools)}
    for descriptor in memory.dynamic_descriptors:
        name = descriptor.base_resource_id
        if name in rows:
            continue
        rows[name] = {
            "name": printable(name),
            "life": descriptor.lifetime,
            "holds": f"{descriptor.usage} {descriptor.element_type}",
            "demand": demand_text(descriptor.demand.terms),
            "pool": pools.get(descriptor.pool_id),
            "users": names.users.get(name, []),
            **({"kept": True} if name in names.kept else {}),
        } | _sizes(descriptor)
    for allocation in memory.static_allocations:
        name = allocation.resource_id
        if name in rows:
            continue
        rows[name] = {
            "name": printable(name),
            "life": "plan",
            "holds": f"{allocation.usage} {allocation.element_type}",
            "least": exact(allocation.size_bytes),
            "most": exact(allocation.size_bytes),
            "users": names.users.get(name, []),
        }
    return list(rows.values())


def _sizes(descriptor: DynamicDescriptor) -> dict[str, int | str]:
    try:
        return {
            "least": exact(minimum_bytes(descriptor)),
            "most": exact(maximum_bytes(descriptor)),
        }
    except SizeError:
        return {}  # the descriptor's own finding says why it has no size


def demand_text(terms: Terms) -> str:
    """A demand in words."""
    if isinstance(terms, Staircase):
        count = plural(len(terms.steps), "shape bucket")
        return f"by the first of {count} that covers the shape"
    if not terms.parts:
        return f"{terms.fixed:,} bytes at every shape"
    parts = [
        (f"{each:,}", f"for each of at most {plural(most, counted[:-1])}")
        for counted, each, most in terms.parts
    ]
    if len(parts) == 1:
        return " bytes ".join(parts[0])
    return ", and ".join([f"{terms.fixed:,} bytes", *(" ".join(part) for part in parts)])


def _pool_group(
    index: int,
    memory: MemoryPlan,
    names: Names,
    order: HappensBefore,
    execution: Runs,
) -> dict[str, Any]:
    pool = memory.dynamic_pools[index]
    members = set(pool.resource_ids)
    claimed = [
        row
        for row in memory.dynamic_descriptors
        if row.lifetime in ("request", "sequence") and row.base_resource_id in members
    ]
    rows = [
        _slot_row(number, slot.resource_ids, names, order, execution)
        for number, slot in enumerate(pool.step_resource_slots)
    ]
    rows += [
        {
            "label": f"each {row.lifetime}'s own",
            "name": printable(row.base_resource_id),
            "life": row.lifetime,
            "bars": _throughout(row.base_resource_id, names),
        }
        for row in claimed
    ]
    if pool.invocation_liveness:
        reuses = pool.invocation_liveness_mode == "total_order_reuse"
        rows.append(
            {
                "label": "one extent in turn" if reuses else "side by side",
                "life": "invocation",
                "bars": sorted(
                    [
                        names.nodes[row.node_id],
                        names.nodes[row.node_id],
                        [names.resources[r] for r in row.resource_ids if r in names.resources],
                    ]
                    for row in pool.invocation_liveness
                    if row.node_id in names.nodes
                ),
            }
        )
    key = pool.compatibility
    return {
        "pool": pool_name(pool.pool_id),
        "index": index,
        "label": f"{key.usage} {key.element_type}",
        "detail": plural(len(pool.resource_ids), "resource"),
        "rows": rows,
        "open": len(rows) <= 12 or any(row.get("hazards") for row in rows),
    }


def _slot_row(
    index: int,
    members: tuple[str, ...],
    names: Names,
    order: HappensBefore,
    execution: Runs,
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "label": f"slot {index}",
        "slot": index,
        "life": "step",
        "bars": _bars(members, names),
    }
    if len(members) > 1 and order.is_tractable:
        safety = slot_safety(members, order)
        if safety is not None:
            of_model = () if execution == "schedule" else safety.unsafe[execution]
            refused = set(of_model)
            later = [pair for pair in safety.unsafe["concurrent"] if pair not in refused]
            row |= _hazards(
                [
                    *((pair, execution) for pair in of_model if execution != "schedule"),
                    *((pair, "concurrent") for pair in later),
                ],
                execution,
                names,
                order,
            )
    return row


def _hazards(
    pairs: list[tuple[tuple[str, str], Execution]],
    execution: Runs,
    names: Names,
    order: HappensBefore,
) -> dict[str, Any]:
    """The pairs that are live together, each with the model under which it is."""
    if not pairs:
        return {}
    shown = [
        {
            "left": names.resources[left],
            "right": names.resources[right],
            "refused": model == execution,
            "why": explain_clash(left, right, order, model).replace("`", ""),
        }
        for (left, right), model in pairs[:MAXIMUM_HAZARDS]
        if left in names.resources and right in names.resources
    ]
    hidden = len(pairs) - len(shown)
    return {"hazards": shown} | ({"hidden": hidden} if hidden else {})


def _static_group(memory: MemoryPlan, names: Names) -> list[dict[str, Any]]:
    if not memory.static_allocations:
        return []
    rows = [
        {
            "label": row.usage,
            "name": printable(row.resource_id),
            "life": "plan",
            "bars": _throughout(row.resource_id, names),
        }
        for row in memory.static_allocations
    ]
    return [
        {
            "label": "static allocations",
            "detail": plural(len(rows), "resource"),
            "rows": rows,
            "open": False,
        }
    ]


def _bars(resources: Iterable[str], names: Names) -> list[list[Any]]:
    """A bar for each used resource: its first and last user, and the resource."""
    bars = []
    for resource in resources:
        users = names.users.get(resource)
        if users and resource in names.resources:
            last = names.end if resource in names.kept else users[-1]
            bars.append([users[0], last, [names.resources[resource]]])
    return sorted(bars)


def _throughout(resource: str, names: Names) -> list[list[Any]]:
    """The bar of what lives through the whole step, if there is one."""
    return [[0, names.end, [names.resources[resource]]]] if names.end >= 0 else []
