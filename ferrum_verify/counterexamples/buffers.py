"""Checking counterexamples of another planner's plan, read from its JSON as it stands."""

from __future__ import annotations

import math
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.under_schedule import run_under

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.counterexamples.kinds import Execution

    Times = Mapping[str, tuple[float, float]]
    """Start and end of each node that runs, in ticks."""

    Held = Mapping[str, tuple[int, int]]
    """Names that have some bytes, each with its first byte and end in the arena."""

SCHEMA = "ferrum-verify/buffer-plan/v1"
MAXIMUM = 2**64 - 1


def is_buffer_plan(value: Any) -> bool:
    """Whether a document says that it is such a plan."""
    return isinstance(value, dict) and value.get("schema") == SCHEMA


class Plan:
    """The parts of a plan's JSON that its counterexamples speak of."""

    def __init__(self, value: Mapping[str, Any]) -> None:
        self.value = value
        self.arenas: dict[str, Any] = value["arenas"]
        self.rows: list[dict[str, Any]] = value["buffers"]
        self.nodes: list[dict[str, Any]] = value["nodes"]
        self.bounds: dict[str, Any] = value.get("shape", {})
        self.buffers = {row["id"]: row for row in reversed(self.rows)}
        # Where buffers begin, at the shape that was asked about last.
        self._shape: dict[str, int] | None = None
        self._starts: dict[str, tuple[str, int]] = {}

    @cached_property
    def position(self) -> dict[str, int]:
        """The place of each node in program order."""
        return {node["id"]: index for index, node in enumerate(self.nodes)}

    @cached_property
    def choices(self) -> dict[str, set[str]]:
        """The arms of each condition."""
        choices: dict[str, set[str]] = {}
        for node in self.nodes:
            for condition, arm in node.get("arms", ()):
                choices.setdefault(condition, set()).add(arm)
        return choices

    def beside(self, schedule: Mapping[str, Any]) -> Plan:
        """The plan with the schedule's own accesses as nodes."""
        own = [
            {
                "id": action["name"],
                "reads": [action["access"]] if action["mode"] != "write" else [],
                "writes": [action["access"]] if action["mode"] != "read" else [],
            }
            for action in schedule["host"]
            if "access" in action
        ]
        return Plan({**self.value, "nodes": [*self.nodes, *own]})

    def admits(self, shape: Mapping[str, Any]) -> bool:
        """Whether the plan is for the shape."""
        return shape.keys() == self.bounds.keys() and all(
            type(shape[name]) is int and bound["minimum"] <= shape[name] <= bound["maximum"]
            for name, bound in self.bounds.items()
        )

    def amount(self, of: Any, shape: Mapping[str, int]) -> int:
        """A number of bytes at a shape."""
        if isinstance(of, dict):
            grown = (each * shape[name] for name, each in of.get("per", {}).items())
            return int(of.get("fixed", 0)) + int(sum(grown))
        return int(of or 0)

    def place(self, name: str, shape: Mapping[str, int]) -> tuple[str, int, int]:
        """The storage of a buffer, and its first byte and end in the arena; LookupError without."""
        if self._shape != shape:
            self._shape, self._starts = dict(shape), {}
        chain: list[str] = []
        while name not in self._starts:
            chain.append(name)
            parent = self.buffers[name].get("alias_of")
            if parent is None:
                self._starts[name] = name, self.amount(self.buffers[name]["offset"], shape)
                break
            if len(chain) > len(self.buffers):
                raise LookupError(name)
            name = parent
        for each in reversed(chain):
            row = self.buffers[each]
            if row.get("alias_of") is not None:
                root, start = self._starts[row["alias_of"]]
                self._starts[each] = root, start + self.amount(row.get("offset"), shape)
        root, start = self._starts[chain[0] if chain else name]
        size = self.amount(self.buffers[chain[0] if chain else name]["bytes"], shape)
        return root, start, start + size

    @cached_property
    def names(self) -> dict[str, list[str]]:
        """For each storage all of its names; those that lead to none are left out."""
        roots: dict[str, str | None] = {}
        names: dict[str, list[str]] = {}
        for first in self.buffers:
            chain: list[str] = []
            name: str | None = first
            while name is not None and name not in roots:
                roots[name] = None
                chain.append(name)
                parent = self.buffers[name].get("alias_of") if name in self.buffers else None
                name = parent
            root = chain[-1] if name is None else roots[name]
            for each in chain:
                roots[each] = root
                if root is not None:
                    names.setdefault(root, []).append(each)
        return names

    def touching(
        self, storage: str, start: int, end: int, shape: Mapping[str, int]
    ) -> dict[str, tuple[int, int]]:
        """The names of a storage that have all of the bytes, each with its place."""
        found = {}
        for name in self.names[storage]:
            with suppress(LookupError):
                _, first, last = self.place(name, shape)
                if first <= start and end <= last:
                    found[name] = first, last
        return found

    def taken(self, node: Mapping[str, Any], arms: Mapping[str, str]) -> bool:
        """Whether a run with these arms takes the node."""
        return all(arms[condition] == arm for condition, arm in node.get("arms", ()))

    def is_run(self, arms: Any) -> bool:
        """Whether each condition takes one of its arms, and there are no others."""
        return arms.keys() == self.choices.keys() and all(
            arms[condition] in of for condition, of in self.choices.items()
        )


def run_of(
    plan: Plan, wire: Mapping[str, Any], execution: Execution, schedule: Any = None
) -> Times | None:
    """When each listed node runs; None where the model, or the schedule, admits no such run.

    Nodes that the arms do not take touch nothing and pass their order on.
    """
    if not plan.is_run(wire["arms"]) or not plan.admits(wire["shape"]):
        return None
    listed = wire["nodes"]
    times: dict[str, tuple[float, float]] = {}
    for each in listed:
        times[each["id"]] = each["start"], each["end"]
    if len(times) != len(listed) or any(start >= end for start, end in times.values()):
        return None
    own = {node["id"] for node in plan.nodes if plan.taken(node, wire["arms"])}
    if not times.keys() <= own:
        return None
    if schedule is not None:
        skipped = frozenset(plan.position) - own
        alone = not any(each.get("step", 0) for each in listed)
        return times if alone and run_under(schedule, listed, skipped) is not None else None
    return times if _is_admitted(plan, times, own, execution) else None


def _is_admitted(plan: Plan, times: Times, own: set[str], execution: Execution) -> bool:
    """Whether the nodes wait for what they depend on, and none of theirs is left out."""
    ready: dict[str, float] = {}
    for node in plan.nodes:
        name = node["id"]
        begins = max((ready[each] for each in node.get("dependencies", ())), default=-math.inf)
        if name in times and times[name][0] < begins:
            return False
        # Who waits for a node of the run that is not listed waits for ever.
        ready[name] = times[name][1] if name in times else math.inf if name in own else begins
    if execution == "concurrent":
        return True
    order = [node["id"] for node in plan.nodes if node["id"] in own][: len(times)]
    return set(order) == times.keys() and _in_turn(plan, times, execution)


def _in_turn(plan: Plan, times: Times, execution: Execution) -> bool:
    """Whether nodes run one after the other, or start so and keep to barriers."""
    ended: list[float] = []
    latest_start = latest_end = -math.inf
    barrier = -1
    for node in plan.nodes:
        waited = [plan.position[each] for each in node.get("dependencies", ())]
        barrier = max(barrier, *waited) if waited else barrier
        if node["id"] in times:
            start, end = times[node["id"]]
            must = latest_end if execution == "in-order" else latest_start
            if barrier >= 0 and execution == "fenced":
                must = max(must, ended[barrier])
            if start < must:
                return False
            latest_start, latest_end = start, max(latest_end, end)
        ended.append(latest_end)
    return True


def check_schedule(
    plan: Plan, wire: Mapping[str, Any], execution: Execution, schedule: Any = None
) -> bool:
    """Whether both buffers live at the time, and hold the bytes, in a run of the model."""
    times = run_of(plan, wire, execution, schedule)
    start, end, shape = wire["bytes"]["start"], wire["bytes"]["end"], wire["shape"]
    if times is None or not start < end:
        return False
    names = [wire[side]["resource"] for side in ("left", "right")]
    storages = [plan.place(name, shape)[0] for name in names]
    if storages[0] == storages[1] or _arena(plan, storages[0]) != _arena(plan, storages[1]):
        return False
    touching = [plan.touching(storage, start, end, shape) for storage in storages]
    for side, held in zip(("left", "right"), touching, strict=True):
        user = wire[side]["node"]
        if wire[side]["resource"] not in held:
            return False
        if user and (user not in times or not any(_uses(plan, user, name) for name in held)):
            return False
    runs = {node["id"] for node in plan.nodes if plan.taken(node, wire["arms"])}
    return any(
        all(
            _lives(plan, (times, runs), (own, other), (wire["at"], half))
            for own, other in (touching, touching[::-1])
        )
        for half in (0, 1)
    )


def _lives(
    plan: Plan,
    run: tuple[Times, set[str]],
    storages: tuple[Held, Held],
    moment: tuple[int, int],
) -> bool:
    """Whether the bytes of the first live: they are used then, or written before and used later.

    What is there from the start lives from there if some node of the run reads it.
    A node that works in place has read the one when it writes the other: that is the second half
    of the moment.
    """
    at, half = moment
    own, other = storages
    times, runs = run
    needed = any(plan.buffers[name].get("live_out", False) for name in own)
    written = any(plan.buffers[name].get("live_in", False) for name in own)
    written = written and (needed or any(_places(plan, name, own)[0] for name in runs))
    for name, (start, end) in times.items():
        reads, writes = _places(plan, name, own)
        if not reads and not writes:
            continue
        reads_there, writes_there = _places(plan, name, other)
        now = start <= at < end
        has_read = now and half == 1 and not writes and reads == writes_there
        has_not_written = now and half == 0 and not writes_there and writes == reads_there
        if now and not has_read and not (has_not_written and not reads):
            return True
        written = written or (bool(writes) and start <= at and not has_not_written)
        needed = needed or (end > at and not has_read)
    return written and needed


def _places(plan: Plan, node: str, held: Held) -> tuple[set[tuple[int, int]], ...]:
    """Where a node reads, and where it writes, of the names that hold some bytes."""
    row = plan.nodes[plan.position[node]]
    return tuple({held[name] for name in row[mode] if name in held} for mode in ("reads", "writes"))


def _uses(plan: Plan, node: str, name: str) -> bool:
    row = plan.nodes[plan.position[node]]
    return name in row["reads"] or name in row["writes"]


def _arena(plan: Plan, storage: str) -> Any:
    return plan.buffers[storage]["arena"]


def check_access(
    plan: Plan, wire: Mapping[str, Any], execution: Execution, schedule: Any = None
) -> bool:
    """Whether two nodes touch the bytes of one storage at the time, one of them writing."""
    times = run_of(plan, wire, execution, schedule)
    start, end, shape, at = wire["bytes"]["start"], wire["bytes"]["end"], wire["shape"], wire["at"]
    writer, other = wire["writer"]["node"], wire["other"]["node"]
    if times is None or writer == other or not start < end or "value" in wire:
        return False
    storage = plan.place(wire["resource"], shape)[0]
    held = plan.touching(storage, start, end, shape)
    modes = {"read": "reads", "write": "writes"}
    return all(
        times[name][0] <= at < times[name][1]
        and not held.keys().isdisjoint(plan.nodes[plan.position[name]][mode])
        for name, mode in ((writer, "writes"), (other, modes[wire["other"]["mode"]]))
    )


def check_overlap(plan: Plan, wire: Mapping[str, Any]) -> bool:
    """Whether a node touches two buffers that overlap in part at the shape, and writes to one."""
    shape, byte = wire["shape"], wire["byte"]
    if not plan.admits(shape):
        return False
    sides = [wire[side] for side in ("left", "right")]
    places = [plan.place(side["resource"], shape) for side in sides]
    for side, (_, start, end) in zip(sides, places, strict=True):
        if (side["start"], side["end"]) != (start, end) or not start <= byte < end:
            return False
    if places[0][1:] == places[1][1:] or len({_arena(plan, each[0]) for each in places}) > 1:
        return False
    names = [side["resource"] for side in sides]
    return any(
        any(
            (one in node["writes"] and other in (*node["reads"], *node["writes"]))
            for one, other in (names, names[::-1])
        )
        for node in plan.nodes
    )


def check_shape(plan: Plan, wire: Mapping[str, Any]) -> bool:
    """Whether some buffer ends behind its arena, behind what it aliases, or behind 2^64 - 1."""
    shape = wire["shape"]
    if not plan.admits(shape):
        return False
    if wire.get("overflow") is True:
        return any(end > MAXIMUM for end in _ends(plan, shape))
    return wire["bytes"] > wire["limit"] and (
        (wire["bytes"], wire["limit"], wire["limit_from"]) in set(_bounds(plan, shape))
    )


def _ends(plan: Plan, shape: Mapping[str, int]) -> Iterator[int]:
    """Where each buffer ends, of those that have a place."""
    for row in plan.rows:
        with suppress(LookupError):
            yield plan.place(row["id"], shape)[2]


def _bounds(plan: Plan, shape: Mapping[str, int]) -> Iterator[tuple[int, int, str]]:
    """For each buffer its end, what it is held to, and where that stands."""
    places = {row["id"]: index for index, row in reversed(list(enumerate(plan.rows)))}
    for row in plan.rows:
        # Another one's unknown dimension takes nothing from this one.
        with suppress(LookupError):
            end = plan.amount(row.get("offset"), shape) + plan.amount(row["bytes"], shape)
            if row.get("alias_of") in places:
                place = places[row["alias_of"]]
                yield end, plan.amount(plan.rows[place]["bytes"], shape), f"/buffers/{place}/bytes"
            elif row.get("arena") in plan.arenas:
                name = row["arena"].replace("~", "~0").replace("/", "~1")
                yield end, int(plan.arenas[row["arena"]]["bytes"]), f"/arenas/{name}/bytes"


def check_of_buffers(
    plan: Plan, wire: Mapping[str, Any], execution: Execution, schedule: Any
) -> bool:
    """Whether a counterexample of any kind shows what it says about the plan."""
    if schedule is not None:
        plan = plan.beside(schedule)
    match wire["kind"]:
        case "schedule":
            return check_schedule(plan, wire, execution, schedule)
        case "access":
            return check_access(plan, wire, execution, schedule)
        case "overlap":
            return check_overlap(plan, wire)
        case "shape":
            return check_shape(plan, wire)
    return False
