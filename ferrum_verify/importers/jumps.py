"""Which arms the instructions of a program with conditional jumps run in.

A conditional is a jump over its first arm that is taken where the predicate is false. With a
second arm, the first ends in a jump over that, which a constant takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrum_verify.importers.drafting import FALSE, MOST_NESTED, TRUE
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.importers.drafting import Arm


@dataclass(frozen=True, slots=True)
class Jump:
    """A jump to a position, taken where its condition is false; always where it has none."""

    to: int
    condition: str | None


@dataclass(slots=True)
class Arms:
    """The arms that each instruction runs in, outermost first, and the jumps of no conditional."""

    of: list[tuple[Arm, ...]] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    condition: str
    arm: str
    end: int
    other_end: int | None


def arms_of(count: int, jumps: Mapping[int, Jump]) -> Arms:
    """The arms of a program of so many instructions, with these jumps at their positions."""
    found, open_arms = Arms(), list[_Open]()
    leaving: set[int] = set()
    for at in range(count):
        while open_arms and open_arms[-1].end == at:
            done = open_arms.pop()
            if done.other_end is not None and done.other_end > at:
                open_arms.append(_Open(done.condition, FALSE, done.other_end, None))
        found.of.append(tuple((each.condition, each.arm) for each in open_arms))
        jump = jumps.get(at)
        if jump is None or at in leaving:
            continue
        limit = open_arms[-1].end if open_arms else count
        if jump.condition is None or not at < jump.to <= limit:
            found.unread.append(at)
            continue
        last = jumps.get(jump.to - 1) if jump.to - 1 > at else None
        other_end = None
        if last is not None and last.condition is None and jump.to <= last.to <= limit:
            other_end = last.to
            leaving.add(jump.to - 1)
        if len(open_arms) == MOST_NESTED:
            raise ForeignPlanError(f"More than {MOST_NESTED} conditionals stand in each other.")
        if jump.to > at + 1:
            open_arms.append(_Open(jump.condition, TRUE, jump.to, other_end))
    return found
