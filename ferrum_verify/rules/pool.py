"""Backing pools: membership, identity and byte totals."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ferrum_verify.derive.pools import compatibility_of
from ferrum_verify.findings import DELETE, Example, Finding, Rule, Swap
from ferrum_verify.findings.wording import in_series, marked, short_pool
from ferrum_verify.rules.pool_totals import check_totals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import DynamicPool
    from ferrum_verify.rules.expected import Expected

STRUCTURE = "seed 000, `validate_dynamic_pools_structure`"

NOT_CANONICAL = Rule(
    id="pool.not-canonical",
    summary="Pools stand in ascending order of their ids.",
    why="The engine finds pools by binary search and hashes them as they stand.",
    fix="Sort `dynamic_pools` by `pool_id`.",
    source="seed 000, `MemoryPlan::validate`",
    example=Example("fragment", {"/memory/dynamic_pools/0": Swap("/memory/dynamic_pools/1")}),
)
MISSING = Rule(
    id="pool.missing",
    summary="Every descriptor's pool is in the plan.",
    why="A claim of the resource would find no allocator.",
    fix="Add the pool that the descriptors give.",
    source=STRUCTURE,
    example=Example("fragment", {"/memory/dynamic_pools/1": DELETE}),
)
WITHOUT_MEMBERS = Rule(
    id="pool.without-members",
    summary="Every pool has a descriptor whose compatibility gives its id.",
    why="A pool that no resource belongs to keeps memory that nobody can claim.",
    fix="Remove the pool.",
    source=STRUCTURE,
    example=Example(
        "fragment",
        {
            "/memory/dynamic_descriptors/8": DELETE,
            "/nodes/0/resources": ["act/embedded", "act/mask", "weight/embed"],
        },
    ),
)


def check(facts: Expected) -> Iterator[Finding]:
    """All rules of the pools of a memory plan, but for slots and liveness."""
    at = f"{facts.subject.places.memory}/dynamic_pools"
    pools = facts.memory.dynamic_pools
    group_of = {index: group for group, (index, _) in facts.pools.items()}
    ids = [group_of.get(index, pool.pool_id) for index, pool in enumerate(pools)]
    if ids != sorted(ids) and any(
        left.pool_id >= right.pool_id for left, right in itertools.pairwise(pools)
    ):
        index = next(i for i in range(1, len(pools)) if pools[i - 1].pool_id >= pools[i].pool_id)
        yield NOT_CANONICAL.finding(
            f"pool `{short_pool(pools[index].pool_id)}` stands after "
            f"`{short_pool(pools[index - 1].pool_id)}`",
            f"{at}/{index}",
        )
    for group, members in facts.groups.items():
        if group not in facts.pools:
            names = ", ".join(f"`{member.base_resource_id}`" for member in members[:3])
            more = f" and {len(members) - 3:,} more" if len(members) > 3 else ""
            yield MISSING.finding(
                f"the plan has no pool `{short_pool(group)}` for {names}{more}", at, expected=group
            )
    for index, pool in facts.strays:
        yield WITHOUT_MEMBERS.finding(
            f"no dynamic resource belongs to pool `{short_pool(pool.pool_id)}`", f"{at}/{index}"
        )
    for group, (index, pool) in facts.pools.items():
        yield from _check_identity(facts, group, pool, f"{at}/{index}")
        yield from check_totals(facts, group, pool, f"{at}/{index}")


IDENTITY = Rule(
    id="pool.identity",
    summary="A pool's id is the hash of its compatibility key.",
    why="Descriptors and budgets name the pool by this id: under another one it is not found.",
    fix="Recompute `pool_id` from `compatibility`.",
    source=STRUCTURE,
    example=Example(
        "fragment",
        {"/memory/dynamic_pools/1/pool_id": "dynamic-pool/sha256/" + "4" * 64},
    ),
)
COMPATIBILITY = Rule(
    id="pool.compatibility",
    summary="A pool's compatibility key is that of its members.",
    why="The pool's allocator is built from the key: another one gives bytes of the wrong "
    "alignment, layout or storage.",
    fix="Copy storage, usage, element type, layout and alignment from the members.",
    source=STRUCTURE,
    example=Example("fragment", {"/memory/dynamic_pools/1/compatibility/element_type": "i32"}),
)
MEMBERS = Rule(
    id="pool.members",
    summary="A pool lists exactly the resources that belong to it, ascending.",
    why="A resource that is not listed is not counted in the pool's bytes; one that is listed "
    "without belonging there is counted twice.",
    fix="List the ids of all descriptors with this pool id, sorted.",
    source=STRUCTURE,
    judgment="safety",
    example=Example("fragment", {"/memory/dynamic_pools/3/resource_ids": ["scratch/attention"]}),
)


def _check_identity(
    facts: Expected, group: str, pool: DynamicPool, location: str
) -> Iterator[Finding]:
    members = facts.groups[group]
    name = f"pool `{short_pool(pool.pool_id)}`"
    if pool.pool_id != group:
        yield IDENTITY.finding(
            f"{name} has another id than its compatibility gives",
            f"{location}/pool_id",
            expected=group,
            actual=pool.pool_id,
        )
    key = pool.compatibility
    sound = next((m for m in members if m.base_resource_id not in facts.faulty), None)
    if sound is not None and sound.pool_id == group and key != (wanted := compatibility_of(sound)):
        wrong = [
            field
            for field in type(key).model_fields
            if getattr(key, field) != getattr(wanted, field)
        ]
        yield COMPATIBILITY.finding(
            f"{name} differs from its members in {in_series(marked(wrong))}",
            f"{location}/compatibility",
            expected=wanted.to_wire(),
            actual=key.to_wire(),
        )
    ids = tuple(member.base_resource_id for member in members)
    if pool.resource_ids != ids:
        missing = sorted(set(ids) - set(pool.resource_ids))
        extra = sorted(set(pool.resource_ids) - set(ids))
        parts = [f"does not list `{resource}`" for resource in missing]
        parts += [f"lists `{resource}`, which does not belong to it" for resource in extra]
        said = f"{name} {in_series(parts) or 'does not list its members once and ascending'}"
        place, fix = f"{location}/resource_ids", None
        expected: list[str] | str = list(ids)
        actual: list[str] | str = list(pool.resource_ids)
        if (misnamed := _misnamed_row(facts, group)) is not None:
            row, meant = misnamed
            place = f"{facts.place_of(row)}/base_resource_id"
            expected, actual = meant, row
            fix = f"Rename `{row}` to `{meant}` in its row, unless `{row}` is meant everywhere"
            said = (
                f"the row of `{row}` is named by no node, and `{meant}`, which {name} lists in its "
                f"place, has no row: one of the two names is wrong"
            )
        yield MEMBERS.finding(said, place, expected=expected, actual=actual, fix=fix)


def _misnamed_row(facts: Expected, group: str) -> tuple[str, str] | None:
    """A row that no node names, and the name without a row that the pool lists in its place.

    None unless there is one of each: of several, nobody can tell which is meant by which.
    """
    _, pool = facts.pools[group]
    ids = {member.base_resource_id for member in facts.groups[group]}
    missing, extra = sorted(ids - set(pool.resource_ids)), sorted(set(pool.resource_ids) - ids)
    if len(missing) != 1 or len(extra) != 1:
        return None
    if extra[0] in facts.descriptors or any(
        row.resource_id == extra[0] for row in facts.memory.static_allocations
    ):
        return None
    named = facts.subject.order.users if facts.subject.order is not None else {}
    return None if missing[0] in named else (missing[0], extra[0])
