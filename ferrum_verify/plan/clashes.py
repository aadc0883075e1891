"""Clashes: two storages that hold the same byte while both live, at some shape, in some run.

A byte lives from its first write to its last use. So two storages clash where a use of the one
may begin before a use of the other has ended, and that other one is alive by then: it runs at the
same time, or it was written before. Three uses tell of each clash: they run together, and their
extents have a byte in common at one shape.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.plan.affine import Box, Point, minus, smallest_point
from ferrum_verify.plan.arms import Arms, are_together
from ferrum_verify.plan.storages import START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.plan.storages import Extent, Region, Use
    from ferrum_verify.plan.uses import Runs

MOST_TRIES = 2_000_000
"""Extents and arms of one plan that are compared; what needs more is left open."""


class TooManyTriesError(Exception):
    """More than ``MOST_TRIES``: what was found until then is all that is told."""


class Clash(NamedTuple):
    """Uses of two storages that meet in the bytes from ``start`` to ``end``, at one shape.

    ``then`` begins while ``first`` has not ended, and ``first`` lives by then: ``written`` is where
    it was brought about, or ``first`` itself where both run at once.
    """

    written: Use
    first: Use
    then: Use
    point: Point


class _Group(NamedTuple):
    """The uses of an extent by nodes of the same arms, ascending by phase."""

    arms: Arms
    uses: list[Use]
    phases: list[int]
    written: Use | None


class Clashes:
    """Whether regions clash, with what was found out about extents kept."""

    def __init__(self, runs: Runs, box: Box) -> None:
        self.runs = runs
        self.box = box
        self._tries = 0
        self._groups: dict[int, list[_Group]] = {}

    def of(self, one: Region, other: Region) -> Clash | None:
        """A clash of two regions, where there is one.

        Raises ``TooManyTriesError``, and ``UndecidedShapeError`` where no shape was found.
        """
        if one.lowest >= other.highest or other.lowest >= one.highest:
            return None
        for held, met in ((one, other), (other, one)):
            for first, then in product(held.extents, met.extents):
                self._count()
                point = self.shared(first, then)
                if point is None:
                    continue
                found = self._of_extents(held, first, then, point)
                if found is not None:
                    return found
        return None

    def shared(self, *extents: Extent) -> Point | None:
        """A shape at which the extents have a byte in common; None if there is none."""
        if max(each.lowest for each in extents) >= min(each.highest for each in extents):
            return None
        if not self.box.names:
            return ()
        return smallest_point(
            [minus(one.end, other.start, 1) for one in extents for other in extents], self.box
        )

    def _of_extents(self, held: Region, first: Extent, then: Extent, point: Point) -> Clash | None:
        for left, right in product(self._grouped(first), self._grouped(then)):
            self._count()
            if not (left.uses and right.uses and are_together(left.arms, right.arms)):
                continue
            pair = self.runs.side_by_side(left.uses, right.uses)
            if pair is not None:
                return Clash(pair[0], *pair, point)
            for writers, written in self._written(held, first, left, right):
                place = bisect_left(right.phases, written.phase)
                if place == len(right.uses) or right.phases[place] > left.phases[-1]:
                    continue
                at = point if writers is first else self.shared(writers, first, then)
                if at is not None and written.node == START:
                    at = self._is_read(held, (writers, first, then), (left.arms, right.arms))
                if at is not None:
                    return Clash(written, left.uses[-1], right.uses[place], at)
        return None

    def _is_read(
        self, held: Region, extents: tuple[Extent, ...], arms: tuple[Arms, ...]
    ) -> Point | None:
        """A shape at which somebody reads what the extents have in common; None if nobody does.

        What is there from the start, and is read in no run, does not live from there.
        """
        for each in held.extents:
            for group in self._grouped(each):
                self._count()
                if (
                    any(not use.write for use in group.uses)
                    and all(are_together(group.arms, other) for other in arms)
                    and (point := self.shared(each, *extents)) is not None
                ):
                    return point
        return None

    def _written(
        self, held: Region, first: Extent, left: _Group, right: _Group
    ) -> Iterator[tuple[Extent, Use]]:
        """The first writes that ``first`` may live from, of its own names first."""
        for writers in (first, *(each for each in held.extents if each is not first)):
            for group in self._grouped(writers):
                self._count()
                if (
                    group.written is not None
                    and are_together(group.arms, left.arms)
                    and are_together(group.arms, right.arms)
                ):
                    yield writers, group.written

    def _grouped(self, extent: Extent) -> list[_Group]:
        known = self._groups.get(id(extent))
        if known is None:
            by_arms: dict[Arms, list[Use]] = {}
            for use in extent.uses:
                by_arms.setdefault(use.arms, []).append(use)
            # What is there from the start lives only as far as somebody uses it.
            known = self._groups[id(extent)] = [
                _Group(
                    arms,
                    [use for use in uses if use.node != START],
                    [use.phase for use in uses if use.node != START],
                    next((use for use in uses if use.write), None),
                )
                for arms, uses in by_arms.items()
            ]
        return known

    def _count(self) -> None:
        self._tries += 1
        if self._tries > MOST_TRIES:
            raise TooManyTriesError
