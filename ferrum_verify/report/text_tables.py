"""The tables of a text report: pools with what sharing saves, headroom, and shared slots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.findings.wording import byte_count, plural, pool_name, printable, shortened
from ferrum_verify.report.headroom import headroom, headroom_beside_lanes, why_no_headroom
from ferrum_verify.report.pools import pool_summaries
from ferrum_verify.report.screen import plain_table
from ferrum_verify.report.slots_table import cost_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.model import DocumentReport, SlotReport

MAXIMUM_ROWS = 40
"""Rows of one table that are shown; the JSON report has them all."""

_INDENT = 4
_OF_MEMORY = ("execution-plan", "fragment", "memory-plan", "bundle", "resolved-model-plan")


def tables(document: DocumentReport, subject: Subject) -> Iterator[RenderableType]:
    """The tables of one document, as far as it has what they show."""
    if subject.memory is not None and subject.memory.dynamic_pools:
        summaries = pool_summaries(subject.memory)
        saved = sum(summary.saved or 0 for summary in summaries)
        table = plain_table("Pool", "Holds", ">Members", ">Slots", ">Resident", ">Saved")
        for pool in summaries[:MAXIMUM_ROWS]:
            least, most = pool.resident
            table.add_row(
                pool_name(pool.pool_id),
                pool.holds,
                f"{pool.members:,}",
                f"{pool.slots:,}",
                f"{byte_count(least)} to {byte_count(most)}",
                "?" if pool.saved is None else byte_count(pool.saved) if pool.saved else "-",
            )
        yield Text()
        yield Text(
            f"  Pools: sharing saves {byte_count(saved)} of a batch at its largest shapes",
            style="bold",
        )
        yield table
        yield from _rest(len(summaries), "pools")
        yield from _headroom(document, subject, subject.memory)
    elif subject.memory is None and subject.kind in _OF_MEMORY:
        yield Text()
        text = "Pools and headroom are not told: the memory plan could not be read."
        yield Padding(Text(text), (0, 0, 0, 2))
    yield from cost(document)
    if document.slots:
        yield Text()
        yield Text("  Slots that several resources share", style="bold")
        yield _slot_table(document.slots)
        yield from _rest(len(document.slots), "slots")


def cost(document: DocumentReport) -> Iterator[RenderableType]:
    """What the slots cost, where that was asked for."""
    if document.memory is not None:
        yield Text()
        yield from cost_blocks(document.memory)


def _headroom(
    document: DocumentReport, subject: Subject, memory: MemoryPlan
) -> Iterator[RenderableType]:
    ends = headroom(subject, memory, document.findings)
    yield Text()
    if not ends:
        why = why_no_headroom(subject, memory, document.findings)
        yield Padding(Text(printable(f"Headroom is not told: {why}.")), (0, 0, 0, 2))
        return
    usable = byte_count(memory.usable_capacity_bytes)
    yield Text(f"  Headroom: the largest batches within {usable}", style="bold")
    for end in ends:
        batch = f"{plural(end.sequences, 'sequence')} of {plural(end.tokens, 'token')}"
        more = "One token more" if end.sequences == 1 else "One token more for each"
        text = f"{batch}: {byte_count(end.bytes or 0)}. {more} is refused: {end.refused_because}."
        yield Padding(Text(printable(text)), (0, 0, 0, _INDENT))
    if memory.reusable_execution is not None:
        lanes = plural(memory.reusable_execution.maximum_reusable_lanes, "reusable lane")
        beside = headroom_beside_lanes(subject, memory, document.findings)
        batches = " or ".join(
            f"{plural(end.sequences, 'sequence')} of {end.tokens:,}" for end in beside
        )
        text = f"Beside all {lanes}: {batches or 'not one token'}."
        yield Padding(Text(text), (0, 0, 0, _INDENT))


def _slot_table(slots: tuple[SlotReport, ...]) -> Table:
    table = plain_table("Pool", "Members", "In-order", "Fenced", "Concurrent")
    unsafe_first = sorted(slots, key=lambda slot: slot.fenced is not False)
    for slot in unsafe_first[:MAXIMUM_ROWS]:
        shown = ", ".join(shortened(name, 24) for name in slot.resource_ids[:2])
        others = len(slot.resource_ids) - 2
        table.add_row(
            pool_name(slot.pool_id),
            f"{shown} and {others:,} more" if others > 0 else shown,
            _safety(slot.in_order),
            _safety(slot.fenced),
            _safety(slot.concurrent, len(slot.hazards or ())),
        )
    return table


def _safety(safe: bool | None, hazards: int = 0) -> Text:
    if safe is None:
        return Text("?", style="yellow")
    if safe:
        return Text("safe", style="green")
    return Text(f"UNSAFE ({plural(hazards, 'pair')})" if hazards else "UNSAFE", style="red")


def _rest(total: int, noun: str) -> Iterator[RenderableType]:
    if total > MAXIMUM_ROWS:
        yield Text(f"  … and {total - MAXIMUM_ROWS:,} more {noun}")
