"""A sweep for regions that hold the same bytes: neighbours, not all pairs.

Regions are taken by their first use, and each is painted over the bytes that it may hold. Whoever
is painted over is the neighbour that is asked about. Where it has ended by then, so has all that
it was painted over itself; where not, what lies beneath is asked about too. A plan in which
regions take turns at their bytes takes as many questions as it has neighbours.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ferrum_verify.plan.storages import START

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from ferrum_verify.plan.storages import Region

MOST_QUESTIONS = 500_000
"""Pairs of regions that one plan's sweep asks about; what needs more is left open."""

Questions: TypeAlias = "Generator[tuple[Region, Region], bool, None]"
"""Pairs of regions that may hold the same bytes, the one with the earlier first use first. It is
sent whether that one has ended, in every run, before the other begins."""


class TooManyQuestionsError(Exception):
    """More than ``MOST_QUESTIONS``: what was found until then is all that is told."""


class _Painted(NamedTuple):
    """Bytes that a region was painted over, and what was there before.

    It is ``clean`` where all that lies beneath has ended before the region begins.
    """

    start: int
    end: int
    region: Region
    clean: bool
    beneath: tuple[_Painted, ...]


def neighbours(regions: Iterable[Region]) -> Questions:
    """Ask about the pairs of regions of an arena that matter. Raises ``TooManyQuestionsError``."""
    arenas: dict[str, list[Region]] = {}
    for region in regions:
        # What nobody writes, or only is there from the start, lives nowhere.
        if (
            region.lowest < region.highest
            and region.uses[-1].node != START
            and any(use.write for use in region.uses)
        ):
            arenas.setdefault(region.arena, []).append(region)
    asked = 0
    for of_arena in arenas.values():
        asked = yield from _of_arena(sorted(of_arena, key=lambda each: each.first), asked)


def _of_arena(regions: Sequence[Region], asked: int) -> Generator[tuple[Region, Region], bool, int]:
    starts: list[int] = []
    painted: list[_Painted] = []
    for region in regions:
        first = max(bisect_right(starts, region.lowest) - 1, 0)
        last = bisect_left(starts, region.highest)
        if first < last and painted[first].end <= region.lowest:
            first += 1
        covered = painted[first:last]
        clean = True
        ended: dict[int, bool] = {}
        waiting = list(covered)
        while waiting:
            each = waiting.pop()
            asked += 1
            if asked > MOST_QUESTIONS:
                raise TooManyQuestionsError
            key = id(each.region)
            if key not in ended:
                ended[key] = yield (each.region, region)
                clean = clean and ended[key]
            if not (ended[key] and each.clean):
                waiting += _within(each.beneath, region.lowest, region.highest)
        new = [_Painted(region.lowest, region.highest, region, clean, tuple(covered))]
        if covered and covered[0].start < region.lowest:
            new.insert(0, covered[0]._replace(end=region.lowest))
        if covered and covered[-1].end > region.highest:
            new.append(covered[-1]._replace(start=region.highest))
        painted[first:last] = new
        starts[first:last] = [each.start for each in new]
    return asked


def _within(painted: Iterable[_Painted], lowest: int, highest: int) -> Iterator[_Painted]:
    return (each for each in painted if each.start < highest and each.end > lowest)
