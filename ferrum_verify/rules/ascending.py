"""Strictly ascending lists: the format's one spelling of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True, slots=True)
class OrderFault:
    """The first place where a list stops to ascend, and that in words."""

    position: int
    text: str


def _marked(key: object) -> str:
    return f"`{key}`"


def first_fault(keys: Sequence[Any], name: Callable[[Any], str] = _marked) -> OrderFault | None:
    """The first key that is not greater than the one before, or None if all are.

    ``name`` says what a key is called in the text; by itself it stands there in backticks.
    """
    for position in range(1, len(keys)):
        before, key = keys[position - 1], keys[position]
        if before < key:
            continue
        if before == key:
            return OrderFault(position, f"{name(key)} stands twice")
        return OrderFault(position, f"{name(key)} stands after {name(before)}")
    return None
