"""Dynamic descriptors: resources whose bytes depend on the shape that runs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.derive.pools import descriptor_pool_id
from ferrum_verify.documents.primitives import U32_MAX
from ferrum_verify.findings import Example, Finding, Rule, Swap
from ferrum_verify.findings.wording import in_series, plural
from ferrum_verify.rules.descriptor_rows import SIZES, VALIDATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.reading.document import Subject
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
    yield from _check_instances(facts, at)


TOO_FEW = Rule(
    id="descriptor.too-few-instances",
    summary="A row of each sequence or request has an instance for every active sequence, and a "
    "Step or invocation row one for every lane that can run.",
    why="Where a batch has more sequences than a row has instances, two of them get the same "
    "bytes, or one gets none.",
    fix="Give the row `maximum_active_sequences` instances, or admit fewer sequences.",
    source=SIZES,
    judgment="safety",
    example=Example(
        "bundle",
        {"/plan/payload/memory/dynamic_descriptors/5/theoretical_maximum_instances": 1},
        also=("pool.ceiling",),
    ),
)


def _check_instances(facts: Expected, location: str) -> Iterator[Finding]:
    subject = facts.subject
    for lifetimes in (("sequence", "request"), ("step", "invocation")):
        needed = instances_needed(facts.subject, facts.memory, lifetimes[0])
        own = [
            (index, row)
            for index, row in enumerate(facts.memory.dynamic_descriptors)
            if row.lifetime in lifetimes
            # Of a workspace in a full plan the contract says how many instances it has.
            and (facts.subject.plan_nodes is None or row.kind == "value")
        ]
        few = [
            (index, row)
            for index, row in own
            if 0 < row.theoretical_maximum_instances < needed <= U32_MAX
        ]
        counts = {row.theoretical_maximum_instances for _, row in few}
        what = "sequences" if lifetimes[0] == "sequence" else "lanes"
        if len(few) > 1 and len(few) == len(own) and len(counts) == 1:
            count = counts.pop()
            yield TOO_FEW.finding(
                f"the plan runs up to {needed:,} {what} at once, but all {len(few):,} dynamic "
                f"resources of lifetimes {in_series(lifetimes)} have "
                f"{plural(count, 'instance')}",
                f"{facts.subject.places.memory}/maximum_active_sequences",
                expected=count,
                actual=needed,
            )
            continue
        for index, row in few:
            count = row.theoretical_maximum_instances
            finding = TOO_FEW.finding(
                f"dynamic resource `{row.base_resource_id}` of lifetime {row.lifetime} has "
                f"{plural(count, 'instance')}, but the plan runs up to {needed:,} {what} at once",
                f"{location}/{index}/theoretical_maximum_instances",
                expected=needed,
                actual=count,
            )
            # Of a part of a plan it is not known that it runs so many: a row whose own demand is
            # for no more sequences than it has instances may be all that is asked of it.
            bound = row.demand.terms.limit("sequences")
            is_bound = subject.plan_nodes is None and bound is not None and bound <= count
            yield replace(finding, severity="warning") if is_bound else finding


def instances_needed(subject: Subject, memory: MemoryPlan, lifetime: str) -> int:
    """The fewest instances that a row of a lifetime can have.

    Each lane in flight has a sequence, so no more lanes run than sequences are active. Where the
    plan departs from its policy in the sequences, the fewer count here: that is one fault.
    """
    active = memory.maximum_active_sequences
    if subject.policy is not None:
        active = min(active, subject.policy.memory.maximum_active_sequences)
    if lifetime in ("sequence", "request"):
        return active
    reusable = memory.reusable_execution
    return 0 if reusable is None else min(active, reusable.maximum_reusable_lanes)
