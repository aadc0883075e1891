"""A document as counterexamples see it: its raw JSON, part by part."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORKSPACES = ("scratch_resource", "binding_resource", "persistent_resource")


class Document:
    """The parts of a document's JSON that counterexamples speak of.

    A comparison of two catalogs is ``{"base", "head"}``: two catalogs, or two bundles. The plan
    that is judged under both stands as ``plan`` or in the bundle of BASE, and what it became
    when it was rebuilt on HEAD as ``rebuilt`` or in the bundle of HEAD.
    """

    def __init__(self, value: dict[str, Any]) -> None:
        whole = value.get("base", value)
        parts = value.get("parts", {})
        plan = value.get("plan", whole.get("plan", parts.get("execution_plan", value)))
        plan = plan.get("plan", plan)
        payload = plan.get("payload", plan)
        self.value = value
        self.payload = payload
        self.nodes: list[dict[str, Any]] = payload.get("nodes", [])
        self.memory: dict[str, Any] = payload.get("memory", payload)
        self.descriptors: dict[str, dict[str, Any]] = {
            row["base_resource_id"]: row
            for row in self.memory.get("dynamic_descriptors", [])
            if isinstance(row, dict) and isinstance(row.get("base_resource_id"), str)
        }
        wrapped = "parts/execution_plan" if parts else "plan"
        places = [(wrapped, plan is not value), ("payload", payload is not plan)]
        places.append(("memory", self.memory is not payload))
        self.memory_place = "".join(f"/{name}" for name, there in places if there)
        self.is_comparison = "base" in value

    def catalog(self, name: str = "catalog") -> dict[str, Any]:
        """The catalog: a document may be one alone, or hold it; ``base`` and ``head`` too."""
        holder = self.value.get(name, self.value)
        holder = holder.get("parts", {}).get("capabilities", holder)
        catalog: dict[str, Any] = holder.get("catalog", holder)
        return catalog

    @cached_property
    def users(self) -> dict[str, list[str]]:
        """For each resource the nodes that list or bind it, in plan order."""
        users: dict[str, list[str]] = {}
        for node in self.nodes:
            for resource in _used_by(node):
                users.setdefault(resource, []).append(node["id"])
        return users

    @cached_property
    def names(self) -> list[str]:
        """The nodes' ids in plan order."""
        return [node["id"] for node in self.nodes]

    @cached_property
    def dependencies(self) -> dict[str, list[str]]:
        """For each node the ids of those that it waits for."""
        return {node["id"]: node["dependencies"] for node in self.nodes}

    @cached_property
    def by_name(self) -> dict[str, dict[str, Any]]:
        """The nodes by their ids."""
        return {node["id"]: node for node in self.nodes}

    @cached_property
    def producers(self) -> dict[str, set[str]]:
        """For each value the nodes that have it as an output."""
        producers: dict[str, set[str]] = {}
        for name, node in self.by_name.items():
            for binding in node.get("values", []):
                if binding["role"] == "output":
                    producers.setdefault(binding["value_id"], set()).add(name)
        return producers

    @cached_property
    def bindings(self) -> set[tuple[str, str, int, int]]:
        """The values that nodes bind, each with a resource, and its first byte and end there."""
        return {
            (
                binding["value_id"],
                part["resource_id"],
                part["offset_bytes"],
                part["offset_bytes"] + part["length_bytes"],
            )
            for node in self.nodes
            for binding in node["values"]
            for part in binding["storage"]["components"]
        }

    @cached_property
    def bound_as(self) -> dict[str, list[dict[str, Any]]]:
        """For each value its bindings, in plan order."""
        found: dict[str, list[dict[str, Any]]] = {}
        for node in self.nodes:
            for binding in node["values"]:
                found.setdefault(binding["value_id"], []).append(binding)
        return found

    @cached_property
    def projected(self) -> dict[str, set[int]]:
        """For each value the extents of its axes that some node's work counts tokens along."""
        extents: dict[str, set[int]] = {}
        for node in self.nodes:
            work = node["work"]
            axes = work["tokens"]["projections"] if isinstance(work, dict) else []
            tensors = {each["value_id"]: each["tensor"]["dimensions"] for each in node["values"]}
            for axis in axes:
                of, extent = tensors.get(axis["value_id"], []), axis["canonical_extent"]
                if len(of) == axis["rank"] and of[axis["axis"]] == extent:
                    extents.setdefault(axis["value_id"], set()).add(extent)
        return extents

    @cached_property
    def program(self) -> dict[str, Any]:
        """The program that the document holds; one without states and outputs if it has none."""
        family = self.value.get("parts", {}).get("prepared_family", self.value)
        return family.get("program") or {"states": [], "outputs": []}

    @cached_property
    def states(self) -> dict[str, dict[str, Any]]:
        """The program's states by their values."""
        return {state["value_id"]: state for state in self.program["states"]}

    @cached_property
    def kept(self) -> set[str]:
        """The values that are read after the step."""
        terminal = set(self.payload.get("terminal_output_resources", ()))
        return {each["value_id"] for each in self.payload["retained_completion_values"]} | {
            value
            for value, bindings in self.bound_as.items()
            for binding in bindings
            if any(part["resource_id"] in terminal for part in binding["storage"]["components"])
        }

    @cached_property
    def needed(self) -> set[str]:
        """The values that somebody reads: a node, or whoever asks the program for its outputs."""
        read = {
            value
            for value, bindings in self.bound_as.items()
            if any(binding["access"] != "write" for binding in bindings)
        }
        return read | self.kept | set(self.program["outputs"])

    @cached_property
    def lives(self) -> dict[str, tuple[int, int]]:
        """For each value the places in plan order from which and to which it is there."""
        uses: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        for index, node in enumerate(self.nodes):
            for binding in node["values"]:
                uses.setdefault(binding["value_id"], []).append((index, binding))
        return {
            value: (
                min((index for index, use in bound if use["role"] == "output"), default=-1),
                len(self.nodes)
                if value in self.kept
                or any(use["usage"] in ("state", "weights") for _, use in bound)
                else bound[-1][0],
            )
            for value, bound in uses.items()
        }

    @cached_property
    def alias_classes(self) -> dict[str, str]:
        """For each value with exact aliases one that stands for all that they connect it with."""
        others: dict[str, set[str]] = {}
        for node in self.nodes:
            for alias in node["exact_aliases"]:
                one, other = alias["output_value_id"], alias["input_value_id"]
                others.setdefault(one, set()).add(other)
                others.setdefault(other, set()).add(one)
        classes: dict[str, str] = {}
        for value in others:
            waiting = [value]
            while waiting:
                one = waiting.pop()
                if one not in classes:
                    classes[one] = value
                    waiting += others[one]
        return classes

    @cached_property
    def slots_of(self) -> dict[str, set[tuple[int, int]]]:
        """For each resource the slots that it is a member of, by pool and place."""
        slots: dict[str, set[tuple[int, int]]] = {}
        for index, pool in enumerate(self.memory.get("dynamic_pools", ())):
            for place, slot in enumerate(pool["step_resource_slots"]):
                for resource in slot["resource_ids"]:
                    slots.setdefault(resource, set()).add((index, place))
        return slots

    @cached_property
    def rows_in_turn(self) -> dict[str, dict[int, set[int]]]:
        """For each resource its rows in each pool whose rows reuse one extent."""
        rows: dict[str, dict[int, set[int]]] = {}
        for pool, place, row in self._rows_in_turn():
            for resource in row["resource_ids"]:
                rows.setdefault(resource, {}).setdefault(pool, set()).add(place)
        return rows

    @cached_property
    def nodes_in_turn(self) -> dict[tuple[str, str], set[int]]:
        """For each node and resource the pools that have a row of them and reuse one extent."""
        pools: dict[tuple[str, str], set[int]] = {}
        for pool, _, row in self._rows_in_turn():
            for resource in row["resource_ids"]:
                pools.setdefault((row["node_id"], resource), set()).add(pool)
        return pools

    def _rows_in_turn(self) -> Iterator[tuple[int, int, dict[str, Any]]]:
        for index, pool in enumerate(self.memory.get("dynamic_pools", ())):
            if pool["invocation_liveness_mode"] == "total_order_reuse":
                for place, row in enumerate(pool["invocation_liveness"]):
                    yield index, place, row

    def rebuilt(self) -> Document:
        """Of a comparison: the plan as it was rebuilt on HEAD."""
        return Document(self.value.get("rebuilt", self.value["head"]))


def _used_by(node: dict[str, Any]) -> set[str]:
    used = {*node["resources"], *(node.get("reads") or ()), *(node.get("writes") or ())}
    used |= {node.get(name) for name in _WORKSPACES} - {None}
    for value in node.get("values", ()):
        used |= {part["resource_id"] for part in value["storage"]["components"]}
    for effect in node.get("state_effects", ()):
        used |= set(effect["resource_ids"])
    return used
