"""Rows and what they are to hold, for checking: values, states and workspaces at a shape."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.sizes import UndefinedError, logical

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.counterexamples.document import Document

_ELEMENT_BYTES = {"bool": 1, "f16": 2, "bf16": 2, "f32": 4, "u8": 1, "u32": 4, "i8": 1, "i32": 4}


def held(document: Document, shape: Mapping[str, int]) -> Iterator[tuple[int, int, str]]:
    """What each row is to hold at a shape, the bytes that it has, and the place in the plan.

    Bytes are those before an allocator rounds them; of a row that has none at the shape, those
    that it has at most.
    """
    if "maximum_scheduled_tokens" not in document.payload:
        return
    rows = _rows(document)
    wanted = [*_workspaces(document, shape), *_states(document, shape)]
    if shape["tokens"] <= document.payload["maximum_scheduled_tokens"]:
        wanted += [
            (resource, end)
            for value in document.projected
            for resource, _, end in value_at(document, value, shape["tokens"])
        ]
    for resource, size in wanted:
        if resource in rows:
            demand, place = rows[resource]
            yield size, _at_most(demand, shape), place


def _rows(document: Document) -> dict[str, tuple[dict[str, Any], str]]:
    memory, at = document.memory, document.memory_place
    rows = {}
    for index, row in enumerate(memory.get("static_allocations", [])):
        demand = {"fixed": {"bytes": row["per_instance_bytes"]}}
        place = f"{at}/static_allocations/{index}/per_instance_bytes"
        rows[row["resource_id"]] = (demand, place)
    for index, row in enumerate(memory.get("dynamic_descriptors", [])):
        place = f"{at}/dynamic_descriptors/{index}/demand"
        rows[row["base_resource_id"]] = (row["demand"], place)
    return rows


def _at_most(demand: Mapping[str, Any], shape: Mapping[str, int]) -> int:
    try:
        return logical(demand, shape)
    except UndefinedError:
        ((form, terms),) = demand.items()
    if form == "bounded_shape_buckets":
        return int(max(bucket["bytes"] for bucket in terms["buckets"]))
    largest = {name: min(shape[name], terms.get(f"maximum_{name}", shape[name])) for name in shape}
    return logical(demand, largest)


def _dense_bytes(tensor: Mapping[str, Any]) -> int:
    return int(math.prod(tensor["dimensions"])) * _ELEMENT_BYTES[tensor["element_type"]]


def value_at(document: Document, value: str, tokens: int) -> Iterator[tuple[str, int, int]]:
    """Where a value lies that a node's work projects: its resource, first byte and end there."""
    for binding in document.bound_as.get(value, ()):
        if binding["tensor"]["layout"] != "contiguous":
            continue
        parts, whole = binding["storage"]["components"], _dense_bytes(binding["tensor"])
        if len(parts) > 1 and sum(part["length_bytes"] for part in parts) != whole:
            continue
        for part in parts:
            length = min(part["length_bytes"], whole)
            for extent in document.projected.get(value, ()):
                if length % extent == 0:
                    start = part["offset_bytes"]
                    yield part["resource_id"], start, start + length // extent * tokens


def _states(document: Document, shape: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """What the program declares for each state, from the start of its resource."""
    for state in document.states.values():
        declared, tensor = state["capacity_demand"], state["tensor"]
        if declared == "fixed_per_scope":
            size = _stored_bytes(tensor)
        elif shape["tokens"] <= declared["token_scaled"]["maximum_tokens"]:
            size = declared["token_scaled"]["bytes_per_token"] * shape["tokens"]
        else:
            continue
        for binding in document.bound_as.get(state["value_id"], ()):
            parts = binding["storage"]["components"]
            if len(parts) == 1:
                yield parts[0]["resource_id"], parts[0]["offset_bytes"] + size


def _stored_bytes(tensor: Mapping[str, Any]) -> int:
    layout = tensor["layout"]
    if "strided" in layout:
        element = _ELEMENT_BYTES[tensor["element_type"]]
        strides = layout["strided"]["byte_strides"]
        steps = zip(tensor["dimensions"], strides, strict=True)
        return element + int(sum((count - 1) * stride for count, stride in steps))
    if "blocked" in layout and "zero_fill" in layout["blocked"]["padding"]:
        filled = layout["blocked"]["padding"]["zero_fill"]["physical_dimensions"]
        return int(math.prod(filled)) * _ELEMENT_BYTES[tensor["element_type"]]
    return _dense_bytes(tensor)


def _workspaces(document: Document, shape: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """What each estimate asks for at a shape that the plan allows."""
    if (
        shape["sequences"] > document.memory["maximum_active_sequences"]
        or shape["tokens"] > document.payload["maximum_scheduled_tokens"]
    ):
        return
    for node in document.nodes:
        for part in ("scratch", "binding", "persistent"):
            estimate, resource = node["provider_resources"][part], node[f"{part}_resource"]
            if estimate is None or resource is None:
                continue
            try:
                yield resource, logical(estimate["size_formula"], shape)
            except UndefinedError:
                continue
