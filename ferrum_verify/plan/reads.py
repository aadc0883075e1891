"""Reads: what each means to read, and whether it is there in every run.

What a read means follows from program order: of each byte what was last written before it, of the
nodes that the run takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.plan.affine import Amount, Box, Point, at, minus, smallest_point
from ferrum_verify.plan.arms import Arms, are_together, implies, joined

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.plan.clashes import Clashes
    from ferrum_verify.plan.storages import Extent, Region, Storages, Use

MOST_STEPS = 1_000_000
"""Writes and runs of one plan that reads are held to; what needs more is left open."""


class TooManyReadsError(Exception):
    """More than ``MOST_STEPS``: what was found until then is all that is told."""


class Conflict(NamedTuple):
    """Two uses of one storage of which the first must have ended when the other begins."""

    first: Use
    then: Use
    point: Point


class Unwritten(NamedTuple):
    """A read of a byte that nobody has written, at a shape, in a run that takes some arms."""

    read: Use
    extent: Extent
    arms: Arms
    point: Point
    byte: int


class _Known(NamedTuple):
    use: Use
    extent: Extent


class Reads:
    """The reads of a plan's storages."""

    def __init__(self, storages: Storages, clashes: Clashes) -> None:
        self.storages = storages
        self.clashes = clashes
        self.asked: Use | None = None
        """The use that was looked at last."""
        self._steps = 0

    def conflicts(self, region: Region) -> Iterator[Conflict]:
        """Every two uses of the region of which one must be over before the other, neighbours only.

        A write is held to the reads before it up to the write before it, and to that write where
        nobody read; a read to the last write. All other pairs follow, as nodes that a run does not
        take pass their order on.
        """
        if len(region.positions) < 2:
            return
        written: list[_Known] = []
        uses: list[_Known] = []
        told: set[tuple[int, int]] = set()
        for now in _in_order(region):
            self.asked = now.use
            readers: list[_Known] = []
            for before in reversed(uses if now.use.write else written):
                self._count()
                point = self._meet(before, now)
                if point is None:
                    continue
                earlier = before.use
                key = (earlier.node, now.use.node)
                if not earlier.write:
                    readers.append(before)
                if key not in told and not (
                    earlier.write and any(self._meet(before, each) is not None for each in readers)
                ):
                    told.add(key)
                    yield Conflict(earlier, now.use, point)
                if (
                    earlier.write
                    and implies(now.use.arms, earlier.arms)
                    and _covers(before.extent, now.extent, self.storages.box)
                ):
                    break
            uses.append(now)
            if now.use.write:
                written.append(now)

    def _meet(self, one: _Known, other: _Known) -> Point | None:
        """A shape at which two uses by different nodes touch one byte, in one run."""
        if one.use.node == other.use.node or not are_together(one.use.arms, other.use.arms):
            return None
        return self.clashes.shared(one.extent, other.extent)

    def unwritten(self, region: Region) -> Iterator[Unwritten]:
        """The reads of bytes that are not written before in every run, each once."""
        box = self.storages.box
        written: list[_Known] = []
        settled: dict[int, list[Arms]] = {}
        for now in _in_order(region):
            use, extent = self.asked, _ = now
            if use.write:
                written.append(now)
                continue
            known = settled.setdefault(id(extent), [])
            if any(implies(use.arms, arms) for arms in known):
                continue
            # A node's own writes come after what it reads.
            if any(
                implies(use.arms, each.use.arms) and _covers(each.extent, extent, box)
                for each in self._counted(reversed(written))
            ):
                known.append(use.arms)
                continue
            missing = self._missing(use, extent, written)
            if missing is None:
                known.append(use.arms)
            else:
                yield missing

    def _missing(self, read: Use, extent: Extent, before: Sequence[_Known]) -> Unwritten | None:
        """A run and a shape in which some byte of the read is not written; None without one.

        Of the bytes that a run does not write one is the first of the extent, or comes behind a
        written one. Each of these is asked about on its own, as only the conditions of the writes
        that may have it bear on it, and not those of all others.
        """
        box = self.storages.box
        meeting = list(
            {
                (each.extent.place, each.use.arms): each
                for each in self._counted(before)
                if are_together(each.use.arms, read.arms)
                and self.clashes.shared(each.extent, extent) is not None
            }.values()
        )
        for byte in dict.fromkeys((extent.start, *(each.extent.end for each in meeting))):
            inside = [minus(byte, extent.start), minus(extent.end, byte, 1)]
            if smallest_point(inside, box) is None:
                continue
            least, most = box.lower(byte), box.upper(byte)
            found = self._lost(
                read.arms,
                (byte, inside),
                [
                    each
                    for each in self._counted(meeting)
                    if each.extent.lowest <= most and each.extent.highest > least
                ],
            )
            if found is not None:
                return Unwritten(read, extent, *found)
        return None

    def _lost(
        self, arms: Arms, of: tuple[Amount, list[Amount]], written: Sequence[_Known]
    ) -> tuple[Arms, Point, int] | None:
        """A run with the arms, and a shape, in which no write has a byte; None without one.

        The byte comes with what is at least 0 where it is asked about.
        """
        box = self.storages.box
        byte, inside = of
        sure = {
            id(each)
            for each in written
            if box.lower(minus(byte, each.extent.start)) >= 0
            and box.lower(minus(each.extent.end, byte, 1)) >= 0
        }
        # Each write with those of its arms that are not decided yet.
        waiting = [(arms, [(_open(each.use.arms, arms), each) for each in written])]
        while waiting:
            arms, held = waiting.pop()
            self._count(1 + len(held))
            if any(not open_ and id(each) in sure for open_, each in held):
                continue
            # A write that takes few more arms is the one to settle first.
            next_ = min((open_ for open_, _ in held if open_), key=len, default=None)
            if next_ is None:
                gap = self._gap(byte, inside, [each.extent for _, each in held])
                if gap is not None:
                    return arms, *gap
                continue
            condition = next_[0][0]
            for arm in self.storages.choices[condition]:
                taken = ((condition, arm),)
                rest = [
                    (_open(open_, taken), each)
                    for open_, each in held
                    if are_together(open_, taken)
                ]
                waiting.append((joined(arms, taken), rest))
        return None

    def _gap(
        self, byte: Amount, inside: list[Amount], written: Sequence[Extent]
    ) -> tuple[Point, int] | None:
        """A shape at which the byte is inside, and in none of the written extents, and it there."""
        box = self.storages.box
        waiting: list[tuple[list[Amount], int]] = [(inside, 0)]
        while waiting:
            self._count()
            amounts, index = waiting.pop()
            point = smallest_point(amounts, box)
            if point is None:
                continue
            if index == len(written):
                return point, at(byte, point)
            other = written[index]
            waiting += [
                ([*amounts, minus(byte, other.end)], index + 1),
                ([*amounts, minus(other.start, byte, 1)], index + 1),
            ]
        return None

    def _counted(self, known: Sequence[_Known] | Iterator[_Known]) -> Iterator[_Known]:
        for each in known:
            self._count()
            yield each

    def _count(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > MOST_STEPS:
            raise TooManyReadsError


def _in_order(region: Region) -> list[_Known]:
    """The uses of a region in program order, each with its extent."""
    if len(region.extents) == 1:
        return [_Known(use, region.extents[0]) for use in region.extents[0].uses]
    return sorted(
        (_Known(use, extent) for extent in region.extents for use in extent.uses),
        key=lambda each: each.use.phase,
    )


def _open(arms: Arms, decided: Arms) -> Arms:
    """Those of the arms that are not decided."""
    return tuple(each for each in arms if each not in decided)


def _covers(whole: Extent, part: Extent, box: Box) -> bool:
    """Whether the one has all bytes of the other at every shape."""
    return whole is part or (
        box.lower(minus(part.start, whole.start)) >= 0
        and box.lower(minus(whole.end, part.end)) >= 0
    )
