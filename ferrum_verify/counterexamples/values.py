"""Checking ``overlap`` counterexamples of two values: which bytes each has, bound or grown to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.holding import values_at
from ferrum_verify.counterexamples.sizes import is_shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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
            or right["value"] not in _aliases(document, left["value"])
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
    return any(
        (value, part["resource_id"], part["offset_bytes"]) == _range(side)
        and part["offset_bytes"] + part["length_bytes"] == side["end"]
        for value, part in _parts(document)
    )


def _is_grown(document: Document, side: Mapping[str, Any], tokens: int) -> bool:
    """Whether the range is what a value takes at so many tokens, of a step or of a state."""
    if tokens <= document.payload["maximum_scheduled_tokens"] and any(
        (value, resource, start) == _range(side) and end == side["end"]
        for value, resource, start, end in values_at(document, tokens)
    ):
        return True
    grown = [
        state["capacity_demand"]["token_scaled"]
        for state in (document.value.get("program") or {"states": []})["states"]
        if state["value_id"] == side["value"] and isinstance(state["capacity_demand"], dict)
    ]
    return any(
        (value, part["resource_id"], part["offset_bytes"]) == _range(side)
        and tokens <= scaled["maximum_tokens"]
        and side["start"] + scaled["bytes_per_token"] * tokens == side["end"]
        for value, part in _parts(document)
        for scaled in grown
    )


def _range(side: Mapping[str, Any]) -> tuple[str, str, int]:
    return side["value"], side["resource"], side["start"]


def _parts(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each component of each binding, with the value that is bound to it."""
    for node in document.nodes:
        for binding in node["values"]:
            for part in binding["storage"]["components"]:
                yield binding["value_id"], part


def _needed_together(document: Document, *values: str) -> bool:
    """Whether, in plan order, both are there at a node that uses one or the other, or at the end.

    What no node outputs is there from the start; weights, states and what is retained to the end.
    """
    kept = {each["value_id"] for each in document.payload["retained_completion_values"]}
    lives = []
    for value in values:
        uses = [
            (index, binding)
            for index, node in enumerate(document.nodes)
            for binding in node["values"]
            if binding["value_id"] == value
        ]
        outlives = value in kept or any(use["usage"] in ("state", "weights") for _, use in uses)
        written = [index for index, use in uses if use["role"] == "output"]
        last = len(document.nodes) if outlives else max(index for index, _ in uses)
        lives.append((min(written, default=-1), last))
    return max(start for start, _ in lives) <= min(end for _, end in lives)


def _is_lost_at_once(document: Document, *values: str) -> bool:
    """Whether a node outputs both values, of which somebody needs one."""
    needed = {each["value_id"] for each in document.payload["retained_completion_values"]}
    needed |= set((document.value.get("program") or {"outputs": []})["outputs"])
    bindings = [(node["id"], binding) for node in document.nodes for binding in node["values"]]
    needed |= {binding["value_id"] for _, binding in bindings if binding["access"] != "write"}
    writers = [
        {name for name, use in bindings if (use["value_id"], use["role"]) == (value, "output")}
        for value in values
    ]
    return bool(set.intersection(*writers)) and not needed.isdisjoint(values)


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
