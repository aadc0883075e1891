"""Reusable execution: budgets are enough at every shape that a bucket covers, and lanes fit.

Mirrors ``rules/reusable_budgets.py`` and the reusable ceiling of ``rules/pool_totals.py``.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import ShapeCounterexample
from ferrum_verify.derive.reusable import capacity_shape
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.sizes import UNIT
from ferrum_verify.plan.turns import row_groups, slot_groups
from ferrum_verify.prove.formulas import LOGIC, Words, shape_of
from ferrum_verify.prove.need import Need, all_sound, fits
from ferrum_verify.prove.obligation import Obligation, Statement, formula
from ferrum_verify.rules.pool_totals import REUSABLE_CEILING
from ferrum_verify.rules.reusable_budgets import BUDGET

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.documents.reusable import ResolvedBucket
    from ferrum_verify.prove.obligation import Claims


def budget_claims(
    resolved: ResolvedBucket,
    name: str,
    at: str,
    pool: DynamicPool,
    descriptors: Mapping[str, DynamicDescriptor],
) -> Claims:
    """The claims that a bucket's budget in a pool is enough at every shape that it covers."""
    budget = next((each for each in resolved.pool_budgets if each.pool_id == pool.pool_id), None)
    parts = {"step": slot_groups(pool), "invocation": row_groups(pool)}
    if not all(all_sound(groups, descriptors) for groups in parts.values()):
        return
    most = capacity_shape(resolved.bucket.capacity)
    for kind, groups in parts.items():
        if not groups:
            continue
        limit, limit_from = 0, at
        if budget is not None:
            limit = getattr(budget, f"{kind}_bytes")
            limit_from = f"{at}/{resolved.pool_budgets.index(budget)}/{kind}_bytes"
        need = Need.of(0, (), groups, descriptors)
        yield Obligation(
            id=f"{at}: {kind} of {pool.pool_id}",
            claim=f"At every shape that {name} covers, the {kind} bytes of pool "
            f"`{short_pool(pool.pool_id)}` are at most the {limit:,} that it budgets.",
            names=(name, pool.pool_id),
            rule=BUDGET,
            location=at,
            formula=formula(fits, need, most, limit),
            message=f"{name} budgets {limit:,} {kind} bytes in pool `{short_pool(pool.pool_id)}`, "
            "which a shape that it covers passes",
            witness=partial(at_shape, need, limit, limit_from),
        )


def at_shape(
    need: Need, limit: int, limit_from: str, counts: tuple[int, ...]
) -> Counterexample | None:
    """The shape of these counts, with what is needed there, beside the limit and its place.

    None where a demand is not defined there.
    """
    shape = shape_of(counts)
    try:
        return ShapeCounterexample(shape, need.bytes_at(shape), limit, limit_from)
    except SizeError:
        return None


def lane_claims(memory: MemoryPlan, pool: DynamicPool, at: str) -> Claims:
    """The claim that all lanes of all buckets fit a pool's reusable workspace ceiling."""
    reusable = memory.reusable_execution
    if reusable is None:
        return
    budgets = tuple(
        part
        for resolved in reusable.buckets
        for budget in resolved.pool_budgets
        if budget.pool_id == pool.pool_id
        for part in (budget.step_bytes, budget.invocation_bytes)
    )
    lanes, ceiling = reusable.maximum_reusable_lanes, pool.reusable_workspace_ceiling_bytes
    total = lanes * sum(budgets)
    yield Obligation(
        id=f"{at}: lanes",
        claim=f"Any {lanes:,} lanes or fewer, each with its budget of every bucket, fit the "
        f"{ceiling:,} bytes that pool `{short_pool(pool.pool_id)}` keeps for reusable execution.",
        names=(pool.pool_id,),
        rule=REUSABLE_CEILING,
        location=f"{at}/reusable_workspace_ceiling_bytes",
        formula=formula(lanes_fit, budgets, lanes, ceiling),
        message=f"pool `{short_pool(pool.pool_id)}` keeps {ceiling:,} bytes for reusable "
        f"execution, but {lanes:,} lanes need {total:,}",
        witness=lambda _: ShapeCounterexample(
            UNIT, total, ceiling, f"{at}/reusable_workspace_ceiling_bytes"
        ),
    )


def lanes_fit(budgets: tuple[int, ...], lanes: int, ceiling: int) -> Statement:
    """Any number of lanes up to ``lanes``, each with all budgets, fits the ceiling."""
    lane = z3.BitVec("lane_count", max(lanes, 1).bit_length())
    words = Words.beside(max(2 ** lane.size() * sum(budgets), ceiling), lane)
    taken = words.widened(lane) * words.sum(budgets)
    return Statement(
        LOGIC,
        z3.ULE(taken, words.constant(ceiling)),
        (z3.ULE(lane, lanes),),
        least=(lane,),
        example=((lane, z3.BitVecVal(0, lane.size())),),
    )
