"""Windows: the part of a plan that can bear on a question of order, and its encoding.

Whether one node must run before another depends only on the nodes between them in plan order:
every path of dependencies ascends there. So a question about some nodes is asked of the window
from the first to the last of them. The nodes outside can always be run before or after.

A schedule gives each node a start and an end. Differences between such times are all that the
dependencies speak of, so integer difference logic is the theory: it is decided by shortest
paths, in milliseconds where bit-vectors take minutes.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import z3

from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.prove.obligation import Statement

if TYPE_CHECKING:
    from collections.abc import Sequence

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
            for resource in dict.fromkeys((*node.resources, *_bound(node))):
                self.users.setdefault(resource, []).append(index)
        latest = (max(earliers, default=-1) for earliers in self.dependencies)
        self.barriers = list(itertools.accumulate(latest, max))
        """For each node the last of those that have all ended when it starts in a fenced run."""

    def window(self, first: int, last: int) -> Window:
        """The nodes from the first position to the last."""
        return tuple(
            tuple(sorted(earlier - first for earlier in earliers if earlier >= first))
            for earliers in self.dependencies[first : last + 1]
        )


def _bound(node: FragmentNode | PlanNode) -> list[str]:
    """The resources whose bytes a node touches, whether it lists them or not."""
    if isinstance(node, FragmentNode):
        bound = [*(node.reads or ()), *(node.writes or ()), node.binding_resource]
    else:
        bound = [node.scratch_resource, node.binding_resource, node.persistent_resource]
        bound += [part.resource_id for value in node.values for part in value.storage.components]
        bound += [resource for effect in node.state_effects for resource in effect.resource_ids]
    return [resource for resource in bound if resource is not None]


def stream(length: int) -> Window:
    """Nodes that run one after the other, whatever they depend on."""
    return tuple((place - 1,) if place else () for place in range(length))


def ends_before(window: Window) -> Statement:
    """The first node of the window ends before the last one starts."""
    starts, ends = _times(window)
    return _in_every_schedule(window, starts, ends, ends[0] <= starts[-1])


def ends_before_fence(window: Window) -> Statement:
    """The first node of the window ends before the last one starts, in every fenced run.

    Nodes start in the window's order, and a dependency is a barrier: what waits for a node waits
    for all that stand before it. ``done`` is the time by which a node and all before it have
    ended: no sooner than each of them, so that a barrier bounds a start by one difference.
    """
    starts, ends = _times(window)
    statement = _in_every_schedule(window, starts, ends, ends[0] <= starts[-1])
    done, fences = fences_of(window, starts, ends)
    ticks = tuple((by, z3.IntVal(tick)) for tick, by in enumerate(done, start=1))
    return replace(
        statement, given=(*statement.given, *fences), example=(*statement.example, *ticks)
    )


def fences_of(
    window: Window, starts: list[z3.ArithRef], ends: list[z3.ArithRef]
) -> tuple[list[z3.ArithRef], list[z3.BoolRef]]:
    """By when each node and all before it have ended, and what a fenced run keeps to beside."""
    done = [z3.Int(f"done_{place}") for place in range(len(window))]
    fences = [earlier - later <= 0 for earlier, later in itertools.pairwise(starts)]
    fences += [earlier - later <= 0 for earlier, later in itertools.pairwise(done)]
    fences += [end - by <= 0 for end, by in zip(ends, done, strict=True)]
    fences += [
        done[max(earliers)] - start <= 0
        for earliers, start in zip(window, starts, strict=True)
        if earliers
    ]
    return done, fences


def never() -> Statement:
    """False: no dependency can undo the order in which nodes stand."""
    return Statement(LOGIC, z3.BoolVal(False))


def never_together(window: Window, lefts: tuple[int, ...], rights: tuple[int, ...]) -> Statement:
    """The last of the one users ends before the first of the others starts, or the reverse."""
    starts, ends = _times(window)
    together = z3.And(
        z3.Or([starts[left] < ends[right] for left in lefts for right in rights]),
        z3.Or([starts[right] < ends[left] for left in lefts for right in rights]),
    )
    return _in_every_schedule(window, starts, ends, z3.Not(together))


def _times(window: Window) -> tuple[list[z3.ArithRef], list[z3.ArithRef]]:
    """When each node starts, and when it ends."""
    places = range(len(window))
    return [z3.Int(f"start_{each}") for each in places], [z3.Int(f"end_{each}") for each in places]


def _in_every_schedule(
    window: Window, starts: list[z3.ArithRef], ends: list[z3.ArithRef], goal: z3.BoolRef
) -> Statement:
    """Given that every node takes time, and starts no sooner than its dependencies end."""
    given: list[z3.BoolRef] = []
    for earliers, start, end in zip(window, starts, ends, strict=True):
        given.append(start - end <= -1)
        given.extend(ends[earlier] - start <= 0 for earlier in earliers)
    # Plan order, one node a tick.
    ticks = [z3.IntVal(tick) for tick in range(len(window) + 1)]
    example = (*zip(starts, ticks[:-1], strict=True), *zip(ends, ticks[1:], strict=True))
    return Statement(LOGIC, goal, tuple(given), example=example)
