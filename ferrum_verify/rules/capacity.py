"""Capacity: what the device and the policy grant, and whether the plan's totals fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.primitives import U64_MAX, U128_MAX
from ferrum_verify.findings import Example, Finding, Rule, pointer
from ferrum_verify.rules.capacity_grant import check_grant

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.memory_plan import DynamicPool
    from ferrum_verify.rules.expected import Expected

VALIDATE = "seed 000, `MemoryPlan::validate`"
FROM_CORE = "seed 000, `from_core_with_completion_retention`"
MINIMA = (
    "minimum_request_bytes",
    "minimum_sequence_bytes",
    "minimum_step_bytes",
    "minimum_invocation_peak_bytes",
)

OVERFLOW = Rule(
    id="capacity.total-overflow",
    summary="The plan's minima fit u64 and its ceiling u128.",
    why="A total that wraps looks small, and the plan is admitted on the strength of it.",
    fix="Lower the demands that make up the total.",
    source=FROM_CORE,
    judgment="safety",
    example=Example(
        "problem",
        {
            "/dynamic_descriptors/13/demand/fixed/bytes": 9223372036854775808,
            "/dynamic_descriptors/8/demand": {"fixed": {"bytes": 9223372036854775808}},
        },
    ),
)
STATIC_EXCEEDS = Rule(
    id="capacity.static-exceeds-usable",
    summary="The static rows fit the usable bytes.",
    why="The model cannot even be loaded.",
    fix="Grant more memory, or use smaller weights.",
    source=FROM_CORE,
    judgment="safety",
    example=Example("problem", {"/static_allocations/0/per_instance_bytes": 1048576}),
)
EXCEEDS = Rule(
    id="capacity.exceeds-usable",
    summary="The static bytes and one minimal request fit the usable bytes.",
    why="The plan loads, and then no request can ever be run.",
    fix="Grant more memory, or lower the minima that the message names.",
    source=FROM_CORE,
    judgment="safety",
    example=Example("problem", {"/policy_capacity_bytes": 150000}),
)


def check_bounds(
    pools: Sequence[DynamicPool], static: int, usable: int, location: str
) -> Iterator[Finding]:
    """Whether totals fit their integers, and the plan the memory that it may take.

    ``static`` and ``usable`` are bytes; the pools are as the engine would derive them.
    """
    minima = {name: sum(getattr(pool, name) for pool in pools) for name in MINIMA}
    runnable = sum(minima.values())
    for name, total in minima.items():
        if total > U64_MAX:
            yield OVERFLOW.finding(
                f"the pools' `{name}` add up to {total:,}, more than u64 holds",
                f"{location}/{name}",
            )
            return
    if static + runnable > U64_MAX:
        yield OVERFLOW.finding(
            f"{static:,} static bytes and a minimal request of {runnable:,} bytes together pass "
            "u64",
            f"{location}/minimum_runnable_request_bytes",
        )
        return
    ceiling = static + sum(
        pool.theoretical_ceiling_bytes + pool.reusable_workspace_ceiling_bytes for pool in pools
    )
    if ceiling > U128_MAX:
        yield OVERFLOW.finding(
            f"the plan's ceilings add up to {ceiling:,}, more than u128 holds",
            f"{location}/theoretical_ceiling_bytes",
        )
    if usable <= 0:
        return
    if static > usable:
        yield STATIC_EXCEEDS.finding(
            f"the static rows take {static:,} bytes, {static - usable:,} more than the "
            f"{usable:,} usable ones",
            f"{location}/static_bytes",
        )
    elif static + runnable > usable:
        parts = ", ".join(
            f"{name.removeprefix('minimum_').removesuffix('_bytes').replace('_', ' ')} {total:,}"
            for name, total in minima.items()
        )
        yield EXCEEDS.finding(
            f"{static:,} static bytes and a minimal request of {runnable:,} ({parts}) need "
            f"{static + runnable - usable:,} bytes more than the {usable:,} usable ones",
            f"{location}/minimum_runnable_request_bytes",
        )


USABLE = Rule(
    id="capacity.usable-mismatch",
    summary="The usable bytes are the policy's capacity less the reserve.",
    why="More usable bytes than that eat into the reserve, which the runtime needs itself.",
    fix="Recompute `usable_capacity_bytes`.",
    source=VALIDATE,
    judgment="safety",
    example=Example("fragment", {"/memory/usable_capacity_bytes": 1048576}),
)


def check(facts: Expected) -> Iterator[Finding]:
    """All capacity rules of a memory plan."""
    memory, base = facts.memory, facts.subject.places.memory
    yield from check_grant(memory, base)
    # A grant that is wrong in itself leaves open what would be usable.
    granted = memory.reserve_bytes < memory.policy_capacity_bytes <= memory.device_capacity_bytes
    if granted and memory.usable_capacity_bytes != facts.usable:
        yield USABLE.finding(
            f"`usable_capacity_bytes` is {memory.usable_capacity_bytes:,}, but "
            f"{memory.policy_capacity_bytes:,} granted less {memory.reserve_bytes:,} reserved are "
            f"{facts.usable:,}",
            f"{base}/usable_capacity_bytes",
            expected=facts.usable,
            actual=memory.usable_capacity_bytes,
        )
    pools = [facts.derived_pools.get(group, pool) for group, (_, pool) in facts.pools.items()]
    if any(pool.provisioning.minimum_resident_bytes > U64_MAX for pool in pools):
        return  # the pool rules say which
    broken = list(check_bounds(pools, facts.static_bytes, facts.usable, base))
    yield from broken
    if any(finding.rule == OVERFLOW.id for finding in broken):
        return
    yield from _check_sums(facts)


MINIMUM_SUM = Rule(
    id="capacity.minimum-mismatch",
    summary="Each of the plan's four minima is the sum of that minimum over its pools.",
    why="Admission compares these totals with what is free: too small a one admits a request "
    "that then starves.",
    fix="Recompute the total from the pools.",
    source=VALIDATE,
    judgment="safety",
    example=Example("fragment", {"/memory/minimum_step_bytes": 64}),
)
RUNNABLE_SUM = Rule(
    id="capacity.runnable-mismatch",
    summary="The minimum runnable request is the sum of the four minima.",
    why="It is the least that must be free before a request is started.",
    fix="Recompute `minimum_runnable_request_bytes`.",
    source=VALIDATE,
    judgment="safety",
    example=Example("fragment", {"/memory/minimum_runnable_request_bytes": 4096}),
)
CEILING_SUM = Rule(
    id="capacity.ceiling-mismatch",
    summary="The theoretical ceiling is the static bytes plus every pool's ceilings.",
    why="It is the plan's evidence of its worst case, and what capacity planning reads.",
    fix="Recompute `theoretical_ceiling_bytes`.",
    source=VALIDATE,
    example=Example("fragment", {"/memory/theoretical_ceiling_bytes": "4096"}),
)


def _check_sums(facts: Expected) -> Iterator[Finding]:
    memory, base = facts.memory, facts.subject.places.memory
    stated = memory.dynamic_pools
    known = [
        facts.derived_pools.get(group, facts.pools[group][1] if group in facts.pools else None)
        for group in facts.groups
    ]
    # A sum may follow from what the pools state or from what is derived: see ``expected``.
    found = [pool for pool in known if pool is not None]
    derived = found if len(found) == len(known) else None
    for name in MINIMA:
        actual = getattr(memory, name)
        sums = [sum(getattr(pool, name) for pool in stated)]
        if derived is not None:
            sums.append(sum(getattr(pool, name) for pool in derived))
        if actual not in sums:
            yield MINIMUM_SUM.finding(
                f"`{name}` is {actual:,}, but the pools' add up to {sums[-1]:,}",
                pointer(base, name),
                expected=sums[-1],
                actual=actual,
            )
    sums = [sum(getattr(memory, name) for name in MINIMA)]
    for pools in (stated, derived):
        if pools is not None:
            sums.append(sum(getattr(pool, name) for pool in pools for name in MINIMA))
    if memory.minimum_runnable_request_bytes not in sums:
        yield RUNNABLE_SUM.finding(
            f"`minimum_runnable_request_bytes` is {memory.minimum_runnable_request_bytes:,}, but "
            f"the four minima add up to {sums[-1]:,}",
            f"{base}/minimum_runnable_request_bytes",
            expected=sums[-1],
            actual=memory.minimum_runnable_request_bytes,
        )
    ceilings = {
        static
        + sum(
            pool.theoretical_ceiling_bytes + pool.reusable_workspace_ceiling_bytes for pool in pools
        )
        for static in (memory.static_bytes, facts.static_bytes)
        for pools in (stated, derived)
        if pools is not None
    }
    if memory.theoretical_ceiling_bytes not in ceilings:
        expected = facts.static_bytes + sum(
            pool.theoretical_ceiling_bytes + pool.reusable_workspace_ceiling_bytes
            for pool in (derived or stated)
        )
        yield CEILING_SUM.finding(
            f"`theoretical_ceiling_bytes` is {memory.theoretical_ceiling_bytes:,}, but static rows "
            f"and pools add up to {expected:,}",
            f"{base}/theoretical_ceiling_bytes",
            expected=str(expected),
            actual=str(memory.theoretical_ceiling_bytes),
        )
