"""Checking ``overlap`` counterexamples of two values: which bytes each has, bound or grown to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.holding import value_at
from ferrum_verify.counterexamples.sizes import is_shape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples.document import Document


def check_value_overlap(document: Document, wire: Mapping[str, Any]) -> bool:
    """Whether two values have ranges of one resource that both hold the byte.

    As they are bound, which no shape changes, values of one class of exact aliases may have one
    and the same range, unless one node outputs both and somebody needs either. At the shape's
    tokens a value may have grown over another one, which is a breach where both are needed.
    """
    left, right, byte = wire["left"], wire["right"], wire["byte"]
    if not is_shape(wire["shape"]) or type(byte) is not int:
        return False
    if left["resource"] != right["resource"] or left["value"] == right["value"]:
        return False
    ranges = [(side["start"], side["end"]) for side in (left, right)]
    if not all(start <= byte < end for start, end in ranges):
        return False
    if all(_is_bound(document, side) for side in (left, right)):
        return (
            ranges[0] != ranges[1]
            or not _are_aliases(document, left["value"], right["value"])
            or _is_lost_at_once(document, left["value"], right["value"])
        )
    tokens = wire["shape"]["tokens"]
    return (
        all(
            _is_bound(document, side) or _is_grown(document, side, tokens) for side in (left, right)
        )
        and left["start"] != right["start"]
        and _needed_together(document, left["value"], right["value"])
    )


def _is_bound(document: Document, side: Mapping[str, Any]) -> bool:
    return (side["value"], side["resource"], side["start"], side["end"]) in document.bindings


def _is_grown(document: Document, side: Mapping[str, Any], tokens: int) -> bool:
    """Whether the range is what a value takes at so many tokens, of a step or of a state."""
    if tokens <= document.payload["maximum_scheduled_tokens"] and any(
        (resource, start, end) == (side["resource"], side["start"], side["end"])
        for resource, start, end in value_at(document, side["value"], tokens)
    ):
        return True
    scaled = document.states[side["value"]]["capacity_demand"]["token_scaled"]
    return tokens <= scaled["maximum_tokens"] and any(
        (part["resource_id"], part["offset_bytes"]) == (side["resource"], side["start"])
        and side["start"] + scaled["bytes_per_token"] * tokens == side["end"]
        for binding in document.bound_as[side["value"]]
        for part in binding["storage"]["components"]
    )


def _needed_together(document: Document, *values: str) -> bool:
    """Whether, in plan order, both are there at a node that uses one or the other, or at the end.

    What no node outputs is there from the start; weights, states and what is read after the step
    to the end.
    """
    lives = [document.lives[value] for value in values]
    return max(start for start, _ in lives) <= min(end for _, end in lives)


def _is_lost_at_once(document: Document, *values: str) -> bool:
    """Whether a node outputs both values, of which somebody needs one."""
    writers = [document.producers.get(value, set()) for value in values]
    return bool(set.intersection(*writers)) and not document.needed.isdisjoint(values)


def _are_aliases(document: Document, one: str, other: str) -> bool:
    """Whether exact aliases connect two values, whichever nodes state them."""
    classes = document.alias_classes
    return one in classes and classes[one] == classes.get(other)
