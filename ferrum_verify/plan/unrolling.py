"""Unrolling: a schedule as a plain happens-before DAG over the nodes of a number of steps.

The host's list is gone through once a step. Every order that follows from it is of one kind: a
node, or an access of the host's, has ended when another starts. So what a stream, an event or
the host has to wait for is a set of nodes, and a launch makes the union of two of them into
edges. A node that happens before another of its set adds nothing, and is dropped.

All edges lead from what the host did before to what it did later, so the order of the host's
actions is a topological order of the DAG. Nothing here knows the plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.documents.schedule import (
    HostAccess,
    Launch,
    OfEvent,
    OfStream,
    Record,
    Synchronize,
    Wait,
)
from ferrum_verify.plan.order import MAXIMUM_NODES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ferrum_verify.documents.schedule import HostAction, Schedule

MOST_UNROLLED = 512
"""Steps that may overlap; pairs of them are looked at, in each slot."""

MOST_OF_STEPS = 8_192
"""Nodes of three and more steps that may overlap; two steps may have as many as are ordered."""

Ends = tuple[int, ...]
"""What has to end first: instances by position, ascending, none of which precedes another."""


@dataclass(frozen=True, slots=True)
class Instance:
    """A node in one step, or an access of the host's, whose ``stream`` is None.

    ``action`` is its place in the host's list.
    """

    id: str
    step: int
    stream: str | None
    action: int


class Unrolling:
    """The instances of the steps so far, in the host's order, each with its direct edges."""

    def __init__(self, schedule: Schedule) -> None:
        self.host = schedule.host
        self.in_flight = None if schedule.steps is None else schedule.steps.in_flight
        self.instances: list[Instance] = []
        self.dependencies: list[Ends] = []
        self.before: list[int] = []
        """For each instance the set of those that happen before it, as bits by position."""
        self.starts: list[int] = []
        """The position of the first instance of each step; one more than there are steps."""
        self._waited: Ends = ()
        self._streams: dict[str, Ends] = {}
        self._events: dict[str, Ends] = {}
        self.starts.append(0)

    @property
    def steps(self) -> int:
        """The number of steps so far."""
        return len(self.starts) - 1

    def next_begins(self) -> Ends:
        """What has ended when the host begins the next step."""
        step = self.steps
        if self.in_flight is None or step < self.in_flight:
            return self._waited
        return self._all_of(self._waited, self.step(step - self.in_flight))

    def add_step(self) -> None:
        """Go through the host's list once more."""
        step = self.steps
        self._waited = self.next_begins()
        for place, action in enumerate(self.host):
            self._do(action, step, place)
        self.starts.append(len(self.instances))

    def step(self, number: int) -> range:
        """The positions of the instances of a step."""
        return range(self.starts[number], self.starts[number + 1])

    def _do(self, action: HostAction, step: int, place: int) -> None:
        streams, events = self._streams, self._events
        match action:
            case Launch(launch=node, stream=stream):
                ends = self._all_of(self._waited, streams.get(stream, ()))
                streams[stream] = self._add(Instance(node, step, stream, place), ends)
            case HostAccess(name=name):
                self._waited = self._add(Instance(name, step, None, place), self._waited)
            case Record(record=event, stream=stream):
                events[event] = streams.get(stream, ())
            case Synchronize(synchronize=OfStream(stream=stream)):
                self._waited = self._all_of(self._waited, streams.get(stream, ()))
            case Synchronize(synchronize=OfEvent(event=event)):
                self._waited = self._all_of(self._waited, events.get(event, ()))
            case Wait(wait=event, stream=stream):
                streams[stream] = self._all_of(streams.get(stream, ()), events.get(event, ()))

    def _add(self, instance: Instance, ends: Ends) -> Ends:
        position = len(self.instances)
        self.instances.append(instance)
        self.dependencies.append(ends)
        before = 0
        for each in ends:
            before |= self.before[each] | 1 << each
        self.before.append(before)
        return (position,)

    def _all_of(self, one: Iterable[int], other: Iterable[int]) -> Ends:
        ends = {*one, *other}
        if len(ends) < 2:
            return tuple(ends)
        covered = 0
        for each in ends:
            covered |= self.before[each]
        return tuple(sorted(each for each in ends if not covered >> each & 1))

    def relative(self) -> tuple[object, ...]:
        """What all that is still to come waits for, with steps counted from the last one."""
        last = self.steps

        def seen(ends: Mapping[str, Ends]) -> frozenset[tuple[str, tuple[tuple[int, int], ...]]]:
            return frozenset((name, places(each)) for name, each in ends.items())

        def places(ends: Ends) -> tuple[tuple[int, int], ...]:
            found = (self.instances[each] for each in ends)
            return tuple((each.action, last - each.step) for each in found)

        return places(self._waited), seen(self._streams), seen(self._events)


@dataclass(frozen=True, slots=True)
class Horizon:
    """How many steps after a step all of it has ended in every run: ``distance``.

    Where there is no such number, ``lagging`` names a node and another: however far the second
    one has come, the first may still be at the same step. Both are None where there are too many
    nodes to tell.
    """

    distance: int | None = None
    lagging: tuple[str, str] | None = None


def unroll(schedule: Schedule) -> tuple[Unrolling, Horizon]:
    """As many steps as decide all of them, and one where no number of steps does.

    That the steps up to the distance are enough is ``proofs/steps.py``.
    """
    run = Unrolling(schedule)
    run.add_step()
    if schedule.steps is None:
        return run, Horizon(0)
    size = len(run.instances)
    whole = (1 << size) - 1
    settled = False
    while run.steps < most_steps(size):
        state = run.relative()
        run.add_step()
        last = run.step(run.steps - 1)
        if all(run.before[each] & whole == whole for each in last):
            return run, Horizon(run.steps - 1)
        if not settled and run.in_flight is None and run.relative() == state:
            settled = True
            lagging = _lagging(run)
            if lagging is not None:
                return run, Horizon(lagging=lagging)
    return run, Horizon()


def most_steps(size: int) -> int:
    """How many steps of so many nodes are looked at together."""
    within = MOST_OF_STEPS // max(size, 1)
    return min(MOST_UNROLLED, max(within, 2), MAXIMUM_NODES // max(size, 1))


def until_step(schedule: Schedule, number: int) -> tuple[Unrolling, Ends] | None:
    """So many steps, and what has ended when the host begins the next one.

    None where they have more nodes than are looked at.
    """
    run = Unrolling(schedule)
    while run.steps < number:
        run.add_step()
        if number > most_steps(len(run.instances) // run.steps):
            return None
    return run, run.next_begins()


def _lagging(run: Unrolling) -> tuple[str, str] | None:
    """A node that some other need never wait for, once each step is like the last.

    Step after step, a node is followed by whatever an edge leads to. So it is waited for in the
    end exactly by those that a chain of edges leads to, whatever steps these are in.
    """
    last = run.step(run.steps - 1)
    actions = [run.instances[each].action for each in last]
    after: dict[int, set[int]] = {each: set() for each in actions}
    before: dict[int, set[int]] = {each: set() for each in actions}
    for each in last:
        there = run.instances[each].action
        for earlier in run.dependencies[each]:
            here = run.instances[earlier].action
            after[here].add(there)
            before[there].add(here)
    names = {run.instances[each].action: run.instances[each].id for each in last}
    first = actions[0]
    waited = _reached(first, before)
    for each in actions:
        if each not in waited:
            return names[each], names[first]
    followed = _reached(first, after)
    return next(((names[first], names[each]) for each in actions if each not in followed), None)


def _reached(first: int, edges: Mapping[int, set[int]]) -> set[int]:
    found, waiting = {first}, [first]
    while waiting:
        for each in edges[waiting.pop()] - found:
            found.add(each)
            waiting.append(each)
    return found
