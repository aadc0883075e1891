"""How far pools grow for captured checkpoints: plan schema 8.1.

A plan states its checkpoint layout, and growth follows from it. A memory plan or fragment has no
layout: there only what every layout would give can be asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.checkpoint_growth import growth_ceiling, is_sequence_state
from ferrum_verify.documents.plan_schema import SCHEMA_5_0, SCHEMA_8_1
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import short_pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import DynamicPool
    from ferrum_verify.findings import Finding
    from ferrum_verify.rules.expected import Expected

_FORMAT = "docs/format.md, «Plan schema 8.1» (growth)"
_FIELD = "checkpoint_growth_ceiling_bytes"
_POOLS = "/plan/payload/memory/dynamic_pools"

UNFIT = Rule(
    id="pool.checkpoint-growth-unfit",
    summary="The states of a checkpoint layout lie in state values of a sequence.",
    why="A pool of anything else cannot hold copies of a sequence's state; the engine refuses to "
    "derive its growth.",
    fix="Derive the layout from the plan: it names resources of usage state, kind value and "
    "lifetime sequence.",
    source=_FORMAT,
    example=Example(
        "bundle-8.1",
        {"/plan/payload/sequence_checkpoint_layout/states/1/resource_id": "resource.hidden"},
        also=("pool.checkpoint-growth", "checkpoint.layout-differs"),
    ),
)
CONFLICT = Rule(
    id="pool.checkpoint-growth-conflict",
    summary="The captured states of one pool give it one growth ceiling.",
    why="Of two ceilings the engine cannot know which is meant, and refuses the plan.",
    fix="Align the states of one pool alike.",
    source=_FORMAT,
)
DIFFERS = Rule(
    id="pool.checkpoint-growth",
    summary="A pool grows for checkpoints as far as the plan's capacity and layout give.",
    why="Checkpoints are copies of sequence state in the same pool. Too low a ceiling keeps none; "
    "too high a one lets them crowd out live sequences.",
    fix="Round the checkpoint capacity down to the units of the pool that holds captured states; "
    "other pools have no growth.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle-8.1", {f"{_POOLS}/2/{_FIELD}": 4096}),
)


def check(facts: Expected) -> Iterator[Finding]:
    """Findings of all rules of growth; of plans of schema 5.0 the wire rules speak."""
    subject = facts.subject
    if subject.schema == SCHEMA_5_0:
        return
    at = f"{subject.places.memory}/dynamic_pools"
    if subject.schema != SCHEMA_8_1 or subject.header is None:
        for index, pool in enumerate(facts.memory.dynamic_pools):
            if pool.checkpoint_growth_ceiling_bytes:
                yield from _without_layout(facts, pool, f"{at}/{index}/{_FIELD}")
        return
    growth = facts.growth
    place = f"{subject.places.payload}/sequence_checkpoint_layout"
    for resource in growth.unfit:
        yield UNFIT.finding(
            f"`{resource}` holds a state of the checkpoint layout, but is no state value of a "
            "sequence in the memory plan",
            place,
        )
    for pool_id, first, second in growth.differing:
        ceilings = [_ceiling(facts, resource) for resource in (first, second)]
        yield CONFLICT.finding(
            f"pool `{short_pool(pool_id)}` grows by {ceilings[0]:,} bytes for `{first}` and by "
            f"{ceilings[1]:,} for `{second}`",
            place,
        )
    refused = {pool_id for pool_id, _, _ in growth.differing}
    for group, (index, pool) in facts.pools.items():
        expected, actual = growth.ceilings.get(group, 0), pool.checkpoint_growth_ceiling_bytes
        if expected != actual and group not in refused and facts.sound(facts.groups[group]):
            yield DIFFERS.finding(
                f"pool `{short_pool(pool.pool_id)}` may grow by {actual:,} bytes for checkpoints, "
                f"but the plan's layout and capacity give {expected:,}",
                f"{at}/{index}/{_FIELD}" if actual else f"{at}/{index}",
                expected=expected,
                actual=actual,
            )


def _ceiling(facts: Expected, resource: str) -> int:
    capacity = facts.memory.checkpoint_capacity
    assert capacity is not None
    return growth_ceiling(facts.descriptors[resource], capacity.maximum_retained_bytes)


UNFOUNDED = Rule(
    id="pool.checkpoint-growth-unfounded",
    summary="A pool that grows for checkpoints has a state which gives that ceiling, and the plan "
    "a checkpoint capacity.",
    why="The ceiling is the capacity in whole units of a captured state's storage. Any other "
    "number is not derived, whatever the layout is.",
    fix="State the policy's checkpoint capacity, and round it down to the units of the pool's "
    "state.",
    source=_FORMAT,
    judgment="safety",
    example=Example("fragment", {f"/memory/dynamic_pools/0/{_FIELD}": 4096}),
)
UNKNOWN = Rule(
    id="pool.checkpoint-growth-unknown",
    summary="The checkpoint layout is at hand where a pool grows for checkpoints.",
    why="Which states are captured stands in the execution plan. A fragment or memory plan cannot "
    "show whether a pool's state is one of them, and the pool's maximum rests on it.",
    fix="Audit the whole execution plan.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    example=Example(
        "fragment",
        {
            "/memory/checkpoint_capacity": {"maximum_retained_bytes": 4096},
            f"/memory/dynamic_pools/2/{_FIELD}": 4096,
            "/memory/dynamic_pools/2/provisioning/maximum_resident_bytes": 20480,
        },
    ),
)


def _without_layout(facts: Expected, pool: DynamicPool, location: str) -> Iterator[Finding]:
    name = f"pool `{short_pool(pool.pool_id)}`"
    actual = pool.checkpoint_growth_ceiling_bytes
    states = [
        resource
        for resource in pool.resource_ids
        if (row := facts.descriptors.get(resource)) is not None and is_sequence_state(row)
    ]
    if facts.memory.checkpoint_capacity is None:
        yield UNFOUNDED.finding(
            f"{name} may grow by {actual:,} bytes for checkpoints, but the plan has no checkpoint "
            "capacity",
            location,
            actual=actual,
        )
    elif all(_ceiling(facts, resource) != actual for resource in states):
        gives = ", ".join(f"`{each}` {_ceiling(facts, each):,}" for each in states[:3])
        yield UNFOUNDED.finding(
            f"{name} may grow by {actual:,} bytes for checkpoints, but "
            + (f"of its states gives {gives}" if states else "it holds no state of a sequence"),
            location,
            actual=actual,
        )
    else:
        yield UNKNOWN.finding(
            f"{name} may grow by {actual:,} bytes for checkpoints; whether its state is captured "
            "stands in the execution plan's checkpoint layout",
            location,
        )
