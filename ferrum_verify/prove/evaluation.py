"""Evaluation: the numbers of a counterexample, once the solver has named its shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.sizes import SizeError, demand_bytes, request_bytes

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Shape
    from ferrum_verify.documents.demand import Demand
    from ferrum_verify.documents.memory_plan import DynamicDescriptor


def value_at(demand: Demand, shape: Shape) -> int | None:
    """The demand's bytes at a shape, or None where they cannot be computed."""
    try:
        return demand_bytes(demand, shape)
    except SizeError:
        return None


def quantized(row: DynamicDescriptor, shape: Shape) -> int | None:
    """The bytes that a row takes at a shape, or None where they cannot be computed."""
    try:
        return request_bytes(row, shape)
    except SizeError:
        return None
