"""«Slots: what they cost»: the plan's slots beside the best, in words and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.findings.wording import byte_count, plural, pool_name, shortened
from ferrum_verify.plan.sizes import describe
from ferrum_verify.report.screen import plain_table
from ferrum_verify.report.slots_cost import SHORT_SEQUENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from ferrum_verify.report.slots_cost import SlotsCost

TITLE = "Slots: what they cost"
POOL_COLUMNS = ("Pool", ">Members", ">Plan", ">Least", ">Best", "")
BUCKET_COLUMNS = ("Bucket (sequences/tokens/pages)", ">Plan", ">Least", ">Best", "")
"""Columns of the two tables; one whose name begins with ``>`` is set to the right."""

_INDENT = 4


def cost_blocks(cost: SlotsCost) -> Iterator[RenderableType]:
    """The section as text, block by block."""
    yield Text(f"  {TITLE}", style="bold")
    for line in cost_heading(cost):
        yield Padding(Text(line), (0, 0, 0, _INDENT))
    if not cost.best.pools:
        return
    yield _set(POOL_COLUMNS, pool_cells(cost))
    if cost.elsewhere:
        yield Text()
        yield Padding(Text("The same slots in the reusable buckets:"), (0, 0, 0, _INDENT))
        yield _set(BUCKET_COLUMNS, bucket_cells(cost))
    yield Text()
    for line in cost_sentences(cost):
        yield Padding(Text(line), (0, 0, 0, _INDENT))


def _set(columns: Iterable[str], rows: Iterable[tuple[str, ...]]) -> RenderableType:
    table = plain_table(*columns)
    for row in rows:
        table.add_row(*row)
    return table


def cost_heading(cost: SlotsCost) -> Iterator[str]:
    """At which shape and under which model bytes are counted."""
    if cost.best.pools:
        yield f"At {describe(cost.shape)}, {cost.best.execution}:"
    else:
        yield "The plan has no Step resources."


def pool_cells(cost: SlotsCost) -> Iterator[tuple[str, ...]]:
    """A row for each pool, and one for all together where there are several."""
    pools = cost.best.pools
    for pool in pools:
        if not pool.proved:
            standing = "not proved least"
        elif pool.best_bytes == pool.bytes:
            standing = "the plan's are least"
        else:
            standing = "proved least" + (" by a search" if pool.exhausted else "")
        if not pool.safe:
            standing += "; plan unsafe"
        yield (
            pool_name(pool.pool_id),
            f"{sum(map(len, pool.slots)):,}",
            *map(byte_count, (pool.bytes, pool.least_bytes, pool.best_bytes)),
            standing,
        )
    if len(pools) > 1:
        sums = (
            sum(getattr(pool, name) for pool in pools)
            for name in ("bytes", "least_bytes", "best_bytes")
        )
        yield ("together", "", *map(byte_count, sums), "")


def bucket_cells(cost: SlotsCost) -> Iterator[tuple[str, ...]]:
    """A row for each reusable bucket's shape."""
    for each in cost.elsewhere:
        yield (
            each.name,
            *map(byte_count, (each.bytes, each.least_bytes, each.best_bytes)),
            "proved least" if each.proved else "not proved least",
        )


def cost_sentences(cost: SlotsCost) -> Iterator[str]:
    """Whether the plan's slots can be kept, which cost most, and what room the best would give."""
    if not all(pool.safe for pool in cost.best.pools):
        yield (
            f"Under {cost.best.execution} the plan's own slots are unsafe: resources that share "
            "are live together, so what they take is no figure to compare with."
        )
    costly = "; ".join(
        f"{shortened(each.resource_id, 40)} {byte_count(each.bytes)}"
        + (f" for {each.others + 1:,} resources" if each.others else " alone")
        for each in cost.costly
    )
    if costly:
        yield f"The plan's slots that cost most, by their largest members: {costly}."
    before, after = cost.before, cost.after
    if before is None or after is None:
        return
    if before == after:
        yield (
            f"Either way one sequence can have {plural(before.tokens, 'token')}, and "
            f"{plural(before.sequences, 'sequence')} of {SHORT_SEQUENCE} tokens "
            f"{_have(before.sequences)} room."
        )
    else:
        yield (
            f"With the best slots one sequence can have {plural(after.tokens, 'token')} instead of "
            f"{before.tokens:,}, or {plural(after.sequences, 'sequence')} of {SHORT_SEQUENCE} "
            f"tokens {_have(after.sequences)} room instead of {before.sequences:,}."
        )


def _have(count: int) -> str:
    return "has" if count == 1 else "have"
