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
        and (ranges[0] != ranges[1] or not _are_aliases(document, left["value"], right["value"]))
    )


def _is_bound(document: Document, side: Mapping[str, Any]) -> bool:
    return (
        side["value"],
        side["resource"],
        side["start"],
        side["end"],
    ) in document.bindings


def _are_aliases(document: Document, one: str, other: str) -> bool:
    """Whether exact aliases connect two values, whichever nodes state them."""
    classes = document.alias_classes
    return one in classes and classes[one] == classes.get(other)
