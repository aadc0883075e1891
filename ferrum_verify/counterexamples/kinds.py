"""Counterexamples: plain data that anyone can check without a solver.

Each kind is a frozen record with the fields that the report format fixes.
``ferrum_verify.check_counterexample`` re-evaluates them against a document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

if TYPE_CHECKING:
    from ferrum_verify.counterexamples.parties import Party

Execution = Literal["in-order", "fenced", "concurrent"]
"""The models of execution: which runs of a plan are possible."""

Runs = Literal["in-order", "fenced", "concurrent", "schedule"]
"""What the runs are those of: a model of execution, or a schedule."""


@dataclass(frozen=True, slots=True)
class ScheduledNode:
    """A node that runs in the half-open time interval ``[start, end)``, in abstract ticks.

    Under a schedule of several steps it has a ``step``, and unless it is the host's a ``stream``.
    """

    id: str
    start: int
    end: int
    step: int | None = None
    stream: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """The node's JSON."""
        wire: dict[str, Any] = {"id": self.id, "start": self.start, "end": self.end}
        if self.stream is not None:
            wire["stream"] = self.stream
        return wire | _at(self.step)


def _at(step: int | None, name: str = "step") -> dict[str, int]:
    return {} if step is None else {name: step}


@dataclass(frozen=True, slots=True)
class LiveResource:
    """A resource, and one of its users: the witness that it is live at the shown time."""

    resource: str
    node: str
    step: int | None = None

    def to_wire(self) -> dict[str, Any]:
        """The use's JSON."""
        return {"resource": self.resource, "node": self.node} | _at(self.step)


@dataclass(frozen=True, slots=True)
class ByteRange:
    """The bytes ``[start, end)`` that a resource occupies in an arena.

    With a ``value`` they are bytes of the resource: those that the value is bound to.
    """

    resource: str
    start: int
    end: int
    value: str | None = None

    def to_wire(self) -> dict[str, Any]:
        """The range's JSON."""
        wire: dict[str, Any] = {"resource": self.resource, "start": self.start, "end": self.end}
        return wire if self.value is None else wire | {"value": self.value}


@dataclass(frozen=True, slots=True)
class Shape:
    """A dynamic shape: how many sequences, tokens and pages are in flight."""

    sequences: int
    tokens: int
    pages: int

    def to_wire(self) -> dict[str, Any]:
        """The shape's JSON."""
        return {"sequences": self.sequences, "tokens": self.tokens, "pages": self.pages}


@dataclass(frozen=True, slots=True)
class NamedShape:
    """A shape of another planner's plan: a value for each of its dimensions."""

    values: tuple[tuple[str, int], ...]

    def to_wire(self) -> dict[str, Any]:
        """The shape's JSON."""
        return dict(self.values)


@dataclass(frozen=True, slots=True)
class Taken:
    """What more there is to a run of another planner's plan.

    The run is at a ``shape`` and takes one of the ``arms`` of each condition; ``start`` and ``end``
    are bytes of the arena in which the two meet.
    """

    shape: NamedShape
    arms: tuple[tuple[str, str], ...]
    start: int
    end: int

    def to_wire(self) -> dict[str, Any]:
        """The members that it adds to the run's JSON."""
        return {
            "shape": self.shape.to_wire(),
            "arms": dict(self.arms),
            "bytes": {"start": self.start, "end": self.end},
        }


@dataclass(frozen=True, slots=True)
class ScheduleCounterexample:
    """An admissible run in which both resources are live at time ``at``.

    Of a buffer plan it says in which bytes they meet, and at which shape and with which arms.
    """

    kind: ClassVar[Literal["schedule"]] = "schedule"
    nodes: tuple[ScheduledNode, ...]
    left: LiveResource
    right: LiveResource
    at: int
    taken: Taken | None = None

    def to_wire(self) -> dict[str, Any]:
        """The counterexample's JSON."""
        return {
            "kind": self.kind,
            "nodes": [node.to_wire() for node in self.nodes],
            "left": self.left.to_wire(),
            "right": self.right.to_wire(),
            "at": self.at,
        } | ({} if self.taken is None else self.taken.to_wire())


@dataclass(frozen=True, slots=True)
class OverlapCounterexample:
    """A shape at which two resources both hold ``byte`` of one arena, or two values of one."""

    kind: ClassVar[Literal["overlap"]] = "overlap"
    shape: Shape | NamedShape
    left: ByteRange
    right: ByteRange
    byte: int

    def to_wire(self) -> dict[str, Any]:
        """The counterexample's JSON."""
        return {
            "kind": self.kind,
            "shape": self.shape.to_wire(),
            "left": self.left.to_wire(),
            "right": self.right.to_wire(),
            "byte": self.byte,
        }


@dataclass(frozen=True, slots=True)
class ShapeCounterexample:
    """A shape at which formulas give more than ``limit`` bytes, or pass 2^64 - 1.

    ``limit_from`` is a JSON pointer: where the limit stands in the document, or what it follows
    from.
    """

    kind: ClassVar[Literal["shape"]] = "shape"
    shape: Shape | NamedShape
    bytes: int | None = None
    limit: int | None = None
    limit_from: str | None = None
    overflow: bool = False

    def to_wire(self) -> dict[str, Any]:
        """The counterexample's JSON."""
        wire: dict[str, Any] = {"kind": self.kind, "shape": self.shape.to_wire()}
        if self.overflow:
            wire["overflow"] = True
        for name in ("bytes", "limit", "limit_from"):
            if (value := getattr(self, name)) is not None:
                wire[name] = value
        return wire


@dataclass(frozen=True, slots=True)
class SpanCounterexample:
    """Token counts that one party permits and another refuses.

    Either ``tokens`` (one span: the side that ``permitted`` constrains) or all of
    ``processed``, ``boundary`` and ``prompt``.
    """

    kind: ClassVar[Literal["span"]] = "span"
    permitted: Party
    refused: Party
    tokens: int | None = None
    processed: int | None = None
    boundary: int | None = None
    prompt: int | None = None

    @property
    def permitted_by(self) -> str:
        """Who permits the counts, in words."""
        return self.permitted.words

    @property
    def refused_by(self) -> str:
        """Who refuses the counts, in words."""
        return self.refused.words

    def to_wire(self) -> dict[str, Any]:
        """The counterexample's JSON."""
        counts = {
            "tokens": self.tokens,
            "processed": self.processed,
            "boundary": self.boundary,
            "prompt": self.prompt,
        }
        return {
            "kind": self.kind,
            **{name: count for name, count in counts.items() if count is not None},
            "permitted": self.permitted.to_wire(),
            "refused": self.refused.to_wire(),
            "permitted_by": self.permitted_by,
            "refused_by": self.refused_by,
        }


@dataclass(frozen=True, slots=True)
class AccessCounterexample:
    """An admissible run in which a write meets another access of the bytes ``[start, end)``.

    Either both nodes run at ``at``, or ``other`` reads ``value``, which was whole when the writer
    started, and has not ended at ``at`` while the writer runs.
    """

    kind: ClassVar[Literal["access"]] = "access"
    nodes: tuple[ScheduledNode, ...]
    resource: str
    start: int
    end: int
    writer: str
    other: str
    mode: Literal["read", "write"]
    at: int
    value: str | None = None
    writer_step: int | None = None
    other_step: int | None = None
    taken: Taken | None = None

    def to_wire(self) -> dict[str, Any]:
        """The counterexample's JSON."""
        value = {} if self.value is None else {"value": self.value}
        return {
            "kind": self.kind,
            "nodes": [node.to_wire() for node in self.nodes],
            "resource": self.resource,
            **({} if self.taken is None else self.taken.to_wire()),
            "bytes": {"start": self.start, "end": self.end},
            **value,
            "writer": {"node": self.writer} | _at(self.writer_step),
            "other": {"node": self.other, "mode": self.mode} | _at(self.other_step),
            "at": self.at,
        }


@dataclass(frozen=True, slots=True)
class DependencyCounterexample:
    """A run of the schedule in which a node starts before what it depends on has ended.

    Where there are several steps, the node is that of ``step``, and the other that of
    ``dependency_step``.
    """

    kind: ClassVar[Literal["dependency"]] = "dependency"
    nodes: tuple[ScheduledNode, ...]
    node: str
    dependency: str
    step: int | None = None
    dependency_step: int | None = None

    def to_wire(self) -> dict[str, Any]:
        """The counterexample's JSON."""
        return {
            "kind": self.kind,
            "nodes": [node.to_wire() for node in self.nodes],
            "node": self.node,
            "dependency": self.dependency,
            **_at(self.step),
            **_at(self.dependency_step, "dependency_step"),
        }


Counterexample = (
    ScheduleCounterexample
    | AccessCounterexample
    | DependencyCounterexample
    | OverlapCounterexample
    | ShapeCounterexample
    | SpanCounterexample
)
