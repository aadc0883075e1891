"""The bytes that a checkpoint copies: one range for each state, disjoint or identical."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from ferrum_verify.derive.paged_layout import copied
from ferrum_verify.documents.checkpoint import PagedKeyValue
from ferrum_verify.documents.tensor import tensor_storage_bytes
from ferrum_verify.findings.wording import bytes_words
from ferrum_verify.plan.sizes import demand_bytes, maximal_shape

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.derive.checkpoint_layout import LayoutState


def largest_boundary(state: LayoutState) -> int:
    """The most tokens of a prefix that the state's resource can hold."""
    terms = state.descriptor.demand.terms
    return demand_bytes(terms, maximal_shape(terms)) // tensor_storage_bytes(state.tensor)


def byte_range(state: LayoutState, boundary: int) -> tuple[int, int]:
    """The bytes ``[start, end)`` of its resource that a state takes after ``boundary`` tokens.

    A boundary value takes its tensor once, a token-major prefix once a token. Of blocks of keys
    and values some bytes in between are not copied.
    """
    size = tensor_storage_bytes(state.tensor)
    if isinstance(state.layout, PagedKeyValue):
        ranges = copied(state.layout, state.tensor, size, state.offset_bytes, boundary)
        return state.offset_bytes, max(each.end for each in ranges)
    if state.layout == "token_major_prefix":
        size *= boundary
    return state.offset_bytes, state.offset_bytes + size


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two states whose bytes meet, in words; ``from_start`` if they do so after one token."""

    text: str
    from_start: bool


def conflict(states: Iterable[LayoutState]) -> Conflict | None:
    """Two states that cannot be copied independently, or None (``validate_aliases``).

    On one resource the ranges at the largest boundary are disjoint, or they are equal and
    everything that gives the bytes their meaning is too.
    """
    by_resource: dict[str, list[LayoutState]] = {}
    for state in states:
        by_resource.setdefault(state.resource_id, []).append(state)
    for resource_id in sorted(by_resource):
        ranges = sorted(
            (
                (byte_range(state, largest_boundary(state)), state)
                for state in by_resource[resource_id]
            ),
            key=lambda entry: entry[0],
        )
        # Sorted by start, any two ranges that meet have two neighbours that meet.
        for (left, first), (right, second) in pairwise(ranges):
            if left[1] <= right[0] or (left == right and _same_content(first, second)):
                continue
            return Conflict(
                f"states `{first.state_id}` and `{second.state_id}` overlap in `{resource_id}`, at "
                f"{bytes_words(*left)} and {bytes_words(*right)}, "
                "and are not the same content in the same form",
                from_start=byte_range(first, 1)[1] > byte_range(second, 1)[0],
            )
    return None


def _same_content(left: LayoutState, right: LayoutState) -> bool:
    return (
        left.tensor == right.tensor
        and left.layout == right.layout
        and left.semantics == right.semantics
        and left.descriptor.storage == right.descriptor.storage
        and left.descriptor.initialization == right.descriptor.initialization
    )
