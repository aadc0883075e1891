"""Counterexamples for the page: schedules to step through, ranges and limits to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples import (
    AccessCounterexample,
    DependencyCounterexample,
    OverlapCounterexample,
    ScheduleCounterexample,
    ShapeCounterexample,
    SpanCounterexample,
)
from ferrum_verify.findings.wording import bytes_words, printable
from ferrum_verify.plan.sizes import describe
from ferrum_verify.report.html.picture import exact
from ferrum_verify.report.html.ticks import span_ticks
from ferrum_verify.report.timeline import (
    access_words,
    at_step,
    counterexample_lines,
    label_of,
    lane_of,
    starts_at,
    use_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.counterexamples import (
        ByteRange,
        Counterexample,
        LiveResource,
        ScheduledNode,
    )
    from ferrum_verify.report.html.picture import Names

_COLUMNS = 96


def counterexample_data(counterexample: Counterexample, names: Names | None) -> dict[str, Any]:
    """What the page's script draws of a counterexample, by its kind."""
    match counterexample:
        case ScheduleCounterexample():
            return {"kind": "schedule", **_schedule(counterexample, names)}
        case AccessCounterexample():
            return {"kind": "schedule", **_access(counterexample)}
        case DependencyCounterexample():
            return {"kind": "schedule", **_dependency(counterexample)}
        case OverlapCounterexample(shape=shape, left=left, right=right, byte=byte):
            return {
                "kind": "overlap",
                "shape": describe(shape),
                "left": _extent(left),
                "right": _extent(right),
                "byte": exact(byte),
            }
        case ShapeCounterexample(shape=shape, bytes=size, limit=limit):
            data: dict[str, Any] = {"kind": "shape", "shape": describe(shape)}
            if size is not None and limit is not None:
                data |= {"bytes": exact(size), "limit": exact(limit)}
            return data
        case SpanCounterexample():
            return span_ticks(counterexample)


def counterexample_text(counterexample: Counterexample) -> str:
    """The counterexample in words, for whoever does not run the page's script."""
    return "\n".join(counterexample_lines(counterexample, _COLUMNS))


def _schedule(schedule: ScheduleCounterexample, names: Names | None) -> dict[str, Any]:
    left = _users(schedule, schedule.left, names)
    right = _users(schedule, schedule.right, names)
    return {
        "at": schedule.at,
        "left": _use(schedule.left),
        "right": _use(schedule.right),
        "nodes": _nodes(schedule.nodes, left, right),
    }


def _access(found: AccessCounterexample) -> dict[str, Any]:
    """The writer holds the bytes while it runs, and so does the other; a reader from ``at`` on."""
    writer, other = (found.writer, found.writer_step), (found.other, found.other_step)
    (end,) = (node.end for node in found.nodes if (node.id, node.step) == other)
    (start,) = (node.start for node in found.nodes if (node.id, node.step) == other)
    left = _side(found.resource, f"written by {at_step(*writer)}")
    right = _side(found.resource, access_words(found))
    left["who"], right["who"] = at_step(*writer), at_step(*other)
    right["life"] = {"start": min(start, found.at), "end": end}
    return {
        "at": found.at,
        "words": f"both need {bytes_words(found.start, found.end)}, which A writes and B "
        f"{'writes too' if found.mode == 'write' else 'reads'}",
        "states": ("does not need the bytes yet", "needs the bytes", "done with the bytes"),
        "holds": "needs the bytes",
        "left": left,
        "right": right,
        "nodes": _nodes(found.nodes, frozenset({writer}), frozenset({other})),
    }


def _dependency(found: DependencyCounterexample) -> dict[str, Any]:
    first, then = (found.dependency, found.dependency_step), (found.node, found.step)
    return {
        "at": starts_at(found),
        "words": "A has not ended, and B, which depends on it, has started",
        "states": ("not yet running", "running", "ended"),
        "holds": "runs",
        "left": _side(at_step(*first), "which has to end first"),
        "right": _side(at_step(*then), "which depends on it"),
        "nodes": _nodes(found.nodes, frozenset({first}), frozenset({then})),
    }


def _use(live: LiveResource) -> dict[str, Any]:
    return _side(live.resource, use_words(live))


def _side(name: str, use: str) -> dict[str, Any]:
    return {"name": printable(name), "use": use}


def _nodes(
    nodes: Sequence[ScheduledNode],
    left: frozenset[tuple[str, int | None]],
    right: frozenset[tuple[str, int | None]],
) -> list[dict[str, Any]]:
    laned = any(node.stream is not None for node in nodes)
    return [
        {
            "name": at_step(node.id, node.step),
            "start": node.start,
            "end": node.end,
            "left": (node.id, node.step) in left,
            "right": (node.id, node.step) in right,
            **({"lane": lane_of(node), "label": label_of(node)} if laned else {}),
        }
        for node in sorted(nodes, key=lambda node: (node.start, node.end, node.id))
    ]


def _users(
    schedule: ScheduleCounterexample, live: LiveResource, names: Names | None
) -> frozenset[tuple[str, int | None]]:
    """The nodes of the schedule that use a resource, in its step; at least its witness."""
    users = {live.node}
    if names is not None:
        positions = set(names.users.get(live.resource, ()))
        users |= {node.id for node in schedule.nodes if names.nodes.get(node.id) in positions}
    return frozenset((user, live.step) for user in users)


def _extent(extent: ByteRange) -> dict[str, Any]:
    return {
        "name": printable(extent.resource if extent.value is None else extent.value),
        "start": exact(extent.start),
        "end": exact(extent.end),
    }
