"""Checking counterexamples under a schedule, whose JSON is read as it stands.

The host's list is gone through with a clock for the host, for each stream and for each event: the
time by which all that it stands for has ended. Whatever starts must not start before its clocks. A
node that the run does not list has not ended by any time, so a run that lists one behind it, and
not the node itself, is none.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.access import (
    ENDLESS,
    MODES,
    is_lost,
    of_these_bytes,
    touched,
)
from ferrum_verify.counterexamples.schedule import take_turns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ferrum_verify.counterexamples.document import Document

    Times = Mapping[tuple[str, int], tuple[int, int]]
    """Start and end of each node of a run, by its id and step, in ticks."""

MOST_STEPS = 10_000
"""Steps of a run that are gone through; no counterexample needs as many."""


def run_under(
    schedule: Mapping[str, Any],
    listed: Sequence[Mapping[str, Any]],
    skipped: frozenset[str] = frozenset(),
) -> Times | None:
    """When each listed node starts and ends; None where the schedule admits no such run.

    What is ``skipped`` takes no time, and keeps its place on its stream.
    """
    times = {(run["id"], run.get("step", 0)): (run["start"], run["end"]) for run in listed}
    numbers = [*times.values(), *((0, step + 1) for _, step in times)]
    if len(times) != len(listed) or not all(
        type(start) is int and type(end) is int and start < end for start, end in numbers
    ):
        return None
    last = max((step for _, step in times), default=0)
    if last >= MOST_STEPS or (last and schedule.get("steps") is None):
        return None
    streams = {run["id"]: run["stream"] for run in listed if "stream" in run}
    launched = {a["launch"]: a["stream"] for a in schedule["host"] if "launch" in a}
    if any(launched.get(name) != stream for name, stream in streams.items()):
        return None
    return times if _admits(schedule, times, last, skipped) else None


def _admits(schedule: Mapping[str, Any], times: Times, last: int, skipped: frozenset[str]) -> bool:
    in_flight = (schedule.get("steps") or {}).get("in_flight")
    host: float = -math.inf
    streams: dict[str, float] = {}
    events: dict[str, float] = {}
    whole: list[float] = []
    seen: set[tuple[str, int]] = set()
    for step in range(last + 1):
        if in_flight is not None and step >= in_flight:
            host = max(host, whole[step - in_flight])
        whole.append(-math.inf)
        for action in schedule["host"]:
            stream = action.get("stream")
            clock = streams.get(stream, -math.inf)
            if "launch" in action or "access" in action:
                key = (action.get("launch", action.get("name")), step)
                start, end = times.get(key, (math.inf, math.inf))
                if key[0] in skipped:
                    start = end = max(host, clock)
                if start < max(host, clock):
                    return False
                seen.add(key)
                whole[-1] = max(whole[-1], end)
                if stream is None:
                    host = end
                else:
                    streams[stream] = end
            elif "record" in action:
                events[action["record"]] = clock
            elif "wait" in action:
                streams[stream] = max(clock, events.get(action["wait"], -math.inf))
            else:
                awaited = action["synchronize"]
                clocks = streams if "stream" in awaited else events
                (name,) = awaited.values()
                host = max(host, clocks.get(name, -math.inf))
    return times.keys() <= seen


def check_dependency(
    document: Document, wire: Mapping[str, Any], schedule: Mapping[str, Any]
) -> bool:
    """Whether the node starts before what it depends on has ended, in a run of the schedule."""
    times = run_under(schedule, wire["nodes"])
    node, dependency = wire["node"], wire["dependency"]
    step, other = wire.get("step", 0), wire.get("dependency_step", 0)
    if times is None:
        return False
    carried = (schedule.get("steps") or {}).get("carried", ())
    if not (step == other and dependency in document.dependencies[node]) and not any(
        (each["from"], each["to"], each["distance"]) == (dependency, node, step - other)
        for each in carried
    ):
        return False
    return times[node, step][0] < times[dependency, other][1]


def _buffers(document: Document, schedule: Mapping[str, Any], resource: str) -> int:
    row = document.descriptors.get(resource)
    if row is None or row["lifetime"] not in ("step", "invocation"):
        return 1
    return int((schedule.get("steps") or {}).get("buffers", {}).get(resource, 1))


def _of_host(schedule: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {action["name"]: action for action in schedule["host"] if "access" in action}


def check_schedule_under(
    document: Document, wire: Mapping[str, Any], schedule: Mapping[str, Any]
) -> bool:
    """Whether two lives that share bytes, in one step or two, are live together in the run."""
    times = run_under(schedule, wire["nodes"])
    at, sides = wire["at"], (wire["left"], wire["right"])
    if times is None or type(at) is not int:
        return False
    left, right = ((side["resource"], side.get("step", 0)) for side in sides)
    counts = {_buffers(document, schedule, name) for name, _ in (left, right)}
    if len(counts) != 1 or (left[1] - right[1]) % counts.pop():
        return False
    if _run_at_once(times, sides, at) and _share_an_extent(document, *sides):
        return True
    return left != right and _both_live(document, schedule, times, sides, at)


def _both_live(
    document: Document,
    schedule: Mapping[str, Any],
    times: Times,
    sides: Sequence[Mapping[str, Any]],
    at: int,
) -> bool:
    left, right = ((side["resource"], side.get("step", 0)) for side in sides)
    for (name, step), side in zip((left, right), sides, strict=True):
        users = [
            *document.users.get(name, ()),
            *(who for who, access in _of_host(schedule).items() if access["access"] == name),
        ]
        if side["node"] not in users or any((user, step) not in times for user in users):
            return False
        born = min(times[user, step][0] for user in users)
        if not born <= at < max(times[user, step][1] for user in users):
            return False
    return take_turns(document, left[0], right[0])


def _run_at_once(times: Times, sides: Sequence[Mapping[str, Any]], at: int) -> bool:
    keys = [(side["node"], side.get("step", 0)) for side in sides]
    return keys[0] != keys[1] and all(times[key][0] <= at < times[key][1] for key in keys)


def _share_an_extent(document: Document, *sides: Mapping[str, Any]) -> bool:
    """Whether both are rows of a pool that reuses its bytes; one row in two steps is both."""
    left, right = (
        document.nodes_in_turn.get((side["node"], side["resource"]), set()) for side in sides
    )
    return not left.isdisjoint(right)


def check_access_under(
    document: Document, wire: Mapping[str, Any], schedule: Mapping[str, Any]
) -> bool:
    """Whether a write meets another access of the same bytes, in one step or two, in the run."""
    times = run_under(schedule, wire["nodes"])
    start, end, at = wire["bytes"]["start"], wire["bytes"]["end"], wire["at"]
    mode, value, resource = wire["other"]["mode"], wire.get("value"), wire["resource"]
    writer = (wire["writer"]["node"], wire["writer"].get("step", 0))
    other = (wire["other"]["node"], wire["other"].get("step", 0))
    if times is None or writer == other or not 0 <= start < end:
        return False
    if (writer[1] - other[1]) % _buffers(document, schedule, resource):
        return False
    host = _of_host(schedule)

    def touches(name: str, what: str, wanted: str, of: str | None = None) -> bool:
        return any(
            first <= start and end <= last
            for first, last, modes, there in _touched_by(document, host, name, what)
            if wanted in modes and (of is None or there == of)
        )

    sharing = [
        each
        for each in of_these_bytes(document, resource)
        if _buffers(document, schedule, each) == _buffers(document, schedule, resource)
    ]
    if not touches(other[0], resource, mode, value) or not any(
        touches(writer[0], each, "write") for each in sharing
    ):
        return False
    if not times[writer][0] <= at < times[writer][1] or times[other][1] <= at:
        return False
    if times[other][0] <= at:
        return True
    producers = {(name, other[1]) for name in document.producers.get(value or "", ())}
    # What no node brings about the host may hand in, in any step.
    handing = {
        key
        for key in times
        if not producers and key[0] in host and touches(key[0], resource, "write")
    }
    return (
        mode == "read" and value is not None and is_lost(times, writer, other, producers, handing)
    )


def _touched_by(
    document: Document,
    host: Mapping[str, Mapping[str, Any]],
    name: str,
    resource: str,
) -> Iterator[tuple[int, int, tuple[str, ...], str | None]]:
    if name in host and host[name]["access"] == resource:
        yield 0, ENDLESS, MODES[host[name]["mode"]], None
    if name in document.by_name:
        yield from touched(document, document.by_name[name], resource)


UNDER_SCHEDULE: dict[str, Callable[[Document, Mapping[str, Any], Mapping[str, Any]], bool]] = {
    "access": check_access_under,
    "dependency": check_dependency,
    "schedule": check_schedule_under,
}
"""The kinds that are runs, each with its check against a schedule."""
