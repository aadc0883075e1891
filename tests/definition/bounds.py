"""Bounds, by definition: rows that are too small, and too few, for what the plan admits."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from tests.definition.places import claimed
from tests.definition.plan_parts import (
    WORKSPACES,
    Plan,
    bindings,
    bytes_at,
    length_at,
    projected,
    reusable_shapes,
    row_bytes,
    some_of,
    steps,
)
from tests.definition.sizes import Json, Shape, bucket_shape, largest_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

LIFETIMES = ["invocation", "step", "request", "sequence", "plan"]


class Misfit(NamedTuple):
    """A row that does not have what is needed of it; ``has`` is None where it is not defined."""

    kind: str
    nodes: tuple[str, ...]
    resource: str
    needs: int | None
    has: int | None
    shape: Shape | None


def misfits(plan: Plan) -> Iterator[Misfit]:
    """Every row that falls short, each told once."""
    known = set()
    for each in (
        *values_beyond_rows(plan),
        *states_beyond_rows(plan),
        *workspaces_beyond_rows(plan),
        *rows_without_bytes(plan),
        *too_few_instances(plan),
        *rows_not_kept(plan),
        *lanes_without_bytes(plan),
    ):
        if (each.kind, each.resource, each.nodes) not in known:
            known.add((each.kind, each.resource, each.nodes))
            yield each


def values_beyond_rows(plan: Plan) -> Iterator[Misfit]:
    """A value ends behind its row in a step of some number of tokens.

    A step may be of one sequence, with all the tokens. What no work projects, and no program
    declares, is held to the largest shape that the row has.
    """
    axes = projected(plan)
    for node, binding in bindings(plan):
        value, name = binding["value_id"], plan.nodes[node]["id"]
        if value in plan.states:
            continue
        for component in binding["storage"]["components"]:
            resource = component["resource_id"]
            shapes = [Shape(1, tokens, 1) for tokens in some_of(plan, plan.tokens)]
            if value not in axes or resource in plan.static:
                shapes = [_largest(plan, resource)]
            for shape in shapes:
                length = length_at(binding, component, axes.get(value), shape.tokens)
                end = component["offset_bytes"] + length
                has = row_bytes(plan, resource, shape)
                if has is None or has < end:
                    yield Misfit("outside", (name,), resource, end, has, shape)


def _largest(plan: Plan, resource: str) -> Shape:
    if resource not in plan.dynamic:
        return Shape(1, 1, 1)
    return largest_shape(plan.dynamic[resource]["demand"])


def states_beyond_rows(plan: Plan) -> Iterator[Misfit]:
    """A state takes more than its row has, for a sequence of some number of tokens."""
    for node, binding in bindings(plan):
        state = plan.states.get(binding["value_id"])
        if state is None:
            continue
        for component in binding["storage"]["components"]:
            resource, offset = component["resource_id"], component["offset_bytes"]
            for tokens, size in _state_sizes(plan, state, component["length_bytes"]):
                has = row_bytes(plan, resource, Shape(1, tokens, 1))
                if has is None or has < offset + size:
                    shape = Shape(1, tokens, 1)
                    name = plan.nodes[node]["id"]
                    yield Misfit("outside", (name,), resource, offset + size, has, shape)


def _state_sizes(plan: Plan, state: Json, length: int) -> list[tuple[int, int]]:
    if state["capacity_demand"] == "fixed_per_scope":
        return [(1, length)]
    scaled = state["capacity_demand"]["token_scaled"]
    tokens = some_of(plan, scaled["maximum_tokens"])
    return [(each, scaled["bytes_per_token"] * each) for each in tokens]


def workspaces_beyond_rows(plan: Plan) -> Iterator[Misfit]:
    """A provider asks for more workspace at a shape than the workspace's row has there."""
    for node, part in product(plan.nodes, WORKSPACES):
        resource = node.get(f"{part}_resource")
        estimate = node.get("provider_resources", {}).get(part)
        if resource is None or estimate is None:
            continue
        for shape in [*steps(plan), *reusable_shapes(plan)]:
            needs = bytes_at(estimate["size_formula"], shape)
            has = row_bytes(plan, resource, shape)
            if needs is not None and (has is None or has < needs):
                yield Misfit("outside", (node["id"],), resource, needs, has, shape)


def rows_without_bytes(plan: Plan) -> Iterator[Misfit]:
    """A row that every step needs is not defined at the shape of some step."""
    for (resource, row), shape in product(plan.dynamic.items(), steps(plan)):
        is_of_step = row["lifetime"] in ("step", "invocation")
        if is_of_step and row_bytes(plan, resource, shape) is None:
            yield Misfit("outside", (), resource, None, None, shape)


def too_few_instances(plan: Plan) -> Iterator[Misfit]:
    """More sequences, or lanes, are admitted than there are instances of what each needs."""
    admitted = max(
        plan.memory["maximum_active_sequences"],
        *(shape.sequences for shape in reusable_shapes(plan)),
        0,
    )
    reusable = plan.memory.get("reusable_execution") or {"maximum_reusable_lanes": 0}
    # A lane that runs has a sequence.
    lanes = min(admitted, reusable["maximum_reusable_lanes"])
    for resource, row in plan.dynamic.items():
        instances = row["theoretical_maximum_instances"]
        needed = admitted if row["lifetime"] in ("request", "sequence") else lanes
        if instances < needed:
            yield Misfit("instances", (), resource, needed, instances, None)


def rows_not_kept(plan: Plan) -> Iterator[Misfit]:
    """A weight, or a state, lies in a row that is given back before its time."""
    for node, binding in bindings(plan):
        name, effects = plan.nodes[node]["id"], plan.nodes[node].get("state_effects", [])
        needed = [
            each["lifetime"] for each in effects if each["state_value_id"] == binding["value_id"]
        ]
        if binding["value_id"] in plan.states:
            needed.append(plan.states[binding["value_id"]]["lifetime"])
        if binding["usage"] == "weights":
            needed.append("plan")
        for component in binding["storage"]["components"]:
            resource = component["resource_id"]
            has = plan.dynamic.get(resource, {"lifetime": "plan"})["lifetime"]
            if any(LIFETIMES.index(each) > LIFETIMES.index(has) for each in needed):
                yield Misfit("unkept", (name,), resource, None, None, None)


def lanes_without_bytes(plan: Plan) -> Iterator[Misfit]:
    """A bucket's arena is smaller than what it holds, or a pool has no room for every lane's."""
    reusable = plan.memory.get("reusable_execution") or {"buckets": []}
    arenas: dict[str, int] = {}
    for row in reusable["buckets"]:
        budgets = {each["pool_id"]: each for each in row["pool_budgets"]}
        for pool in plan.memory["dynamic_pools"]:
            budget = budgets.get(pool["pool_id"], {"step_bytes": 0, "invocation_bytes": 0})
            needs = _arena(plan, pool, bucket_shape(row["bucket"]["capacity"]))
            has = (budget["step_bytes"], budget["invocation_bytes"])
            if any(need > there for need, there in zip(needs, has, strict=True)):
                yield Misfit("lanes", (), pool["pool_id"], sum(needs), sum(has), None)
            arenas[pool["pool_id"]] = arenas.get(pool["pool_id"], 0) + sum(has)
    for pool in plan.memory["dynamic_pools"]:
        needed = arenas.get(pool["pool_id"], 0) * reusable.get("maximum_reusable_lanes", 0)
        if needed > pool["reusable_workspace_ceiling_bytes"]:
            ceiling = pool["reusable_workspace_ceiling_bytes"]
            yield Misfit("lanes", (), pool["pool_id"], needed, ceiling, None)


def _arena(plan: Plan, pool: Json, shape: Shape) -> tuple[int, int]:
    """What the slots and the liveness rows of a pool take at a bucket's shape, in bytes."""
    slots = [
        max(claimed(plan, name, shape) for name in slot["resource_ids"])
        for slot in pool["step_resource_slots"]
    ]
    rows = [
        sum(claimed(plan, name, shape) for name in row["resource_ids"])
        for row in pool["invocation_liveness"]
    ]
    is_one = pool["invocation_liveness_mode"] == "total_order_reuse"
    return sum(slots), max(rows, default=0) if is_one else sum(rows)
