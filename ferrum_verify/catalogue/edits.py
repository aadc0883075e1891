"""Edits of a JSON document, at the JSON pointers that they are for."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings import Delete, Swap

if TYPE_CHECKING:
    from collections.abc import Mapping


def apply_edits(document: Any, edits: Mapping[str, Any]) -> None:
    """Apply edits in their order: each a JSON pointer and what to put there.

    A pointer whose last step is ``-`` appends to a list, one with ``+3`` inserts at index 3.
    """
    for pointer, value in edits.items():
        parent, key = _resolve(document, pointer)
        match value:
            case Delete():
                del parent[key]
            case Swap(other=other):
                other_parent, other_key = _resolve(document, other)
                parent[key], other_parent[other_key] = other_parent[other_key], parent[key]
            case _ if key == "-" and isinstance(parent, list):
                parent.append(deepcopy(value))
            case _ if isinstance(parent, list) and str(key).startswith("+"):
                parent.insert(int(key), deepcopy(value))
            case _:
                parent[key] = deepcopy(value)


def _resolve(document: Any, pointer: str) -> tuple[Any, Any]:
    *steps, last = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    value = document
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value, int(last) if isinstance(value, list) and last.isdecimal() else last
