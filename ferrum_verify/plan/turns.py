"""Turns: groups of resources that hold the same bytes one after the other.

The *alternatives* of a group are resources that are live together; one of them at a time holds
the group's bytes. So a group takes the greatest of its alternatives, and groups add up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ferrum_verify.documents.memory_plan import DynamicPool
    from ferrum_verify.plan.sizes import Claim

    Group: TypeAlias = Sequence[tuple[str, ...]]
    Rows: TypeAlias = Iterable[tuple[Claim, int]]
    """Rows that are live at once: each claim with how many rows there are of it."""


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
    groups: Iterable[tuple[Iterable[Rows], int]], bytes_of: Callable[[Claim], int]
) -> int:
    """The bytes of groups, each with its number: the greatest alternative of each, summed."""
    return sum(
        count * max(sum(times * bytes_of(claim) for claim, times in rows) for rows in alternatives)
        for alternatives, count in groups
    )
