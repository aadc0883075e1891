"""Each encoding of bytes against plain arithmetic: proved at the limit, refuted just below it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
import z3

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.primitives import U32_MAX, U64_MAX, U128_MAX
from ferrum_verify.documents.terms import Linear, Part, Staircase, Step
from ferrum_verify.plan.sizes import Claim
from ferrum_verify.prove.capacity import sums_fit
from ferrum_verify.prove.formulas import (
    SymbolicShape,
    Words,
    defined_up_to,
    largest_at,
    largest_in_turn,
    most_taken,
)
from ferrum_verify.prove.liveness import stays_within
from ferrum_verify.prove.need import Need, fits, passes, several_fit, several_pass
from ferrum_verify.prove.reusable import lanes_fit
from ferrum_verify.prove.sizes import fit_u64, is_monotone, round_as_division_does, stay_under
from tests.prove.statements import holds, outcome, shown

if TYPE_CHECKING:
    from ferrum_verify.documents.terms import Terms

NO_BLOCKS = (-1, -1)
BOTH = Linear(8, (Part("sequences", 24, 4), Part("tokens", 5, 7)))
PAGES = Linear(0, (Part("pages", 100, 3),))
EACH = Linear(0, (Part("sequences", 10, 4),))
STAIRS = Staircase((Step(1, 4, 1, 40), Step(2, 8, 1, 70), Step(2, 8, 3, 150)))
CLAIMS = [
    Claim(terms, alignment, blocks)
    for terms in (BOTH, PAGES, EACH, STAIRS)
    for alignment, blocks in ((1, NO_BLOCKS), (16, NO_BLOCKS), (16, (64, 64)), (64, (32, -1)))
]


def shapes(most: Shape) -> list[Shape]:
    counts = (range(1, min(each, 8) + 1) for each in (most.sequences, most.tokens, most.pages))
    return [Shape(*each) for each in itertools.product(*counts)]


def bytes_of(claim: Claim, shape: Shape) -> int:
    return claim.bytes_at(shape)


@pytest.mark.parametrize("claim", CLAIMS)
def test_what_a_row_takes_is_what_the_fast_path_reckons(claim: Claim) -> None:
    most = defined_up_to(claim.terms)
    words = Words.up_to(largest_at(claim, Shape(8, 8, 8)))
    for shape in shapes(most)[::7]:  # 7 divides no count's number, so every count varies
        fixed = SymbolicShape.fixed(shape)
        for reckoned in (words.taken, words.least):
            assert z3.simplify(reckoned(claim, fixed)).as_long() == bytes_of(claim, shape)
        assert bytes_of(claim, shape) <= largest_at(claim, shape)


def test_a_demand_is_defined_up_to_its_largest_counts() -> None:
    assert defined_up_to(BOTH) == Shape(4, 7, U64_MAX)
    assert defined_up_to(PAGES) == Shape(U32_MAX, U64_MAX, 3)
    # The largest of all steps, in whatever order they stand.
    assert defined_up_to(Staircase(STAIRS.steps[::-1])) == Shape(2, 8, 3)


def test_words_hold_the_largest_value_that_they_are_made_for() -> None:
    for largest in (0, U64_MAX, 2**66, 2**100, U128_MAX):
        words = Words.up_to(largest)
        assert z3.simplify(words.constant(largest)).as_long() == largest
        assert words.bits >= 66
        # With room to compare: one more is still another number.
        assert words.bits > largest.bit_length()


def test_groups_that_take_turns_hold_the_largest_of_each_summed() -> None:
    one, two = CLAIMS[0], CLAIMS[5]
    alternatives = (((one, 2),), ((two, 1),))
    both = (((one, 1), (two, 3)),)
    shared = ((alternatives, 3), (both, 1))
    for shape in (Shape(1, 1, 1), Shape(4, 7, 3), Shape(2, 3, 2)):
        a, b = bytes_of(one, shape), bytes_of(two, shape)
        total = 3 * max(2 * a, b) + a + 3 * b
        words = Words.up_to(largest_in_turn(shared, shape))
        reckoned = words.in_turn(shared, SymbolicShape.fixed(shape))
        assert z3.simplify(reckoned).as_long() == total
        assert largest_in_turn(shared, shape) >= total


@pytest.mark.parametrize("terms", [BOTH, PAGES, EACH, STAIRS])
def test_a_demand_that_fits_u64_and_one_that_does_not(terms: Terms) -> None:
    assert holds(fit_u64, Claim(terms, 16, NO_BLOCKS))


def test_the_fewest_counts_at_which_a_demand_passes_u64() -> None:
    wide = Linear(2**63, (Part("tokens", 2**60, 100),))
    assert shown(fit_u64, Claim(wide, 1, NO_BLOCKS)) == (1, 8, 1)
    assert shown(fit_u64, Claim(Linear(U64_MAX, ()), 2, NO_BLOCKS)) == (1, 1, 1)
    assert shown(fit_u64, Claim(Linear(U64_MAX, ()), 1, (4096, -1))) == (1, 1, 1)
    assert holds(fit_u64, Claim(Linear(U64_MAX, ()), 1, NO_BLOCKS))


def test_masks_round_as_division_does_for_powers_of_two_alone() -> None:
    for claim in CLAIMS:
        assert holds(round_as_division_does, claim)
    # To too few bytes, 128 and not 144, and to too many, 80 and not 48.
    assert not holds(round_as_division_does, Claim(Linear(128, ()), 48, NO_BLOCKS))
    assert not holds(round_as_division_does, Claim(Linear(37, ()), 48, NO_BLOCKS))
    assert not holds(round_as_division_does, Claim(BOTH, 16, (96, -1)))


def test_a_demand_never_shrinks_in_any_count() -> None:
    for terms in (BOTH, PAGES, EACH, STAIRS):
        assert holds(is_monotone, terms)
    shrinks = Staircase((Step(1, 4, 1, 70), Step(2, 8, 1, 40)))
    assert shown(is_monotone, shrinks) == (1, 1, 1, 1, 5, 1)


@pytest.mark.parametrize("claim", CLAIMS)
def test_a_ceiling_holds_at_every_shape_and_not_below(claim: Claim) -> None:
    most = defined_up_to(claim.terms)
    if claim.terms.only("sequences") is None:
        largest = max(claim.bytes_at(shape) for shape in shapes(most) if _defined(claim, shape))
    else:
        # The sequences of a batch share it: one claim each is the worst.
        largest = claim.bytes_at(Shape(1, 1, 1))
    assert holds(stay_under, ((claim, 3),), 3 * largest)
    assert not holds(stay_under, ((claim, 3),), 3 * largest - 1)


def _defined(claim: Claim, shape: Shape) -> bool:
    return isinstance(claim.terms, Linear) or any(
        shape.sequences <= step.sequences
        and shape.tokens <= step.tokens
        and shape.pages <= step.pages
        for step in claim.terms.steps
    )


def test_each_kind_of_row_is_at_a_shape_of_its_own() -> None:
    # 4 sequences and 7 tokens of the one, 9 tokens of the other.
    nine = Claim(Linear(0, (Part("tokens", 1, 9),)), 1, NO_BLOCKS)
    both = ((CLAIMS[0], 1), (nine, 2))
    total = 8 + 24 * 4 + 5 * 7 + 2 * 9
    assert holds(stay_under, both, total)
    assert not holds(stay_under, both, total - 1)


def test_the_largest_of_a_kind_is_asked_beyond_the_bounds_of_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """9 tokens of the one, where the other has no more than 7: at one shape none would see it."""
    nine = Claim(Linear(0, (Part("tokens", 1, 9),)), 1, NO_BLOCKS)
    both = ((CLAIMS[0], 1), (nine, 1))
    assert holds(stay_under, both, 1000)

    def too_few(claim: Claim, most: Shape) -> int:
        return 8 if claim == nine else most_taken(claim, most)

    monkeypatch.setattr("ferrum_verify.prove.sizes.most_taken", too_few)
    assert not holds(stay_under, both, 1000)


def test_a_bucket_that_is_never_reached_counts_for_no_ceiling() -> None:
    shadowed = Staircase((Step(2, 8, 1, 40), Step(1, 4, 1, 70), Step(2, 9, 1, 50)))
    claim = Claim(shadowed, 1, NO_BLOCKS)
    assert holds(stay_under, ((claim, 2),), 100)
    assert not holds(stay_under, ((claim, 2),), 99)


def test_a_bound_that_takes_more_bits_than_the_count_holds_of_all() -> None:
    """Only within 3 tokens it is asked, in 2 bits, in which a bucket's 8 would be 0."""
    need = Need(0, ((Claim(STAIRS, 1, NO_BLOCKS), 1),))
    assert holds(fits, need, Shape(2, 3, 1), 70)
    assert not holds(fits, need, Shape(2, 3, 1), 69)


def test_a_ceiling_is_compared_beyond_66_bits() -> None:
    """In words of a fixed 66 bits the sum and the ceiling would both be 0."""
    huge = Claim(Linear(2**63, ()), 1, NO_BLOCKS)
    assert holds(stay_under, ((huge, 2**8),), 2**71)
    assert not holds(stay_under, ((huge, 2**8),), 2**71 - 1)
    assert not holds(stay_under, ((huge, 2**3),), 2**66 - 1)


NEED = Need(
    1000,
    ((CLAIMS[1], 2),),
    (
        ((((CLAIMS[0], 1),), ((CLAIMS[5], 1),)), 2),
        ((((CLAIMS[0], 1),),), 1),
    ),
)
"""Static bytes, two rows that each sequence has, two slots of two rows each, and one of one."""


def test_a_need_fits_its_largest_shape_and_no_less() -> None:
    most = Shape(3, 5, 2)
    largest = NEED.bytes_at(most)
    assert NEED.at(most) == largest
    assert holds(fits, NEED, most, largest)
    assert not holds(fits, NEED, most, largest - 1)
    # Not the largest shape alone: the smallest one at which it no longer fits is shown.
    limit = NEED.bytes_at(Shape(1, 1, 1))
    values = shown(fits, NEED, most, limit)
    assert NEED.bytes_at(Shape(*values)) > limit
    assert Shape(*values) != most


def test_a_need_passes_what_is_below_it() -> None:
    shape = Shape(1, 6, 1)
    assert holds(passes, NEED, shape, NEED.bytes_at(shape) - 1)
    assert not holds(passes, NEED, shape, NEED.bytes_at(shape))


def together(sequences: int, tokens: int) -> int:
    """So many sequences, each with rows of its own, and one step of all of them."""
    own = 2 * CLAIMS[1].bytes_at(Shape(1, tokens, 1))
    step = Shape(sequences, sequences * tokens, 1)
    one, other = bytes_of(CLAIMS[0], step), bytes_of(CLAIMS[5], step)
    return 1000 + sequences * own + 2 * max(one, other) + one


def test_several_sequences_need_rows_each_and_one_step() -> None:
    assert holds(several_fit, NEED, 2, 3, together(3, 2))
    assert shown(several_fit, NEED, 2, 3, together(3, 2) - 1) == (3,)
    assert shown(several_fit, NEED, 2, 3, together(1, 2)) == (2,)
    assert holds(several_pass, NEED, 2, 3, together(3, 2) - 1)
    assert not holds(several_pass, NEED, 2, 3, together(3, 2))


def test_any_number_of_lanes_fits_and_the_fewest_that_do_not_are_shown() -> None:
    assert holds(lanes_fit, (8, 5), 3, 39)
    assert shown(lanes_fit, (8, 5), 3, 38) == (3,)
    assert shown(lanes_fit, (8, 5), 3, 12) == (1,)
    # A product of 32 and 64 bits.
    assert holds(lanes_fit, (U64_MAX,), U32_MAX, U64_MAX * U32_MAX)
    assert not holds(lanes_fit, (U64_MAX,), U32_MAX, U64_MAX * U32_MAX - 1)


def test_sums_fit_their_integers_and_pass_them_by_one() -> None:
    assert holds(sums_fit, (U64_MAX - 1, 1), (U128_MAX - 1, 1))
    assert not holds(sums_fit, (U64_MAX, 1), (0,))
    assert not holds(sums_fit, (0,), (U128_MAX, 1))


def test_rows_that_may_be_live_at_once_stay_within_the_peak() -> None:
    sizes = ((7, 1), (10, 2))
    assert holds(stays_within, sizes, False, 27)
    assert not holds(stays_within, sizes, False, 26)
    assert holds(stays_within, sizes, True, 10)
    assert not holds(stays_within, sizes, True, 9)
    assert holds(stays_within, ((10, 3),), True, 10)
    assert not holds(stays_within, ((10, 3),), False, 29)


def test_nothing_is_proved_of_a_demand_that_no_shape_has() -> None:
    nowhere = Claim(Linear(0, (Part("tokens", 8, 0),)), 1, NO_BLOCKS)
    for answer in (outcome(fit_u64, nowhere), outcome(stay_under, ((nowhere, 1),), 0)):
        assert type(answer).__name__ == "Vacuous"
