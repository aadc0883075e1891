"""Which accesses of a byte are compared: neighbours, and all others follow.

A byte's accesses stand in plan order. A read is held to the last write before it; a write to the
reads since the write before it, or to that write where nobody read. To be *held* is to start no
sooner than the other ends, in some run; the claim is about one run at a time, and so about every
run of every model. By induction on the accesses of one byte, of a handful of arbitrary ones:
linear integers with uninterpreted functions.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

from .concrete_plan import ConcretePlan
from .timing import END, NODE, START, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_UFLIA"


def neighbours(_: Scale) -> Iterator[Check]:
    """Prove that an access that is held to its neighbours is held to all that it may not meet.

    The hypothesis of the induction is that every access before the last write ended before it.
    """
    earlier, written, reader, access = z3.Consts("earlier written reader access", NODE)
    until_write = z3.Or(earlier == written, END(earlier) <= START(written))
    takes_time = runs(earlier, written, reader, access)
    held = END(earlier) <= START(access)
    yield from proves(
        "read",
        "A read that is held to the last write starts after that write, and after every access "
        "before it, has ended.",
        LOGIC,
        held,
        (*takes_time, until_write, END(written) <= START(access)),
    )
    yield from proves(
        "write.unread",
        "So does a write that is held to the last write, where nobody read since.",
        LOGIC,
        held,
        (*takes_time, until_write, END(written) <= START(access)),
    )
    yield from proves(
        "write.read",
        "A write that is held to the reads since the last write, each of which is held to that "
        "write, starts after they, that write and every access before it have ended.",
        LOGIC,
        held,
        (
            *takes_time,
            z3.Or(earlier == reader, until_write),
            END(written) <= START(reader),
            END(reader) <= START(access),
        ),
    )


def neighbours_agree(_: Scale) -> bool:
    """Try every small plan with every way to read and write one byte."""
    return all(
        all(plan.precedes(*pair) for pair in _held(writes))
        == all(
            plan.precedes(first, then)
            for first, then in itertools.combinations(range(nodes), 2)
            if writes[first] or writes[then]
        )
        for nodes in range(1, 5)
        for plan in _orders(nodes)
        for writes in itertools.product((False, True), repeat=nodes)
    )


def _orders(nodes: int) -> Iterator[ConcretePlan]:
    pairs = list(itertools.combinations(range(nodes), 2))
    for count in range(len(pairs) + 1):
        for edges in itertools.combinations(pairs, count):
            yield ConcretePlan(nodes, frozenset(edges), ())


def _held(writes: tuple[bool, ...]) -> Iterator[tuple[int, int]]:
    written: int | None = None
    read: list[int] = []
    for access, is_write in enumerate(writes):
        last = [] if written is None else [written]
        held = (read or last) if is_write else last
        yield from ((each, access) for each in held)
        if is_write:
            written, read = access, []
        else:
            read.append(access)


THEOREMS = (
    Theorem(
        id="accesses.neighbours-decide",
        statement=(
            "If each read of a byte waits for the last write before it, and each write for the "
            "reads since the write before it, or for that write where nobody read, then of any "
            "two accesses of which one writes the earlier has ended when the later starts."
        ),
        theory="functions, integers",
        holds_for="every plan and every run, by induction",
        rests=("ferrum_verify.plan.accesses:conflicts_of",),
        rules=("value.overwritten", "value.race", "graph.race"),
        checks=neighbours,
        recheck=neighbours_agree,
    ),
)
