"""Reusable execution, by definition: legal policies, and what their buckets take in each pool."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.definition.pools import invocations_bytes, slots_bytes
from tests.definition.sizes import (
    Json,
    Shape,
    bucket_shape,
    canonical_hash,
    covers,
    require,
    u64,
)

BUCKET_DOMAIN = "ferrum.runtime-vnext.reusable-execution-bucket.v1"


def derive_reusable(policy: Json, pools: list[Json], dynamics: list[Json], node_count: int) -> Json:
    """The reusable part of a memory plan: each bucket's bytes in each pool where it takes any."""
    buckets = sorted(policy["buckets"], key=lambda each: (each["class_id"], bucket_shape(each)))
    programs = policy.get("program_policy")
    lanes = policy["maximum_reusable_lanes"]
    require(lanes >= 1, "there is a lane")
    require(node_count >= 1, "there is a node to capture")
    check_buckets(buckets)
    if programs is not None:
        check_programs(programs, buckets)
    cases = len(buckets) if programs is None else len(programs["programs"])
    rows = {row["base_resource_id"]: row for row in dynamics}
    derived = {
        "maximum_reusable_lanes": lanes,
        "maximum_device_executables": u64(node_count * cases * lanes),
        "buckets": [resolve(bucket, pools, rows) for bucket in buckets],
    }
    return derived if programs is None else derived | {"program_policy": programs}


def check_buckets(buckets: list[Json]) -> None:
    """There are 1 to 64, of no zero capacity, and those of one class grow."""
    require(1 <= len(buckets) <= 64, "a policy has 1 to 64 buckets")
    for bucket in buckets:
        require(min(bucket_shape(bucket)) >= 1, "a bucket has no zero")
    for smaller, larger in pairwise(buckets):
        if smaller["class_id"] == larger["class_id"]:
            inside, outside = bucket_shape(smaller), bucket_shape(larger)
            require(covers(outside, inside) and inside != outside, "buckets of a class grow")


def resolve(bucket: Json, pools: list[Json], rows: dict[str, Json]) -> Json:
    """A bucket by its id, with its budget in each pool, in bytes at the bucket's capacity."""
    shape = bucket_shape(bucket)
    capacity = {name: value for name, value in bucket.items() if name != "class_id"}
    material = {"domain": BUCKET_DOMAIN, "class_id": bucket["class_id"], "capacity": capacity}
    budgets = []
    for pool in pools:
        step, invocation = budget(pool, rows, shape)
        if u64(step + invocation) > 0:
            budgets.append(
                {"pool_id": pool["pool_id"], "step_bytes": step, "invocation_bytes": invocation}
            )
    return {
        "bucket": {
            "bucket_id": "reusable-bucket/sha256/" + canonical_hash(material),
            "class_id": bucket["class_id"],
            "capacity": capacity,
        },
        "pool_budgets": budgets,
    }


def budget(pool: Json, rows: dict[str, Json], shape: Shape) -> tuple[int, int]:
    """What a pool's step slots, and its invocations, take at a shape, in bytes."""
    return (
        slots_bytes(pool["step_resource_slots"], rows, shape),
        invocations_bytes(
            pool["invocation_liveness_mode"], pool["invocation_liveness"], rows, shape
        ),
    )


def workspace_ceilings(reusable: Json) -> dict[str, int]:
    """What each pool holds for all buckets in all lanes, in bytes."""
    ceilings: dict[str, int] = {}
    for bucket in reusable["buckets"]:
        for row in bucket["pool_budgets"]:
            held = u64(
                (row["step_bytes"] + row["invocation_bytes"]) * reusable["maximum_reusable_lanes"]
            )
            ceilings[row["pool_id"]] = u64(ceilings.get(row["pool_id"], 0) + held)
    return ceilings


def program_key(program: Json) -> tuple[Any, ...]:
    """What programs are sorted by: class, then decode before prefill, then the shape's numbers."""
    return (program["class_id"], *shape_key(program["shape"]))


def shape_key(shape: Json) -> tuple[int, ...]:
    """What shapes of one class are sorted by."""
    if shape["topology"] == "uniform_decode":
        names = ("request_capacity", "token_capacity", "query_tokens_per_sequence")
        return (0, *(shape[name] for name in names))
    return (
        1,
        *(shape[name] for name in ("tokens_processed", "token_capacity", "total_prompt_tokens")),
    )


def check_programs(policy: Json, buckets: list[Json]) -> None:
    """A program policy is legal: its passes, its order, its shapes, and a bucket for each."""
    programs = policy["programs"]
    passes = (policy["warmup_passes"], policy["capture_passes"], policy["replay_validation_passes"])
    if policy["catalog_lifetime"] == "startup_sealed":
        require(min(passes) >= 1, "a catalog sealed at start-up runs every pass")
    else:
        require(passes == (1, 1, 0), "a catalog filled on demand warms up and captures once")
    require(1 <= len(programs) <= 256, "there are 1 to 256 programs")
    keys = [program_key(program) for program in programs]
    require(all(left < right for left, right in pairwise(keys)), "programs ascend")
    shapes = [program["shape"] for program in programs]
    require(all(shapes.count(shape) == 1 for shape in shapes), "a shape belongs to one class")
    for program in programs:
        check_program(program, programs, buckets)


def check_program(program: Json, programs: list[Json], buckets: list[Json]) -> None:
    """A shape's numbers agree, an earlier part of its prompt has a program, a bucket covers it."""
    shape, class_id = program["shape"], program["class_id"]
    if shape["topology"] == "uniform_decode":
        requests, queries = shape["request_capacity"], shape["query_tokens_per_sequence"]
        require(requests >= 1 and queries >= 1, "a decode has requests with tokens")
        require(shape["token_capacity"] == requests * queries, "a decode's tokens are the product")
        wanted = Shape(requests, shape["token_capacity"], 0)
    else:
        done, total = shape["tokens_processed"], shape["total_prompt_tokens"]
        require(shape["token_capacity"] >= 1 and total >= 1, "a prefill has tokens")
        require(done + shape["token_capacity"] <= total, "a prefill ends within its prompt")
        if done > 0:
            start = shape | {"tokens_processed": 0, "token_capacity": done}
            require(
                {"class_id": class_id, "shape": start} in programs,
                "a prefill that goes on has a program for its start",
            )
        wanted = Shape(1, shape["token_capacity"], 0)
    require(
        any(
            bucket["class_id"] == class_id and covers(bucket_shape(bucket), wanted)
            for bucket in buckets
        ),
        "a program has a bucket",
    )
