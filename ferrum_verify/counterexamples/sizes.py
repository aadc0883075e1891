"""Checking ``shape`` and ``overlap`` counterexamples: sizes evaluated from a document's JSON.

Like ``checking``, this shares no code with the derivation, the rules or the encodings. Numbers
are unbounded, so that what passes 2^64 - 1 shows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ferrum_verify.counterexamples.document import Document

MAXIMUM = 2**64 - 1


class UndefinedError(ValueError):
    """A demand says nothing of the shape."""


def check_shape(document: Document, wire: Mapping[str, Any]) -> bool:
    """Whether some quantity of the document passes what it is held to at the shape."""
    shape = wire["shape"]
    if not _is_shape(shape):
        return False
    if wire.get("overflow") is True:
        return any(size > MAXIMUM for size in _known(document, shape).values())
    size, limit = wire["bytes"], wire["limit"]
    if type(size) is not int or type(limit) is not int or size <= limit:
        return False
    return (size, limit) in _bounds(document, shape)


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
    return all(type(shape[name]) is int and 1 <= shape[name] <= most for name, most in _COUNTS)


_COUNTS = (("sequences", 2**32 - 1), ("tokens", MAXIMUM), ("pages", MAXIMUM))


def _logical(demand: Mapping[str, Any], shape: Mapping[str, int]) -> int:
    ((form, terms),) = demand.items()
    if form == "fixed":
        return int(terms["bytes"])
    if form == "bounded_shape_buckets":
        for bucket in terms["buckets"]:
            if all(shape[name] <= bucket[f"maximum_{name}"] for name, _ in _COUNTS):
                return int(bucket["bytes"])
        raise UndefinedError
    total = int(terms.get("fixed_bytes", 0))
    for name, _ in _COUNTS:
        if f"maximum_{name}" in terms:
            if shape[name] > terms[f"maximum_{name}"]:
                raise UndefinedError
            total += int(terms[f"bytes_per_{name[:-1]}"]) * shape[name]
    return total


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def _mask(value: int, unit: int) -> int:
    return (value + unit - 1) & ~(unit - 1)


def _taken(
    row: Mapping[str, Any],
    shape: Mapping[str, int],
    rounded: Callable[[int, int], int] = _round_up,
) -> int:
    value = rounded(_logical(row["demand"], shape), row["alignment_bytes"])
    allocator = row["storage"]["profile"]["allocator"]
    if isinstance(allocator, dict):
        value = rounded(value, allocator["fixed_block_arena"]["block_bytes"])
    return value


def _known(document: Document, shape: Mapping[str, int]) -> dict[str, int]:
    sizes = {}
    for name, row in document.descriptors.items():
        try:
            sizes[name] = _taken(row, shape)
        except UndefinedError:
            continue
    return sizes


def _bounds(document: Document, shape: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """Every number of bytes that the plan takes at a shape, with what it is held to there."""
    sizes = _known(document, shape)
    yield from _shrinking(document, shape)
    yield from _rounding(document, sizes, shape)
    pools = document.memory.get("dynamic_pools", [])
    unit = all(shape[name] == 1 for name, _ in _COUNTS)
    for pool in pools:
        if unit and (peak := _invocation(pool, sizes)) is not None:
            yield peak, pool["minimum_invocation_peak_bytes"]
        yield from _ceiling(document, pool, shape)
    yield from _budgets(document, sizes, shape)
    need = _need(document, pools, sizes)
    if need is not None:
        memory = document.memory
        yield need, memory["policy_capacity_bytes"] - memory["reserve_bytes"]
        yield need, memory["usable_capacity_bytes"]


def _step(pool: Mapping[str, Any], sizes: Mapping[str, int]) -> int | None:
    slots = [slot["resource_ids"] for slot in pool["step_resource_slots"] if slot["resource_ids"]]
    if any(name not in sizes for slot in slots for name in slot):
        return None
    return sum(max(sizes[name] for name in slot) for slot in slots)


def _invocation(pool: Mapping[str, Any], sizes: Mapping[str, int]) -> int | None:
    rows = [row["resource_ids"] for row in pool["invocation_liveness"]]
    if any(name not in sizes for row in rows for name in row):
        return None
    each = [sum(sizes[name] for name in row) for row in rows]
    reuse = pool["invocation_liveness_mode"] == "total_order_reuse"
    return max(each, default=0) if reuse else sum(each)


def _rounding(
    document: Document, sizes: Mapping[str, int], shape: Mapping[str, int]
) -> Iterator[tuple[int, int]]:
    """A row's bytes by division and by masks, which differ unless all units are powers of two."""
    for name, size in sizes.items():
        masked = _taken(document.descriptors[name], shape, _mask)
        yield max(size, masked), min(size, masked)


def _shrinking(document: Document, shape: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """A demand's bytes, held to what its later buckets say of larger shapes."""
    for row in document.descriptors.values():
        buckets = row["demand"].get("bounded_shape_buckets", {}).get("buckets", [])
        for index, bucket in enumerate(buckets):
            if all(shape[name] <= bucket[f"maximum_{name}"] for name, _ in _COUNTS):
                for later in buckets[index + 1 :]:
                    yield bucket["bytes"], later["bytes"]
                break


def _ceiling(
    document: Document, pool: Mapping[str, Any], shape: Mapping[str, int]
) -> Iterator[tuple[int, int]]:
    """All instances of a pool's members, each at the shape or its own maximum if less."""
    total = 0
    for name in pool["resource_ids"]:
        row = document.descriptors[name]
        ((form, terms),) = row["demand"].items()
        clipped = {
            count: 1
            if form == "actual_sequences"
            else min(shape[count], _own_maximum(form, terms, count))
            for count, _ in _COUNTS
        }
        total += _taken(row, clipped) * row["theoretical_maximum_instances"]
    yield total, int(pool["theoretical_ceiling_bytes"])


def _own_maximum(form: str, terms: Mapping[str, Any], count: str) -> int:
    if form == "bounded_shape_buckets":
        return int(terms["buckets"][-1][f"maximum_{count}"])
    return int(terms.get(f"maximum_{count}", 1))


def _budgets(
    document: Document, sizes: Mapping[str, int], shape: Mapping[str, int]
) -> Iterator[tuple[int, int]]:
    """Reusable execution: what buckets that cover the shape take, and all lanes of a pool."""
    reusable = document.memory.get("reusable_execution")
    if not reusable:
        return
    pools = {pool["pool_id"]: pool for pool in document.memory["dynamic_pools"]}
    lanes = dict.fromkeys(pools, 0)
    for resolved in reusable["buckets"]:
        capacity = resolved["bucket"]["capacity"]
        covered = all(shape[name] <= capacity[f"maximum_{name}"] for name, _ in _COUNTS)
        stated = {budget["pool_id"]: budget for budget in resolved["pool_budgets"]}
        for name, pool in pools.items():
            budget = stated.get(name, {"step_bytes": 0, "invocation_bytes": 0})
            lanes[name] += budget["step_bytes"] + budget["invocation_bytes"]
            if covered and (step := _step(pool, sizes)) is not None:
                yield step, budget["step_bytes"]
            if covered and (invocation := _invocation(pool, sizes)) is not None:
                yield invocation, budget["invocation_bytes"]
    for name, pool in pools.items():
        total = lanes[name] * reusable["maximum_reusable_lanes"]
        yield total, pool["reusable_workspace_ceiling_bytes"]


def _need(document: Document, pools: list[Any], sizes: Mapping[str, int]) -> int | None:
    """What one sequence of the shape needs in all; None where some size is undefined."""
    own = [
        sizes.get(name)
        for name, row in document.descriptors.items()
        if row["lifetime"] in ("request", "sequence")
    ]
    parts: list[int | None] = own + [
        part(pool, sizes) for pool in pools for part in (_step, _invocation)
    ]
    total = sum(int(row["size_bytes"]) for row in document.memory.get("static_allocations", []))
    for part_bytes in parts:
        if part_bytes is None:
            return None
        total += part_bytes
    return total


def _shared_places(
    document: Document, shape: Mapping[str, int]
) -> Iterator[dict[str, tuple[int, int]]]:
    """Stretches of bytes in which no two resources may ever meet, with where each lies.

    These are arenas whose rows may all be live at once, and Step slots of a retained resource:
    that one is read after the step, when every other member has been written. Resources that
    share a slot or an extent otherwise do so in turn, which is no fault.
    """
    sizes = _known(document, shape)
    order = {node["id"]: index for index, node in enumerate(document.nodes)}
    retained = set(document.value.get("retained_completion_resources", ()))
    for value in document.payload.get("retained_completion_values", ()):
        retained.add(value["resource_id"])
    for pool in document.memory.get("dynamic_pools", []):
        for slot in pool["step_resource_slots"]:
            if not retained.isdisjoint(slot["resource_ids"]):
                yield {name: (0, sizes[name]) for name in slot["resource_ids"] if name in sizes}
        if pool["invocation_liveness_mode"] != "conservative_concurrent":
            continue
        rows = sorted(
            pool["invocation_liveness"], key=lambda row: order.get(row["node_id"], len(order))
        )
        places: dict[str, tuple[int, int]] = {}
        offset = 0
        for row in rows:
            for name in row["resource_ids"]:
                size = sizes.get(name, 0)
                places[name] = (offset, offset + size)
                offset += size
        yield places
