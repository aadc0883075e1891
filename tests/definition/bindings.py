"""Program bindings, by definition: one arena of per-node slots for each reusable bucket."""

from __future__ import annotations

import hashlib
import json

from tests.definition.rows import kind_of
from tests.definition.sizes import Json, bucket_shape, request_bytes, require, u64

LAYOUT_DOMAIN = "ferrum.runtime-vnext.program-binding-layout.v1"


def compile_bindings(nodes: list[Json], memory: Json) -> list[Json]:
    """The layouts of a derived memory plan, by bucket id; RefusedError where none can be compiled.

    There are none without a binding, and none without a bucket.
    """
    rows = {row["base_resource_id"]: row for row in memory["dynamic_descriptors"]}
    for row in rows.values():
        if row["lifetime"] == "invocation":
            users = [node for node in nodes if row["base_resource_id"] in node["resources"]]
            require(len(users) == 1, "an invocation resource has one place in a wave")
    pools = [
        pool
        for pool in memory["dynamic_pools"]
        if any(kind_of(rows[name]) == "binding" for name in pool["resource_ids"])
    ]
    if not pools:
        return []
    require(len(pools) == 1, "all bindings are in one pool")
    (pool,) = pools
    require(
        all(kind_of(rows[name]) == "binding" for name in pool["resource_ids"]),
        "the binding pool holds bindings only",
    )
    contiguous = pool["compatibility"]["profile"]["view"] == "contiguous"
    require(contiguous, "the binding pool is contiguous")
    reusable = memory["reusable_execution"]
    layouts = [
        layout_of(row["bucket"], pool, rows, nodes)
        for row in (reusable["buckets"] if reusable else [])
    ]
    return sorted(layouts, key=lambda layout: str(layout["reusable_execution_bucket_id"]))


def layout_of(bucket: Json, pool: Json, rows: dict[str, Json], nodes: list[Json]) -> Json:
    """One bucket's arena: the bindings end to end in plan order, each at its size in the bucket."""
    shape = bucket_shape(bucket["capacity"])
    live = {row["node_id"]: row["resource_ids"] for row in pool["invocation_liveness"]}
    positions = {node["id"]: index for index, node in enumerate(nodes)}
    slots = []
    end = 0
    for node in nodes:
        for name in live.get(node["id"], []):
            owner = rows[name]["kind"]["binding"]["node_id"]
            require(owner in positions, "a binding belongs to a node of the plan")
            owning = nodes[positions[owner]]
            require(owning.get("binding_resource") == name, "its node owns the binding")
            require(name in owning["resources"], "its node lists the binding")
            alignment, size = rows[name]["alignment_bytes"], request_bytes(rows[name], shape)
            require(end % alignment == 0 and size % alignment == 0, "slots are aligned")
            slots.append(
                {
                    "node_index": positions[owner],
                    "node_id": owner,
                    "resource_id": name,
                    "physical_offset_bytes": end,
                    "capacity_size_bytes": size,
                    "alignment_bytes": alignment,
                }
            )
            end = u64(end + size)
    slots.sort(key=lambda slot: slot["node_index"])
    owners = [slot["node_id"] for slot in slots]
    require(len(set(owners)) == len(owners), "a node owns one binding")
    layout = {
        "reusable_execution_bucket_id": bucket["bucket_id"],
        "claim_identity": {
            "pool_id": pool["pool_id"],
            "resource_ids": pool["resource_ids"],
        },
        "physical_size_bytes": end,
        "slots": slots,
    }
    # The engine hashes its own order of fields, which is the order in which they stand above.
    text = json.dumps({"domain": LAYOUT_DOMAIN} | layout, separators=(",", ":"))
    return layout | {"fingerprint": "sha256/" + hashlib.sha256(text.encode()).hexdigest()}
