"""Reusable execution: lanes, buckets, budgets and captured programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.reusable import bucket_order, startup_capture_cases
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.findings import Example, Finding, Rule, Swap
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.canonical import bucket_id
from ferrum_verify.rules.captured_programs import check_programs
from ferrum_verify.rules.reusable_budgets import check_budgets
from ferrum_verify.rules.reusable_lanes import check_lanes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.reusable import (
        BucketSpec,
        Capacity,
        ProgramPolicy,
        ReusableExecution,
    )
    from ferrum_verify.rules.expected import Expected

POLICY = "docs/format.md, «Reusable execution»"
DERIVE = "seed 000, `derive_reusable_execution`"

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
    location: str,
) -> Iterator[Finding]:
    """The rules that hold wherever reusable execution is stated: plan, problem or policy.

    ``buckets`` are class id, capacity and JSON pointer, in canonical order.
    """
    if lanes == 0:
        yield ZERO_LANES.finding(
            "reusable execution has 0 lanes", f"{location}/maximum_reusable_lanes"
        )
    if not 1 <= len(buckets) <= 64:
        yield BUCKET_COUNT.finding(
            f"reusable execution has {len(buckets):,} buckets, not 1 to 64", f"{location}/buckets"
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
        yield from check_programs(program_policy, capacities, f"{location}/program_policy")


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


def check(facts: Expected) -> Iterator[Finding]:
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
        yield from check_budgets(facts, index, resolved, f"{at}/buckets/{index}/pool_budgets")
    if facts.implied_lanes in (None, reusable.maximum_reusable_lanes):
        yield from check_lanes(facts.memory, reusable, at)


BUCKET_IDENTITY = Rule(
    id="reusable.bucket-identity",
    summary="A bucket's id is the hash of its class and capacity.",
    why="Captured programs and binding arenas are found by this id.",
    fix="Recompute `bucket_id`.",
    source="docs/format.md, «Canonical fingerprints»",
    example=Example(
        "fragment",
        {
            "/memory/reusable_execution/buckets/0/bucket/bucket_id": "reusable-bucket/sha256/"
            + "0" * 64
        },
    ),
)


def check_identities(specs: Sequence[BucketSpec], location: str, member: str) -> Iterator[Finding]:
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
                f"{location}/{index}/{member}",
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


def _check_executables(
    facts: Expected, reusable: ReusableExecution, location: str
) -> Iterator[Finding]:
    lanes = reusable.maximum_reusable_lanes
    implied = facts.implied_lanes
    if implied is not None and implied != lanes and lanes:
        yield LANES.finding(
            f"reusable execution has {lanes:,} lanes, but executables and workspace ceilings are "
            f"counted for {implied:,}",
            f"{location}/maximum_reusable_lanes",
            expected=implied,
            actual=lanes,
        )
        return
    if facts.subject.nodes is None:
        if reusable.maximum_device_executables == 0:
            yield EXECUTABLES.finding(
                "the plan reserves 0 device executables", f"{location}/maximum_device_executables"
            )
        return
    nodes = len({node.id for node in facts.subject.nodes})
    if nodes == 0:
        yield NO_NODES.finding("reusable execution has no node to capture", location)
        return
    cases = startup_capture_cases(len(reusable.buckets), reusable.program_policy)
    expected = nodes * cases * lanes
    if expected > U64_MAX:
        yield EXECUTABLES.finding(
            f"{nodes:,} nodes, {cases:,} capture cases and {lanes:,} lanes need more executables "
            "than u64 holds",
            f"{location}/maximum_device_executables",
        )
    elif (
        lanes
        and cases
        and reusable.maximum_device_executables
        not in (expected, len(facts.subject.nodes) * cases * lanes)
    ):
        stated = reusable.maximum_device_executables
        gone = stated // (cases * lanes) - nodes if stated % (cases * lanes) == 0 else 0
        whole = f", those of {plural(nodes + gone, 'node')}" if gone > 0 else ""
        yield EXECUTABLES.finding(
            f"the plan reserves {stated:,} device executables{whole}, but "
            f"{nodes:,} nodes, {cases:,} capture cases and {lanes:,} lanes need {expected:,}"
            + (": nodes are missing, or the number is wrong" if gone > 0 else ""),
            f"{location}/maximum_device_executables",
            expected=expected,
            actual=stated,
            fix="Recompute `maximum_device_executables`, unless a node is missing"
            if gone > 0
            else None,
        )
