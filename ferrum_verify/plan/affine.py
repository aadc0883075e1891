"""Affine amounts: bytes that grow with named dimensions, and shapes at which they relate.

An amount is a tuple of integers: a fixed part, then what each dimension adds for each of it. All
that is asked of several is whether they are at least 0 together at some shape of a box, which is
narrowed from its bounds and halved where that does not settle it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

Amount: TypeAlias = tuple[int, ...]
"""A fixed part, and a coefficient for each dimension of the box."""

Point: TypeAlias = tuple[int, ...]
"""A value for each dimension of the box."""

MOST_HALVES = 2_000
"""Boxes that one question is halved into; what needs more is left open."""

_ROUNDS = 40


class Box(NamedTuple):
    """Dimensions by name, each with its least and its greatest value."""

    names: tuple[str, ...]
    least: Point
    most: Point

    def lower(self, amount: Amount) -> int:
        """The least value of an amount."""
        return _extreme(amount, self.least, self.most)

    def upper(self, amount: Amount) -> int:
        """The greatest value of an amount."""
        return _extreme(amount, self.most, self.least)

    def shape(self, point: Point) -> dict[str, int]:
        """The dimensions' values by their names."""
        return dict(zip(self.names, point, strict=True))


class UndecidedShapeError(Exception):
    """No answer within ``MOST_HALVES``."""


def plus(left: Amount, right: Amount) -> Amount:
    """The sum of two amounts."""
    if len(left) == 1:
        return (left[0] + right[0],)
    return tuple(one + other for one, other in zip(left, right, strict=True))


def minus(left: Amount, right: Amount, less: int = 0) -> Amount:
    """The difference of two amounts, less a number."""
    if len(left) == 1:
        return (left[0] - right[0] - less,)
    fixed, *rates = (one - other for one, other in zip(left, right, strict=True))
    return (fixed - less, *rates)


def at(amount: Amount, point: Point) -> int:
    """The value of an amount at a point."""
    return amount[0] + sum(rate * value for rate, value in zip(amount[1:], point, strict=True))


def smallest_point(amounts: list[Amount], box: Box) -> Point | None:
    """A point at which every amount is at least 0, small in its first dimensions; None if nowhere.

    Raises ``UndecidedShapeError``.
    """
    halves = 0
    boxes = [(box.least, box.most)]
    while boxes:
        narrowed = _narrowed(amounts, *boxes.pop())
        if narrowed is None:
            continue
        least, most = narrowed
        if all(at(amount, least) >= 0 for amount in amounts):
            return least
        halves += 1
        if halves > MOST_HALVES:
            raise UndecidedShapeError
        place = max(range(len(least)), key=lambda each: most[each] - least[each])
        middle = (least[place] + most[place]) // 2
        boxes.append((_put(least, place, middle + 1), most))
        boxes.append((least, _put(most, place, middle)))
    return None


def _narrowed(amounts: list[Amount], least: Point, most: Point) -> tuple[Point, Point] | None:
    """The part of a box outside of which some amount is negative, as far as each tells alone."""
    low, high = list(least), list(most)
    for _ in range(_ROUNDS):
        changed = False
        for amount in amounts:
            room = amount[0]
            for rate, lo, hi in zip(amount[1:], low, high, strict=True):
                room += rate * (hi if rate > 0 else lo)
            if room < 0:
                return None
            for place, rate in enumerate(amount[1:]):
                # With the others as they are best, this one may fall short of its best by so much.
                if rate > 0 and (bound := high[place] - room // rate) > low[place]:
                    low[place], changed = bound, True
                elif rate < 0 and (bound := low[place] + room // -rate) < high[place]:
                    high[place], changed = bound, True
        if not changed:
            break
    return tuple(low), tuple(high)


def _extreme(amount: Amount, growing: Point, shrinking: Point) -> int:
    value = amount[0]
    if len(amount) == 1:
        return value
    for rate, more, less in zip(amount[1:], growing, shrinking, strict=True):
        value += rate * (more if rate > 0 else less)
    return value


def _put(point: Point, place: int, value: int) -> Point:
    return (*point[:place], value, *point[place + 1 :])
