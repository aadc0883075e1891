"""Order and sharing, by definition: which node runs before which, and who may share bytes."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from tests.definition.sizes import Json, require

if TYPE_CHECKING:
    from collections.abc import Collection


def check_graph(nodes: list[Json], known: Collection[str]) -> None:
    """Ids are unique, a node depends on earlier nodes only, and no list names a thing twice."""
    earlier: set[str] = set()
    for node in nodes:
        dependencies, resources = node["dependencies"], node["resources"]
        require(node["id"] not in earlier, "a node's id is its own")
        require(set(dependencies) <= earlier, "a node depends on earlier nodes")
        require(set(resources) <= set(known), "a node uses known resources")
        for listed in (dependencies, resources):
            require(len(set(listed)) == len(listed), "a list names a thing once")
        earlier.add(node["id"])


def check_ascending(nodes: list[Json]) -> None:
    """In a plan, unlike in a problem, the lists of a node ascend."""
    for node in nodes:
        for listed in (node["dependencies"], node["resources"]):
            require(listed == sorted(listed), "the lists of a node ascend")


class Order:
    """The nodes in plan order, and the transitive closure of their dependencies.

    Nodes are spoken of by their position. ``before[b]`` is every a with a → b, that is, every
    node that is complete before b starts, whatever else runs meanwhile.
    """

    def __init__(self, nodes: list[Json]) -> None:
        position = {node["id"]: index for index, node in enumerate(nodes)}
        self.nodes = nodes
        self.before: list[set[int]] = []
        for node in nodes:
            direct = {position[dependency] for dependency in node["dependencies"]}
            self.before.append(direct.union(*(self.before[each] for each in direct)))

    def users(self, resource: str) -> list[int]:
        """The nodes that list the resource, in plan order."""
        return [at for at, node in enumerate(self.nodes) if resource in node["resources"]]


def dies_first(model: str, left: list[int], right: list[int], order: Order) -> bool:
    """Whether the resource that ``left`` uses is dead before the one of ``right`` is born."""
    in_order = max(left) < min(right)
    if model == "in-order":
        return in_order
    if model == "fenced":
        return in_order and max(left) in order.before[min(right)]
    assert model == "concurrent"
    return all(user in order.before[other] for user in left for other in right)


def may_share(model: str, left: str, right: str, order: Order) -> bool:
    """Whether two resources may hold the same bytes when nodes run as the model says."""
    ours, theirs = order.users(left), order.users(right)
    return dies_first(model, ours, theirs, order) or dies_first(model, theirs, ours, order)


def slot_facts(memory: Json, nodes: list[Json]) -> list[Json]:
    """For each slot of two or more: whether all pairs may share, and who may not if nodes overlap.

    A hazard names the resource with the earlier first user first, ties by id.
    """
    order = Order(nodes)
    facts = []
    for pool in memory["dynamic_pools"]:
        for slot in pool["step_resource_slots"]:
            by_birth = sorted(slot["resource_ids"], key=lambda each: (min(order.users(each)), each))
            pairs = list(combinations(by_birth, 2))
            if not pairs:
                continue
            clashes = {
                model: [pair for pair in pairs if not may_share(model, *pair, order)]
                for model in ("in-order", "fenced", "concurrent")
            }
            facts.append(
                {
                    "pool_id": pool["pool_id"],
                    "resource_ids": slot["resource_ids"],
                    "in_order": clashes["in-order"] == [],
                    "fenced": clashes["fenced"] == [],
                    "concurrent": clashes["concurrent"] == [],
                    "hazards": [list(pair) for pair in clashes["concurrent"]],
                }
            )
    return facts
