"""Evaluation: the numbers of a counterexample, once the solver has named its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.sizes import demand_bytes

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Shape
    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.documents.terms import Terms


def value_at(terms: Terms, shape: Shape) -> int | None:
    """The demand's bytes at a shape, or None where they cannot be computed."""
    try:
        return demand_bytes(terms, shape)
    except SizeError:
        return None


def rounded_both_ways(row: DynamicDescriptor, shape: Shape) -> tuple[int, int] | None:
    """The bytes that a row takes when it is rounded by masks, and by division."""
    asked = value_at(row.demand.terms, shape)
    if asked is None:
        return None
    masked = divided = asked
    for unit in (row.alignment_bytes, max(row.storage.profile.blocks[0], 1)):
        masked = (masked + unit - 1) & ~(unit - 1)
        divided = -(-divided // unit) * unit
    return masked, divided
