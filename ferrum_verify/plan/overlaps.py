"""Overlaps within a node: what it reads and writes in places neither the same nor apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.plan.affine import minus, smallest_point

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.plan.affine import Box, Point
    from ferrum_verify.plan.storages import Extent, Storages, Use

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
    arena_of = [buffer.arena for buffer in storages.plan.buffers]
    for index, uses in _by_node(storages).items():
        uses.sort(key=lambda each: each[1].lowest)
        open_: list[tuple[Use, Extent]] = []
        for use, extent in uses:
            open_ = [each for each in open_ if each[1].highest > extent.lowest]
            for other, held in open_:
                if (
                    (use.write != other.write or (use.write and held.storage == extent.storage))
                    and held.place != extent.place
                    and arena_of[held.storage] == arena_of[extent.storage]
                ):
                    first, then = sorted(
                        ((use, extent), (other, held)), key=lambda each: each[0].phase
                    )
                    yield index, first[0], then[0], first[1], then[1]
            open_.append((use, extent))


def _by_node(storages: Storages) -> dict[int, list[tuple[Use, Extent]]]:
    """The uses of each node, of several at one place and in one mode the first."""
    found: dict[int, list[tuple[Use, Extent]]] = {}
    told: set[tuple[int, bool, int]] = set()
    for extent in {id(each): each for each in storages.extents if each is not None}.values():
        for use in extent.uses:
            key = (use.node, use.write, id(extent))
            if 0 <= use.node < len(storages.nodes) and key not in told:
                told.add(key)
                found.setdefault(use.node, []).append((use, extent))
    return found


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
