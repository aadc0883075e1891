"""Vocabulary: every schedule of a small plan, in plain Python, by trying start after start."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .concrete_plan import ConcretePlan

Discipline: TypeAlias = Literal["free", "fenced", "stream"]
"""``free``: a node waits for its dependencies. ``fenced``: it starts no sooner than the node before
it in plan order, and waits for every node up to its latest dependency. ``stream``: it starts no
sooner than every earlier node ends."""


def schedules_of(plan: ConcretePlan, discipline: Discipline) -> Iterator[list[tuple[int, int]]]:
    """Yield every schedule with small times, as the start and end of each node.

    Only fenced nodes need to take more than one unit for the collisions that there are.
    """
    longest = plan.nodes if discipline == "fenced" else 1

    def extend(times: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
        node = len(times)
        if node == plan.nodes:
            yield times
            return
        awaited = [earlier for earlier in range(node) if (earlier, node) in plan.edges]
        if discipline == "stream":
            awaited = list(range(node))
        elif discipline == "fenced":
            awaited = list(range(max(awaited, default=-1) + 1))
        waits_for = [times[earlier][1] for earlier in awaited]
        soonest = max(waits_for, default=0)
        if discipline == "fenced" and times:
            soonest = max(soonest, times[-1][0])
        for start in range(soonest, plan.nodes):
            for length in range(1, longest + 1):
                yield from extend([*times, (start, start + length)])

    return extend([])


def collides(plan: ConcretePlan, discipline: Discipline) -> bool:
    """Whether some schedule has resources 0 and 1 live at one moment."""

    def together(times: list[tuple[int, int]]) -> bool:
        born = [min(times[user][0] for user in users) for users in plan.users]
        dead = [max(times[user][1] for user in users) for users in plan.users]
        return max(born) < min(dead)

    return any(together(times) for times in schedules_of(plan, discipline))
