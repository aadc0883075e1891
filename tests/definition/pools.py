"""Pools, by definition: what resources of one kind of storage take together, and who shares."""

from __future__ import annotations

from itertools import pairwise

from tests.definition.rows import compatibility, kind_of
from tests.definition.sharing import Order, may_share
from tests.definition.sizes import (
    SMALLEST,
    Json,
    Shape,
    minimum_bytes,
    request_bytes,
    require,
    resident_bytes,
    u64,
)


def derive_pools(
    dynamics: list[Json],
    order: Order,
    retained: list[str],
    capacity: int,
    workspaces: dict[str, int],
) -> list[Json]:
    """The pools by id; ``workspaces`` are the reusable ceilings of pools that have one, in bytes.

    ``capacity`` is what static allocations leave of the usable bytes.
    """
    return [
        derive_pool(
            [row for row in dynamics if row["pool_id"] == pool_id],
            order,
            retained,
            capacity,
            workspaces.get(pool_id, 0),
        )
        for pool_id in sorted({row["pool_id"] for row in dynamics})
    ]


def derive_pool(
    members: list[Json], order: Order, retained: list[str], capacity: int, workspace: int
) -> Json:
    """One pool: its minima by lifetime, its slots, its rows of invocations, its ceilings."""
    rows = {row["base_resource_id"]: row for row in members}
    slots = step_slots(members, order, retained)
    mode, liveness = invocation_liveness(members, order)
    request, sequence = (
        u64(sum(minimum_bytes(row) for row in members if row["lifetime"] == lifetime))
        for lifetime in ("request", "sequence")
    )
    step = slots_bytes(slots, rows, SMALLEST)
    invocation = invocations_bytes(mode, liveness, rows, SMALLEST)
    minimum = u64(request + sequence + step + invocation)
    theoretical = sum(resident_bytes(row) for row in members)
    maximum = min(theoretical + workspace, capacity)
    require(0 < minimum <= maximum, "a pool can hold its minimum")
    return {
        "pool_id": members[0]["pool_id"],
        "compatibility": compatibility(members[0]),
        "resource_ids": sorted(rows),
        "provisioning": {
            "mode": "demand_driven_elastic",
            "minimum_resident_bytes": minimum,
            "maximum_resident_bytes": maximum,
        },
        "minimum_request_bytes": request,
        "minimum_sequence_bytes": sequence,
        "minimum_step_bytes": step,
        "minimum_invocation_peak_bytes": invocation,
        "step_resource_slots": slots,
        "theoretical_ceiling_bytes": str(theoretical),
        "reusable_workspace_ceiling_bytes": workspace,
        "invocation_liveness_mode": mode,
        "invocation_liveness": liveness,
    }


def may_reuse_step_bytes(row: Json, retained: list[str]) -> bool:
    """Whether a step resource may share its slot: a transient activation, sized by tokens."""
    return (
        row["usage"] == "activations"
        and kind_of(row) == "value"
        and "tokens" in row["demand"]
        and row["base_resource_id"] not in retained
    )


def step_slots(members: list[Json], order: Order, retained: list[str]) -> list[Json]:
    """Slots of step resources: in order of birth, each takes the first slot that is free for it.

    Free is a slot whose every member may reuse bytes and is dead, fenced, before this resource
    is born; what may not reuse bytes has a slot of its own.
    """
    steps = {row["base_resource_id"]: row for row in members if row["lifetime"] == "step"}
    for name in steps:
        require(order.users(name) != [], "a step resource is used")
    reusing = {name for name, row in steps.items() if may_reuse_step_bytes(row, retained)}
    slots: list[list[str]] = []
    for name in sorted(
        steps, key=lambda each: (min(order.users(each)), max(order.users(each)), each)
    ):
        free = [
            slot
            for slot in slots
            if name in reusing
            and all(other in reusing and may_share("fenced", other, name, order) for other in slot)
        ]
        if free:
            free[0].append(name)
        else:
            slots.append([name])
    return [
        {
            "kind": "dedicated" if len(slot) == 1 else "ordered_single_fence_step_wave",
            "resource_ids": slot,
        }
        for slot in sorted(sorted(slot) for slot in slots)
    ]


def slots_bytes(slots: list[Json], rows: dict[str, Json], shape: Shape) -> int:
    """What the slots take at a shape, in bytes: a slot is as large as its largest member."""
    return u64(
        sum(
            max(request_bytes(rows[name], shape) for name in slot["resource_ids"]) for slot in slots
        )
    )


def invocation_liveness(members: list[Json], order: Order) -> tuple[str, list[Json]]:
    """How the invocation resources of a pool live: the mode, and a row for each node with any.

    Nodes that run one after the other reuse bytes, unless a captured program binds to them.
    """
    invocations = [row for row in members if row["lifetime"] == "invocation"]
    names = {row["base_resource_id"] for row in invocations}
    for name in names:
        require(order.users(name) != [], "an invocation resource is used")
    nodes = [at for at, node in enumerate(order.nodes) if names & set(node["resources"])]
    if not nodes:
        return "no_invocation_resources", []
    bound = any(kind_of(row) == "binding" for row in invocations)
    ordered = all(left in order.before[right] for left, right in pairwise(nodes))
    rows = [
        {
            "node_id": order.nodes[at]["id"],
            "resource_ids": sorted(names & set(order.nodes[at]["resources"])),
        }
        for at in nodes
    ]
    rows.sort(key=lambda row: row["node_id"])
    return "total_order_reuse" if ordered and not bound else "conservative_concurrent", rows


def invocations_bytes(mode: str, liveness: list[Json], rows: dict[str, Json], shape: Shape) -> int:
    """What a pool's invocations take at a shape, in bytes: the largest row, or all together."""
    sizes = [
        u64(sum(request_bytes(rows[name], shape) for name in row["resource_ids"]))
        for row in liveness
    ]
    if mode == "total_order_reuse":
        return max(sizes)
    return u64(sum(sizes))
