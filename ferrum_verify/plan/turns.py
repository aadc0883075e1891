"""Turns: groups of resources that hold the same bytes one after the other.

The *alternatives* of a group are resources that are live together; one of them at a time holds
the group's bytes. So a group takes the greatest of its alternatives, and groups add up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ferrum_verify.documents.memory_plan import DynamicPool

    Group: TypeAlias = Sequence[tuple[str, ...]]
    Row = TypeVar("Row")


def slot_groups(pool: DynamicPool) -> list[Group]:
    """The pool's Step slots: the resources of one take turns."""
    slots = pool.step_resource_slots
    return [[(name,) for name in slot.resource_ids] for slot in slots if slot.resource_ids]


def row_groups(pool: DynamicPool) -> list[Group]:
    """The pool's liveness rows: they take turns if the pool reuses one extent, else none does."""
    rows = [row.resource_ids for row in pool.invocation_liveness if row.resource_ids]
    if pool.invocation_liveness_mode == "total_order_reuse":
        return [rows] if rows else []
    return [[row] for row in rows]


def bytes_in_turn(
    groups: Iterable[tuple[Iterable[Iterable[tuple[Row, int]]], int]],
    bytes_of: Callable[[Row], int],
) -> int:
    """The bytes of groups, each with its number: the greatest alternative of each, summed.

    Of an alternative alike rows stand once, with their number.
    """
    return sum(
        count * max(sum(times * bytes_of(row) for row, times in rows) for rows in alternatives)
        for alternatives, count in groups
    )
