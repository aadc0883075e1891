"""Dynamic descriptors: resources whose bytes depend on the shape that runs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ferrum_verify.derive.pools import descriptor_pool_id
from ferrum_verify.findings import Example, Finding, Rule, Swap
from ferrum_verify.rules.descriptor_rows import VALIDATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.rules.expected import Expected

NOT_CANONICAL = Rule(
    id="descriptor.not-canonical",
    summary="Dynamic descriptors stand in ascending order of their resource ids.",
    why="The engine finds descriptors by binary search and hashes them as they stand.",
    fix="Sort `dynamic_descriptors` by `base_resource_id`.",
    source=VALIDATE,
    example=Example(
        "fragment", {"/memory/dynamic_descriptors/0": Swap("/memory/dynamic_descriptors/1")}
    ),
)
SHARES_STATIC_ID = Rule(
    id="descriptor.shares-static-id",
    summary="No resource is both static and dynamic.",
    why="A node that lists the id could be given either buffer.",
    fix="Rename one of the two resources.",
    source=VALIDATE,
    example=Example(
        "problem",
        {"/static_allocations/0/resource_id": "act/mask"},
        also=("graph.unknown-resource",),
    ),
)
FOREIGN_POOL = Rule(
    id="descriptor.foreign-pool",
    summary="A descriptor's pool id is the hash of its compatibility key.",
    why="Resources that differ in storage, usage, element type, layout or alignment must not "
    "come from one pool: its allocator would hand out bytes that do not fit the claim.",
    fix="Recompute `pool_id` from the descriptor.",
    source="seed 000, `derive_dynamic_pools_with_reusable`",
    example=Example(
        "fragment",
        {"/memory/dynamic_descriptors/8/pool_id": "dynamic-pool/sha256/" + "0" * 64},
    ),
)


def check(facts: Expected) -> Iterator[Finding]:
    """All rules of the descriptors of a memory plan."""
    memory, base = facts.memory, facts.subject.places.memory
    rows = memory.dynamic_descriptors
    at = f"{base}/dynamic_descriptors"
    yield from facts.descriptor_findings
    static = {row.resource_id for row in memory.static_allocations}
    for index, (left, right) in enumerate(itertools.pairwise(rows), start=1):
        if left.base_resource_id > right.base_resource_id:
            yield NOT_CANONICAL.finding(
                f"dynamic resource `{right.base_resource_id}` stands after "
                f"`{left.base_resource_id}`",
                f"{at}/{index}",
            )
            break
    for index, row in enumerate(rows):
        resource = row.base_resource_id
        if resource in static:
            yield SHARES_STATIC_ID.finding(
                f"resource `{resource}` has a static row and a dynamic descriptor",
                f"{at}/{index}/base_resource_id",
            )
        if resource not in facts.faulty and row.pool_id != descriptor_pool_id(row):
            yield FOREIGN_POOL.finding(
                f"dynamic resource `{resource}` names another pool than the one that its storage, "
                "usage, element type, layout and alignment give",
                f"{at}/{index}/pool_id",
                expected=descriptor_pool_id(row),
                actual=row.pool_id,
            )
