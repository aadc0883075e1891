"""Vocabulary: one plan in plain Python, judged by the words of the definitions.

It shares nothing with the symbolic plan, nor with the product, so that what the solvers say can
be checked by trying every plan up to a size. Nothing here is clever.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Edges = frozenset[tuple[int, int]]
Users = tuple[frozenset[int], ...]


@dataclass(frozen=True)
class ConcretePlan:
    """A plan of ``nodes`` nodes in plan order, its edges, and the users of each resource."""

    nodes: int
    edges: Edges
    users: Users

    def precedes(self, earlier: int, later: int) -> bool:
        """Whether a path leads from one node to the other, by following every edge."""
        return any(
            start == earlier and (end == later or self.precedes(end, later))
            for start, end in self.edges
        )

    def in_order(self, left: int, right: int) -> bool:
        """Whether one resource's users all stand before the other's."""
        a, b = self.users[left], self.users[right]
        return max(a) < min(b) or max(b) < min(a)

    def fenced(self, left: int, right: int) -> bool:
        """Whether they are in order, and the last user of the one precedes the other's first."""
        a, b = self.users[left], self.users[right]
        return (max(a) < min(b) and self.precedes(max(a), min(b))) or (
            max(b) < min(a) and self.precedes(max(b), min(a))
        )

    def concurrent(self, left: int, right: int) -> bool:
        """Whether every user of one resource precedes every user of the other."""
        a, b = self.users[left], self.users[right]
        return all(self.precedes(i, j) for i in a for j in b) or all(
            self.precedes(j, i) for i in a for j in b
        )

    def by_users(self) -> list[int]:
        """Return the resources by first user, last user and number."""
        order = range(len(self.users))
        return sorted(order, key=lambda r: (min(self.users[r]), max(self.users[r]), r))

    def greedy_slots(self, reusable: tuple[bool, ...] | None = None) -> list[list[int]]:
        """Return the slots that first fit gives: join the first slot that is ordered throughout."""
        free = reusable or (True,) * len(self.users)
        slots: list[list[int]] = []
        for resource in self.by_users():
            for slot in slots:
                if free[resource] and all(
                    free[member] and self.fenced(member, resource) for member in slot
                ):
                    slot.append(resource)
                    break
            else:
                slots.append([resource])
        return slots


def every_plan(nodes: int, resources: int, most_edges: int | None = None) -> Iterator[ConcretePlan]:
    """Yield every plan of a size, those with fewer edges first."""
    pairs = list(itertools.combinations(range(nodes), 2))
    uses = [
        frozenset(users)
        for count in range(1, nodes + 1)
        for users in itertools.combinations(range(nodes), count)
    ]
    limit = len(pairs) if most_edges is None else most_edges
    for count in range(limit + 1):
        for edges in itertools.combinations(pairs, count):
            for users in itertools.product(uses, repeat=resources):
                yield ConcretePlan(nodes, frozenset(edges), users)
