"""Static rows: bytes that are resident for the whole life of the plan."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings import Example, Finding, Rule, Swap, pointer
from ferrum_verify.plan.sizes import quantize
from ferrum_verify.rules.static_rows import OVERFLOW, check_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import StaticAllocation
    from ferrum_verify.rules.expected import Expected

VALIDATE = "seed 000, `MemoryPlan::validate`"
NOT_CANONICAL = Rule(
    id="static.not-canonical",
    summary="Static rows stand in ascending order of their resource ids.",
    why="The engine finds rows by binary search and hashes them as they stand: out of order, "
    "a row is not found and the plan's hash is another one.",
    fix="Sort `static_allocations` by `resource_id`.",
    source=VALIDATE,
    example=Example(
        "fragment", {"/memory/static_allocations/0": Swap("/memory/static_allocations/1")}
    ),
)
TOTAL = Rule(
    id="static.total-mismatch",
    summary="`static_bytes` is the sum of the static rows' sizes.",
    why="What is not counted as static is handed out to dynamic pools, and runs out under load.",
    fix="Recompute `static_bytes`.",
    source=VALIDATE,
    judgment="safety",
    example=Example("fragment", {"/memory/static_bytes": 4096}),
)


def check(facts: Expected) -> Iterator[Finding]:
    """All rules of the static rows of a memory plan."""
    memory, base = facts.memory, facts.subject.places.memory
    rows = memory.static_allocations
    at = f"{base}/static_allocations"
    yield from check_rows(rows, at)
    for index, (left, right) in enumerate(itertools.pairwise(rows), start=1):
        if left.resource_id > right.resource_id:
            yield NOT_CANONICAL.finding(
                f"static resource `{right.resource_id}` stands after `{left.resource_id}`",
                f"{at}/{index}",
            )
            break
    for index, row in enumerate(rows):
        yield from _check_row(row, f"{at}/{index}")
    stated = sum(row.size_bytes for row in rows)
    if facts.static_bytes > U64_MAX:
        yield OVERFLOW.finding(
            f"the static rows add up to {facts.static_bytes:,} bytes, more than u64 holds",
            at,
        )
    elif memory.static_bytes not in (
        stated,
        facts.static_bytes,
        sum(row.instance_stride_bytes for row in rows),
    ):
        yield TOTAL.finding(
            f"`static_bytes` is {memory.static_bytes:,}, but the static rows add up to {stated:,}",
            pointer(base, "static_bytes"),
            expected=stated,
            actual=memory.static_bytes,
        )


STRIDE = Rule(
    id="static.stride-mismatch",
    summary="A static row's stride is its bytes, quantized to its alignment and block.",
    why="With a smaller stride the next allocation begins inside this one.",
    fix="Set `instance_stride_bytes` to the quantized `per_instance_bytes`.",
    source=VALIDATE,
    judgment="safety",
    example=Example("fragment", {"/memory/static_allocations/0/instance_stride_bytes": 65500}),
)
INSTANCE_COUNT = Rule(
    id="static.instance-count",
    summary="A static row has one instance.",
    why="Plan-lifetime bytes exist once; more instances would never be addressed.",
    fix="Set `instance_count` to 1.",
    source=VALIDATE,
    example=Example("fragment", {"/memory/static_allocations/0/instance_count": 2}),
)
SIZE = Rule(
    id="static.size-mismatch",
    summary="A static row's size is its stride, as it has one instance.",
    why="The total of static bytes is the sum of these sizes: a wrong one books too much memory "
    "or too little.",
    fix="Set `size_bytes` to `instance_stride_bytes`.",
    source=VALIDATE,
    judgment="safety",
    example=Example("fragment", {"/memory/static_allocations/0/size_bytes": 65000}),
)
LIFETIME = Rule(
    id="static.lifetime",
    summary="A static row lives as long as the plan.",
    why="Bytes with a shorter life belong to a dynamic pool, which reclaims them; static bytes "
    "are never reclaimed.",
    fix="Set `lifetime` to `plan`, or move the resource to the dynamic descriptors.",
    source=VALIDATE,
    example=Example("fragment", {"/memory/static_allocations/0/lifetime": "step"}),
)


def _check_row(row: StaticAllocation, location: str) -> Iterator[Finding]:
    name = f"static resource `{row.resource_id}`"
    if row.instance_count != 1:
        yield INSTANCE_COUNT.finding(
            f"{name} has {row.instance_count:,} instances instead of 1",
            f"{location}/instance_count",
            expected=1,
            actual=row.instance_count,
        )
    if row.lifetime != "plan":
        yield LIFETIME.finding(
            f"{name} has lifetime {row.lifetime} instead of plan",
            f"{location}/lifetime",
            expected="plan",
            actual=row.lifetime,
        )
    try:
        stride = quantize(row.per_instance_bytes, row.alignment_bytes, row.storage.profile)
    except SizeError:
        return
    if row.instance_stride_bytes != stride:
        yield STRIDE.finding(
            f"{name} has a stride of {row.instance_stride_bytes:,} bytes, but its "
            f"{row.per_instance_bytes:,} bytes quantize to {stride:,}",
            f"{location}/instance_stride_bytes",
            expected=stride,
            actual=row.instance_stride_bytes,
        )
    if row.size_bytes not in (row.instance_stride_bytes, stride):
        yield SIZE.finding(
            f"{name} has a size of {row.size_bytes:,} bytes, but a stride of "
            f"{row.instance_stride_bytes:,}",
            f"{location}/size_bytes",
            expected=stride,
            actual=row.size_bytes,
        )
