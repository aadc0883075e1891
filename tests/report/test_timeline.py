"""Counterexamples drawn for a terminal."""

from __future__ import annotations

from ferrum_verify.counterexamples import (
    AccessCounterexample,
    LiveResource,
    ScheduleCounterexample,
    ScheduledNode,
    Shape,
    ShapeCounterexample,
)
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.reading.document import Places, Subject
from ferrum_verify.report.timeline import MAXIMUM_ROWS, counterexample_lines


def schedule(nodes: list[tuple[str, int, int]], at: int) -> ScheduleCounterexample:
    return ScheduleCounterexample(
        nodes=tuple(ScheduledNode(*node) for node in nodes),
        left=LiveResource("r", nodes[0][0]),
        right=LiveResource("s", nodes[-1][0]),
        at=at,
    )


def using(resources: dict[str, tuple[str, ...]]) -> Subject:
    """A document whose nodes use these resources."""
    nodes = tuple(
        FragmentNode(id=name, dependencies=(), resources=each) for name, each in resources.items()
    )
    return Subject(kind="fragment", places=Places(), raw={}, order=HappensBefore(nodes))


def test_a_schedule_is_a_timeline() -> None:
    lines = counterexample_lines(
        schedule([("write", 0, 2), ("other", 1, 3), ("read", 2, 4)], at=2),
        40,
        using({"other": ("r", "s"), "read": ("s",)}),
    )
    assert lines == [
        "at time 2 both are live:",
        "  A  r, used by write",
        "  B  s, used by read",
        "write  AAAAAAAA",
        "other      XXXXXXXX",
        "read           BBBBBBBB",
        "               ^ time 2",
    ]


def test_a_long_schedule_fits_and_shows_its_users() -> None:
    nodes = [
        (f"node.layer.{index:04}.attention.projection", index, index + 1) for index in range(2_000)
    ]
    lines = counterexample_lines(schedule(nodes, at=1_999), 72)
    assert max(map(len, lines)) <= 72
    assert len(lines) < MAXIMUM_ROWS
    assert lines[-1] == "(1,998 more nodes of the schedule are not drawn)"
    assert [line for line in lines if line.endswith("time 1999 ^")]


def test_bytes_at_a_shape() -> None:
    shape = Shape(1, 16, 1)
    assert counterexample_lines(ShapeCounterexample(shape, bytes=2048, limit=1024), 72) == [
        "at 1 sequence, 16 tokens, 1 page: 2,048 bytes, of 1,024 allowed"
    ]
    assert counterexample_lines(ShapeCounterexample(shape, overflow=True), 72) == [
        "at 1 sequence, 16 tokens, 1 page the bytes pass 2^64 - 1"
    ]


def test_a_run_in_which_two_nodes_need_the_same_bytes() -> None:
    found = AccessCounterexample(
        nodes=(ScheduledNode("read", 0, 2), ScheduledNode("write", 1, 2)),
        resource="r",
        start=0,
        end=64,
        writer="write",
        other="read",
        mode="read",
        at=1,
        value="v",
    )
    assert counterexample_lines(found, 72) == [
        "at time 1 both need bytes 0 to 63 of r:",
        "  A  written by write",
        "  B  read by read, which needs v",
        "read   BBBBBBBB",
        "write      AAAA",
        "           ^ time 1",
    ]
