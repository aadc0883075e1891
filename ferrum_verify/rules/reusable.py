"""Reusable execution: lanes, buckets, budgets and captured programs."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.derive.reusable import bucket_order, startup_capture_cases
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.findings import Example, Finding, Rule, Swap, pointer
from ferrum_verify.plan.canonical import bucket_id
from ferrum_verify.rules.captured_programs import check_programs
from ferrum_verify.rules.pool import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.reusable import (
        BucketSpec,
        Capacity,
        ProgramPolicy,
        ResolvedBucket,
        ReusableExecution,
    )
    from ferrum_verify.rules.facts import Facts

POLICY = "format description, reusable execution"
DERIVE = "seed 000, derive_reusable_execution"

ZERO_LANES = Rule(
    id="reusable.zero-lanes",
    summary="Reusable execution has at least one lane.",
    why="Without a lane no captured program can run.",
    fix="Set `maximum_reusable_lanes` to 1 or more, or leave reusable execution out.",
    source=POLICY,
    example=Example("problem", {"/reusable_execution_policy/maximum_reusable_lanes": 0}),
)
BUCKET_COUNT = Rule(
    id="reusable.bucket-count",
    summary="Reusable execution has 1 to 64 buckets.",
    why="The engine refuses others.",
    fix="Merge buckets, or leave reusable execution out.",
    source=POLICY,
    example=Example(
        "problem", {"/reusable_execution_policy": {"maximum_reusable_lanes": 1, "buckets": []}}
    ),
)
ZERO_CAPACITY = Rule(
    id="reusable.zero-capacity",
    summary="A bucket's capacities are at least 1.",
    why="A bucket for 0 sequences, tokens or pages covers no shape.",
    fix="Give each capacity a positive value.",
    source=POLICY,
    example=Example("problem", {"/reusable_execution_policy/buckets/0/maximum_pages": 0}),
)
BUCKET_NESTING = Rule(
    id="reusable.bucket-nesting",
    summary="Within a class each bucket covers the one before and differs from it.",
    why="Of two buckets that do not cover each other, neither is the right one for some batch.",
    fix="Let each bucket of the class grow in every dimension, or give it another class.",
    source=POLICY,
    example=Example("problem", {"/reusable_execution_policy/buckets/1/maximum_pages": 8}),
)


def check_policy(
    lanes: int,
    buckets: Sequence[tuple[str, Capacity, str]],
    program_policy: ProgramPolicy | None,
    at: str,
) -> Iterator[Finding]:
    """The rules that hold wherever reusable execution is stated: plan, problem or policy.

    ``buckets`` are class id, capacity and JSON pointer, in canonical order.
    """
    if lanes == 0:
        yield ZERO_LANES.finding("reusable execution has 0 lanes", f"{at}/maximum_reusable_lanes")
    if not 1 <= len(buckets) <= 64:
        yield BUCKET_COUNT.finding(
            f"reusable execution has {len(buckets):,} buckets, not 1 to 64", f"{at}/buckets"
        )
    last: dict[str, tuple[int, int, int]] = {}
    for class_id, capacity, place in buckets:
        shape = (capacity.maximum_sequences, capacity.maximum_tokens, capacity.maximum_pages)
        if not all(shape):
            yield ZERO_CAPACITY.finding(
                f"a bucket of class `{class_id}` has capacity {_capacity(shape)}", place
            )
        elif class_id in last:
            before = last[class_id]
            if shape == before or any(n < b for n, b in zip(shape, before, strict=True)):
                yield BUCKET_NESTING.finding(
                    f"in class `{class_id}` the bucket of {_capacity(shape)} does not grow past "
                    f"the one of {_capacity(before)}",
                    place,
                )
        last[class_id] = shape
    if program_policy is not None:
        capacities: dict[str, list[Capacity]] = {}
        for class_id, capacity, _ in buckets:
            capacities.setdefault(class_id, []).append(capacity)
        yield from check_programs(program_policy, capacities, f"{at}/program_policy")


def _capacity(shape: tuple[int, int, int]) -> str:
    return f"{shape[0]:,} sequences, {shape[1]:,} tokens and {shape[2]:,} pages"


BUCKET_ORDER = Rule(
    id="reusable.bucket-order",
    summary="A plan's buckets ascend by class, sequences, tokens and pages.",
    why="The runtime takes the first bucket that covers a batch: out of order, it takes a larger "
    "one than it needs.",
    fix="Sort the buckets.",
    source=POLICY,
    example=Example(
        "fragment",
        {"/memory/reusable_execution/buckets/1": Swap("/memory/reusable_execution/buckets/2")},
    ),
)


def check(facts: Facts) -> Iterator[Finding]:
    """All rules of a memory plan's reusable execution."""
    reusable = facts.memory.reusable_execution
    if reusable is None:
        return
    at = f"{facts.subject.places.memory}/reusable_execution"
    specs = [resolved.bucket for resolved in reusable.buckets]
    order = sorted(range(len(specs)), key=lambda index: bucket_order(specs[index]))
    yield from check_policy(
        reusable.maximum_reusable_lanes,
        [
            (specs[i].class_id, specs[i].capacity, f"{at}/buckets/{i}/bucket/capacity")
            for i in order
        ],
        reusable.program_policy,
        at,
    )
    if order != list(range(len(specs))):
        yield BUCKET_ORDER.finding(
            "the buckets do not ascend by class, sequences, tokens and pages", f"{at}/buckets"
        )
    yield from check_identities(specs, f"{at}/buckets", "bucket/bucket_id")
    yield from _check_executables(facts, reusable, at)
    for index, resolved in enumerate(reusable.buckets):
        yield from _check_budgets(facts, index, resolved, f"{at}/buckets/{index}/pool_budgets")


BUCKET_IDENTITY = Rule(
    id="reusable.bucket-identity",
    summary="A bucket's id is the hash of its class and capacity.",
    why="Captured programs and binding arenas are found by this id.",
    fix="Recompute `bucket_id`.",
    source="format description, canonical fingerprints",
    example=Example(
        "fragment",
        {
            "/memory/reusable_execution/buckets/0/bucket/bucket_id": "reusable-bucket/sha256/"
            + "0" * 64
        },
    ),
)


def check_identities(specs: Sequence[BucketSpec], at: str, member: str) -> Iterator[Finding]:
    """Whether each bucket's id is the hash of its class and capacity."""
    for index, spec in enumerate(specs):
        expected = bucket_id(
            spec.class_id,
            spec.capacity.maximum_sequences,
            spec.capacity.maximum_tokens,
            spec.capacity.maximum_pages,
        )
        capacity = spec.capacity
        if not (capacity.maximum_sequences and capacity.maximum_tokens and capacity.maximum_pages):
            continue
        if spec.bucket_id != expected:
            yield BUCKET_IDENTITY.finding(
                f"bucket {index} of class `{spec.class_id}` has another id than its class and "
                "capacity give",
                f"{at}/{index}/{member}",
                expected=expected,
                actual=spec.bucket_id,
            )


LANES = Rule(
    id="reusable.lanes-inconsistent",
    summary="Executables and workspace ceilings are counted for the stated number of lanes.",
    why="Each lane keeps its own workspace and executables: with more lanes than were counted, "
    "memory runs out while programs are captured.",
    fix="Set `maximum_reusable_lanes` to the number that the plan was derived for, or derive it "
    "anew.",
    source=DERIVE,
    judgment="safety",
    example=Example("fragment", {"/memory/reusable_execution/maximum_reusable_lanes": 3}),
)
EXECUTABLES = Rule(
    id="reusable.executables",
    summary="Device executables are nodes times start-up capture cases times lanes.",
    why="The device reserves this many; with fewer, a capture fails while the server starts.",
    fix="Recompute `maximum_device_executables`.",
    source=DERIVE,
    example=Example("fragment", {"/memory/reusable_execution/maximum_device_executables": 18}),
)
NO_NODES = Rule(
    id="reusable.no-nodes",
    summary="Reusable execution has at least one node to capture.",
    why="There is nothing to capture.",
    fix="Leave reusable execution out.",
    source=DERIVE,
    example=Example("problem", {"/nodes": [], "/dynamic_descriptors": []}),
)


def _check_executables(facts: Facts, reusable: ReusableExecution, at: str) -> Iterator[Finding]:
    lanes = reusable.maximum_reusable_lanes
    implied = facts.implied_lanes
    if implied is not None and implied != lanes and lanes:
        yield LANES.finding(
            f"reusable execution has {lanes:,} lanes, but executables and workspace ceilings are "
            f"counted for {implied:,}",
            f"{at}/maximum_reusable_lanes",
            expected=implied,
            actual=lanes,
        )
        return
    if facts.subject.nodes is None:
        if reusable.maximum_device_executables == 0:
            yield EXECUTABLES.finding(
                "the plan reserves 0 device executables", f"{at}/maximum_device_executables"
            )
        return
    nodes = len({node.id for node in facts.subject.nodes})
    if nodes == 0:
        yield NO_NODES.finding("reusable execution has no node to capture", at)
        return
    cases = startup_capture_cases(len(reusable.buckets), reusable.program_policy)
    expected = nodes * cases * lanes
    if expected > U64_MAX:
        yield EXECUTABLES.finding(
            f"{nodes:,} nodes, {cases:,} capture cases and {lanes:,} lanes need more executables "
            "than u64 holds",
            f"{at}/maximum_device_executables",
        )
    elif (
        lanes
        and cases
        and reusable.maximum_device_executables
        not in (expected, len(facts.subject.nodes) * cases * lanes)
    ):
        yield EXECUTABLES.finding(
            f"the plan reserves {reusable.maximum_device_executables:,} device executables, but "
            f"{nodes:,} nodes, {cases:,} capture cases and {lanes:,} lanes need {expected:,}",
            f"{at}/maximum_device_executables",
            expected=expected,
            actual=reusable.maximum_device_executables,
        )


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


def _check_budgets(
    facts: Facts, index: int, resolved: ResolvedBucket, at: str
) -> Iterator[Finding]:
    budgets = resolved.pool_budgets
    name = f"bucket {index} of class `{resolved.bucket.class_id}`"
    ids = [budget.pool_id for budget in budgets]
    if any(left >= right for left, right in itertools.pairwise(ids)):
        yield BUDGET_POOL.finding(f"the budgets of {name} do not ascend by pool, each once", at)
    for place, budget in enumerate(budgets):
        if budget.pool_id not in facts.groups:
            yield BUDGET_POOL.finding(
                f"{name} has a budget for pool `{short(budget.pool_id)}`, which is not in the plan",
                f"{at}/{place}/pool_id",
            )
        elif budget.step_bytes == 0 == budget.invocation_bytes:
            yield BUDGET_ZERO.finding(
                f"{name} has a budget of 0 bytes for pool `{short(budget.pool_id)}`",
                f"{at}/{place}",
            )
    stated = {budget.pool_id: (budget.step_bytes, budget.invocation_bytes) for budget in budgets}
    positions = {budget.pool_id: place for place, budget in enumerate(budgets)}
    for pool in facts.groups:
        accepted = facts.budgets_at(index, pool)
        if isinstance(accepted, str):
            yield SHAPE.finding(f"at the shape of {name} {accepted}", at)
            continue
        actual = stated.get(pool, (0, 0))
        if not accepted or actual in accepted:
            continue
        if pool in stated and actual == (0, 0):
            continue
        expected = accepted[-1]
        finding = BUDGET.finding(
            f"{name} budgets {actual[0]:,} step and {actual[1]:,} invocation bytes in pool "
            f"`{short(pool)}`, but its slots and rows need {expected[0]:,} and {expected[1]:,}",
            pointer(at, positions[pool]) if pool in positions else at,
            expected={"step_bytes": expected[0], "invocation_bytes": expected[1]},
            actual={"step_bytes": actual[0], "invocation_bytes": actual[1]},
            about=(name, pool),
        )
        wasteful = actual[0] >= expected[0] and actual[1] >= expected[1]
        # A budget that is too large wastes bytes, and nothing runs past it.
        yield replace(finding, judgment="conformance") if wasteful else finding
