"""Overlaps within a node: what it reads and writes in places neither the same nor apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.plan.affine import minus, smallest_point
from ferrum_verify.plan.storages import Use

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.plan.affine import Box, Point
    from ferrum_verify.plan.storages import Extent, Storages

MOST_PAIRS = 2_000_000
"""Pairs of uses by one node that are compared in one plan; what needs more is left open."""


class TooManyOverlapsError(Exception):
    """More than ``MOST_PAIRS``: what was found until then is all that is told."""


class Overlap(NamedTuple):
    """Two uses by one node that overlap in part, at one shape."""

    node: int
    one: Use
    other: Use
    point: Point


def partial_overlaps(storages: Storages) -> Iterator[Overlap]:
    """Every two uses of a node, one of them a write, that overlap in part at some shape.

    Of several names at one place the first is told. Raises ``TooManyOverlapsError``, and
    ``UndecidedShapeError`` where no shape was found.
    """
    for pairs, (index, one, other, left, right) in enumerate(candidates(storages)):
        if pairs > MOST_PAIRS:
            raise TooManyOverlapsError
        point = _apart_in_part(left, right, storages.box)
        if point is not None:
            yield Overlap(index, one, other, point)


def candidates(storages: Storages) -> Iterator[tuple[int, Use, Use, Extent, Extent]]:
    """Two uses of a node, one of them a write, by extents of one arena that may overlap in part.

    That two storages which it writes overlap at all is a clash of the two.
    """
    buffers = storages.plan.buffers
    for index, _ in enumerate(storages.nodes):
        open_: list[tuple[Use, Extent]] = []
        for use, extent in _in_ascent(storages, index):
            open_ = [each for each in open_ if each[1].highest > extent.lowest]
            for other, held in open_:
                if (
                    (use.write != other.write or (use.write and held.storage == extent.storage))
                    and held.place != extent.place
                    and buffers[held.storage].arena == buffers[extent.storage].arena
                ):
                    first, then = (use, extent), (other, held)
                    if other.phase < use.phase:
                        first, then = then, first
                    yield index, first[0], then[0], first[1], then[1]
            open_.append((use, extent))


def _in_ascent(storages: Storages, index: int) -> list[tuple[Use, Extent]]:
    """The uses of a node by their lowest byte, of several at one place and in one mode the first.

    None of a node that never runs, or that writes nothing.
    """
    node, arms = storages.nodes[index], storages.arms[index]
    if arms is None or not node.writes or len(node.reads) + len(node.writes) < 2:
        return []
    found: dict[tuple[int, bool], tuple[Use, Extent]] = {}
    for names, write in ((node.reads, False), (node.writes, True)):
        for each in names:
            place = storages.position.get(each)
            extent = None if place is None else storages.extents[place]
            if place is not None and extent is not None:
                found.setdefault((id(extent), write), (Use(index, write, arms, place), extent))
    return sorted(found.values(), key=lambda each: each[1].lowest)


def _apart_in_part(left: Extent, right: Extent, box: Box) -> Point | None:
    """A shape at which two extents have some bytes in common and are not the same."""
    both = [minus(one.end, other.start, 1) for one in (left, right) for other in (left, right)]
    for one, other in (
        (left.start, right.start),
        (right.start, left.start),
        (left.end, right.end),
        (right.end, left.end),
    ):
        point = smallest_point([*both, minus(one, other, 1)], box)
        if point is not None:
            return point
    return None
