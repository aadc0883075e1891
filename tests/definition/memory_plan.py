"""The memory plan, by definition: what the engine's planner makes of a planning problem."""

from __future__ import annotations

from tests.definition.pools import derive_pools
from tests.definition.reusable import derive_reusable, workspace_ceilings
from tests.definition.rows import complete_descriptor, complete_static
from tests.definition.sharing import Order, check_ascending, check_graph
from tests.definition.sizes import Json, RefusedError, require, u64

MOST_ROWS = 65_536


def derive(problem: Json) -> Json:
    """The memory plan of a problem, as the engine writes it; RefusedError where it derives none."""
    nodes = problem["nodes"]
    retained = problem.get("retained_completion_resources") or []
    policy = problem.get("reusable_execution_policy")
    statics = sorted(problem["static_allocations"], key=lambda row: row["resource_id"])
    dynamics = sorted(problem["dynamic_descriptors"], key=lambda row: row["base_resource_id"])
    names = [row["resource_id"] for row in statics] + [row["base_resource_id"] for row in dynamics]
    require(len(names) <= MOST_ROWS, "rows are within the limit")
    require(len(set(names)) == len(names), "a resource's id is its own")
    check_graph(nodes, names)

    device, granted = problem["device_capacity_bytes"], problem["policy_capacity_bytes"]
    require(0 < granted <= device, "the grant is within the device")
    require(problem["reserve_bytes"] < granted, "the reserve leaves something")
    require(problem["maximum_active_sequences"] >= 1, "a sequence is active")
    usable = granted - problem["reserve_bytes"]

    statics = [complete_static(row) for row in statics]
    dynamics = [complete_descriptor(row) for row in dynamics]
    for name in retained:
        readable = [row for row in dynamics if row["base_resource_id"] == name]
        require(
            any(
                row["usage"] == "activations" and row["lifetime"] in ("step", "request")
                for row in readable
            ),
            "what is read on completion is an activation that is still there",
        )

    static_bytes = u64(sum(row["size_bytes"] for row in statics))
    capacity = u64(usable - static_bytes)
    order = Order(nodes)
    pools = derive_pools(dynamics, order, retained, capacity, {})
    reusable = None
    if policy is not None:
        reusable = derive_reusable(policy, pools, dynamics, len(nodes))
        pools = derive_pools(dynamics, order, retained, capacity, workspace_ceilings(reusable))

    minima = {
        name: u64(sum(pool[name] for pool in pools))
        for name in (
            "minimum_request_bytes",
            "minimum_sequence_bytes",
            "minimum_step_bytes",
            "minimum_invocation_peak_bytes",
        )
    }
    runnable = u64(sum(minima.values()))
    require(u64(static_bytes + runnable) <= usable, "one request can run")
    ceiling = static_bytes + sum(
        int(pool["theoretical_ceiling_bytes"]) + pool["reusable_workspace_ceiling_bytes"]
        for pool in pools
    )
    return {
        "device_capacity_bytes": device,
        "policy_capacity_bytes": granted,
        "reserve_bytes": problem["reserve_bytes"],
        "usable_capacity_bytes": usable,
        "maximum_active_sequences": problem["maximum_active_sequences"],
        "static_bytes": static_bytes,
        **minima,
        "minimum_runnable_request_bytes": runnable,
        # Fits u128: at most 65,536 rows of less than 2^96 bytes each.
        "theoretical_ceiling_bytes": str(ceiling),
        "static_allocations": statics,
        "dynamic_descriptors": dynamics,
        "dynamic_pools": pools,
        "reusable_execution": reusable,
        **liveness_of_all(pools),
    }


def liveness_of_all(pools: list[Json]) -> Json:
    """The invocations of all pools, by node; ordered when those of every pool that has any are."""
    modes = {pool["invocation_liveness_mode"] for pool in pools} - {"no_invocation_resources"}
    by_node: dict[str, set[str]] = {}
    for pool in pools:
        for row in pool["invocation_liveness"]:
            by_node.setdefault(row["node_id"], set()).update(row["resource_ids"])
    references = sum(len(names) for names in by_node.values())
    require(references <= MOST_ROWS, "references are within the limit")
    if not modes:
        mode = "no_invocation_resources"
    elif modes == {"total_order_reuse"}:
        mode = "total_order_reuse"
    else:
        mode = "conservative_concurrent"
    return {
        "invocation_liveness_mode": mode,
        "invocation_liveness": [
            {"node_id": node_id, "resource_ids": sorted(names)}
            for node_id, names in sorted(by_node.items())
        ],
    }


DERIVED_OF_STATIC = {"instance_stride_bytes", "instance_count", "size_bytes", "lifetime"}
DERIVED_OF_DYNAMIC = {"pool_id"}


def problem_of(fragment: Json) -> Json:
    """The problem that a fragment answers: its memory plan without all that is derived."""
    memory = fragment["memory"]
    given = (
        "device_capacity_bytes",
        "policy_capacity_bytes",
        "reserve_bytes",
        "maximum_active_sequences",
    )
    problem = {name: memory[name] for name in given} | {
        "static_allocations": [
            {name: value for name, value in row.items() if name not in DERIVED_OF_STATIC}
            for row in memory["static_allocations"]
        ],
        "dynamic_descriptors": [
            {name: value for name, value in row.items() if name not in DERIVED_OF_DYNAMIC}
            for row in memory["dynamic_descriptors"]
        ],
        "nodes": fragment["nodes"],
        "retained_completion_resources": fragment.get("retained_completion_resources", []),
    }
    reusable = memory.get("reusable_execution")
    if reusable is not None:
        problem["reusable_execution_policy"] = {
            "maximum_reusable_lanes": reusable["maximum_reusable_lanes"],
            "buckets": [
                {"class_id": row["bucket"]["class_id"], **row["bucket"]["capacity"]}
                for row in reusable["buckets"]
            ],
            "program_policy": reusable.get("program_policy"),
        }
    return problem


def as_derived(memory: Json) -> Json:
    """The same plan with what a reader may leave out or add without a change of meaning.

    No reusable execution may be absent or null; no growth by checkpoints absent or 0.
    """
    pools = [
        {
            name: value
            for name, value in pool.items()
            if (name, value) != ("checkpoint_growth_ceiling_bytes", 0)
        }
        for pool in memory["dynamic_pools"]
    ]
    return {"reusable_execution": None} | memory | {"dynamic_pools": pools}


def is_what_the_engine_derives(fragment: Json) -> bool:
    """Whether a fragment's graph is well-formed and its memory plan the derived one, exactly."""
    try:
        check_ascending(fragment["nodes"])
        return derive(problem_of(fragment)) == as_derived(fragment["memory"])
    except RefusedError:
        return False
