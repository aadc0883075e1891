"""«Slots: what they cost», as text: the plan's slots beside the best."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.findings.wording import byte_count, plural, pool_name, shortened
from ferrum_verify.plan.sizes import describe
from ferrum_verify.report.screen import plain_table
from ferrum_verify.report.slots_cost import SHORT_SEQUENCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from ferrum_verify.derive.best_slots import PoolSlots
    from ferrum_verify.report.slots_cost import SlotsCost

_INDENT = 4


def cost_blocks(cost: SlotsCost) -> Iterator[RenderableType]:
    """The section, block by block."""
    pools = cost.best.pools
    yield Text("  Slots: what they cost", style="bold")
    if not pools:
        yield Padding(Text("The plan has no Step resources."), (0, 0, 0, _INDENT))
        return
    yield Padding(Text(f"At {describe(cost.shape)}, {cost.best.execution}:"), (0, 0, 0, _INDENT))
    yield _pool_table(cost)
    if cost.elsewhere:
        yield Text()
        yield Padding(Text("The same slots in the reusable buckets:"), (0, 0, 0, _INDENT))
        yield _shape_table(cost)
    yield Text()
    for line in _sentences(cost):
        yield Padding(Text(line), (0, 0, 0, _INDENT))


def _pool_table(cost: SlotsCost) -> RenderableType:
    rows = plain_table("Pool", ">Members", ">Plan", ">Least", ">Best", "")
    for pool in cost.best.pools:
        rows.add_row(
            pool_name(pool.pool_id),
            f"{sum(map(len, pool.slots)):,}",
            byte_count(pool.bytes),
            byte_count(pool.least_bytes),
            byte_count(pool.best_bytes),
            _standing(pool),
        )
    if len(cost.best.pools) > 1:
        sums = [
            sum(getattr(pool, name) for pool in cost.best.pools)
            for name in ("bytes", "least_bytes", "best_bytes")
        ]
        rows.add_row("together", "", *map(byte_count, sums), "")
    return rows


def _standing(pool: PoolSlots) -> str:
    if not pool.proved:
        return "not proved least"
    if pool.best_bytes == pool.bytes:
        return "the plan's are least"
    return "tried all" if pool.exhausted else "proved least"


def _shape_table(cost: SlotsCost) -> RenderableType:
    rows = plain_table("Bucket (sequences/tokens/pages)", ">Plan", ">Least", ">Best", "")
    for each in cost.elsewhere:
        rows.add_row(
            each.name,
            byte_count(each.bytes),
            byte_count(each.least_bytes),
            byte_count(each.best_bytes),
            "proved least" if each.proved else "not proved least",
        )
    return rows


def _sentences(cost: SlotsCost) -> Iterator[str]:
    costly = "; ".join(
        f"{shortened(each.resource_id, 40)} {byte_count(each.bytes)}"
        + (f" for {each.others + 1:,} resources" if each.others else " alone")
        for each in cost.costly
    )
    yield f"The plan's slots that cost most, by their largest members: {costly}."
    before, after = cost.before, cost.after
    if before is not None and after is not None:
        yield (
            f"With the best slots one sequence can have {plural(after.tokens, 'token')} instead of "
            f"{before.tokens:,}, or {plural(after.sequences, 'sequence')} of {SHORT_SEQUENCE} "
            f"tokens have room instead of {before.sequences:,}."
            if before != after
            else f"Either way one sequence can have {plural(before.tokens, 'token')}, and "
            f"{plural(before.sequences, 'sequence')} of {SHORT_SEQUENCE} tokens have room."
        )
