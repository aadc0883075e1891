"""Output-only inputs must not reach state: a fixed point over values, aliases and nodes."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING

from ferrum_verify.documents.node import TokenWork

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.node import PlanNode


@dataclass(frozen=True, slots=True)
class ReachedState:
    """A node with a state effect that an output-only input reaches; ``origin`` is that input."""

    origin: str
    node_index: int
    node_id: str
    state_id: str


def reached_state(output_only: Sequence[str], nodes: Sequence[PlanNode]) -> ReachedState | None:
    """The first node with a state effect, read or write, that an output-only input can affect.

    The engine sweeps all nodes in plan order until nothing changes, and before each sweep
    spreads through exact aliases. This visits a node only once something it reads is
    affected, in the same order, so that cost follows the edges and not the sweeps squared.
    Which origin is named follows the engine too: a node takes that of its first affected
    input in listed order, then of the value that its work is counted by; an alias class
    takes that of its greatest affected member by id.
    """
    if not output_only:
        return None
    spread = _Spread(nodes)
    for value_id in sorted(output_only):
        spread.affect(value_id, value_id)
    while spread.fresh:
        spread.through_aliases()
        reached = spread.through_nodes()
        if reached is not None:
            return reached
    return None


class _Spread:
    """The values that are affected, each with its origin; ``fresh`` are not yet spread from."""

    def __init__(self, nodes: Sequence[PlanNode]) -> None:
        self.nodes = nodes
        self.classes = alias_classes(nodes)
        self.readers: dict[str, list[int]] = {}
        for index, node in enumerate(nodes):
            for value_id in _reads(node):
                self.readers.setdefault(value_id, []).append(index)
        self.affected: dict[str, str] = {}
        self.visited: set[int] = set()
        self.fresh: list[str] = []

    def affect(self, value_id: str, origin: str) -> None:
        if value_id not in self.affected:
            self.affected[value_id] = origin
            self.fresh.append(value_id)

    def through_aliases(self) -> None:
        # A class is met once: from then on all of its members are affected.
        classes = self.classes
        touched = {id(classes[value]): classes[value] for value in self.fresh if value in classes}
        for members in touched.values():
            origin = self.affected[max(member for member in members if member in self.affected)]
            for member in members:
                self.affect(member, origin)

    def through_nodes(self) -> ReachedState | None:
        """Visit the readers of what is fresh in plan order, up to one with a state effect."""
        pending = [index for value in self.fresh for index in self.readers.get(value, ())]
        heapify(pending)
        self.fresh.clear()
        while pending:
            index = heappop(pending)
            if index in self.visited:
                continue
            self.visited.add(index)
            node = self.nodes[index]
            origin = next(self.affected[each] for each in _reads(node) if each in self.affected)
            if node.state_effects:
                return ReachedState(origin, index, node.id, node.state_effects[0].state_id)
            before = len(self.fresh)
            for binding in node.values:
                if binding.role == "output" or binding.writes:
                    self.affect(binding.value_id, origin)
            # A reader that stands earlier in the plan is met again in the next sweep only.
            for value in self.fresh[before:]:
                for reader in self.readers.get(value, ()):
                    if reader > index:
                        heappush(pending, reader)
        return None


def alias_classes(nodes: Sequence[PlanNode]) -> dict[str, frozenset[str]]:
    """The values that share bytes by exact aliases, by each of their ids (transitively)."""
    members: dict[str, set[str]] = {}
    for node in nodes:
        for alias in node.exact_aliases:
            left = members.setdefault(alias.input_value_id, {alias.input_value_id})
            right = members.setdefault(alias.output_value_id, {alias.output_value_id})
            if left is right:
                continue
            if len(left) < len(right):
                left, right = right, left
            left |= right
            for value_id in right:
                members[value_id] = left
    frozen = {id(group): frozenset(group) for group in members.values()}
    return {value_id: frozen[id(group)] for value_id, group in members.items()}


def _reads(node: PlanNode) -> Iterator[str]:
    for binding in node.values:
        if binding.role == "input":
            yield binding.value_id
    if isinstance(node.work, TokenWork):
        yield node.work.source.value_id
