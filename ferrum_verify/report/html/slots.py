"""The table of shared slots, with a link to each in the timeline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.findings.wording import plural, pool_name, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.report.model import SlotReport

MAXIMUM_SLOTS = 60
"""Shared slots that the table lists, unsafe ones first; the JSON report has them all."""

_MODELS = ("in_order", "fenced", "concurrent")


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A shared slot: where it is, its members in words, and whether it is safe under each model.

    ``safety`` has for each model its style (``safe``, ``unsafe`` or ``unknown``) and its words.
    """

    target: str
    pool: str
    slot: str
    members: str
    safety: tuple[tuple[str, str], ...]


def slot_rows(slots: Sequence[SlotReport], memory: MemoryPlan) -> tuple[list[SlotRow], int]:
    """The rows, unsafe slots first, and how many more there are."""
    places = {
        (pool.pool_id, slot.resource_ids): (at, index)
        for at, pool in enumerate(memory.dynamic_pools)
        for index, slot in enumerate(pool.step_resource_slots)
    }
    ordered = sorted(slots, key=lambda slot: [getattr(slot, name) is not False for name in _MODELS])
    rows = [
        _row(slot, *places[slot.pool_id, slot.resource_ids])
        for slot in ordered[:MAXIMUM_SLOTS]
        if (slot.pool_id, slot.resource_ids) in places
    ]
    return rows, max(len(slots) - MAXIMUM_SLOTS, 0)


def _row(slot: SlotReport, pool: int, index: int) -> SlotRow:
    first = printable(slot.resource_ids[0])
    others = len(slot.resource_ids) - 1
    return SlotRow(
        target=f"slot:{pool}.{index}",
        pool=pool_name(slot.pool_id),
        slot=f"slot {index}",
        members=f"{first} and {others:,} more" if others else first,
        safety=tuple(
            _safety(getattr(slot, name), slot.hazards if name == "concurrent" else None)
            for name in _MODELS
        ),
    )


def _safety(safe: bool | None, hazards: tuple[tuple[str, str], ...] | None) -> tuple[str, str]:
    if safe is None:
        return "unknown", "not judged"
    if safe:
        return "safe", "safe"
    return "unsafe", f"unsafe, {plural(len(hazards), 'pair')}" if hazards else "unsafe"
