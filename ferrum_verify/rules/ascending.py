"""Strictly ascending lists: the format's one spelling of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class OrderFault:
    """The first place where a list stops to ascend, and that in words."""

    position: int
    text: str


def first_fault(keys: Sequence[Any], names: Sequence[str] | None = None) -> OrderFault | None:
    """The first key that is not greater than the one before, or None if all are.

    ``names`` are what the keys are called in the text, if not the keys themselves.
    """
    for position in range(1, len(keys)):
        before, key = keys[position - 1], keys[position]
        if before < key:
            continue
        name = str(key) if names is None else names[position]
        if before == key:
            return OrderFault(position, f"{name} stands twice")
        earlier = str(before) if names is None else names[position - 1]
        return OrderFault(position, f"{name} stands after {earlier}")
    return None
