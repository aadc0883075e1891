"""Runs of buffer plans: where two buffers live together, or two nodes meet, as small as it gets.

They are built from what the checks found, and checked independently before they are shown.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from ferrum_verify.counterexamples import (
    AccessCounterexample,
    LiveResource,
    NamedShape,
    ScheduleCounterexample,
    Taken,
)
from ferrum_verify.plan.affine import at
from ferrum_verify.plan.arms import implies, joined, run_with
from ferrum_verify.prove.schedules import needed, nodes_of, one_by_one, side_by_side

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.plan.affine import Point
    from ferrum_verify.plan.arms import Arms
    from ferrum_verify.plan.clashes import Clash
    from ferrum_verify.plan.reads import Conflict
    from ferrum_verify.plan.storages import Extent, Storages, Use
    from ferrum_verify.prove.schedules import Times
    from ferrum_verify.prove.windows import PlanGraph


MOST_NODES = 100_000
"""Nodes that the runs of one plan list in all; a claim that is refuted beyond has no run to it."""

_Run = TypeVar("_Run", ScheduleCounterexample, AccessCounterexample)


class Room:
    """What is left of ``MOST_NODES``, and the streams that runs are shown on."""

    def __init__(self, streams: Mapping[str, str]) -> None:
        self._streams = streams
        self._left = MOST_NODES

    def shown(self, made: Callable[[], _Run | None]) -> _Run | None:
        """A run as it is made, where there is room for it."""
        found = made() if self._left > 0 else None
        if found is not None:
            self._left -= len(found.nodes)
        return on_streams(found, self._streams)


def living_together(
    storages: Storages, graph: PlanGraph, execution: Execution, clash: Clash
) -> ScheduleCounterexample | None:
    """A run in which both storages of a clash live; None without one."""
    apart = clash.first.node != clash.then.node and clash.first.phase < clash.then.phase
    # Who reads later what was there from the start need not be shown.
    inside = [clash.written, clash.first, clash.then]
    inside += [use for use in clash.also if use.write]
    together = (clash.first, clash.then) if apart else None
    times = _times(storages, graph, execution, inside, (together, clash.then, clash.arms))
    if times is None:
        return None
    end = len(storages.nodes)
    last = max((end for _, end in times.values()), default=0)
    now = times[clash.then.node][0] if clash.then.node < end else last
    return ScheduleCounterexample(
        nodes=nodes_of(graph, times),
        left=_side(storages, clash.first, clash.written),
        right=_side(storages, clash.then, clash.then),
        at=now,
        taken=_taken(storages, clash.uses, clash.arms, clash.point),
    )


def _side(storages: Storages, use: Use, written: Use) -> LiveResource:
    """The buffer and a node that uses it; no node where only the start and the end do."""
    inside = [each.node for each in (use, written) if 0 <= each.node < len(storages.nodes)]
    return LiveResource(storages.of(use).id, storages.nodes[inside[0]].id if inside else "")


def meeting(
    storages: Storages, graph: PlanGraph, execution: Execution, conflict: Conflict
) -> AccessCounterexample | None:
    """A run in which two uses of one storage meet; None without one."""
    first, then = conflict.first, conflict.then
    arms = joined(first.arms, then.arms)
    times = _times(storages, graph, execution, (first, then), ((first, then), then, arms))
    if times is None:
        return None
    writer, other = (first, then) if first.write else (then, first)
    place = storages.placed[first.name]
    assert place is not None
    taken = _taken(storages, (first, then), arms, conflict.point)
    return AccessCounterexample(
        nodes=nodes_of(graph, times),
        resource=storages.plan.buffers[place[0]].id,
        start=taken.start,
        end=taken.end,
        writer=storages.nodes[writer.node].id,
        other=storages.nodes[other.node].id,
        mode="write" if other.write else "read",
        at=times[then.node][0],
        taken=taken,
    )


def on_streams(found: _Run | None, streams: Mapping[str, str]) -> _Run | None:
    """The run with the streams that its nodes are on."""
    if found is None or not streams:
        return found
    nodes = (replace(node, stream=streams.get(node.id)) for node in found.nodes)
    return replace(found, nodes=tuple(nodes))


def _times(
    storages: Storages,
    graph: PlanGraph,
    execution: Execution,
    uses: Sequence[Use],
    shown: tuple[tuple[Use, Use] | None, Use, Arms],
) -> Times | None:
    """When the nodes run that the uses need, and those beside them that the arms take.

    ``shown`` are two uses that are to meet, where they have not the order of the list, which one
    of them begins last, and the arms.
    """
    together, last, arms = shown
    end = len(storages.nodes)
    inside = [use.node for use in uses if 0 <= use.node < end]
    if last.node == end:
        inside = list(range(end))
    if not inside:
        return {}
    listed = needed(graph, inside, execution)
    times: Times | None = one_by_one(listed)
    if together is not None:
        first, then = together
        times = side_by_side(graph, first.node, then.node, execution, listed)
    if times is None:
        return None
    run = tuple(sorted(run_with(arms, storages.choices).items()))
    return {
        position: time
        for position, time in times.items()
        if (own := storages.arms[position]) is not None and implies(run, own)
    }


def _taken(storages: Storages, uses: Sequence[Use], arms: Arms, point: Point) -> Taken:
    run = run_with(arms, storages.choices)
    extents = [_extent(storages, use) for use in uses]
    return Taken(
        NamedShape(tuple(zip(storages.box.names, point, strict=True))),
        tuple(sorted(run.items())),
        max(at(each.start, point) for each in extents),
        min(at(each.end, point) for each in extents),
    )


def _extent(storages: Storages, use: Use) -> Extent:
    extent = storages.extents[use.name]
    assert extent is not None
    return extent
