"""The first write over bytes, held to a search through all writes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.plan.overwriting import Overwriting

BYTES = st.tuples(st.integers(0, 12), st.integers(0, 6)).map(lambda each: (each[0], sum(each)))
THINGS = st.integers(0, 3)
WRITES = st.lists(st.tuples(BYTES, st.integers(0, 5), THINGS), max_size=10)


@given(WRITES, BYTES, THINGS)
def test_it_is_the_first_of_all_that_have_a_byte_in_common(
    writes: list[tuple[tuple[int, int], int, int]], asked: tuple[int, int], own: int
) -> None:
    over = Overwriting(edge for part in (*(each for each, *_ in writes), asked) for edge in part)
    for part, position, what in sorted(writes, key=lambda each: -each[1]):
        over.add(*part, position, what)
    met = [
        (position, what)
        for (start, end), position, what in writes
        if what != own and max(start, asked[0]) < min(end, asked[1])
    ]
    assert over.first(*asked, own) == min(met, default=None)
