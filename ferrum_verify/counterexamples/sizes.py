"""Checking ``shape`` and ``overlap`` counterexamples: sizes evaluated from a document's JSON.

Like ``checking``, this shares no code with the derivation, the rules or the encodings. Numbers
are unbounded, so that what passes 2^64 - 1 shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.counterexamples.document import Document

MAXIMUM = 2**64 - 1


class UndefinedError(ValueError):
    """A demand says nothing of the shape."""


def check_shape(document: Document, wire: Mapping[str, Any]) -> bool:
    """Whether some quantity of the document takes these bytes at the shape, and too many."""
    shape = wire["shape"]
    if not _is_shape(shape):
        return False
    quantities = set(_quantities(document, shape))
    if wire.get("overflow") is True:
        return any(value > MAXIMUM for value in quantities)
    size, limit = wire["bytes"], wire["limit"]
    if type(size) is not int or type(limit) is not int or size <= limit:
        return False
    return size in quantities and limit in set(_limits(document, quantities))


def check_overlap(document: Document, wire: Mapping[str, Any]) -> bool:
    """Whether two resources hold the byte at once in the bytes that they share at the shape."""
    left, right, byte = wire["left"], wire["right"], wire["byte"]
    if not _is_shape(wire["shape"]) or left["resource"] == right["resource"]:
        return False
    if not all(side["start"] <= byte < side["end"] for side in (left, right)):
        return False
    return any(
        places.get(left["resource"]) == (left["start"], left["end"])
        and places.get(right["resource"]) == (right["start"], right["end"])
        for places in _shared_places(document, wire["shape"])
    )


def _is_shape(shape: Mapping[str, Any]) -> bool:
    return all(type(shape[name]) is int and shape[name] >= 1 for name in _COUNTS)


_COUNTS = ("sequences", "tokens", "pages")


def _logical(demand: Mapping[str, Any], shape: Mapping[str, int]) -> int:
    ((form, terms),) = demand.items()
    if form == "fixed":
        return int(terms["bytes"])
    if form == "bounded_shape_buckets":
        for bucket in terms["buckets"]:
            if all(shape[name] <= bucket[f"maximum_{name}"] for name in _COUNTS):
                return int(bucket["bytes"])
        raise UndefinedError
    total = int(terms.get("fixed_bytes", 0))
    for name in _COUNTS:
        if f"maximum_{name}" in terms:
            if shape[name] > terms[f"maximum_{name}"]:
                raise UndefinedError
            total += int(terms[f"bytes_per_{name[:-1]}"]) * shape[name]
    return total


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _taken(row: Mapping[str, Any], shape: Mapping[str, int]) -> int:
    value = _round_up(_logical(row["demand"], shape), row["alignment_bytes"])
    allocator = row["storage"]["profile"]["allocator"]
    if isinstance(allocator, dict):
        value = _round_up(value, allocator["fixed_block_arena"]["block_bytes"])
    return value


def _known(document: Document, shape: Mapping[str, int]) -> dict[str, int]:
    sizes = {}
    for name, row in document.descriptors.items():
        try:
            sizes[name] = _taken(row, shape)
        except UndefinedError:
            continue
    return sizes


def _quantities(document: Document, shape: Mapping[str, int]) -> Iterator[int]:
    """Every number of bytes that a plan's formulas give at a shape."""
    sizes = _known(document, shape)
    for name, size in sizes.items():
        yield size
        yield _logical(document.descriptors[name]["demand"], shape)
    memory = document.memory
    step_total = peak_total = 0
    complete = True
    for pool in memory.get("dynamic_pools", []):
        slots = [slot["resource_ids"] for slot in pool["step_resource_slots"]]
        rows = [row["resource_ids"] for row in pool["invocation_liveness"]]
        if any(name not in sizes for group in (*slots, *rows) for name in group):
            complete = False
            continue
        step = sum(max(sizes[name] for name in slot) for slot in slots if slot)
        each = [sum(sizes[name] for name in row) for row in rows]
        yield from (step, sum(each), max(each, default=0))
        reuse = pool["invocation_liveness_mode"] == "total_order_reuse"
        step_total += step
        peak_total += max(each, default=0) if reuse else sum(each)
    yield from _lanes(memory)
    own = [
        sizes.get(name)
        for name, row in document.descriptors.items()
        if row["lifetime"] in ("request", "sequence")
    ]
    if complete and None not in own:
        static = sum(row["size_bytes"] for row in memory.get("static_allocations", []))
        yield static + sum(size for size in own if size) + step_total + peak_total


def _lanes(memory: Mapping[str, Any]) -> Iterator[int]:
    reusable = memory.get("reusable_execution") or {"buckets": []}
    totals: dict[str, int] = {}
    for resolved in reusable["buckets"]:
        for budget in resolved["pool_budgets"]:
            totals[budget["pool_id"]] = (
                totals.get(budget["pool_id"], 0) + budget["step_bytes"] + budget["invocation_bytes"]
            )
    for total in totals.values():
        yield total * reusable["maximum_reusable_lanes"]


def _limits(document: Document, quantities: set[int]) -> Iterator[int]:
    """Every number that bytes are held to: those that the plan states, and other quantities.

    A demand that shrinks is held to its own bytes at a larger shape, so any number that the
    demands themselves name is a limit too.
    """
    memory = document.memory
    yield MAXIMUM
    yield memory.get("policy_capacity_bytes", 0) - memory.get("reserve_bytes", 0)
    yield 0
    yield from quantities
    yield from _numbers(memory)


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, dict):
        for member in value.values():
            yield from _numbers(member)
    elif isinstance(value, list):
        for member in value:
            yield from _numbers(member)
    elif type(value) is int:
        yield value
    elif isinstance(value, str) and value.isdigit():
        yield int(value)


def _shared_places(
    document: Document, shape: Mapping[str, int]
) -> Iterator[dict[str, tuple[int, int]]]:
    """For each stretch of bytes that resources share, where each of them lies at the shape."""
    sizes = _known(document, shape)
    order = {node["id"]: index for index, node in enumerate(document.nodes)}
    for pool in document.memory.get("dynamic_pools", []):
        for slot in pool["step_resource_slots"]:
            yield {name: (0, sizes[name]) for name in slot["resource_ids"] if name in sizes}
        rows = sorted(
            pool["invocation_liveness"], key=lambda row: order.get(row["node_id"], len(order))
        )
        places: dict[str, tuple[int, int]] = {}
        offset = 0
        for row in rows:
            if pool["invocation_liveness_mode"] == "total_order_reuse":
                offset = 0
            for name in row["resource_ids"]:
                size = sizes.get(name, 0)
                places[name] = (offset, offset + size)
                offset += size
        yield places
