"""Runs, by definition: every way in which the nodes of a plan may start and end.

A run is a path through moments. A moment says which nodes have started and which have ended; what
runs is what has started and not ended. Whatever can go wrong in a run goes wrong at a moment of
it, so to try all moments that some run reaches is to try all runs.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.definition.sizes import Json

Execution = Literal["in-order", "fenced", "concurrent"]

MODELS: tuple[Execution, ...] = ("in-order", "fenced", "concurrent")

Waits = tuple[frozenset[int], ...]
Run = tuple[tuple[str, int], ...]


class Moment(NamedTuple):
    """What has started, and what of that has ended: a bit for each node's position."""

    started: int
    ended: int

    def has_started(self, node: int) -> bool:
        return bool(self.started >> node & 1)

    def has_ended(self, node: int) -> bool:
        return bool(self.ended >> node & 1)

    def comes_after(self, other: Moment) -> bool:
        """Whether all that has happened at the other moment has happened; it may be the same."""
        return not (other.started & ~self.started or other.ended & ~self.ended)

    def runs(self, node: int) -> bool:
        return bool((self.started & ~self.ended) >> node & 1)


def waits_of(nodes: list[Json]) -> Waits:
    """For each node in plan order the positions of its dependencies."""
    position = {node["id"]: at for at, node in enumerate(nodes)}
    return tuple(frozenset(position[name] for name in node["dependencies"]) for node in nodes)


def may_start(model: str, waits: Waits, node: int, moment: Moment) -> bool:
    """Whether a node that has not started may start now."""
    earlier = range(node)
    if model == "in-order":
        return all(moment.has_ended(each) for each in earlier)
    if model == "fenced":
        behind_barrier = range(max(waits[node], default=-1) + 1)
        begun = all(moment.has_started(each) for each in earlier)
        return begun and all(moment.has_ended(each) for each in behind_barrier)
    assert model == "concurrent"
    return all(moment.has_ended(each) for each in waits[node])


@cache
def moments(model: str, waits: Waits) -> dict[Moment, tuple[Moment, str, int] | None]:
    """Every moment of every run, each with the moment before it and the event between them."""
    first = Moment(0, 0)
    came_from: dict[Moment, tuple[Moment, str, int] | None] = {first: None}
    waiting = [first]
    for moment in waiting:
        for node in range(len(waits)):
            bit = 1 << node
            if moment.runs(node):
                event, after = "end", Moment(moment.started, moment.ended | bit)
            elif not moment.has_started(node) and may_start(model, waits, node, moment):
                event, after = "start", Moment(moment.started | bit, moment.ended)
            else:
                continue
            if after not in came_from:
                came_from[after] = (moment, event, node)
                waiting.append(after)
    return came_from


def run_to(model: str, waits: Waits, moment: Moment) -> Run:
    """The events of a shortest run that reaches the moment."""
    events: list[tuple[str, int]] = []
    before = moments(model, waits)[moment]
    while before is not None:
        moment, event, node = before
        events.append((event, node))
        before = moments(model, waits)[moment]
    return tuple(reversed(events))


def run_where(
    model: str,
    waits: Waits,
    holds: Callable[[Moment], bool],
    then: Callable[[Moment, Moment], bool] | None = None,
) -> Run | None:
    """A run up to a moment of which something holds; None where no run has such a moment.

    If ``then`` is given, it must hold of the moment and one that comes later in some run. What
    may start once may start later too, so that is each moment by which all of the first is done.
    """
    reached = moments(model, waits)
    for moment in reached:
        if holds(moment) and (
            then is None
            or any(then(moment, later) for later in reached if later.comes_after(moment))
        ):
            return run_to(model, waits, moment)
    return None
