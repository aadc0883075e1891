"""Affine amounts: the shapes at which they relate are those that trying all of them finds."""

from __future__ import annotations

import itertools
import random

import pytest

from ferrum_verify.plan.affine import Amount, Box, UndecidedShapeError, at, minus, smallest_point


def test_points_are_found_exactly_where_there_are_any() -> None:
    draw = random.Random(7)
    found = 0
    for _ in range(400):
        count = draw.randint(0, 3)
        least = tuple(draw.randint(0, 2) for _ in range(count))
        most = tuple(each + draw.randint(0, 3) for each in least)
        box = Box(tuple(f"d{place}" for place in range(count)), least, most)
        amounts = [
            (draw.randint(-9, 6), *(draw.randint(-3, 3) for _ in range(count)))
            for _ in range(draw.randint(1, 4))
        ]
        ranges = [range(lo, hi + 1) for lo, hi in zip(least, most, strict=True)]
        expected = any(
            all(at(amount, point) >= 0 for amount in amounts)
            for point in itertools.product(*ranges)
        )
        point = smallest_point(amounts, box)
        assert (point is not None) == expected
        if point is not None:
            found += 1
            assert all(at(amount, point) >= 0 for amount in amounts)
            assert all(lo <= each <= hi for lo, each, hi in zip(least, point, most, strict=True))
    assert 50 < found < 350


def test_the_smallest_shape_of_one_dimension_is_found_in_a_wide_range() -> None:
    box = Box(("tokens",), (1,), (2**64 - 1,))
    assert smallest_point([(-(10**15), 3)], box) == (333_333_333_333_334,)
    assert smallest_point([(5, -1), (-6, 1)], box) is None


def test_what_takes_too_many_cases_is_left_open() -> None:
    box = Box(("x", "y"), (1, 1), (2**40, 2**40))
    # 3 x = 5 y + 1 with both near each other's multiples: no bound tells, only halving.
    amounts: list[Amount] = [(-1, 6, -10), (1, -6, 10)]
    with pytest.raises(UndecidedShapeError):
        smallest_point(amounts, box)


def test_bounds_and_differences() -> None:
    box = Box(("x", "y"), (1, 2), (3, 5))
    amount = (4, 2, -1)
    assert (box.lower(amount), box.upper(amount)) == (1, 8)
    assert minus(amount, (1, 0, 1), 1) == (2, 2, -2)
    assert box.shape((1, 2)) == {"x": 1, "y": 2}
