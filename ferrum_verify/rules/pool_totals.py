"""The byte totals of a pool: minima, ceilings and what is provisioned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.pools import lifetime_bytes
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.findings import Example, Finding, Rule
from ferrum_verify.findings.wording import short_pool

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.memory_plan import DynamicPool
    from ferrum_verify.documents.primitives import Lifetime
    from ferrum_verify.rules.expected import Expected

STRUCTURE = "seed 000, `validate_dynamic_pools_structure`"

OVERFLOW = Rule(
    id="pool.total-overflow",
    summary="A pool's totals fit u64.",
    why="A total that wraps looks small, and the pool is provisioned too small.",
    fix="Lower the demands of the pool's members.",
    source="seed 000, `derive_dynamic_pools_with_reusable`",
    judgment="safety",
    example=Example(
        "problem",
        {
            "/dynamic_descriptors/8/demand": {"fixed": {"bytes": 9223372036854775808}},
            "/dynamic_descriptors/9/demand": {"fixed": {"bytes": 9223372036854775808}},
            "/dynamic_descriptors/9/element_type": "u32",
        },
    ),
)


def check_bounds(pools: Sequence[DynamicPool]) -> Iterator[Finding]:
    """Whether the totals of derived pools fit u64 and their own ceilings."""
    for pool in pools:
        name = f"pool `{short_pool(pool.pool_id)}`"
        needed = pool.provisioning.minimum_resident_bytes
        if max(needed, pool.reusable_workspace_ceiling_bytes) > U64_MAX:
            yield OVERFLOW.finding(f"the totals of {name} pass u64")
        elif needed > pool.theoretical_ceiling_bytes:
            yield _exceeds(name, needed, pool.theoretical_ceiling_bytes, "")


MINIMUM_EXCEEDS = Rule(
    id="pool.minimum-exceeds-ceiling",
    summary="A pool's minimum fits its theoretical ceiling, without reusable workspace.",
    why="A pool that must keep more than it may ever hold cannot be provisioned.",
    fix="Use each invocation resource in one node only, or raise the members' ceilings.",
    source="seed 000, `from_core_with_completion_retention` (the first derivation of the pools)",
    judgment="safety",
    example=Example(
        "problem",
        {
            "/nodes/1/resources/-": "scratch/head",
            "/dynamic_descriptors/11/demand": {"fixed": {"bytes": 262144}},
            "/dynamic_descriptors/10/demand": {"fixed": {"bytes": 64}},
            "/dynamic_descriptors/10/theoretical_maximum_instances": 1,
            "/dynamic_descriptors/11/theoretical_maximum_instances": 1,
            "/nodes/2/resources/-": "scratch/head",
        },
    ),
)


def _exceeds(name: str, needed: int, ceiling: int, location: str) -> Finding:
    return MINIMUM_EXCEEDS.finding(
        f"{name} must keep {needed:,} bytes resident, but its members can hold only "
        f"{ceiling:,} at once",
        location,
    )


REQUEST_MINIMUM = Rule(
    id="pool.request-minimum",
    summary="A pool's request minimum is the sum of its request members' smallest bytes.",
    why="A request is admitted on this number; too small a one starves it.",
    fix="Recompute `minimum_request_bytes`.",
    source=STRUCTURE,
    judgment="safety",
    example=Example("fragment", {"/memory/dynamic_pools/1/minimum_request_bytes": 0}),
)
SEQUENCE_MINIMUM = Rule(
    id="pool.sequence-minimum",
    summary="A pool's sequence minimum is the sum of its sequence members' smallest bytes.",
    why="A sequence is admitted on this number; too small a one starves it.",
    fix="Recompute `minimum_sequence_bytes`.",
    source=STRUCTURE,
    judgment="safety",
    example=Example("fragment", {"/memory/dynamic_pools/2/minimum_sequence_bytes": 64}),
)
CEILING = Rule(
    id="pool.ceiling",
    summary="A pool's theoretical ceiling is the sum of its members' resident ceilings.",
    why="The pool never grows past it; too low a one makes claims fail that the plan allows.",
    fix="Recompute `theoretical_ceiling_bytes`.",
    source=STRUCTURE,
    judgment="safety",
    example=Example("fragment", {"/memory/dynamic_pools/1/theoretical_ceiling_bytes": "1024"}),
)


def check_totals(
    facts: Expected, group: str, pool: DynamicPool, location: str
) -> Iterator[Finding]:
    """Whether each total of the pool, in bytes, follows from its members; those of slots and rows
    are for their own rules.
    """
    members = facts.groups[group]
    name = f"pool `{short_pool(pool.pool_id)}`"
    derived = facts.derived_pools.get(group)
    ceiling = pool.theoretical_ceiling_bytes
    if facts.sound(members):
        minima: tuple[tuple[Lifetime, Rule, int], ...] = (
            ("request", REQUEST_MINIMUM, pool.minimum_request_bytes),
            ("sequence", SEQUENCE_MINIMUM, pool.minimum_sequence_bytes),
        )
        for lifetime, rule, actual in minima:
            expected = lifetime_bytes(members, lifetime, facts.minimum)
            if expected > U64_MAX:
                yield OVERFLOW.finding(
                    f"the {lifetime} members of {name} add up to {expected:,} bytes, more than "
                    "u64 holds",
                    f"{location}/minimum_{lifetime}_bytes",
                )
            elif actual != expected:
                yield rule.finding(
                    f"{name} has a {lifetime} minimum of {actual:,} bytes, but its {lifetime} "
                    f"members need {expected:,}",
                    f"{location}/minimum_{lifetime}_bytes",
                    expected=expected,
                    actual=actual,
                )
        ceiling = sum(facts.ceiling[member.base_resource_id] for member in members)
        if pool.theoretical_ceiling_bytes != ceiling:
            yield CEILING.finding(
                f"{name} has a theoretical ceiling of {pool.theoretical_ceiling_bytes:,} bytes, "
                f"but its members' add up to {ceiling:,}",
                f"{location}/theoretical_ceiling_bytes",
                expected=str(ceiling),
                actual=str(pool.theoretical_ceiling_bytes),
                about=(pool.pool_id,),
            )
    yield from _check_reusable_ceiling(facts, group, pool, location)
    yield from _check_provisioning(facts, group, pool, derived, ceiling, location=location)


REUSABLE_CEILING = Rule(
    id="pool.reusable-ceiling",
    summary="A pool's reusable ceiling is its budgets over all buckets, times the lanes.",
    why="Captured programs keep these bytes resident; uncounted, they crowd out live requests.",
    fix="Recompute `reusable_workspace_ceiling_bytes`.",
    source="seed 000, `derive_dynamic_pools_with_reusable`",
    judgment="safety",
    example=Example("fragment", {"/memory/dynamic_pools/0/reusable_workspace_ceiling_bytes": 0}),
)


def _check_reusable_ceiling(
    facts: Expected, group: str, pool: DynamicPool, location: str
) -> Iterator[Finding]:
    reusable = facts.memory.reusable_execution
    actual = pool.reusable_workspace_ceiling_bytes
    expected = facts.reusable_ceilings.get(group, 0)
    accepted = {expected}
    if reusable is not None:
        stated = facts.stated_lane_bytes.get(group, 0)
        for lanes in {reusable.maximum_reusable_lanes, facts.implied_lanes}:
            if lanes is not None:
                accepted |= {stated * lanes, facts.derived_lane_bytes.get(group, 0) * lanes}
    if actual not in accepted:
        yield REUSABLE_CEILING.finding(
            f"pool `{short_pool(pool.pool_id)}` has a reusable workspace ceiling of {actual:,} "
            f"bytes, but the budgets of all buckets and lanes need {expected:,}",
            f"{location}/reusable_workspace_ceiling_bytes",
            expected=expected,
            actual=actual,
            about=(pool.pool_id,),
        )


RESIDENT_MINIMUM = Rule(
    id="pool.resident-minimum",
    summary="A pool keeps resident the sum of its four minima.",
    why="The runtime provisions this much before the first request.",
    fix="Recompute `provisioning.minimum_resident_bytes`.",
    source="docs/format.md, «Pools»",
    judgment="safety",
    example=Example(
        "fragment", {"/memory/dynamic_pools/0/provisioning/minimum_resident_bytes": 64}
    ),
)
RESIDENT_MAXIMUM = Rule(
    id="pool.resident-maximum",
    summary="A pool grows to its ceilings, that for checkpoints among them, or to the bytes that "
    "static rows leave, if fewer.",
    why="A higher maximum promises memory that is not there; a lower one refuses claims that fit.",
    fix="Recompute `provisioning.maximum_resident_bytes`.",
    source=STRUCTURE,
    judgment="safety",
    example=Example(
        "fragment", {"/memory/dynamic_pools/0/provisioning/maximum_resident_bytes": 1099511627776}
    ),
)


def _check_provisioning(
    facts: Expected,
    group: str,
    pool: DynamicPool,
    derived: DynamicPool | None,
    ceiling: int,
    *,
    location: str,
) -> Iterator[Finding]:
    name = f"pool `{short_pool(pool.pool_id)}`"
    stated = (
        pool.minimum_request_bytes
        + pool.minimum_sequence_bytes
        + pool.minimum_step_bytes
        + pool.minimum_invocation_peak_bytes
    )
    minimum = pool.provisioning.minimum_resident_bytes
    accepted = [stated]
    if derived is not None:
        accepted.append(derived.provisioning.minimum_resident_bytes)
    if accepted[-1] > U64_MAX:
        yield OVERFLOW.finding(
            f"the four minima of {name} add up to {accepted[-1]:,} bytes, more than u64 holds",
            f"{location}/provisioning/minimum_resident_bytes",
        )
    elif minimum not in accepted:
        yield RESIDENT_MINIMUM.finding(
            f"{name} keeps {minimum:,} bytes resident, but its four minima add up to "
            f"{accepted[-1]:,}",
            f"{location}/provisioning/minimum_resident_bytes",
            expected=accepted[-1],
            actual=minimum,
        )
    # Where the plan and the engine differ in slots or rows, that is the fault, not this.
    needed = min(accepted)
    if needed > ceiling:
        yield _exceeds(name, needed, ceiling, f"{location}/provisioning/minimum_resident_bytes")
    actual = pool.provisioning.maximum_resident_bytes
    memory = facts.memory
    granted = [
        usable - static
        for usable in (facts.usable, memory.usable_capacity_bytes)
        for static in (facts.static_bytes, memory.static_bytes)
    ]
    reusable = {pool.reusable_workspace_ceiling_bytes, facts.reusable_ceilings.get(group, 0)}
    if derived is not None:
        reusable.add(derived.reusable_workspace_ceiling_bytes)
    # Without a layout nothing is derived, and only what is stated can count.
    growths = {pool.checkpoint_growth_ceiling_bytes}
    if memory.checkpoint_capacity is None or facts.subject.header is not None:
        growths.add(facts.growth.ceilings.get(group, 0))
    maxima = [
        min(theoretical + workspace + growth, capacity)
        for growth in growths
        for capacity in granted
        for theoretical in (ceiling, pool.theoretical_ceiling_bytes)
        for workspace in reusable
    ]
    if actual not in maxima and granted[0] >= 0:
        yield RESIDENT_MAXIMUM.finding(
            f"{name} may grow to {actual:,} bytes, but its ceilings and the memory left by static "
            f"rows allow {maxima[0]:,}",
            f"{location}/provisioning/maximum_resident_bytes",
            expected=maxima[0],
            actual=actual,
        )
