"""Counterexamples from their JSON, the reverse of ``to_wire``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.kinds import (
    AccessCounterexample,
    ByteRange,
    Counterexample,
    DependencyCounterexample,
    LiveResource,
    NamedShape,
    OverlapCounterexample,
    ScheduleCounterexample,
    ScheduledNode,
    Shape,
    ShapeCounterexample,
    SpanCounterexample,
    Taken,
)
from ferrum_verify.counterexamples.parties import SIDES, Party, SpanConstraint
from ferrum_verify.counterexamples.wire_form import is_well_formed

if TYPE_CHECKING:
    from collections.abc import Callable


def counterexample_of(wire: Any) -> Counterexample:
    """The counterexample of this JSON; raises ValueError where it has no such form."""
    if not (is_well_formed(wire) or is_well_formed(wire, of_buffers=True)):
        raise ValueError("a counterexample has a form that none has")
    members = {name: value for name, value in wire.items() if name != "kind"}
    return _KINDS[wire["kind"]](members)


def _nodes(wire: list[dict[str, Any]]) -> tuple[ScheduledNode, ...]:
    return tuple(ScheduledNode(**node) for node in wire)


def _schedule(wire: dict[str, Any]) -> Counterexample:
    return ScheduleCounterexample(
        _nodes(wire["nodes"]),
        LiveResource(**wire["left"]),
        LiveResource(**wire["right"]),
        wire["at"],
        _taken(wire),
    )


def _taken(wire: dict[str, Any]) -> Taken | None:
    """What the run of another planner's plan has more: its shape, arms and bytes."""
    if "arms" not in wire:
        return None
    shape, held = NamedShape(tuple(wire["shape"].items())), wire["bytes"]
    return Taken(shape, tuple(wire["arms"].items()), held["start"], held["end"])


def _of_shape(wire: dict[str, int]) -> Shape | NamedShape:
    counts = wire.keys() == {"sequences", "tokens", "pages"}
    return Shape(**wire) if counts else NamedShape(tuple(wire.items()))


def _access(wire: dict[str, Any]) -> Counterexample:
    writer, other = wire["writer"], wire["other"]
    return AccessCounterexample(
        nodes=_nodes(wire["nodes"]),
        resource=wire["resource"],
        start=wire["bytes"]["start"],
        end=wire["bytes"]["end"],
        writer=writer["node"],
        other=other["node"],
        mode=other["mode"],
        at=wire["at"],
        value=wire.get("value"),
        writer_step=writer.get("step"),
        other_step=other.get("step"),
        taken=_taken(wire),
    )


def _dependency(wire: dict[str, Any]) -> Counterexample:
    return DependencyCounterexample(
        nodes=_nodes(wire["nodes"]),
        node=wire["node"],
        dependency=wire["dependency"],
        step=wire.get("step"),
        dependency_step=wire.get("dependency_step"),
    )


def _overlap(wire: dict[str, Any]) -> Counterexample:
    left, right = ByteRange(**wire["left"]), ByteRange(**wire["right"])
    return OverlapCounterexample(_of_shape(wire["shape"]), left, right, wire["byte"])


def _shape(wire: dict[str, Any]) -> Counterexample:
    return ShapeCounterexample(**{**wire, "shape": _of_shape(wire["shape"])})


def _span(wire: dict[str, Any]) -> Counterexample:
    counts = {
        name: wire[name] for name in ("tokens", "processed", "boundary", "prompt") if name in wire
    }
    return SpanCounterexample(_party(wire["permitted"]), _party(wire["refused"]), **counts)


def _party(wire: dict[str, Any]) -> Party:
    sides: dict[str, Any] = {side: SpanConstraint(**wire[side]) for side in SIDES if side in wire}
    return Party(**{**wire, **sides})


_KINDS: dict[str, Callable[[dict[str, Any]], Counterexample]] = {
    "schedule": _schedule,
    "access": _access,
    "dependency": _dependency,
    "overlap": _overlap,
    "shape": _shape,
    "span": _span,
}
