"""Vocabulary: every plan of a given number of nodes and resources at once, in booleans.

A boolean for each possible edge and each possible use makes one formula speak of all of them;
nothing is sampled. Propositional logic is the right theory, as a plan of n nodes has only
finitely many edges and uses, and the solver needs to know no arithmetic. Nodes are numbered in
plan order, so an edge can only lead from a lower number to a higher one, which is the graph rule
that each dependency is an earlier node.

Everything that is defined has a name and a definition (``definitions``), so that the exported
text can be read.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

from .logic import every, some

if TYPE_CHECKING:
    from collections.abc import Callable


class SymbolicPlan:
    """All plans with these many nodes and resources; each resource has at least one user."""

    def __init__(self, nodes: int, resources: int) -> None:
        self.nodes = range(nodes)
        self.resources = range(resources)
        self.pairs = list(itertools.combinations(self.nodes, 2))
        self.definitions: list[z3.BoolRef] = []
        self.edge = {(i, j): z3.Bool(f"edge.{i}.{j}") for i, j in self.pairs}
        self.use = [[z3.Bool(f"use.{r}.{i}") for i in self.nodes] for r in self.resources]
        self.definitions += [some(users) for users in self.use]
        self.reaches = self._reachability()
        self.first = [self._end(r, "first", range) for r in self.resources]
        self.last = [self._end(r, "last", lambda i: range(i + 1, nodes)) for r in self.resources]

    def _define(self, name: str, meaning: z3.BoolRef) -> z3.BoolRef:
        defined = z3.Bool(name)
        self.definitions.append(defined == meaning)
        return defined

    def _reachability(self) -> dict[tuple[int, int], z3.BoolRef]:
        """Define ``i`` happens before ``j``: an edge, or a path whose last step leads to j."""
        reaches: dict[tuple[int, int], z3.BoolRef] = {}
        for i, j in sorted(self.pairs, key=lambda pair: pair[1] - pair[0]):
            through = [z3.And(reaches[i, k], self.edge[k, j]) for k in range(i + 1, j)]
            meaning = some([self.edge[i, j], *through])
            reaches[i, j] = self._define(f"before.{i}.{j}", meaning)
        return reaches

    def _end(self, r: int, name: str, beyond: Callable[[int], range]) -> list[z3.BoolRef]:
        return [
            self._define(
                f"{name}.{r}.{i}",
                every([self.use[r][i], *(z3.Not(self.use[r][k]) for k in beyond(i))]),
            )
            for i in self.nodes
        ]

    def stands_before(self, left: int, right: int) -> z3.BoolRef:
        """Say that every user of one resource stands before every user of the other."""
        return every(
            z3.Not(z3.And(self.use[left][i], self.use[right][j]))
            for i in self.nodes
            for j in self.nodes
            if i >= j
        )

    def last_precedes_first(self, left: int, right: int) -> z3.BoolRef:
        """Say that the last user of one resource happens before the other's first user."""
        return some(
            z3.And(self.last[left][i], self.first[right][j], self.reaches[i, j])
            for i, j in self.pairs
        )

    def all_precede(self, left: int, right: int) -> z3.BoolRef:
        """Say that every user of one resource happens before every user of the other."""
        return z3.And(
            self.stands_before(left, right),
            every(
                z3.Implies(z3.And(self.use[left][i], self.use[right][j]), self.reaches[i, j])
                for i, j in self.pairs
            ),
        )

    def in_order(self, left: int, right: int) -> z3.BoolRef:
        """Say that the two may share bytes on one in-order stream."""
        return z3.Or(self.stands_before(left, right), self.stands_before(right, left))

    def fenced(self, left: int, right: int) -> z3.BoolRef:
        """Say that the two may share bytes in one ordered batch with a terminal fence."""
        return some(
            z3.And(self.stands_before(a, b), self.last_precedes_first(a, b))
            for a, b in ((left, right), (right, left))
        )

    def concurrent(self, left: int, right: int) -> z3.BoolRef:
        """Say that the two may share bytes when nodes run as soon as their dependencies end."""
        return z3.Or(self.all_precede(left, right), self.all_precede(right, left))

    def sorted_by_users(self) -> list[z3.BoolRef]:
        """State that resources are numbered by first user, then last user."""
        return [
            z3.Or(
                self._ends_earlier(self.first, r, r + 1),
                z3.And(
                    self._ends_equal(self.first, r, r + 1),
                    z3.Or(
                        self._ends_earlier(self.last, r, r + 1),
                        self._ends_equal(self.last, r, r + 1),
                    ),
                ),
            )
            for r in self.resources[:-1]
        ]

    def _ends_earlier(self, end: list[list[z3.BoolRef]], left: int, right: int) -> z3.BoolRef:
        return some(z3.And(end[left][i], end[right][j]) for i, j in self.pairs)

    def _ends_equal(self, end: list[list[z3.BoolRef]], left: int, right: int) -> z3.BoolRef:
        return some(z3.And(end[left][i], end[right][i]) for i in self.nodes)

    def is_exactly(self, edges: set[tuple[int, int]], users: list[set[int]]) -> list[z3.BoolRef]:
        """State that the plan is this one and no other."""
        return [
            *(self.edge[pair] == z3.BoolVal(pair in edges) for pair in self.pairs),
            *(
                self.use[r][i] == z3.BoolVal(i in users[r])
                for r in self.resources
                for i in self.nodes
            ),
        ]

    def at_most_edges(self, limit: int) -> z3.BoolRef:
        """State that the plan has at most this many edges."""
        return every(
            z3.Not(every(self.edge[pair] for pair in chosen))
            for chosen in itertools.combinations(self.pairs, limit + 1)
        )
