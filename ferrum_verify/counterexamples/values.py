"""Checking ``overlap`` counterexamples of two values: which bytes each is bound to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.sizes import is_shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples.document import Document


def check_value_overlap(document: Document, wire: Mapping[str, Any]) -> bool:
    """Whether two values are bound to ranges of one resource that both hold the byte.

    Values of one class of exact aliases may have one and the same range, and no other. The shape
    plays no part: a binding says its bytes itself.
    """
    left, right, byte = wire["left"], wire["right"], wire["byte"]
    if not is_shape(wire["shape"]) or type(byte) is not int:
        return False
    if left["resource"] != right["resource"] or left["value"] == right["value"]:
        return False
    ranges = [(side["start"], side["end"]) for side in (left, right)]
    return (
        all(start <= byte < end for start, end in ranges)
        and all(_is_bound(document, side) for side in (left, right))
        and (ranges[0] != ranges[1] or right["value"] not in _aliases(document, left["value"]))
    )


def _is_bound(document: Document, side: Mapping[str, Any]) -> bool:
    return any(
        binding["value_id"] == side["value"]
        and part["resource_id"] == side["resource"]
        and part["offset_bytes"] == side["start"]
        and part["offset_bytes"] + part["length_bytes"] == side["end"]
        for node in document.nodes
        for binding in node["values"]
        for part in binding["storage"]["components"]
    )


def _aliases(document: Document, value: str) -> set[str]:
    """The value and all that exact aliases connect it with, whichever nodes state them."""
    pairs = [
        (alias["output_value_id"], alias["input_value_id"])
        for node in document.nodes
        for alias in node["exact_aliases"]
    ]
    found: set[str] = set()
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if one not in found:
            found.add(one)
            waiting += [other for pair in pairs if one in pair for other in pair]
    return found
