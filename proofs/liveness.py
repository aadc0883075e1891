"""How many bytes the invocations of one pool need at the worst moment.

Linear integers with one boolean for each row: is it live? By induction on the rows, so the
number of rows does not matter. What "never two at once" rests on is ``neighbours``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_LIA"


def total_order(_: Scale) -> Iterator[Check]:
    """Prove the largest row enough, and necessary, when no two rows are live at once."""
    held, peak, size = z3.Ints("held peak size")
    some, live = z3.Bools("some live")
    invariant = z3.If(some, z3.And(held >= 0, held <= peak), held == 0)
    held_next = held + z3.If(live, size, 0)
    peak_next = z3.If(peak >= size, peak, size)
    yield from proves(
        "base",
        "Without rows nothing is live and nothing is held.",
        LOGIC,
        invariant,
        (z3.Not(some), held == 0, peak == 0),
    )
    yield from proves(
        "step",
        "With one row more, at most one row live in all, what is held is at most the largest row.",
        LOGIC,
        z3.If(z3.Or(some, live), z3.And(held_next >= 0, held_next <= peak_next), held_next == 0),
        (peak >= 0, size >= 0, invariant, z3.Not(z3.And(some, live))),
    )
    bound, row = z3.Ints("bound row")
    yield from proves(
        "necessary.step",
        "Any bound that holds while each row alone is live is at least the largest row.",
        LOGIC,
        bound >= peak_next,
        (bound >= peak, bound >= size),
    )
    yield from proves(
        "reuse",
        "Rows that all start at byte 0 fit an arena of the largest row.",
        LOGIC,
        row <= peak_next,
        (z3.Or(row == size, row <= peak),),
    )


def any_overlap(_: Scale) -> Iterator[Check]:
    """Prove the sum of the rows enough for any overlap, and necessary for the full one."""
    held, total, size = z3.Ints("held total size")
    live, all_live = z3.Bools("live all-live")
    yield from proves(
        "base",
        "Without rows nothing is held.",
        LOGIC,
        z3.And(held <= total, z3.Implies(all_live, held == total)),
        (held == 0, total == 0),
    )
    held_next = held + z3.If(live, size, 0)
    yield from proves(
        "step",
        "With one row more, live or not, what is held is at most the sum, and equal to it when "
        "every row is live.",
        LOGIC,
        z3.And(
            held_next <= total + size,
            z3.Implies(z3.And(all_live, live), held_next == total + size),
        ),
        (size >= 0, held <= total, z3.Implies(all_live, held == total)),
    )


def not_the_largest(_: Scale) -> Iterator[Check]:
    """Show that the largest row is not enough once two rows may overlap."""
    first, second = z3.Ints("first second")
    peak = z3.If(first >= second, first, second)
    collide = z3.And(first >= 1, second >= 1, first + second > peak)
    yield from exhibits(
        "counterexample",
        "Two rows of 1 byte that are live together need 2.",
        LOGIC,
        first == 1,
        second == 1,
        collide,
    )
    yield from excludes(
        "none-with-one-row",
        "One row never needs more than itself.",
        LOGIC,
        first >= 1,
        second == 0,
        first + second > peak,
    )


def smallest_overlap() -> tuple[int, int] | None:
    """Find the first two rows, live together, that the largest row is not enough for."""
    for first in range(3):
        for second in range(3):
            if first + second > max(first, second):
                return first, second
    return None


def floor(_: Scale) -> Iterator[Check]:
    """Prove that everything but invocations stays below a pool's theoretical ceiling."""
    minimum, maximum, instances, slot, apart, member = z3.Ints(
        "minimum maximum instances slot apart member"
    )
    yield from proves(
        "resource",
        "The minimum of a resource is at most its resident maximum, since it has an instance.",
        "QF_NIA",
        minimum <= maximum * instances,
        (minimum >= 0, minimum <= maximum, instances >= 1),
    )
    yield from proves(
        "slot.step",
        "A shared slot, as large as its greatest member, never takes more than its members apart.",
        LOGIC,
        z3.If(slot >= member, slot, member) <= apart + member,
        (slot >= 0, member >= 0, slot <= apart),
    )
    rows, ceiling = z3.Ints("rows ceiling")
    yield from proves(
        "rows",
        "A resource that stands in no more rows than it has instances adds no more to the peak "
        "than to the ceiling.",
        "QF_NIA",
        minimum * rows <= maximum * instances,
        (minimum >= 0, minimum <= maximum, rows >= 0, rows <= instances),
    )
    yield from exhibits(
        "peak-above-ceiling",
        "A resource of 1 byte and one instance, used by two nodes that may overlap: the peak is 2 "
        "bytes, the ceiling 1.",
        "QF_NIA",
        minimum == 1,
        maximum == 1,
        instances == 1,
        rows == 2,
        ceiling == maximum * instances,
        minimum * rows > ceiling,
    )
    yield from excludes(
        "none-with-fewer-rows",
        "With one row the peak is never above the ceiling.",
        "QF_NIA",
        minimum >= 1,
        maximum >= minimum,
        instances >= 1,
        rows <= 1,
        ceiling == maximum * instances,
        minimum * rows > ceiling,
    )


def smallest_excess() -> tuple[int, int, int] | None:
    """Find the fewest rows, instances and bytes with a peak above the ceiling."""
    for rows in range(1, 4):
        for instances in range(1, 4):
            for size in range(1, 4):
                if size * rows > size * instances:
                    return rows, instances, size
    return None


THEOREMS = (
    Theorem(
        id="liveness.largest-row-is-enough",
        statement=(
            "When no two rows are ever live at once, the largest row is enough for the pool at "
            "every moment, and nothing less is."
        ),
        theory="linear integers",
        holds_for="every number of rows, by induction",
        rests=("ferrum_verify.derive.liveness:peak_bytes",),
        rules=("liveness.peak",),
        checks=total_order,
    ),
    Theorem(
        id="liveness.sum-bounds-any-overlap",
        statement=(
            "Whatever rows overlap, their sum is enough, and nothing less is when all of them do."
        ),
        theory="linear integers",
        holds_for="every number of rows, by induction",
        rests=("ferrum_verify.derive.liveness:peak_bytes",),
        rules=("liveness.peak",),
        checks=any_overlap,
    ),
    Theorem(
        id="liveness.overlap-needs-the-sum",
        statement=(
            "The largest row is not enough when two rows may overlap: two rows of 1 byte need 2."
        ),
        theory="linear integers",
        holds_for="counterexample, smallest by rows and bytes",
        rests=("ferrum_verify.derive.liveness:peak_bytes",),
        rules=("liveness.rows-overlap",),
        checks=not_the_largest,
        recheck=lambda _: smallest_overlap() == (1, 1),
    ),
    Theorem(
        id="liveness.peak-can-pass-the-ceiling",
        statement=(
            "A pool's request, sequence and step minima never pass its theoretical ceiling, nor "
            "does the peak while each resource stands in no more rows than it has instances. "
            "Without that it can: one instance in two rows that overlap. So the rule that the "
            "resident maximum is at least the minimum is no consequence of the others."
        ),
        theory="non-linear integers",
        holds_for="every pool, by induction; counterexample smallest by rows",
        rests=("ferrum_verify.rules.pool_totals:MINIMUM_EXCEEDS",),
        rules=("pool.minimum-exceeds-ceiling",),
        checks=floor,
        recheck=lambda _: smallest_excess() == (2, 1, 1),
    ),
)
