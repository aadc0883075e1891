"""Counterexamples in words, and a schedule drawn as a small timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import (
    AccessCounterexample,
    DependencyCounterexample,
    OverlapCounterexample,
    ScheduleCounterexample,
    ShapeCounterexample,
    SpanCounterexample,
)
from ferrum_verify.findings.wording import bytes_words, plural, printable, shortened
from ferrum_verify.plan.sizes import describe
from ferrum_verify.report.formulas import counts_of, formula_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ferrum_verify.counterexamples import (
        ByteRange,
        Counterexample,
        LiveResource,
        ScheduledNode,
        Taken,
    )
    from ferrum_verify.reading.document import Subject

MAXIMUM_ROWS = 24
"""Nodes that a drawn schedule shows; of a longer one, those that use neither are left out."""

_NAME_COLUMNS = 28


def counterexample_lines(
    counterexample: Counterexample, columns: int, subject: Subject | None = None
) -> list[str]:
    """The counterexample in lines of at most ``columns``, save where a name alone is longer.

    ``subject`` is the document, where it is known: which resources each of its nodes uses, what
    its sizes depend on, and what a number is the sum of.
    """
    memory = None if subject is None else subject.memory
    match counterexample:
        case ScheduleCounterexample() | AccessCounterexample() | DependencyCounterexample():
            nodes = (subject and subject.nodes) or ()
            uses = {node.id: frozenset(node.resources) for node in nodes}
            return _run(counterexample, columns, uses)
        case OverlapCounterexample(shape=shape, left=left, right=right, byte=byte):
            counts = counts_of((left.resource, right.resource), memory)
            return [
                f"at {describe(shape, counts) or 'every shape'}:",
                f"  {_extent(left)}",
                f"  {_extent(right)}",
                f"  both hold byte {byte:,}",
            ]
        case ShapeCounterexample(shape=shape, bytes=size, limit=limit, overflow=overflow):
            if overflow:
                return [f"at {describe(shape)} the bytes pass 2^64 - 1"]
            return [
                f"at {describe(shape)}: {size:,} bytes, of {limit:,} allowed",
                *(f"  {line}" for line in formula_lines(counterexample, subject)),
            ]
        case SpanCounterexample():
            return _span(counterexample)


def _run(
    run: ScheduleCounterexample | AccessCounterexample | DependencyCounterexample,
    columns: int,
    uses: Mapping[str, frozenset[str]],
) -> list[str]:
    match run:
        case ScheduleCounterexample():
            return _schedule(run, columns, uses)
        case AccessCounterexample():
            return _access(run, columns)
    return _dependency(run, columns)


def _schedule(
    schedule: ScheduleCounterexample, columns: int, uses: Mapping[str, frozenset[str]]
) -> list[str]:
    left, right = schedule.left, schedule.right

    def mark(node: ScheduledNode) -> str:
        used = uses.get(node.id, frozenset())
        is_left = node.step == left.step and (node.id == left.node or left.resource in used)
        is_right = node.step == right.step and (node.id == right.node or right.resource in used)
        return "X" if is_left and is_right else "A" if is_left else "B" if is_right else "-"

    return [
        *_taken(schedule.taken),
        f"at time {schedule.at} both are live:",
        f"  A  {printable(left.resource)}, {use_words(left)}",
        f"  B  {printable(right.resource)}, {use_words(right)}",
        *_drawn(schedule.nodes, mark, schedule.at, columns),
    ]


def use_words(live: LiveResource) -> str:
    """Who uses a resource; of a buffer that no node uses, that it is there all the time."""
    if not live.node:
        return "there from the start to the end"
    return f"used by {at_step(live.node, live.step)}"


def _taken(taken: Taken | None) -> list[str]:
    """At which shape of another planner's plan, in which bytes, and with which arms; one line."""
    if taken is None:
        return []
    arms = ", ".join(f"{printable(condition)} = {printable(arm)}" for condition, arm in taken.arms)
    told = f"at {describe(taken.shape)}, in {bytes_words(taken.start, taken.end)}"
    return [f"{told}, with {arms}:" if arms else f"{told}:"]


def _access(found: AccessCounterexample, columns: int) -> list[str]:
    marks = {(found.writer, found.writer_step): "A", (found.other, found.other_step): "B"}
    return [
        *_taken(found.taken),
        f"at time {found.at} both need {bytes_words(found.start, found.end)} of "
        f"{printable(found.resource)}:",
        f"  A  written by {at_step(found.writer, found.writer_step)}",
        f"  B  {access_words(found)}",
        *_drawn(found.nodes, lambda node: marks.get((node.id, node.step), "-"), found.at, columns),
    ]


def _dependency(found: DependencyCounterexample, columns: int) -> list[str]:
    first, then = (found.dependency, found.dependency_step), (found.node, found.step)
    marks = {first: "A", then: "B"}
    at = starts_at(found)
    return [
        f"at time {at} B starts, and A has not ended:",
        f"  A  {at_step(*first)}",
        f"  B  {at_step(*then)}, which depends on it",
        *_drawn(found.nodes, lambda node: marks.get((node.id, node.step), "-"), at, columns),
    ]


def starts_at(found: DependencyCounterexample) -> int:
    """When the node starts that should have waited."""
    return next(n.start for n in found.nodes if (n.id, n.step) == (found.node, found.step))


def at_step(name: str, step: int | None) -> str:
    """A node, and the step that it is of where there are several."""
    return printable(name) if step is None else f"{printable(name)} of step {step}"


def lane_of(node: ScheduledNode) -> str:
    """The stream that a node of a schedule's run is on, or the host."""
    return "host" if node.stream is None else f"stream {printable(node.stream)}"


def access_words(found: AccessCounterexample) -> str:
    """What the other node does with the bytes: "read by NODE, which needs VALUE"."""
    done = "written" if found.mode == "write" else "read"
    value = "" if found.value is None else f", which needs {printable(found.value)}"
    return f"{done} by {at_step(found.other, found.other_step)}{value}"


def _drawn(
    nodes: Sequence[ScheduledNode], mark: Callable[[ScheduledNode], str], at: int, columns: int
) -> list[str]:
    """A line for each node of a run, and the mark of a time below them.

    The nodes of a schedule stand below the lane of their stream, which has all of them.
    """
    rows = [(node, mark(node)) for node in sorted(nodes, key=lambda n: (n.start, n.end))]
    hidden = 0
    if len(rows) > MAXIMUM_ROWS:
        users = [row for row in rows if row[1] != "-"]
        shown = users[: MAXIMUM_ROWS // 2] + users[max(len(users) - MAXIMUM_ROWS // 2, 12) :]
        hidden = len(rows) - len(shown)
        rows = shown
    lanes: dict[str, list[tuple[ScheduledNode, str]]] = {}
    if any(node.stream is not None for node, _ in rows):
        for row in rows:
            lanes.setdefault(lane_of(row[0]), []).append(row)
    blocks = [
        (name, marked)
        for lane, members in (lanes.items() or [("", rows)])
        for name, marked in (
            *([(lane, members)] if lane else []),
            *((f"{'  ' if lane else ''}{label_of(row[0])}", [row]) for row in members),
        )
    ]
    names = [name for name, _ in blocks]
    indent = max(map(len, names), default=0) + 2
    length = max((node.end for node in nodes), default=0) or 1
    room = max(columns - indent - 1, 10)
    # Each tick is as many columns as fit, and a long schedule is scaled down.
    scale = min(room // length, 4) if length <= room else room / length

    def column(tick: int) -> int:
        return int(tick * scale)

    lines = []
    for name, marked in blocks:
        line = f"{name:<{indent}}"
        for node, letter in marked:
            width = max(column(node.end) - column(node.start), 1)
            line = line.ljust(indent + column(node.start)) + letter * width
        lines.append(line)
    place = indent + column(at)
    label = f"time {at}"
    if place + len(label) + 2 > columns:
        lines.append(f"{label} ^".rjust(place + 1))
    else:
        lines.append(f"{'^':>{place + 1}} {label}")
    if hidden:
        lines.append(f"({hidden:,} more nodes of the schedule are not drawn)")
    return lines


def label_of(node: ScheduledNode) -> str:
    """A node's name, shortened, with its step in parentheses where there are several."""
    name = shortened(node.id, _NAME_COLUMNS)
    return name if node.step is None else f"{name} ({node.step})"


def _extent(extent: ByteRange) -> str:
    held = f"holds {bytes_words(extent.start, extent.end)}"
    if extent.value is None:
        return f"{printable(extent.resource)} {held}"
    return f"{printable(extent.value)} {held} of {printable(extent.resource)}"


def _span(span: SpanCounterexample) -> list[str]:
    if span.tokens is not None:
        subject = plural(span.tokens, "token")
    else:
        subject = (
            f"a boundary at {span.boundary or 0:,} of a {span.prompt or 0:,}-token prompt, "
            f"with {span.processed or 0:,} tokens processed before"
        )
    return [
        subject,
        f"  permitted by {printable(span.permitted_by)}",
        f"  refused by {printable(span.refused_by)}",
    ]
