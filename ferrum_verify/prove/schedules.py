"""Schedules: a run in which two resources are live together, as small and plain as it gets.

The solver says that there is one; its own times differ from run to run and have gaps. The
schedule that is shown is built anew from the dependencies: it lists only what the users of
the two resources need, nodes take one tick each, and run one after the other where nothing
else is needed. It is checked independently before it is shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import LiveResource, ScheduleCounterexample, ScheduledNode

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypeAlias

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.prove.windows import PlanGraph

    Times: TypeAlias = dict[int, tuple[int, int]]
    """Start and end of each node, by its position."""


def live_together(
    graph: PlanGraph, left: str, right: str, execution: Execution
) -> ScheduleCounterexample | None:
    """A schedule of the execution model in which both resources are live; None without one.

    ``left`` is used first. Under ``fenced`` there may be none although no dependency orders
    the pair: when every run in plan order happens to keep it apart.
    """
    lefts, rights = graph.users[left], graph.users[right]
    listed = sorted(_needed(graph, (*lefts, *rights)))
    times: Times | None
    if lefts[-1] >= rights[0]:
        times = _one_by_one(listed)
    elif execution == "fenced":
        times = _in_plan_order(graph, listed, lefts, rights)
    elif execution == "concurrent":
        times = _side_by_side(graph, listed, lefts, rights)
    else:
        times = None
    if times is None:
        return None
    at = max(
        min(times[user][0] for user in lefts),
        min(times[user][0] for user in rights),
    )
    return ScheduleCounterexample(
        nodes=tuple(
            ScheduledNode(graph.names[position], *times[position])
            for position in sorted(listed, key=lambda position: (times[position], position))
        ),
        left=LiveResource(left, graph.names[_shown(lefts, times, at)]),
        right=LiveResource(right, graph.names[_shown(rights, times, at)]),
        at=at,
    )


def _one_by_one(positions: list[int]) -> Times:
    return {position: (tick, tick + 1) for tick, position in enumerate(positions)}


def _shown(users: list[int], times: Times, at: int) -> int:
    """Of what is born at the time the user that starts, else the user that still needs it.

    That is who runs already or, of those that come later, the next; only where there is no
    other it is one that starts at the time, which may be the one that overwrites.
    """
    born = all(times[user][0] >= at for user in users)
    return min(
        (user for user in users if at < times[user][1]),
        key=lambda user: (times[user][0] == at and not born, times[user]),
    )


def _needed(graph: PlanGraph, positions: Iterable[int]) -> set[int]:
    """The positions and everything that they depend on."""
    needed: set[int] = set()
    waiting = list(positions)
    while waiting:
        position = waiting.pop()
        if position not in needed:
            needed.add(position)
            waiting.extend(graph.dependencies[position])
    return needed


def _in_plan_order(
    graph: PlanGraph, listed: list[int], lefts: list[int], rights: list[int]
) -> Times | None:
    """Starts in plan order; one user of the left runs on until the right has started."""
    first = rights[0]
    for user in reversed(lefts):
        waiting = {user}
        for position in listed:
            if user < position <= first and not waiting.isdisjoint(graph.dependencies[position]):
                waiting.add(position)
        if len(waiting) == 1:
            times = _one_by_one(listed)
            times[user] = (times[user][0], times[first][0] + 1)
            return times
    return None


def _side_by_side(
    graph: PlanGraph, listed: list[int], lefts: list[int], rights: list[int]
) -> Times | None:
    """A user of the left and one of the right that need not wait for each other run at once."""
    for right in rights:
        before_right = _needed(graph, (right,))
        for left in reversed(lefts):
            if left in before_right:
                continue
            before = (before_right | _needed(graph, (left,))) - {left, right}
            first = [position for position in listed if position in before]
            rest = [
                position
                for position in listed
                if position not in before and position not in (left, right)
            ]
            times = _one_by_one(first)
            both = len(first)
            times[left] = times[right] = (both, both + 1)
            for tick, position in enumerate(rest, start=both + 1):
                times[position] = (tick, tick + 1)
            return times
    return None
