"""Unordered sets: how many members of a pool there are of which no two may share bytes.

Members are known by their position in the order of their first users, and ``before[m]`` has as
bits those that may share with ``m`` by coming first. Of members that may pairwise not share,
each needs a slot of its own, so a set of them bounds the number of slots from below, and its
members that take at least so many bytes bound the bytes: see ``levels``.

The sets come out of maximum matchings. Let each member be matched to one that precedes it. By
König's theorem there are as many members on either side as there are matched pairs such that
every pair that may share has one of them; members on neither side may not share with each other,
and are at least as many as are left without a match (Dilworth; Gallai and Milgram where the
relation is not transitive; theorem ``best-slots.uncovered-is-unordered``).

networkx has Hopcroft and Karp's matching, and the tests hold this one to it. It wants each of the
pairs, which grow with the square of the plan, as an object: with 80 layers they are 390,000. Bits
have them for nothing, and the matching of one level is a start for the next.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.plan.order import bits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Level(NamedTuple):
    """Members of at least ``size`` bytes of which no two may share."""

    size: int
    members: tuple[int, ...]


def levels(sizes: Sequence[int], before: Sequence[int]) -> list[Level]:
    """For each distinct size, descending, the largest unordered set that was found.

    Where the relation is transitive it is the largest that there is. ``least_bytes`` says what
    the levels bound.
    """
    found: list[Level] = []
    matching = _Matching(before)
    for size in sorted(set(sizes), reverse=True):
        unordered = matching.grow(m for m, bytes_ in enumerate(sizes) if bytes_ == size)
        members = _extended(unordered, matching.present, before)
        if found and len(found[-1].members) > len(members):
            members = found[-1].members  # it counts here too, as it is of larger ones
        found.append(Level(size, members))
    return found


def least_bytes(found: Sequence[Level]) -> int:
    """The bytes that any partition into slots takes at least.

    Between one size and the next lower one, as many slots are at least that large as the level
    has members.
    """
    steps = pairwise([*(level.size for level in found), 0])
    return sum(
        (size - lower) * len(level.members)
        for (size, lower), level in zip(steps, found, strict=True)
    )


class _Matching:
    """A maximum matching of members to members that precede them, while members come in."""

    def __init__(self, before: Sequence[int]) -> None:
        self._before = before
        self._earlier: dict[int, int] = {}  # of each matched member the one that precedes it
        self._later: dict[int, int] = {}  # the same the other way round
        self._open = 0  # members that precede nobody yet
        self.present = 0

    def grow(self, members: Iterable[int]) -> list[int]:
        """Take members in; returns those that the cover has on neither side."""
        for member in members:
            self.present |= 1 << member
            self._open |= 1 << member
        reached: set[int] = set()
        unseen = self.present
        for member in bits_of(self.present):
            if member not in self._earlier:
                searched, rest = self._augment(member, unseen)
                if searched:
                    # What a vain search has seen stays vain until members come in.
                    reached.update(searched)
                    unseen = rest
        return sorted(member for member in reached if unseen >> member & 1)

    def _augment(self, root: int, unseen: int) -> tuple[list[int], int]:
        """Match ``root``, moving other matches if need be.

        Where that is impossible, returns the members that could pass on what precedes them, and
        those that no such member may come after.
        """
        asked_by: dict[int, int] = {}
        searched = [root]
        waiting = [root]
        while waiting:
            later = waiting.pop()
            candidates = self._before[later] & unseen
            if at_hand := candidates & self._open:
                nearest = at_hand.bit_length() - 1
                asked_by[nearest] = later
                self._open ^= 1 << nearest
                self._shift(nearest, asked_by)
                return [], unseen
            unseen &= ~candidates
            for earlier in bits_of(candidates):
                asked_by[earlier] = later
                waiting.append(self._later[earlier])
                searched.append(waiting[-1])
        return searched, unseen

    def _shift(self, earlier: int, asked_by: dict[int, int]) -> None:
        freed: int | None = earlier
        while freed is not None:
            later = asked_by[freed]
            before = self._earlier.get(later)
            self._earlier[later], self._later[freed] = freed, later
            freed = before


def _extended(unordered: list[int], present: int, before: Sequence[int]) -> tuple[int, ...]:
    """An unordered set with all members that it still has room for, the first ones first."""
    members = list(unordered)
    for other in bits_of(present):
        if other not in members and all(
            not before[max(other, member)] >> min(other, member) & 1 for member in members
        ):
            members.append(other)
    return tuple(sorted(members))
