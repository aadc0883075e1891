"""Windows: the part of a plan that can bear on a question of order, and its encoding.

Whether one node must run before another depends only on the nodes between them in plan order:
every path of dependencies ascends there. So a question about some nodes is asked of the window
from the first to the last of them. The nodes outside can always be run before or after.

A schedule gives each node a start and an end. Differences between such times are all that the
dependencies speak of, so integer difference logic is the theory: it is decided by shortest
paths, in milliseconds where bit-vectors take minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import z3

from ferrum_verify.prove.obligation import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.documents.node import PlanNode

LOGIC = "QF_IDL"

Window: TypeAlias = tuple[tuple[int, ...], ...]
"""Nodes that follow each other in plan order, each by the places in the window of those that it
depends on: equal for repeated layers."""


class PlanGraph:
    """Nodes by position with their direct dependencies: all that the encodings read.

    It knows nothing of the fast path's closure.
    """

    def __init__(self, nodes: Sequence[FragmentNode | PlanNode]) -> None:
        self.names = [node.id for node in nodes]
        self.position = {name: index for index, name in enumerate(self.names)}
        self.dependencies: list[tuple[int, ...]] = [
            tuple(
                self.position[dependency]
                for dependency in node.dependencies
                if self.position.get(dependency, index) < index
            )
            for index, node in enumerate(nodes)
        ]
        self.users: dict[str, list[int]] = {}
        for index, node in enumerate(nodes):
            for resource in dict.fromkeys(node.resources):
                self.users.setdefault(resource, []).append(index)

    def window(self, first: int, last: int) -> Window:
        """The nodes from the first position to the last."""
        return tuple(
            tuple(sorted(earlier - first for earlier in earliers if earlier >= first))
            for earliers in self.dependencies[first : last + 1]
        )


def stream(length: int) -> Window:
    """Nodes that run one after the other, whatever they depend on."""
    return tuple((place - 1,) if place else () for place in range(length))


def ends_before(window: Window) -> Statement:
    """The first node of the window ends before the last one starts."""
    return _in_every_schedule(window, _end(0) <= _start(len(window) - 1))


def never_together(window: Window, lefts: tuple[int, ...], rights: tuple[int, ...]) -> Statement:
    """The last of the one users ends before the first of the others starts, or the reverse."""
    together = z3.And(
        z3.Or([_start(left) < _end(right) for left in lefts for right in rights]),
        z3.Or([_start(right) < _end(left) for left in lefts for right in rights]),
    )
    return _in_every_schedule(window, z3.Not(together))


def _in_every_schedule(window: Window, goal: z3.BoolRef) -> Statement:
    """Given that every node takes time, and starts no sooner than its dependencies end."""
    given: list[z3.BoolRef] = []
    example: list[tuple[z3.ExprRef, z3.ExprRef]] = []
    for place, earliers in enumerate(window):
        given.append(_start(place) - _end(place) <= -1)
        given.extend(_end(earlier) - _start(place) <= 0 for earlier in earliers)
        # Plan order, one node a tick.
        example += [(_start(place), z3.IntVal(place)), (_end(place), z3.IntVal(place + 1))]
    return Statement(LOGIC, goal, tuple(given), example=tuple(example))


def _start(place: int) -> z3.ArithRef:
    """The time at which the node starts."""
    return z3.Int(f"start_{place}")


def _end(place: int) -> z3.ArithRef:
    """The time at which the node ends."""
    return z3.Int(f"end_{place}")
