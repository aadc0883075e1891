"""Invocation liveness: which workspace bytes are live while a node runs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.derive.liveness import peak_bytes
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.findings import DELETE, Example, Finding, Rule, Swap
from ferrum_verify.findings.wording import plural, short_pool
from ferrum_verify.rules.liveness_summary import as_rows, check_summary
from ferrum_verify.rules.pool_totals import OVERFLOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import (
        DynamicPool,
    )
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.rules.expected import Expected

ROWS = "docs/format.md, «Pools»; seed 000, `validate_pool_liveness_rows`"
DERIVE = "seed 000, `derive_pool_invocation_liveness`"


def check(facts: Expected) -> Iterator[Finding]:
    """All rules of the invocation liveness of a memory plan."""
    at = f"{facts.subject.places.memory}/dynamic_pools"
    for group, (index, pool) in facts.pools.items():
        broken = list(_check_rows(facts, group, pool, f"{at}/{index}"))
        yield from broken
        yield from _check_peak(facts, group, pool, f"{at}/{index}")
        yield from _check_derived(facts, group, pool, f"{at}/{index}", bool(broken))
        yield from _check_order(facts, pool, f"{at}/{index}")
    yield from check_summary(facts)


MODE_MEMBERS = Rule(
    id="liveness.mode-members",
    summary="A pool has a liveness mode and rows exactly when it has invocation resources.",
    why="Without rows the peak is 0, and the workspaces get no bytes.",
    fix="Use `no_invocation_resources` with no rows, or list the rows.",
    source=ROWS,
    example=Example(
        "fragment", {"/memory/dynamic_pools/3/invocation_liveness_mode": "no_invocation_resources"}
    ),
)
NOT_CANONICAL = Rule(
    id="liveness.not-canonical",
    summary="Liveness rows ascend by node, and the ids in a row ascend, each once.",
    why="The engine searches the rows by node and hashes them as they stand.",
    fix="Sort the rows by `node_id` and the ids in each row.",
    source=ROWS,
    example=Example(
        "fragment",
        {
            "/memory/dynamic_pools/3/invocation_liveness/0": Swap(
                "/memory/dynamic_pools/3/invocation_liveness/1"
            )
        },
    ),
)
FOREIGN = Rule(
    id="liveness.foreign-member",
    summary="A pool's rows list invocation resources of the pool only.",
    why="A resource of another pool or lifetime is counted where it takes no bytes.",
    fix="Remove the resource from the row.",
    source=ROWS,
    example=Example(
        "fragment",
        {
            "/memory/dynamic_pools/3/invocation_liveness/0/resource_ids": [
                "input/tokens",
                "scratch/attention",
            ]
        },
    ),
)
UNCOVERED = Rule(
    id="liveness.uncovered",
    summary="Every invocation resource is live in some node.",
    why="A workspace that no node uses is never given bytes, and its owner would write nowhere.",
    fix="List the resource in the node that uses it, or remove its descriptor.",
    source=DERIVE,
    example=Example("problem", {"/nodes/3/resources/5": DELETE}),
)


def _check_rows(facts: Expected, group: str, pool: DynamicPool, location: str) -> Iterator[Finding]:
    name = f"pool `{short_pool(pool.pool_id)}`"
    members = {
        member.base_resource_id for member in facts.groups[group] if member.lifetime == "invocation"
    }
    rows, mode = pool.invocation_liveness, pool.invocation_liveness_mode
    sound = facts.sound(facts.groups[group])
    if sound and (mode == "no_invocation_resources") == bool(members):
        yield MODE_MEMBERS.finding(
            f"{name} has {plural(len(members), 'invocation resource')}, but mode {mode}",
            f"{location}/invocation_liveness_mode",
        )
    if not members and not rows:
        return
    if any(left.node_id >= right.node_id for left, right in itertools.pairwise(rows)):
        yield NOT_CANONICAL.finding(
            f"the liveness rows of {name} do not ascend by node", f"{location}/invocation_liveness"
        )
    covered: set[str] = set()
    for index, row in enumerate(rows):
        here = f"{location}/invocation_liveness/{index}/resource_ids"
        ids = row.resource_ids
        if not ids or any(left >= right for left, right in itertools.pairwise(ids)):
            yield NOT_CANONICAL.finding(
                f"the resources of `{row.node_id}` in {name} are none, or do not ascend", here
            )
        for resource in ids:
            if resource not in members and resource not in facts.faulty:
                yield FOREIGN.finding(
                    f"the row of `{row.node_id}` in {name} has `{resource}`, which is no "
                    "invocation resource of the pool",
                    here,
                )
        covered.update(ids)
    for resource in sorted(members - covered - facts.faulty):
        yield UNCOVERED.finding(
            f"invocation resource `{resource}` is in no liveness row of {name}",
            facts.place_of(resource),
        )


PEAK = Rule(
    id="liveness.peak",
    summary="A pool's invocation peak is its largest row under total order, else the sum.",
    why="A step is started on this number; too small a one lets two workspaces overlap.",
    fix="Recompute `minimum_invocation_peak_bytes`.",
    source=ROWS,
    judgment="safety",
    example=Example("fragment", {"/memory/dynamic_pools/3/minimum_invocation_peak_bytes": 512}),
)


def _check_peak(facts: Expected, group: str, pool: DynamicPool, location: str) -> Iterator[Finding]:
    rows = pool.invocation_liveness
    if any(resource not in facts.minimum for row in rows for resource in row.resource_ids):
        return
    if not facts.sound(facts.groups[group]):
        return
    expected = peak_bytes(pool.invocation_liveness_mode, rows, facts.minimum)
    derived = facts.derived_pools.get(group)
    accepted = {expected} if derived is None else {expected, derived.minimum_invocation_peak_bytes}
    if expected > U64_MAX:
        yield OVERFLOW.finding(
            f"the liveness rows of pool `{short_pool(pool.pool_id)}` add up to {expected:,} bytes, "
            "more than u64 holds",
            f"{location}/minimum_invocation_peak_bytes",
        )
    elif pool.minimum_invocation_peak_bytes not in accepted:
        yield PEAK.finding(
            f"pool `{short_pool(pool.pool_id)}` has an invocation peak of "
            f"{pool.minimum_invocation_peak_bytes:,} bytes, but its rows need {expected:,}",
            f"{location}/minimum_invocation_peak_bytes",
            expected=expected,
            actual=pool.minimum_invocation_peak_bytes,
            about=(pool.pool_id,),
        )


ROWS_NOT_DERIVED = Rule(
    id="liveness.rows-not-derived",
    summary="A pool's rows are what its nodes list.",
    why="A workspace that is booked for another node than the one that uses it is not live when "
    "it is written.",
    fix="Use the rows that the finding expects.",
    source=DERIVE,
    judgment="safety",
    example=Example(
        "fragment",
        {
            "/memory/dynamic_pools/3/invocation_liveness/1/node_id": "node/output",
            "/memory/invocation_liveness/1/resource_ids": ["binding/head"],
            "/memory/invocation_liveness/-": {
                "node_id": "node/output",
                "resource_ids": ["scratch/head"],
            },
        },
    ),
)
MODE_NOT_DERIVED = Rule(
    id="liveness.mode-not-derived",
    summary="A pool reuses one extent exactly when its nodes are totally ordered and it has no "
    "bindings.",
    why="The engine re-derives the mode and refuses another, even one that only wastes bytes.",
    fix="Use the mode that the finding expects.",
    source=DERIVE,
    example=Example(
        "fragment", {"/memory/dynamic_pools/3/invocation_liveness_mode": "conservative_concurrent"}
    ),
)


def _check_derived(
    facts: Expected, group: str, pool: DynamicPool, location: str, broken: bool
) -> Iterator[Finding]:
    if facts.order is None or facts.structure is None or broken:
        return
    if not facts.sound(facts.groups[group]):
        return
    name = f"pool `{short_pool(pool.pool_id)}`"
    derived = facts.structure[group].liveness
    stated, wanted = as_rows(pool.invocation_liveness), as_rows(derived.rows)
    mode = pool.invocation_liveness_mode
    accepted: set[str] = {derived.mode}
    has_binding = any(
        getattr(member.kind, "tag", "") == "binding" for member in facts.groups[group]
    )
    if stated != wanted:
        ours = sorted(set(wanted) - set(stated))
        theirs = sorted(set(stated) - set(wanted))
        nodes = ", ".join(f"`{node}`" for node in sorted({row[0] for row in (*ours, *theirs)})[:4])
        finding = ROWS_NOT_DERIVED.finding(
            f"the liveness rows of {name} differ from what the nodes list, at {nodes}",
            f"{location}/invocation_liveness",
            expected=[{"node_id": node, "resource_ids": list(ids)} for node, ids in ours],
            actual=[{"node_id": node, "resource_ids": list(ids)} for node, ids in theirs],
        )
        # Who uses a workspace and is given it, listed or not, writes into bytes of its own.
        given = {
            (row.node_id, each) for row in pool.invocation_liveness for each in row.resource_ids
        }
        is_given = all(
            (facts.order.nodes[user].id, member.base_resource_id) in given
            for member in facts.groups[group]
            if member.lifetime == "invocation"
            for user in facts.order.users.get(member.base_resource_id, ())
        )
        yield replace(finding, judgment="conformance") if is_given else finding
        # A mode that follows from wrong rows is no second fault.
        is_apart = not has_binding and not _overlapping(facts.order, pool)
        accepted.add("total_order_reuse" if is_apart else "conservative_concurrent")
    if mode not in accepted:
        reason = (
            "it has program bindings"
            if has_binding
            else "its nodes are totally ordered"
            if derived.mode == "total_order_reuse"
            else "its nodes are not totally ordered"
        )
        yield MODE_NOT_DERIVED.finding(
            f"{name} has mode {mode}, but {reason}, so the engine derives {derived.mode}",
            f"{location}/invocation_liveness_mode",
            expected=derived.mode,
            actual=mode,
        )


ROWS_OVERLAP = Rule(
    id="liveness.rows-overlap",
    summary="Rows that reuse one extent are never live together.",
    why="Two nodes that run at once write their workspaces into the same bytes.",
    fix="Use `conservative_concurrent`, or add the dependency that orders the two nodes.",
    source=DERIVE,
    judgment="safety",
    example=Example(
        "fragment",
        {
            "/nodes/5/dependencies": ["node/embed"],
            "/nodes/4/dependencies": ["node/attention", "node/key"],
        },
        also=("liveness.mode-not-derived", "graph.race"),
    ),
)


def _check_order(facts: Expected, pool: DynamicPool, location: str) -> Iterator[Finding]:
    """Whether rows that reuse one extent are live together, derived or not."""
    if facts.order is None or facts.execution == "in-order" or facts.under is not None:
        return
    if pool.invocation_liveness_mode == "total_order_reuse":
        for left, right in _overlapping(facts.order, pool):
            yield ROWS_OVERLAP.finding(
                f"pool `{short_pool(pool.pool_id)}` reuses one extent for `{left}` and `{right}`, "
                "but neither happens before the other",
                f"{location}/invocation_liveness",
                about=(left, right),
            )


def _overlapping(order: HappensBefore, pool: DynamicPool) -> list[tuple[str, str]]:
    """Neighbours in plan order of which neither happens before the other."""
    position = order.position
    rows = {
        row.node_id
        for row in pool.invocation_liveness
        if row.node_id in position and row.resource_ids
    }
    return [
        (left, right)
        for left, right in itertools.pairwise(sorted(rows, key=position.__getitem__))
        if not order.precedes(position[left], position[right])
    ]
