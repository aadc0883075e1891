"""Mutations of planned memory: what somebody might do by hand to a plan that was derived."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from tests.definition.sizes import Json

GIVEN = ("alignment_bytes", "per_instance_bytes")


def merge_slots(random: Random, body: Json) -> bool:
    """Two Step slots of a pool become one."""
    pools = [p for p in body["memory"]["dynamic_pools"] if len(p["step_resource_slots"]) > 1]
    if not pools:
        return False
    slots = random.choice(pools)["step_resource_slots"]
    one, other = random.sample(slots, 2)
    slots.remove(other)
    one["resource_ids"] = sorted({*one["resource_ids"], *other["resource_ids"]})
    one["kind"] = "ordered_single_fence_step_wave"
    slots.sort(key=lambda slot: list(slot["resource_ids"]))
    return True


def reuse_waves(random: Random, body: Json) -> bool:
    """The invocations of a pool share their bytes as if they were ordered."""
    pools = [
        pool
        for pool in body["memory"]["dynamic_pools"]
        if pool["invocation_liveness_mode"] == "conservative_concurrent"
    ]
    if not pools:
        return False
    random.choice(pools)["invocation_liveness_mode"] = "total_order_reuse"
    return True


def shrink_planned_row(random: Random, body: Json) -> bool:
    """A row gets smaller, or ends sooner, after everything else was planned."""
    row = random.choice(body["memory"]["dynamic_descriptors"])
    ((_, fields),) = row["demand"].items()
    names = [
        name
        for name, number in fields.items()
        if name != "maximum_sequences" and isinstance(number, int) and number > 1
    ]
    if not names:
        return False
    name = random.choice(names)
    fields[name] = random.choice([fields[name] - 1, fields[name] // 2])
    return True


def shrink_budget(random: Random, body: Json) -> bool:
    """A bucket's budget, or a pool's ceiling for all lanes, falls short."""
    reusable = body["memory"]["reusable_execution"]
    if reusable is None:
        return False
    if random.random() < 0.5:
        reusable["maximum_reusable_lanes"] += 1
        return True
    budgets = random.choice(reusable["buckets"])["pool_budgets"]
    if not budgets:
        return False
    budget = random.choice(budgets)
    name = "step_bytes" if budget["step_bytes"] else "invocation_bytes"
    left: int = budget[name] - 32
    budget[name] = left
    return left > 0


def unlist_planned(random: Random, body: Json) -> bool:
    """A node does not list what it binds, after all was planned."""
    listed: list[str] = random.choice(body["nodes"])["resources"]
    if not listed:
        return False
    listed.remove(random.choice(listed))
    return True


def misstate(random: Random, body: Json) -> bool:
    """A total says more or less than there is."""
    memory = body["memory"]
    holders = [memory, *memory["dynamic_pools"], *memory["static_allocations"]]
    holders += [pool["provisioning"] for pool in memory["dynamic_pools"]]
    holder = random.choice(holders)
    names = [name for name in holder if name.endswith("_bytes") and name not in GIVEN]
    name = random.choice(names)
    number = max(0, int(holder[name]) + random.choice([-32, -1, 1, 32]))
    was, holder[name] = holder[name], str(number) if isinstance(holder[name], str) else number
    return bool(was != holder[name])
