"""Windows: the part of a plan that can bear on a question of order, and its encoding.

Whether one node must run before another depends only on the nodes between them in plan order:
every path of dependencies ascends there. So a question about some nodes is asked of the window
from the first to the last of them. The nodes outside can always be run before or after.

A schedule gives each node a start and an end. Differences between such times are all that the
dependencies speak of, so integer difference logic is the theory: it is decided by shortest
paths, in milliseconds where bit-vectors take minutes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import z3

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.documents.node import PlanNode

LOGIC = "QF_IDL"


class PlanGraph:
    """Nodes by position with their direct dependencies: all that the encodings read.

    It knows nothing of the fast path's closure.
    """

    def __init__(self, nodes: Sequence[FragmentNode | PlanNode]) -> None:
        self.names = [node.id for node in nodes]
        position = {name: index for index, name in enumerate(self.names)}
        self.dependencies: list[tuple[int, ...]] = [
            tuple(
                position[dependency]
                for dependency in node.dependencies
                if position.get(dependency, index) < index
            )
            for index, node in enumerate(nodes)
        ]
        self.users: dict[str, list[int]] = {}
        for index, node in enumerate(nodes):
            for resource in dict.fromkeys(node.resources):
                self.users.setdefault(resource, []).append(index)

    def window(self, positions: Iterable[int]) -> Window:
        """The nodes from the first to the last of the positions."""
        wanted = sorted(set(positions))
        return Window(self, wanted[0], wanted[-1])


@dataclass(frozen=True)
class Window:
    """The nodes from ``first`` to ``last`` in plan order."""

    graph: PlanGraph
    first: int
    last: int

    @cached_property
    def shape(self) -> Hashable:
        """The window's dependencies, relative to its start: equal for repeated layers."""
        first = self.first
        return tuple(
            tuple(sorted(earlier - first for earlier in earliers if earlier >= first))
            for earliers in self.graph.dependencies[first : self.last + 1]
        )

    def relative(self, positions: Iterable[int]) -> tuple[int, ...]:
        """Positions relative to the window's start."""
        return tuple(position - self.first for position in positions)

    def start(self, position: int) -> z3.ArithRef:
        """The time at which the node starts."""
        return z3.Int(f"start_{position - self.first}")

    def end(self, position: int) -> z3.ArithRef:
        """The time at which the node ends."""
        return z3.Int(f"end_{position - self.first}")

    def schedule(self) -> list[z3.BoolRef]:
        """Every node takes time, and starts no sooner than its dependencies end."""
        given: list[z3.BoolRef] = []
        for position in range(self.first, self.last + 1):
            given.append(self.start(position) - self.end(position) <= -1)
            given.extend(
                self.end(earlier) - self.start(position) <= 0
                for earlier in self.graph.dependencies[position]
                if earlier >= self.first
            )
        return given
