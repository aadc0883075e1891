"""Invocation liveness of the whole plan: what sums up that of its pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.liveness import summarise_liveness
from ferrum_verify.findings import DELETE, Example, Finding, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.memory_plan import (
        InvocationLiveness,
        LivenessMode,
        MemoryPlan,
    )
    from ferrum_verify.rules.expected import Expected


SUMMARY = "seed 000, `summarize_pool_invocation_liveness`"
MAXIMUM_REFERENCES = 65_536


def as_rows(rows: Sequence[InvocationLiveness]) -> list[tuple[str, tuple[str, ...]]]:
    """Liveness rows as pairs that can be compared and sorted: the node and its resources."""
    return [(row.node_id, row.resource_ids) for row in rows]


GLOBAL_MODE = Rule(
    id="liveness.global-mode",
    summary="The plan's liveness mode sums up its pools'.",
    why="The runtime picks its submission strategy by the plan's mode.",
    fix="Recompute `invocation_liveness_mode` from the pools.",
    source=SUMMARY,
    example=Example("fragment", {"/memory/invocation_liveness_mode": "total_order_reuse"}),
)
GLOBAL_ROWS = Rule(
    id="liveness.global-rows",
    summary="The plan's liveness rows are the union of its pools', by node.",
    why="The runtime claims workspaces by these rows; what is missing is not claimed.",
    fix="Recompute `invocation_liveness` from the pools.",
    source=SUMMARY,
    judgment="safety",
    example=Example("fragment", {"/memory/invocation_liveness/0": DELETE}),
)


def check_summary(facts: Expected) -> Iterator[Finding]:
    """Whether the plan's own mode and rows are what its pools' come to."""
    memory, base = facts.memory, facts.subject.places.memory
    sources: list[list[tuple[LivenessMode, Sequence[InvocationLiveness]]]] = [
        [(pool.invocation_liveness_mode, pool.invocation_liveness) for pool in memory.dynamic_pools]
    ]
    if facts.structure is not None:
        sources.append(
            [(each.liveness.mode, each.liveness.rows) for each in facts.structure.values()]
        )
    summaries = [summarise_liveness(source) for source in sources]
    modes = [mode for mode, _ in summaries]
    if memory.invocation_liveness_mode not in modes:
        yield GLOBAL_MODE.finding(
            f"the plan's liveness mode is {memory.invocation_liveness_mode}, but its pools give "
            f"{modes[0]}",
            f"{base}/invocation_liveness_mode",
            expected=modes[0],
            actual=memory.invocation_liveness_mode,
        )
    stated = as_rows(memory.invocation_liveness)
    if all(stated != as_rows(rows) for _, rows in summaries):
        wanted = as_rows(summaries[0][1])
        ours = sorted(set(wanted) - set(stated))
        theirs = sorted(set(stated) - set(wanted))
        nodes = ", ".join(f"`{node}`" for node in sorted({row[0] for row in (*ours, *theirs)})[:4])
        yield GLOBAL_ROWS.finding(
            "the plan's liveness rows differ from its pools'"
            + (f", at {nodes}" if nodes else " in their order"),
            f"{base}/invocation_liveness",
            expected=[{"node_id": node, "resource_ids": list(ids)} for node, ids in ours],
            actual=[{"node_id": node, "resource_ids": list(ids)} for node, ids in theirs],
        )
    yield from check_references(memory, f"{base}/invocation_liveness")


TOO_MANY = Rule(
    id="liveness.too-many-references",
    summary="The plan's rows hold at most 65,536 references.",
    why="The engine refuses larger plans, and derives none.",
    fix="Use fewer workspaces.",
    source=SUMMARY,
)


def check_references(memory: MemoryPlan, location: str) -> Iterator[Finding]:
    """Whether a plan, read or derived, has more rows of references than the engine takes."""
    references = sum(len(row.resource_ids) for row in memory.invocation_liveness)
    if references > MAXIMUM_REFERENCES:
        yield TOO_MANY.finding(
            f"the plan's liveness rows hold {references:,} references, more than "
            f"{MAXIMUM_REFERENCES:,}",
            location,
        )
