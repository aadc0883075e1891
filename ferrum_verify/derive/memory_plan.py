"""The memory plan: from a planning problem to what the engine would derive."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.liveness import summarise_liveness
from ferrum_verify.derive.pools import (
    PoolStructure,
    derive_structure,
    descriptor_pool_id,
    group_by_pool,
    total_pool,
)
from ferrum_verify.derive.reusable import (
    canonical_buckets,
    capacity_shape,
    pool_budget,
    startup_capture_cases,
    workspace_ceilings,
)
from ferrum_verify.documents.memory_plan import DynamicDescriptor, MemoryPlan, StaticAllocation
from ferrum_verify.documents.reusable import ResolvedBucket, ReusableExecution
from ferrum_verify.plan.sizes import UNIT, bytes_at, quantize, resident_ceilings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.documents.problem import (
        PlanningProblem,
        ProblemAllocation,
        ProblemDescriptor,
    )
    from ferrum_verify.documents.reusable import ProblemReusableExecution
    from ferrum_verify.plan.order import HappensBefore


def derive_static(row: ProblemAllocation) -> StaticAllocation:
    """A static row with its derived stride, count, size and lifetime."""
    stride = quantize(row.per_instance_bytes, row.alignment_bytes, row.storage.profile)
    return StaticAllocation.trusted(
        resource_id=row.resource_id,
        per_instance_bytes=row.per_instance_bytes,
        instance_stride_bytes=stride,
        instance_count=1,
        size_bytes=stride,
        alignment_bytes=row.alignment_bytes,
        usage=row.usage,
        element_type=row.element_type,
        lifetime="plan",
        kind=row.kind,
        storage=row.storage,
    )


def derive_descriptor(row: ProblemDescriptor) -> DynamicDescriptor:
    """A descriptor with its derived pool."""
    return DynamicDescriptor.trusted(
        base_resource_id=row.base_resource_id,
        demand=row.demand,
        alignment_bytes=row.alignment_bytes,
        usage=row.usage,
        element_type=row.element_type,
        lifetime=row.lifetime,
        kind=row.kind,
        storage=row.storage,
        pool_id=descriptor_pool_id(row),
        initialization=row.initialization,
        theoretical_maximum_instances=row.theoretical_maximum_instances,
    )


def derive_reusable_execution(
    policy: ProblemReusableExecution,
    node_count: int,
    structure: Mapping[str, PoolStructure],
    descriptors: Mapping[str, DynamicDescriptor],
) -> ReusableExecution:
    """The budgets of every bucket in every pool (seed 000, ``derive_reusable_execution``).

    Raises SizeError where a demand is not defined at a bucket's shape.
    """
    resolved = tuple(
        ResolvedBucket.trusted(
            bucket=bucket,
            pool_budgets=tuple(
                budget
                for pool in structure.values()
                if (
                    budget := pool_budget(
                        pool.pool_id,
                        pool.slots,
                        pool.liveness.rows_in_plan_order,
                        mode=pool.liveness.mode,
                        descriptors=descriptors,
                        shape=capacity_shape(bucket.capacity),
                    )
                )
                is not None
            ),
        )
        for bucket in canonical_buckets(policy)
    )
    cases = startup_capture_cases(len(resolved), policy.program_policy)
    return ReusableExecution.trusted(
        maximum_reusable_lanes=policy.maximum_reusable_lanes,
        maximum_device_executables=node_count * cases * policy.maximum_reusable_lanes,
        buckets=resolved,
        program_policy=policy.program_policy,
    )


def derive_plan(
    problem: PlanningProblem, order: HappensBefore, terminal: frozenset[str] = frozenset()
) -> MemoryPlan:
    """The plan of a problem whose rows and graph are legal, in unbounded arithmetic.

    ``terminal`` are the resources of the program's outputs, which schema 8.1 keeps from sharing
    as if they were retained.

    Seed 000, ``from_core_with_completion_retention``. Whether its totals fit, and whether they
    pass the capacities, is for the rules to judge. Raises SizeError as
    ``derive_reusable_execution`` does.
    """
    statics = tuple(
        sorted(map(derive_static, problem.static_allocations), key=lambda row: row.resource_id)
    )
    descriptors = tuple(
        sorted(
            map(derive_descriptor, problem.dynamic_descriptors),
            key=lambda row: row.base_resource_id,
        )
    )
    structure = derive_structure(
        group_by_pool(descriptors),
        order,
        terminal.union(problem.retained_completion_resources),
    )
    by_id = {descriptor.base_resource_id: descriptor for descriptor in descriptors}
    policy = problem.reusable_execution_policy
    reusable = (
        None
        if policy is None
        else derive_reusable_execution(policy, len(problem.nodes), structure, by_id)
    )
    usable = problem.policy_capacity_bytes - problem.reserve_bytes
    static_bytes = sum(row.size_bytes for row in statics)
    minimum = bytes_at(descriptors, UNIT)
    ceiling = resident_ceilings(descriptors)
    ceilings = workspace_ceilings(reusable)
    pools = tuple(
        total_pool(each, minimum, ceiling, ceilings.get(pool, 0), usable - static_bytes)
        for pool, each in structure.items()
    )
    mode, rows = summarise_liveness(
        (pool.invocation_liveness_mode, pool.invocation_liveness) for pool in pools
    )
    request = sum(pool.minimum_request_bytes for pool in pools)
    sequence = sum(pool.minimum_sequence_bytes for pool in pools)
    step = sum(pool.minimum_step_bytes for pool in pools)
    peak = sum(pool.minimum_invocation_peak_bytes for pool in pools)
    return MemoryPlan.trusted(
        device_capacity_bytes=problem.device_capacity_bytes,
        policy_capacity_bytes=problem.policy_capacity_bytes,
        reserve_bytes=problem.reserve_bytes,
        usable_capacity_bytes=usable,
        maximum_active_sequences=problem.maximum_active_sequences,
        static_bytes=static_bytes,
        minimum_request_bytes=request,
        minimum_sequence_bytes=sequence,
        minimum_step_bytes=step,
        minimum_invocation_peak_bytes=peak,
        minimum_runnable_request_bytes=request + sequence + step + peak,
        theoretical_ceiling_bytes=static_bytes
        + sum(pool.theoretical_ceiling_bytes for pool in pools)
        + sum(pool.reusable_workspace_ceiling_bytes for pool in pools),
        static_allocations=statics,
        dynamic_descriptors=descriptors,
        dynamic_pools=pools,
        reusable_execution=reusable,
        checkpoint_capacity=None,
        invocation_liveness_mode=mode,
        invocation_liveness=rows,
    )
