"""Which node is the first to write over bytes: a segment tree over the writes to one resource.

Thousands of values may lie in one resource, each over the others. Compared pair by pair, a plan
of 16 MiB would take minutes.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Write: TypeAlias = tuple[int, int]
"""Who writes: the position of a node in plan order, and what it writes there."""


class Overwriting:
    """The writes that were added to one resource, latest node first.

    ``edges`` are all first bytes and ends that will be asked about or added.
    """

    def __init__(self, edges: Iterable[int]) -> None:
        self._edges = sorted(set(edges))
        size = 1 << len(self._edges).bit_length()
        self._size = size
        # For each stretch the first writes of all of it, and of any of it: at most two each, of
        # different things, so that one remains when a thing itself is left out.
        self._of_all: list[tuple[Write, ...]] = [()] * (2 * size)
        self._of_any: list[tuple[Write, ...]] = [()] * (2 * size)

    def add(self, start: int, end: int, position: int, what: int) -> None:
        """A write of bytes, by a node that stands no later than those that were added before."""
        write = ((position, what),)
        left, right = self._places(start, end)
        if left >= right:
            return
        touched = (left, right - 1)
        while left < right:
            for place in (left & 1 and left, right & 1 and right - 1):
                if place:
                    self._of_all[place] = _first_two(write + self._of_all[place])
                    self._of_any[place] = _first_two(write + self._of_any[place])
            left, right = (left + 1) // 2, right // 2
        for place in touched:
            while (place := place // 2) >= 1:
                self._of_any[place] = _first_two(
                    self._of_any[2 * place] + self._of_any[2 * place + 1] + self._of_all[place]
                )

    def first(self, start: int, end: int, other_than: int) -> Write | None:
        """The first write into the bytes that is of another thing; None without one."""
        found: tuple[Write, ...] = ()
        left, right = self._places(start, end)
        if left >= right:
            return None
        above = (left, right - 1)
        while left < right:
            for place in (left & 1 and left, right & 1 and right - 1):
                if place:
                    found += self._of_any[place]
            left, right = (left + 1) // 2, right // 2
        for place in above:
            while (place := place // 2) >= 1:
                found += self._of_all[place]
        return min((write for write in found if write[1] != other_than), default=None)

    def _places(self, start: int, end: int) -> tuple[int, int]:
        first, last = bisect_left(self._edges, start), bisect_left(self._edges, end)
        return first + self._size, last + self._size


def _first_two(writes: tuple[Write, ...]) -> tuple[Write, ...]:
    ascending = sorted(writes)
    first = ascending[:1]
    return (*first, *[each for each in ascending[1:] if each[1] != first[0][1]][:1])
