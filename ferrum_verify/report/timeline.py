"""Counterexamples in words, and a schedule drawn as a small timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import (
    OverlapCounterexample,
    ScheduleCounterexample,
    ShapeCounterexample,
    SpanCounterexample,
)
from ferrum_verify.findings.wording import plural, printable, shortened
from ferrum_verify.plan.sizes import describe

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples import ByteRange, Counterexample, ScheduledNode

MAXIMUM_ROWS = 24
"""Nodes that a drawn schedule shows; of a longer one, those that use neither are left out."""

_NAME_COLUMNS = 28


def counterexample_lines(
    counterexample: Counterexample, columns: int, uses: Mapping[str, frozenset[str]] | None = None
) -> list[str]:
    """The counterexample in lines of at most ``columns``, save where a name alone is longer.

    ``uses`` says which resources each node uses, where the document tells.
    """
    match counterexample:
        case ScheduleCounterexample():
            return _schedule(counterexample, columns, uses or {})
        case OverlapCounterexample(shape=shape, left=left, right=right, byte=byte):
            return [
                f"at {describe(shape)}:",
                f"  {_extent(left)}",
                f"  {_extent(right)}",
                f"  both hold byte {byte:,}",
            ]
        case ShapeCounterexample(shape=shape, bytes=size, limit=limit, overflow=overflow):
            if overflow:
                return [f"at {describe(shape)} the bytes pass 2^64 - 1"]
            return [f"at {describe(shape)}: {size:,} bytes, of {limit:,} allowed"]
        case SpanCounterexample():
            return _span(counterexample)


def _schedule(
    schedule: ScheduleCounterexample, columns: int, uses: Mapping[str, frozenset[str]]
) -> list[str]:
    left, right = schedule.left, schedule.right

    def mark(node: ScheduledNode) -> str:
        used = uses.get(node.id, frozenset())
        is_left = node.id == left.node or left.resource in used
        is_right = node.id == right.node or right.resource in used
        return "X" if is_left and is_right else "A" if is_left else "B" if is_right else "-"

    rows = [(node, mark(node)) for node in sorted(schedule.nodes, key=lambda n: (n.start, n.end))]
    hidden = 0
    if len(rows) > MAXIMUM_ROWS:
        users = [row for row in rows if row[1] != "-"]
        shown = users[: MAXIMUM_ROWS // 2] + users[max(len(users) - MAXIMUM_ROWS // 2, 12) :]
        hidden = len(rows) - len(shown)
        rows = shown
    names = [shortened(node.id, _NAME_COLUMNS) for node, _ in rows]
    indent = max(map(len, names), default=0) + 2
    length = max((node.end for node in schedule.nodes), default=0) or 1
    room = max(columns - indent - 1, 10)
    # Each tick is as many columns as fit, and a long schedule is scaled down.
    scale = min(room // length, 4) if length <= room else room / length

    def column(tick: int) -> int:
        return int(tick * scale)

    lines = [
        f"at time {schedule.at} both are live:",
        f"  A  {printable(left.resource)}, used by {printable(left.node)}",
        f"  B  {printable(right.resource)}, used by {printable(right.node)}",
    ]
    for name, (node, letter) in zip(names, rows, strict=True):
        width = max(column(node.end) - column(node.start), 1)
        lines.append(f"{name:<{indent}}{' ' * column(node.start)}{letter * width}")
    place = indent + column(schedule.at)
    label = f"time {schedule.at}"
    if place + len(label) + 2 > columns:
        lines.append(f"{label} ^".rjust(place + 1))
    else:
        lines.append(f"{'^':>{place + 1}} {label}")
    if hidden:
        lines.append(f"({hidden:,} more nodes of the schedule are not drawn)")
    return lines


def _extent(extent: ByteRange) -> str:
    held = f"holds bytes {extent.start:,} to {extent.end - 1:,}"
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
