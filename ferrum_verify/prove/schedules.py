"""Schedules: a run in which two resources are live together, as small and plain as it gets.

The solver says that there is one; its own times differ from run to run and have gaps. The
schedule that is shown is built anew from the dependencies: nodes take one tick each, and run one
after the other where nothing else is needed. Under ``concurrent`` it lists only what the users of
the two resources need, else every node up to the last user, as any of them might be what keeps
the two apart. It is checked independently before it is shown.
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
    the pair: when a barrier between the two keeps them apart in every run.
    """
    lefts, rights = graph.users[left], graph.users[right]
    listed = needed(graph, (*lefts, *rights), execution)
    times: Times | None = None
    if lefts[-1] >= rights[0]:
        times = one_by_one(listed)
    elif execution == "fenced":
        # The last user of the left is the last to be fenced off, and the first of the right
        # the first to start.
        times = side_by_side(graph, lefts[-1], rights[0], execution, listed)
    elif execution == "concurrent":
        pairs = ((one, other) for other in rights for one in reversed(lefts))
        runs = (side_by_side(graph, *pair, execution, listed) for pair in pairs)
        times = next((run for run in runs if run is not None), None)
    if times is None:
        return None
    at = max(
        min(times[user][0] for user in lefts),
        min(times[user][0] for user in rights),
    )
    return ScheduleCounterexample(
        nodes=nodes_of(graph, times),
        left=LiveResource(left, graph.names[_shown(lefts, times, at)]),
        right=LiveResource(right, graph.names[_shown(rights, times, at)]),
        at=at,
    )


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


def nodes_of(graph: PlanGraph, times: Times) -> tuple[ScheduledNode, ...]:
    """The nodes of a run with their names, by their times."""
    return tuple(
        ScheduledNode(graph.names[position], *times[position])
        for position in sorted(times, key=lambda position: (times[position], position))
    )


def one_by_one(positions: Iterable[int]) -> Times:
    """A run of every model: the nodes take a tick each, in plan order."""
    return {position: (tick, tick + 1) for tick, position in enumerate(positions)}


def needed(graph: PlanGraph, positions: Iterable[int], execution: Execution) -> list[int]:
    """The positions, ascending, with all that a run of the model lists beside them."""
    if execution != "concurrent":
        return list(range(max(positions) + 1))
    found: set[int] = set()
    waiting = list(positions)
    while waiting:
        position = waiting.pop()
        if position not in found:
            found.add(position)
            waiting.extend(graph.dependencies[position])
    return sorted(found)


def side_by_side(
    graph: PlanGraph, first: int, then: int, execution: Execution, listed: list[int]
) -> Times | None:
    """A run of the listed nodes in which ``then`` starts while ``first`` runs; None without one.

    ``first`` stands before ``then`` in plan order.
    """
    if execution == "in-order":
        return None
    if execution == "fenced":
        if graph.barriers[then] >= first:
            return None
        # Whatever starts until then has no later barrier, so ``first`` may run on.
        times = one_by_one(listed)
        times[first] = (times[first][0], times[then][0] + 1)
        return times
    before = set(needed(graph, (then,), execution))
    if first in before:
        return None
    before = (before | set(needed(graph, (first,), execution))) - {first, then}
    rest = [each for each in listed if each not in before and each not in (first, then)]
    times = one_by_one(each for each in listed if each in before)
    both = len(times)
    times[first] = times[then] = (both, both + 1)
    for tick, position in enumerate(rest, start=both + 1):
        times[position] = (tick, tick + 1)
    return times
