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
from ferrum_verify.plan.arms import Arms, are_together, joined
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
    """Uses of two storages that meet in bytes that they have in common, at one shape.

    ``then`` begins while ``first`` has not ended, and both live by then: ``written`` is where what
    ``first`` uses was brought about, and ``also`` are the uses that the other one's life rests on.
    All run with ``arms``.
    """

    written: Use
    first: Use
    then: Use
    also: tuple[Use, ...]
    arms: Arms
    point: Point

    @property
    def uses(self) -> tuple[Use, ...]:
        """All uses that tell of the clash."""
        return self.written, self.first, self.then, *self.also


class _Birth(NamedTuple):
    """Where a life begins: a write, and who reads what is there from the start."""

    use: Use
    arms: Arms
    extents: tuple[Extent, ...]
    reader: tuple[Use, ...] = ()


class _Group(NamedTuple):
    """The uses of an extent by nodes of the same arms, ascending by phase."""

    arms: Arms
    uses: list[Use]
    phases: list[int]
    written: Use | None
    from_start: Use | None


class Clashes:
    """Whether regions clash, with what was found out about extents kept."""

    def __init__(self, runs: Runs, box: Box) -> None:
        self.runs = runs
        self.box = box
        self.asked: tuple[Region, Region] | None = None
        """The two regions that were compared last."""
        self._tries = 0
        self._groups: dict[int, list[_Group]] = {}

    def of(self, one: Region, other: Region) -> Clash | None:
        """A clash of two regions, where there is one.

        Raises ``TooManyTriesError``, and ``UndecidedShapeError`` where no shape was found.
        """
        self.asked = one, other
        if one.lowest >= other.highest or other.lowest >= one.highest:
            return None
        for held, met in ((one, other), (other, one)):
            for first, then in product(held.extents, met.extents):
                self._count()
                if self.shared(first, then) is None:
                    continue
                found = self._of_extents(held, met, (first, then))
                if found is not None:
                    return found
        return None

    def shared(self, *extents: Extent) -> Point | None:
        """A shape at which the extents have a byte in common; None if there is none."""
        if max(each.lowest for each in extents) >= min(each.highest for each in extents):
            return None
        if not self.box.names:
            return ()
        each_once = dict.fromkeys(extents)
        return smallest_point(
            [minus(one.end, other.start, 1) for one in each_once for other in each_once], self.box
        )

    def _of_extents(
        self, held: Region, met: Region, extents: tuple[Extent, Extent]
    ) -> Clash | None:
        for left, right in product(*map(self._grouped, extents)):
            self._count()
            if not (left.uses and right.uses and are_together(left.arms, right.arms)):
                continue
            arms = joined(left.arms, right.arms)
            for one in self._births(held, extents, arms):
                both = joined(arms, one.arms)
                for other in self._births(met, extents[::-1], both):
                    uses = self._meeting(left, right, one.use, other.use)
                    if uses is None:
                        continue
                    point = self.shared(*extents, *one.extents, *other.extents)
                    if point is not None:
                        also = (*one.reader, other.use, *other.reader)
                        return Clash(one.use, *uses, also, joined(both, other.arms), point)
        return None

    def _meeting(self, left: _Group, right: _Group, one: Use, other: Use) -> tuple[Use, Use] | None:
        """Uses of both, each since its birth, of which the second begins before the first ends."""
        lefts = left.uses[bisect_left(left.phases, one.phase) :]
        place = bisect_left(right.phases, other.phase)
        rights = right.uses[place:]
        if not lefts or not rights:
            return None
        if self.runs.execution != "in-order":
            # What a reader meets, the write that it reads meets too, or lies between the two.
            pair = self.runs.side_by_side(lefts, [use for use in rights if use.write])
            if pair is not None:
                return pair
        place = max(place, bisect_left(right.phases, one.phase))
        if place < len(right.uses) and right.phases[place] <= lefts[-1].phase:
            then = right.uses[place]
            # Who reads what is overwritten tells more than who is the last to write it.
            later = (use for use in lefts if not use.write and use.phase >= then.phase)
            return next(later, lefts[-1]), then
        return None

    def _births(
        self, region: Region, extents: tuple[Extent, Extent], arms: Arms
    ) -> Iterator[_Birth]:
        """The first writes of the bytes that two extents have in common, with these arms.

        What is there from the start, and is read in no run, does not live from there.
        """
        for each in region.extents:
            for group in self._grouped(each):
                self._count()
                if not are_together(group.arms, arms) or self.shared(each, *extents) is None:
                    continue
                if group.written is not None:
                    yield _Birth(group.written, group.arms, (each,))
                if group.from_start is not None:
                    yield from self._read_from_start(region, each, group.from_start, arms)

    def _read_from_start(
        self, region: Region, held: Extent, use: Use, arms: Arms
    ) -> Iterator[_Birth]:
        for each in region.extents:
            for group in self._grouped(each):
                self._count()
                reader = next((use for use in group.uses if not use.write), None)
                if reader is not None and are_together(group.arms, arms):
                    yield _Birth(use, group.arms, (held, each), (reader,))

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
                    next((use for use in uses if use.write and use.node != START), None),
                    next((use for use in uses if use.node == START), None),
                )
                for arms, uses in by_arms.items()
            ]
        return known

    def _count(self) -> None:
        self._tries += 1
        if self._tries > MOST_TRIES:
            raise TooManyTriesError
