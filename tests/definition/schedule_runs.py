"""Every run of a schedule, by a machine that goes through them one after the other.

The machine has a host that works off its list, and a queue for each stream. What a stream is given
waits in its queue: a node, a mark that an event was recorded, or a gate that opens when such a
mark is reached. The host, marks and gates take no time, and nothing is gained by letting them
wait: a node may always start later than it could. So a run is told by when its nodes, and the
host's accesses, start and end, and a state by which have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

Json = Any
Task = tuple[str, int]
"""A node, or an access of the host's by its name, and its step."""


@dataclass
class Machine:
    """A schedule in the middle of a run."""

    schedule: Json
    steps: int
    place: int = 0
    queues: dict[str, list[tuple[str, Any]]] = field(default_factory=dict)
    marks: dict[str, int] = field(default_factory=dict)
    made: int = 0
    reached: set[int] = field(default_factory=set)
    started: set[Task] = field(default_factory=set)
    ended: set[Task] = field(default_factory=set)

    def copy(self) -> Machine:
        return Machine(
            self.schedule,
            self.steps,
            self.place,
            {name: list(queue) for name, queue in self.queues.items()},
            dict(self.marks),
            self.made,
            set(self.reached),
            set(self.started),
            set(self.ended),
        )

    @property
    def now(self) -> tuple[Json, int] | None:
        """The host's next action and its step; None at the end."""
        step, place = divmod(self.place, len(self.schedule["host"]))
        return None if step == self.steps else (self.schedule["host"][place], step)

    def settle(self) -> None:
        """Let the host, marks and gates do what they can."""
        while self._streams_move() or self._host_moves():
            pass

    def _streams_move(self) -> bool:
        for queue in self.queues.values():
            if queue:
                kind, what = queue[0]
                if kind == "mark":
                    self.reached.add(what)
                if kind == "mark" or (kind == "gate" and what in self.reached):
                    del queue[0]
                    return True
        return False

    def _host_moves(self) -> bool:
        if self.now is None:
            return False
        action, step = self.now
        if self._must_wait_for_step(step):
            return False
        if "access" in action:
            if (action["name"], step) not in self.ended:
                return False
        elif "launch" in action:
            self._queue(action).append(("node", (action["launch"], step)))
        elif "record" in action:
            self.made += 1
            self.marks[action["record"]] = self.made
            self._queue(action).append(("mark", self.made))
        elif "wait" in action:
            if action["wait"] in self.marks:
                self._queue(action).append(("gate", self.marks[action["wait"]]))
        elif "stream" in action["synchronize"]:
            if self.queues.get(action["synchronize"]["stream"]):
                return False
        else:
            mark = self.marks.get(action["synchronize"]["event"])
            if mark is not None and mark not in self.reached:
                return False
        self.place += 1
        return True

    def _queue(self, action: Json) -> list[tuple[str, Any]]:
        return self.queues.setdefault(action["stream"], [])

    def _must_wait_for_step(self, step: int) -> bool:
        in_flight = (self.schedule.get("steps") or {}).get("in_flight")
        begins = self.place % len(self.schedule["host"]) == 0
        if in_flight is None or not begins or step < in_flight:
            return False
        return not set(tasks(self.schedule, step - in_flight)) <= self.ended

    def can_start(self) -> Iterator[Task]:
        for queue in self.queues.values():
            if queue and queue[0][0] == "node" and queue[0][1] not in self.started:
                yield queue[0][1]
        if self.now is not None:
            action, step = self.now
            key = (action.get("name"), step)
            waits = self._must_wait_for_step(step)
            if "access" in action and key not in self.started and not waits:
                yield key

    def start(self, task: Task) -> None:
        self.started.add(task)

    def end(self, task: Task) -> None:
        self.ended.add(task)
        for queue in self.queues.values():
            if queue and queue[0] == ("node", task):
                del queue[0]
        self.settle()


def tasks(schedule: Json, step: int) -> list[Task]:
    """The nodes and accesses of a step."""
    names = (action.get("launch", action.get("name")) for action in schedule["host"])
    return [(name, step) for name in names if name is not None]


def begun(schedule: Json, steps: int) -> Machine:
    machine = Machine(schedule, steps)
    machine.settle()
    return machine


def states(schedule: Json, steps: int) -> Iterator[tuple[frozenset[Task], frozenset[Task]]]:
    """What has started and what has ended, in every state of every run."""
    waiting = [begun(schedule, steps)]
    seen = set()
    while waiting:
        machine = waiting.pop()
        state = frozenset(machine.started), frozenset(machine.ended)
        if state in seen:
            continue
        seen.add(state)
        yield state
        for task in list(machine.can_start()):
            after = machine.copy()
            after.start(task)
            waiting.append(after)
        for task in machine.started - machine.ended:
            after = machine.copy()
            after.end(task)
            waiting.append(after)


def random_run(schedule: Json, steps: int, random: Random) -> dict[Task, tuple[int, int]]:
    """Start and end of all in one run, a start or an end at a tick."""
    machine = begun(schedule, steps)
    times: dict[Task, tuple[int, int]] = {}
    tick = 0
    while True:
        moves = [("start", each) for each in machine.can_start()]
        moves += [("end", each) for each in sorted(machine.started - machine.ended)]
        if not moves:
            return times
        kind, task = random.choice(moves)
        tick += 1
        if kind == "start":
            machine.start(task)
            times[task] = (tick, tick)
        else:
            machine.end(task)
            times[task] = (times[task][0], tick)


def is_run(schedule: Json, steps: int, times: dict[Task, tuple[int, int]]) -> bool:
    """Whether the machine can do what the times say; ends come before starts of the same tick."""
    machine = begun(schedule, steps)
    events = [(start, 1, task) for task, (start, _) in times.items()]
    events += [(end, 0, task) for task, (_, end) in times.items()]
    for _, is_start, task in sorted(events):
        if not is_start:
            machine.end(task)
        elif task in set(machine.can_start()):
            machine.start(task)
        else:
            return False
    return True
