"""Reusable execution: the budgets of captured programs in each bucket and pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import Shape
from ferrum_verify.derive.liveness import peak_bytes
from ferrum_verify.documents.reusable import (
    BucketSpec,
    PoolBudget,
    ResolvedBucket,
    ReusableExecution,
)
from ferrum_verify.plan.canonical import bucket_id
from ferrum_verify.plan.sizes import bytes_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ferrum_verify.documents.memory_plan import (
        DynamicDescriptor,
        InvocationLiveness,
        LivenessMode,
        StepSlot,
    )
    from ferrum_verify.documents.reusable import (
        Capacity,
        ProblemReusableExecution,
        ProgramPolicy,
    )


def capacity_shape(capacity: Capacity) -> Shape:
    """The largest shape that a bucket runs."""
    return Shape(capacity.maximum_sequences, capacity.maximum_tokens, capacity.maximum_pages)


def canonical_buckets(policy: ProblemReusableExecution) -> tuple[BucketSpec, ...]:
    """A policy's buckets with their identities, in the order in which a plan holds them."""
    specs = [
        BucketSpec.trusted(
            bucket_id=bucket_id(
                bucket.class_id,
                bucket.maximum_sequences,
                bucket.maximum_tokens,
                bucket.maximum_pages,
            ),
            class_id=bucket.class_id,
            capacity=bucket.capacity,
        )
        for bucket in policy.buckets
    ]
    return tuple(sorted(specs, key=bucket_order))


def bucket_order(bucket: BucketSpec) -> tuple[str, int, int, int]:
    """The key by which a plan's buckets ascend."""
    capacity = bucket.capacity
    return (
        bucket.class_id,
        capacity.maximum_sequences,
        capacity.maximum_tokens,
        capacity.maximum_pages,
    )


def step_slot_bytes(slots: Iterable[StepSlot], bytes_of: Mapping[str, int]) -> int:
    """The bytes of all Step slots: each takes as much as its largest member."""
    return sum(max(bytes_of[resource] for resource in slot.resource_ids) for slot in slots)


def pool_budget(
    pool: str,
    slots: Sequence[StepSlot],
    rows: Sequence[InvocationLiveness],
    *,
    mode: LivenessMode,
    descriptors: Mapping[str, DynamicDescriptor],
    shape: Shape,
) -> PoolBudget | None:
    """What one lane of a bucket needs of a pool at the bucket's shape; None if nothing.

    Seed 000, ``derive_reusable_execution``. Raises SizeError where a demand is not defined at
    the shape, naming the resource.
    """
    wanted = {resource for slot in slots for resource in slot.resource_ids}
    wanted.update(resource for row in rows for resource in row.resource_ids)
    bytes_of = bytes_at((descriptors[resource] for resource in wanted), shape)
    step = step_slot_bytes(slots, bytes_of)
    invocation = peak_bytes(mode, rows, bytes_of)
    if not step and not invocation:
        return None
    return PoolBudget.trusted(pool_id=pool, step_bytes=step, invocation_bytes=invocation)


def startup_capture_cases(bucket_count: int, policy: ProgramPolicy | None) -> int:
    """How many programs each node captures at start-up, for each lane."""
    return bucket_count if policy is None else len(policy.programs)


def lane_bytes(buckets: Iterable[ResolvedBucket]) -> dict[str, int]:
    """For each pool the bytes that one lane of every bucket needs together."""
    totals: dict[str, int] = {}
    for bucket in buckets:
        for budget in bucket.pool_budgets:
            totals[budget.pool_id] = (
                totals.get(budget.pool_id, 0) + budget.step_bytes + budget.invocation_bytes
            )
    return totals


def workspace_ceilings(reusable: ReusableExecution | None) -> dict[str, int]:
    """For each pool the bytes that all lanes of all buckets need together."""
    if reusable is None:
        return {}
    return {
        pool: total * reusable.maximum_reusable_lanes
        for pool, total in lane_bytes(reusable.buckets).items()
    }
