"""Conflicts of accesses, and whether runs keep them apart, against every run of small plans."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.plan.accesses import Access, accesses_of, conflicts_of, ended_before
from ferrum_verify.plan.order import HappensBefore
from tests.definition.runs import MODELS, Execution, Waits, run_where, waits_of

RESOURCES = ("r", "s")


@st.composite
def fragments(draw: st.DrawFn, most: int = 5) -> list[dict[str, Any]]:
    """Nodes that say what they read and write, with any dependencies on earlier ones."""
    names = [f"n{index}" for index in range(draw(st.integers(1, most)))]
    some = st.lists(st.sampled_from(RESOURCES), unique=True).map(sorted)
    nodes = []
    for index, name in enumerate(names):
        reads, writes = draw(some), draw(some)
        earlier = draw(st.lists(st.sampled_from(names[:index]), unique=True)) if index else []
        nodes.append(
            {
                "id": name,
                "dependencies": sorted(earlier),
                "resources": sorted({*reads, *writes}),
                "reads": reads,
                "writes": writes,
            }
        )
    return nodes


def may_meet(model: Execution, waits: Waits, first: int, then: int) -> bool:
    """Whether some run starts the one before the other has ended, by trying them all."""
    return (
        run_where(model, waits, lambda now: now.has_started(then) and not now.has_ended(first))
        is not None
    )


@settings(max_examples=150, deadline=None)
@given(raw=fragments(), model=st.sampled_from(MODELS))
def test_neighbours_are_apart_exactly_when_all_pairs_are(
    raw: list[dict[str, Any]], model: Execution
) -> None:
    order, waits = HappensBefore([FragmentNode(**node) for node in raw]), waits_of(raw)
    conflicts = list(conflicts_of(accesses_of(order.nodes, 1, {})))
    for each in conflicts:
        first, then = each.first.node, each.then.node
        assert ended_before(order, first, then, model) != may_meet(model, waits, first, then)
    pairs = (
        (first, then)
        for first, then in itertools.combinations(range(len(raw)), 2)
        for name in RESOURCES
        if name in raw[first]["writes"] + raw[then]["writes"]
        and name in raw[first]["resources"]
        and name in raw[then]["resources"]
    )
    assert all(
        ended_before(order, each.first.node, each.then.node, model) for each in conflicts
    ) == (not any(may_meet(model, waits, *pair) for pair in pairs))


def ranges() -> st.SearchStrategy[list[tuple[int, int, bool]]]:
    """For nodes in plan order the bytes that they touch, and whether they write them."""
    return st.lists(
        st.tuples(st.integers(0, 5), st.integers(1, 4), st.booleans()), min_size=1, max_size=6
    )


@given(drawn=ranges())
def test_every_byte_has_its_conflicts(drawn: list[tuple[int, int, bool]]) -> None:
    """Of each byte: each access is held to the last write, and a write to the reads since."""
    accesses = [
        Access(node, "r", start, start + length, "write" if writes else "read", None, ())
        for node, (start, length, writes) in enumerate(drawn)
    ]
    wanted = set()
    for byte in range(10):
        written: int | None = None
        read: list[int] = []
        for access in accesses:
            if not access.start <= byte < access.end:
                continue
            if access.mode == "read":
                wanted |= {(written, access.node)} if written is not None else set()
                read.append(access.node)
            else:
                held = read or ([written] if written is not None else [])
                wanted |= {(each, access.node) for each in held}
                written, read = access.node, []
    found = list(conflicts_of({"r": accesses}))
    assert {(each.first.node, each.then.node) for each in found} == wanted
    for each in found:
        assert max(each.first.start, each.then.start) <= each.start < each.end
        assert each.end <= min(each.first.end, each.then.end)


def of_value(node: int, mode: Any, value: str) -> Access:
    return Access(node, "r", 0, 64, mode, value, (), is_output=mode == "write")


def test_a_reader_that_comes_too_late_is_held_before_the_writer() -> None:
    made, taken, late = (
        of_value(0, "write", "a"),
        of_value(1, "write", "b"),
        of_value(2, "read", "a"),
    )
    first, second = conflicts_of({"r": [made, taken, late]})
    assert (first.first, first.then, first.value) == (made, taken, None)
    assert (second.first, second.then, second.value) == (late, taken, "a")


def test_a_value_that_is_written_later_is_not_missed() -> None:
    """Who reads what nobody has written yet is told of by the rules of data flow."""
    other, early, made = (
        of_value(0, "write", "b"),
        of_value(1, "read", "a"),
        of_value(2, "write", "a"),
    )
    found = [
        (each.first.node, each.then.node) for each in conflicts_of({"r": [other, early, made]})
    ]
    assert (1, 0) not in found


@pytest.mark.parametrize("model", MODELS)
def test_what_stands_later_never_ends_before(model: Execution) -> None:
    order = HappensBefore([FragmentNode(id=name, dependencies=(), resources=()) for name in "ab"])
    assert not ended_before(order, 1, 0, model)
    assert not ended_before(order, 0, 0, model)
