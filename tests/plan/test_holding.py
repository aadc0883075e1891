"""Holding against its definition: every count, and every shape, tried one by one."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.terms import COUNTS, Count, Linear, Part, Staircase, Step, Terms
from ferrum_verify.plan.holding import (
    along,
    bytes_at_most,
    growing,
    is_defined,
    smallest_unheld,
    smallest_unheld_shape,
    unheld_tokens,
)

MOST = 9
"""The largest count that is tried."""


@st.composite
def linears(draw: st.DrawFn) -> Linear:
    forms: list[tuple[Count, ...]] = [(), ("tokens",), ("sequences", "tokens"), ("pages",)]
    counted = draw(st.sampled_from(forms))
    parts = tuple(
        Part(count, draw(st.integers(0, 5)), draw(st.integers(1, MOST + 2))) for count in counted
    )
    return Linear(draw(st.integers(0, 12)), parts)


@st.composite
def staircases(draw: st.DrawFn) -> Staircase:
    first = draw(st.tuples(*(st.integers(1, 3) for _ in COUNTS), st.integers(1, 6)))
    steps = [Step._make(first)]
    for _ in range(draw(st.integers(0, 3))):
        last = steps[-1]
        grown = Step._make(each + draw(st.integers(0, 3)) for each in last)
        if grown[:3] != last[:3]:
            steps.append(grown)
    return Staircase(tuple(steps))


demands = linears() | staircases()


def size(terms: Terms, shape: Shape) -> int | None:
    """The bytes of a demand by its definition; None where it has none."""
    counts = {count: getattr(shape, count) for count in COUNTS}
    if isinstance(terms, Linear):
        if any(counts[part.counted] > part.most for part in terms.parts):
            return None
        return int(terms.fixed + sum(each * counts[counted] for counted, each, _ in terms.parts))
    for step in terms.steps:
        if all(counts[count] <= getattr(step, count) for count in COUNTS):
            return step.bytes
    return None


def is_held(have: Terms, want: int | None, shape: Shape) -> bool:
    has = size(have, shape)
    return want is None or (has is not None and want <= has)


@settings(max_examples=300, deadline=None)
@given(demands, st.integers(0, 12), st.integers(0, 6), st.integers(1, MOST))
def test_the_smallest_tokens_are_found(have: Terms, fixed: int, each: int, most: int) -> None:
    def failing(sequences: int, pages: int) -> list[int]:
        return [
            tokens
            for tokens in range(1, most + 1)
            if not is_held(have, fixed + each * tokens, Shape(sequences, tokens, pages))
        ]

    found = unheld_tokens(have, growing(fixed, each), most)
    if isinstance(have, Linear):
        generous = failing(1, have.limit("pages") or 1)
    else:
        generous = failing(have.steps[-1].sequences, have.steps[-1].pages)
    if generous:
        assert found is not None
        assert (found.tokens, found.certain) == (generous[0], True)
    elif failing(1, 1):
        assert found is not None
        assert (found.tokens, found.certain) == (failing(1, 1)[0], False)
    else:
        assert found is None


@settings(max_examples=300, deadline=None)
@given(demands, demands, st.sampled_from(COUNTS), st.integers(1, 4), st.integers(1, 4))
def test_along_one_count(have: Terms, want: Terms, count: Count, first: int, second: int) -> None:
    others = iter((first, second))
    fixed = {each: 1 if each == count else next(others) for each in COUNTS}
    shapes = [Shape(**(fixed | {count: number})) for number in range(1, MOST + 1)]
    failing = [
        getattr(shape, count) for shape in shapes if not is_held(have, size(want, shape), shape)
    ]
    one = Shape(**fixed)
    defined_first = [size(want, shape) is not None for shape in shapes]
    assert defined_first == sorted(defined_first, reverse=True)
    found = smallest_unheld(along(have, count, one), along(want, count, one), MOST)
    assert found == min(failing, default=None)


@settings(max_examples=200, deadline=None)
@given(demands, demands, st.tuples(st.integers(1, 4), st.integers(1, 6), st.integers(1, 4)))
def test_a_smallest_shape_is_found(have: Terms, want: Terms, most: tuple[int, int, int]) -> None:
    within = Shape(*most)
    failing = {
        counts
        for counts in product(*(range(1, limit + 1) for limit in most))
        if not is_held(have, size(want, Shape(*counts)), Shape(*counts))
    }
    found = smallest_unheld_shape(have, want, within)
    assert (found is None) == (not failing)
    if found is not None:
        counts = (found.sequences, found.tokens, found.pages)
        assert counts in failing
        for place in range(3):
            fewer = [
                (*counts[:place], less, *counts[place + 1 :]) for less in range(1, counts[place])
            ]
            assert not failing & set(fewer)


@settings(max_examples=100, deadline=None)
@given(demands, st.tuples(*(st.integers(1, 12) for _ in COUNTS)))
def test_the_bytes_of_a_shape(terms: Terms, counts: tuple[int, ...]) -> None:
    shape = Shape(*counts)
    by_definition = size(terms, shape)
    assert is_defined(terms, shape) == (by_definition is not None)
    if by_definition is not None:
        assert bytes_at_most(terms, shape) == by_definition


def test_large_counts_need_no_trying() -> None:
    row = Linear(0, (Part("tokens", 2**20, 2**40),))
    assert unheld_tokens(row, growing(2**50, 2**20 - 1), 2**40) is not None
    found = unheld_tokens(row, growing(0, 2**20), 2**40 + 1)
    assert found is not None
    assert (found.tokens, found.certain) == (2**40 + 1, True)
