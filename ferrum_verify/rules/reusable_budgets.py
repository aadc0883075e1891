"""Budgets of reusable execution: what a bucket's captured programs may write to."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Finding, Rule, Swap, pointer
from ferrum_verify.findings.wording import short_pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.reusable import (
        ResolvedBucket,
    )
    from ferrum_verify.rules.expected import Expected


POLICY = "docs/format.md, «Reusable execution»"
DERIVE = "seed 000, `derive_reusable_execution`"

BUDGET_POOL = Rule(
    id="reusable.budget-pool",
    summary="A budget names a pool of the plan, and budgets ascend by pool, each once.",
    why="A budget for an unknown pool reserves nothing.",
    fix="Sort the budgets by `pool_id` and remove those without a pool.",
    source=POLICY,
    example=Example(
        "fragment",
        {
            "/memory/reusable_execution/buckets/0/pool_budgets/0": Swap(
                "/memory/reusable_execution/buckets/0/pool_budgets/1"
            )
        },
    ),
)
BUDGET_ZERO = Rule(
    id="reusable.budget-zero",
    summary="A budget is more than 0 bytes.",
    why="The engine writes no empty budgets, so the plan was not derived by it.",
    fix="Remove the budget.",
    source=POLICY,
    example=Example(
        "fragment", {"/memory/reusable_execution/buckets/0/pool_budgets/2/invocation_bytes": 0}
    ),
)
BUDGET = Rule(
    id="reusable.budget",
    summary="A bucket's budget in a pool is what its slots and rows need at the bucket's shape.",
    why="A captured program writes to fixed addresses: with a smaller budget it writes past them.",
    fix="Use the budgets that the finding expects.",
    source=DERIVE,
    judgment="safety",
    example=Example(
        "fragment", {"/memory/reusable_execution/buckets/1/pool_budgets/0/step_bytes": 896}
    ),
)
SHAPE = Rule(
    id="reusable.shape-outside-demand",
    summary="Every Step and invocation resource is defined at every bucket's shape.",
    why="A captured program of the bucket would ask for bytes that no formula gives.",
    fix="Raise the demand's maxima, or lower the bucket's capacity.",
    source=DERIVE,
    judgment="safety",
    example=Example("problem", {"/reusable_execution_policy/buckets/1/maximum_sequences": 5}),
)


def check_budgets(
    facts: Expected, index: int, resolved: ResolvedBucket, location: str
) -> Iterator[Finding]:
    """Findings of the budgets of the plan's bucket number ``index``."""
    budgets = resolved.pool_budgets
    name = f"bucket {index} of class `{resolved.bucket.class_id}`"
    ids = [budget.pool_id for budget in budgets]
    if any(left >= right for left, right in itertools.pairwise(ids)):
        yield BUDGET_POOL.finding(
            f"the budgets of {name} do not ascend by pool, each once", location
        )
    for place, budget in enumerate(budgets):
        if budget.pool_id not in facts.groups:
            yield BUDGET_POOL.finding(
                f"{name} has a budget for pool `{short_pool(budget.pool_id)}`, which is not in "
                "the plan",
                f"{location}/{place}/pool_id",
            )
        elif budget.step_bytes == 0 == budget.invocation_bytes:
            yield BUDGET_ZERO.finding(
                f"{name} has a budget of 0 bytes for pool `{short_pool(budget.pool_id)}`",
                f"{location}/{place}",
            )
    stated = {budget.pool_id: (budget.step_bytes, budget.invocation_bytes) for budget in budgets}
    positions = {budget.pool_id: place for place, budget in enumerate(budgets)}
    for pool in facts.groups:
        accepted = facts.budgets_at(index, pool)
        if isinstance(accepted, str):
            yield SHAPE.finding(f"at the shape of {name} {accepted}", location)
            continue
        actual = stated.get(pool, (0, 0))
        if not accepted or actual in accepted:
            continue
        if pool in stated and actual == (0, 0):
            continue
        expected = accepted[-1]
        finding = BUDGET.finding(
            f"{name} budgets {actual[0]:,} step and {actual[1]:,} invocation bytes in pool "
            f"`{short_pool(pool)}`, but its slots and rows need {expected[0]:,} and "
            f"{expected[1]:,}",
            pointer(location, positions[pool]) if pool in positions else location,
            expected={"step_bytes": expected[0], "invocation_bytes": expected[1]},
            actual={"step_bytes": actual[0], "invocation_bytes": actual[1]},
            about=(name, pool),
        )
        wasteful = actual[0] >= expected[0] and actual[1] >= expected[1]
        # A budget that is too large wastes bytes, and nothing runs past it.
        yield replace(finding, judgment="conformance") if wasteful else finding
