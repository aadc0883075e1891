"""The symbolic first fit is the concrete one, and statements that are almost the theorems fail."""

from __future__ import annotations

import itertools

import z3

from ferrum_verify.plan.partition import best_partition, partition_bytes
from proofs.best_slots import (
    GAP_PAIRS,
    GAP_SIZES,
    Members,
    bytes_of,
    every_problem,
    fitted,
    least,
    worse,
)


def pinned(
    members: Members, sizes: tuple[int, ...], pairs: frozenset[tuple[int, int]]
) -> z3.Solver:
    solver = z3.Solver()
    solver.add(*members.given)
    solver.add(*(size == value for size, value in zip(members.sizes, sizes, strict=True)))
    solver.add(*(may == (pair in pairs) for pair, may in members.share.items()))
    return solver


def test_the_symbolic_first_fit_takes_what_the_concrete_one_takes() -> None:
    for sizes, pairs in itertools.islice(every_problem(4, 3), 0, None, 23):
        members = Members(4)
        rules, taken = members.first_fit("fit")
        solver = pinned(members, sizes, pairs)
        solver.add(*rules)
        assert solver.check() == z3.sat
        assert solver.model().eval(taken).as_long() == bytes_of(fitted(sizes, pairs), sizes)


def test_the_symbolic_partitions_reach_the_least_and_nothing_less() -> None:
    for sizes, pairs in itertools.islice(every_problem(4, 3), 0, None, 97):
        members = Members(4)
        legal, taken = members.any_partition("other")
        solver = pinned(members, sizes, pairs)
        solver.add(*legal)
        bound = least(sizes, pairs)
        assert solver.check(taken == bound) == z3.sat
        assert solver.check(taken < bound) == z3.unsat


def test_without_descending_sizes_three_members_are_enough() -> None:
    members = Members(3)
    members.given = [size > 0 for size in members.sizes]
    solver = z3.Solver()
    solver.add(*worse(members))
    assert solver.check() == z3.sat


def test_with_a_level_short_of_slots_the_bound_does_not_follow() -> None:
    taken, bound, step, slots, counted = z3.Ints("taken bound step slots members")
    solver = z3.Solver()
    solver.add(taken >= bound, slots >= counted - 1, step > 0, counted >= 0)
    solver.add(taken + step * slots < bound + step * counted)
    assert solver.check() == z3.sat


def test_the_product_finds_the_better_slots_of_the_example() -> None:
    before = [0] * 4
    for earlier, later in GAP_PAIRS:
        before[later] |= 1 << earlier
    found = best_partition(GAP_SIZES, before, 0)
    assert found.exhausted
    assert partition_bytes(found.slots, GAP_SIZES) == least(GAP_SIZES, GAP_PAIRS) == 6
