"""Liveness: invocation rows that reuse one extent never overlap, and peaks are large enough.

Mirrors ``rules/liveness.py`` without reading its conclusions.
"""

from __future__ import annotations

import itertools
from collections import Counter
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import LiveResource, ShapeCounterexample
from ferrum_verify.plan.sizes import UNIT
from ferrum_verify.prove.obligation import Obligation, Statement, formula
from ferrum_verify.prove.schedules import live_together
from ferrum_verify.prove.windows import ends_before, stream
from ferrum_verify.rules import liveness as rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples import Counterexample, Execution
    from ferrum_verify.documents.memory_plan import DynamicPool, InvocationLiveness
    from ferrum_verify.prove.obligation import Claims
    from ferrum_verify.prove.windows import PlanGraph


def reuse_claims(
    pool: DynamicPool, name: str, at: str, graph: PlanGraph, execution: Execution
) -> Claims:
    """The claims that rows which reuse one extent are never live together.

    Each row lives while its node runs. That one node ends before another starts is
    transitive, so neighbours in plan order are asked.
    """
    if pool.invocation_liveness_mode != "total_order_reuse":
        return
    position = graph.position
    rows = sorted(
        (row for row in pool.invocation_liveness if row.node_id in position and row.resource_ids),
        key=lambda row: position[row.node_id],
    )
    for left, right in itertools.pairwise(rows):
        if left.node_id != right.node_id:
            yield _one_after_the_other((left, right), name, at, graph, execution)


def _one_after_the_other(
    rows: tuple[InvocationLiveness, InvocationLiveness],
    name: str,
    at: str,
    graph: PlanGraph,
    execution: Execution,
) -> Obligation:
    left, right = (row.node_id for row in rows)
    window = graph.window(graph.position[left], graph.position[right])
    return Obligation(
        id=f"{at}/invocation_liveness: {left} before {right}",
        claim=f"`{left}` ends before `{right}` starts, so {name} may give both the same bytes "
        f"({execution}).",
        names=(left, right),
        rule=rules.ROWS_OVERLAP,
        location=f"{at}/invocation_liveness",
        formula=formula(ends_before, stream(2) if execution == "in-order" else window),
        message=f"{name} reuses one extent for `{left}` and `{right}`, but neither need wait for "
        "the other",
        witness=lambda _: _clash(rows, graph, execution),
    )


def _clash(
    rows: tuple[InvocationLiveness, InvocationLiveness], graph: PlanGraph, execution: Execution
) -> Counterexample | None:
    pairs = (
        (one, other)
        for one, other in itertools.product(*(row.resource_ids for row in rows))
        if one != other and one in graph.users and other in graph.users
    )
    pair = next(pairs, None)
    if pair is None:
        return _of_one_name(rows, graph, execution)
    return live_together(graph, *pair, execution)


def _of_one_name(
    rows: tuple[InvocationLiveness, InvocationLiveness], graph: PlanGraph, execution: Execution
) -> Counterexample | None:
    """A run in which both nodes run at once, each with its own workspace of the one name."""
    nodes = [row.node_id for row in rows]
    workspace = rows[0].resource_ids[0]
    if workspace not in rows[1].resource_ids:
        return None
    invocations = copy(graph)
    invocations.users = {node: [graph.position[node]] for node in nodes}
    found = live_together(invocations, nodes[0], nodes[1], execution)
    if found is None:
        return None
    return replace(
        found,
        left=LiveResource(workspace, nodes[0]),
        right=LiveResource(workspace, nodes[1]),
    )


def peak_claims(pool: DynamicPool, name: str, at: str, minimum: Mapping[str, int]) -> Claims:
    """The claim that a pool's invocation peak is enough for any rows that may overlap.

    Under total order one row is live at a time; otherwise any rows may be. Rows of one size are
    counted together, so a deep model has a few unknown counts, and the sum is linear in them:
    the theory is linear integers.
    """
    rows = [row for row in pool.invocation_liveness if row.resource_ids]
    if not rows or any(resource not in minimum for row in rows for resource in row.resource_ids):
        return
    sizes = [sum(minimum[resource] for resource in row.resource_ids) for row in rows]
    alone = pool.invocation_liveness_mode == "total_order_reuse"
    peak = pool.minimum_invocation_peak_bytes

    most = max(sizes) if alone else sum(sizes)
    yield Obligation(
        id=f"{at}/minimum_invocation_peak_bytes",
        claim=f"At the smallest shape the rows of {name} that are live at once never take more "
        f"than {peak:,} bytes ({'one row' if alone else 'any rows'} at a time).",
        names=(pool.pool_id,),
        rule=rules.PEAK,
        location=f"{at}/minimum_invocation_peak_bytes",
        formula=formula(stays_within, tuple(sorted(Counter(sizes).items())), alone, peak),
        message=f"{name} has an invocation peak of {peak:,} bytes, but rows of {most:,} bytes can "
        "be live at once",
        witness=lambda _: ShapeCounterexample(
            UNIT, most, peak, f"{at}/minimum_invocation_peak_bytes"
        ),
    )


def stays_within(counts: tuple[tuple[int, int], ...], alone: bool, peak: int) -> Statement:
    """Rows of these sizes, so many of each or fewer, or just one, take at most the peak."""
    live = [z3.Int(f"rows_of_{size}") for size, _ in counts]
    given = [
        z3.And(number >= 0, number <= most) for number, (_, most) in zip(live, counts, strict=True)
    ]
    if alone:
        given.append(_sum(live) <= 1)
    taken = [size * number for number, (size, _) in zip(live, counts, strict=True)]
    return Statement("QF_LIA", _sum(taken) <= peak, tuple(given))


def _sum(terms: list[z3.ArithRef]) -> z3.ArithRef:
    # A sum of one term is no legal SMT-LIB, although z3 writes it.
    return terms[0] if len(terms) == 1 else z3.Sum(terms)
