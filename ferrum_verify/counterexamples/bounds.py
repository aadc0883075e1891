"""Checking ``shape`` counterexamples: what a document takes, and what it is held to, in bytes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.counterexamples.holding import held
from ferrum_verify.counterexamples.sizes import (
    COUNTS,
    MAXIMUM,
    NOT_EVALUATED,
    is_shape,
    known,
    mask,
    taken,
)
from ferrum_verify.counterexamples.workspaces import growth, usable_bytes, workspaces

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.counterexamples.document import Document


class Bound(NamedTuple):
    """Bytes that are taken, their limit, and where in the document it stands or follows from."""

    bytes: int
    limit: int
    place: str


def check_shape(document: Document, wire: Mapping[str, Any]) -> bool:
    """Whether some quantity of the document passes what it is held to at the shape.

    The counterexample says where the limit stands or what it follows from, and it must be that
    limit. A plan's pointers are the same to this check whether it stands alone or in a bundle.
    """
    shape = wire["shape"]
    if not is_shape(shape):
        return False
    if wire.get("overflow") is True:
        sizes = known(document, shape).values()
        return any(size > MAXIMUM for size in sizes) or any(
            size > MAXIMUM for size in workspaces(document, shape)
        )
    size, limit = wire["bytes"], wire["limit"]
    if type(size) is not int or type(limit) is not int or size <= limit:
        return False
    return any(
        (size, limit) == bound[:2] and _in_plan(wire["limit_from"]) == _in_plan(bound.place)
        for bound in _bounds(document, shape)
    )


def _in_plan(location: str) -> str:
    return location.removeprefix("/plan")


def _bounds(document: Document, shape: Mapping[str, int]) -> Iterator[Bound]:
    """Every number of bytes that the plan takes at a shape, with what it is held to there."""
    at = document.memory_place
    if document.is_comparison:
        for before, after, place in growth(document, document.rebuilt(), shape):
            yield Bound(after, before, f"{at}{place}")
        return
    for bound in _own_bounds(document, shape):
        yield bound._replace(place=at + bound.place)
    yield from (Bound(*bound) for bound in held(document, shape))
    limit, place = usable_bytes(document)
    for size in workspaces(document, shape):
        yield Bound(size, limit, place)


def _own_bounds(document: Document, shape: Mapping[str, int]) -> Iterator[Bound]:
    """The bounds of a memory plan; their places are relative to it."""
    sizes = known(document, shape)
    rows = document.memory.get("dynamic_descriptors", [])
    pools = document.memory.get("dynamic_pools", [])
    unit = all(shape[name] == 1 for name, _ in COUNTS)
    parts = [
        *(
            partial(_of_row, row, f"/dynamic_descriptors/{index}", shape)
            for index, row in enumerate(rows)
        ),
        *(
            partial(_peak_of, pool, f"/dynamic_pools/{index}", sizes)
            for index, pool in enumerate(pools)
            if unit
        ),
        *(
            partial(_ceiling_of, document, pool, f"/dynamic_pools/{index}", shape)
            for index, pool in enumerate(pools)
        ),
        partial(_budgets, document, sizes, shape),
        # Only the smallest request must fit: of longer ones the rest is refused as they come.
        *([partial(_grants, document, pools, sizes)] if unit else []),
    ]
    for part in parts:
        try:
            yield from part()
        except NOT_EVALUATED:
            continue  # it speaks of something that is at fault; the other bounds stand


def _of_row(row: Mapping[str, Any], location: str, shape: Mapping[str, int]) -> Iterator[Bound]:
    for size, limit in _shrinking(row, shape):
        yield Bound(size, limit, f"{location}/demand")
    # By division and by masks, which differ unless all units are powers of two.
    both = taken(row, shape), taken(row, shape, mask)
    yield Bound(max(both), min(both), location)


def _peak_of(pool: Mapping[str, Any], location: str, sizes: Mapping[str, int]) -> Iterator[Bound]:
    peak = _invocation(pool, sizes)
    if peak is not None:
        field = "minimum_invocation_peak_bytes"
        yield Bound(peak, pool[field], f"{location}/{field}")


def _ceiling_of(
    document: Document, pool: Mapping[str, Any], location: str, shape: Mapping[str, int]
) -> Iterator[Bound]:
    field = "theoretical_ceiling_bytes"
    yield Bound(_resident(document, pool, shape), int(pool[field]), f"{location}/{field}")


def _grants(document: Document, pools: list[Any], sizes: Mapping[str, int]) -> Iterator[Bound]:
    need = _need(document, pools, sizes)
    if need is not None:
        memory = document.memory
        granted = memory["policy_capacity_bytes"] - memory["reserve_bytes"]
        yield Bound(need, granted, "/policy_capacity_bytes")
        yield Bound(need, memory["usable_capacity_bytes"], "/usable_capacity_bytes")


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


def _shrinking(row: Mapping[str, Any], shape: Mapping[str, int]) -> Iterator[tuple[int, int]]:
    """A demand's bytes, held to what its later buckets say of larger shapes."""
    buckets = row["demand"].get("bounded_shape_buckets", {}).get("buckets", [])
    for index, bucket in enumerate(buckets):
        if all(shape[name] <= bucket[f"maximum_{name}"] for name, _ in COUNTS):
            for later in buckets[index + 1 :]:
                yield bucket["bytes"], later["bytes"]
            break


def _resident(document: Document, pool: Mapping[str, Any], shape: Mapping[str, int]) -> int:
    """All instances of a pool's members, each at the shape or its own maximum if less."""
    total = 0
    for name in pool["resource_ids"]:
        row = document.descriptors[name]
        ((form, terms),) = row["demand"].items()
        clipped = {
            count: 1
            if form == "actual_sequences"
            else min(shape[count], _own_maximum(form, terms, count))
            for count, _ in COUNTS
        }
        total += taken(row, clipped) * int(row["theoretical_maximum_instances"])
    return total


def _own_maximum(form: str, terms: Mapping[str, Any], count: str) -> int:
    if form == "bounded_shape_buckets":
        return int(terms["buckets"][-1][f"maximum_{count}"])
    return int(terms.get(f"maximum_{count}", 1))


def _budgets(
    document: Document, sizes: Mapping[str, int], shape: Mapping[str, int]
) -> Iterator[Bound]:
    """Reusable execution: what buckets that cover the shape take, and all lanes of a pool."""
    reusable = document.memory.get("reusable_execution")
    if not reusable:
        return
    pools = {pool["pool_id"]: pool for pool in document.memory["dynamic_pools"]}
    lanes = dict.fromkeys(pools, 0)
    for index, resolved in enumerate(reusable["buckets"]):
        capacity = resolved["bucket"]["capacity"]
        covered = all(shape[name] <= capacity[f"maximum_{name}"] for name, _ in COUNTS)
        place = f"/reusable_execution/buckets/{index}/pool_budgets"
        stated = {
            budget["pool_id"]: (budget, f"{place}/{position}")
            for position, budget in enumerate(resolved["pool_budgets"])
        }
        for name, pool in pools.items():
            for kind, part in (("step_bytes", _step), ("invocation_bytes", _invocation)):
                budget, own_place = stated.get(name, ({kind: 0}, ""))
                lanes[name] += budget[kind]
                if covered and (size := part(pool, sizes)) is not None:
                    yield Bound(size, budget[kind], f"{own_place}/{kind}" if own_place else place)
    field = "reusable_workspace_ceiling_bytes"
    for index, (name, pool) in enumerate(pools.items()):
        total = lanes[name] * reusable["maximum_reusable_lanes"]
        yield Bound(total, pool[field], f"/dynamic_pools/{index}/{field}")


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
