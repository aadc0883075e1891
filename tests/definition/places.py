"""Places, by definition: which bytes of memory a resource has, and which of them a node touches."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from tests.definition.plan_parts import (
    Plan,
    bindings,
    length_at,
    projected,
    row_bytes,
    workspaces,
)
from tests.definition.sizes import Json, RefusedError, Shape, request_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

# An arena is memory that is one piece: what stands in two of them never meets.
Arena = tuple[str, str]


class Touch(NamedTuple):
    """Bytes of an arena that a node reads or writes, for a value or as a workspace.

    A claim touches nothing that is known of: its node was given bytes for the resources in
    ``given``, somewhere in the arena, and nobody says what it leaves there.
    """

    node: int
    reads: bool
    writes: bool
    value: str | None
    resource: str
    arena: Arena
    start: int
    end: int
    given: frozenset[str] = frozenset()

    @property
    def claim(self) -> bool:
        return bool(self.given)

    def meets(self, other: Touch) -> bool:
        return self.arena == other.arena and self.start < other.end and other.start < self.end


def waves(plan: Plan, shape: Shape) -> dict[tuple[str, str], tuple[Arena, int]]:
    """For a node's id and a resource of its liveness row: the arena, and where in it.

    Only under total order do rows share: each starts at the first byte of its pool again.
    """
    found = {}
    for pool in plan.memory["dynamic_pools"]:
        if pool["invocation_liveness_mode"] != "total_order_reuse":
            continue
        for row in pool["invocation_liveness"]:
            at = 0
            for name in row["resource_ids"]:
                found[row["node_id"], name] = (("wave", pool["pool_id"]), at)
                at += claimed(plan, name, shape)
    return found


def claimed(plan: Plan, resource: str, shape: Shape) -> int:
    """What a claim takes with its padding; 0 where it is not defined, which is told elsewhere."""
    if resource not in plan.dynamic:
        return 0
    try:
        return request_bytes(plan.dynamic[resource], shape)
    except RefusedError:
        return 0


def slots_of(plan: Plan) -> dict[str, list[Arena]]:
    """For each resource in a Step slot the slots it stands in, all from their first byte."""
    found: dict[str, list[Arena]] = {}
    for pool in plan.memory["dynamic_pools"]:
        for slot in pool["step_resource_slots"]:
            for name in slot["resource_ids"]:
                found.setdefault(name, []).append(("slot", " ".join(slot["resource_ids"])))
    return found


def touches(plan: Plan, shape: Shape) -> list[Touch]:
    """All that the nodes touch in a step of a shape."""
    in_wave, in_slots = waves(plan, shape), slots_of(plan)
    given = Counter(resource for _, resource in in_wave)

    def places(node: int, resource: str) -> list[tuple[Arena, int]]:
        if resource in in_slots:
            return [(arena, 0) for arena in in_slots[resource]]
        own: tuple[Arena, int] = ("own", resource), 0
        in_row = in_wave.get((plan.nodes[node]["id"], resource), own)
        # What several rows give in places of their own is one resource to the nodes that use it.
        return [in_row, own] if given[resource] > 1 else [in_row]

    found = []
    for node, placed_by, parts in touched(plan, shape):
        for resource, reads, writes, value, start, end in parts:
            for arena, base in places(placed_by, resource):
                where = (arena, base + start, base + end)
                found.append(Touch(node, reads, writes, value, resource, *where))
    position = {node["id"]: at for at, node in enumerate(plan.nodes)}
    rows: dict[tuple[str, Arena], dict[str, int]] = {}
    for (name, resource), (arena, base) in in_wave.items():
        rows.setdefault((name, arena), {})[resource] = base + claimed(plan, resource, shape)
    extents: dict[Arena, int] = {}
    for (_, arena), ends in rows.items():
        extents[arena] = max(extents.get(arena, 0), *ends.values())
    for (name, arena), ends in rows.items():
        if name in position:
            place = (min(ends), arena)
            part = (0, extents[arena])
            claim = Touch(position[name], False, True, None, *place, *part, frozenset(ends))
            found.append(claim)
    return found


Part = tuple[str, bool, bool, str | None, int, int]


def touched(plan: Plan, shape: Shape) -> Iterator[tuple[int, int, list[Part]]]:
    """What each binding and workspace touches of its resources; who does, and who placed it.

    A value stays where its writer put it, also when a reader was given the resource elsewhere.
    """
    axes = projected(plan)
    writer: dict[str, int] = {}
    for node, binding in reversed(list(bindings(plan))):
        if binding["role"] == "output":
            writer[binding["value_id"]] = node
    for node, binding in bindings(plan):
        value = binding["value_id"]
        modes = {binding["access"]} | effects(plan.nodes[node], value)
        parts = []
        for component in binding["storage"]["components"]:
            start = component["offset_bytes"]
            if value in plan.states:
                end = start + state_bytes(plan.states[value], component)
            else:
                end = start + length_at(binding, component, axes.get(value), shape.tokens)
            reads, writes = modes != {"write"}, modes != {"read"}
            parts.append((component["resource_id"], reads, writes, value, start, end))
        yield node, writer.get(value, node), parts
    for at, each in enumerate(plan.nodes):
        for name in sorted(workspaces(each)):
            yield at, at, [(name, True, True, None, 0, row_bytes(plan, name, shape) or 0)]


def state_bytes(state: Json, component: Json) -> int:
    """What a state takes when its sequence is as long as the program lets it be, in bytes."""
    length: int = component["length_bytes"]
    if state["capacity_demand"] == "fixed_per_scope":
        return length
    scaled = state["capacity_demand"]["token_scaled"]
    most: int = scaled["bytes_per_token"] * scaled["maximum_tokens"]
    return max(length, most)


def effects(node: Json, value: str) -> set[str]:
    """How a node says that it touches a state, beside its bindings of the state's value."""
    return {
        effect["access"]
        for effect in node.get("state_effects", [])
        if effect["state_value_id"] == value
    }
