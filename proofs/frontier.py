"""The largest number of tokens, or of sequences, that still fits.

Non-linear integers, since k sequences of t tokens need k times something and slots at k·t
tokens. What is taken as given about each term is that its bytes do not shrink as the shape grows,
which ``demand`` and ``quantize`` prove. The bisection is a loop over integers and one
predicate, kept abstract: it is exact for anything that, once it fails, fails for good.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

if TYPE_CHECKING:
    from collections.abc import Iterator


def need(_: Scale) -> Iterator[Check]:
    """Prove that the bytes needed do not shrink with more sequences or longer ones."""
    k, more, t, longer = z3.Ints("sequences sequences.more tokens tokens.more")
    grown = (k >= 1, k <= more, t >= 1, t <= longer)
    yield from proves(
        "shape",
        "More sequences, or longer ones, are a larger shape in every dimension.",
        "QF_NIA",
        z3.And(k <= more, k * t <= more * longer),
        grown,
    )
    per_sequence, per_sequence_more = z3.Ints("each each.more")
    yield from proves(
        "sequences",
        "Bytes of each sequence times their number do not shrink.",
        "QF_NIA",
        k * per_sequence <= more * per_sequence_more,
        (*grown, per_sequence >= 0, per_sequence <= per_sequence_more),
    )
    low, high, term_low, term_high = z3.Ints("low high term.low term.high")
    given = (low <= high, term_low <= term_high)
    yield from proves(
        "sum.step",
        "A sum that does not shrink still does not with one such term more.",
        "QF_LIA",
        low + term_low <= high + term_high,
        given,
    )
    yield from proves(
        "greatest.step",
        "Nor does a greatest, over the members of a slot or the rows of a pool.",
        "QF_LIA",
        z3.If(low >= term_low, low, term_low) <= z3.If(high >= term_high, high, term_high),
        given,
    )
    capacity = z3.Int("capacity")
    yield from proves(
        "fits",
        "What fits at the larger shape fits at the smaller, and so does every declared maximum.",
        "QF_NIA",
        z3.And(low <= capacity, k * t <= capacity),
        (*grown, low <= high, high <= capacity, more * longer <= capacity),
    )


def bisection(_: Scale) -> Iterator[Check]:
    """Prove doubling and bisection exact for a predicate that, once false, stays false."""
    low, high, middle, anything = z3.Ints("low high middle anything")
    fits = z3.Function("fits", z3.IntSort(), z3.BoolSort())

    def stays_false(*points: z3.ArithRef) -> list[z3.BoolRef]:
        return [
            z3.Implies(z3.And(smaller <= larger, fits(larger)), fits(smaller))
            for smaller in points
            for larger in points
        ]

    invariant = (low < high, fits(low), z3.Not(fits(high)))
    halfway = (middle + middle <= low + high, low + high <= middle + middle + 1)
    low_next = z3.If(fits(middle), middle, low)
    high_next = z3.If(fits(middle), high, middle)
    doubled = z3.Int("doubled")
    yield from proves(
        "doubling",
        "While the higher value fits, it becomes the lower and its double the higher: the lower "
        "fits and is below.",
        "QF_UFLIA",
        z3.And(high < doubled, fits(high)),
        (low >= 1, low < high, fits(high), doubled == high + high),
    )
    yield from proves(
        "step",
        "Halving keeps a value that fits below one that does not, and comes closer.",
        "QF_UFLIA",
        z3.And(
            low_next < high_next,
            fits(low_next),
            z3.Not(fits(high_next)),
            high_next - low_next < high - low,
        ),
        (*invariant, low + 1 < high, *halfway),
    )
    yield from proves(
        "exit",
        "When the two are neighbours, a value fits exactly when it is not above the lower.",
        "QF_UFLIA",
        fits(anything) == (anything <= low),
        (*invariant, low + 1 == high, *stays_false(low, high, anything)),
    )


def bisect_agrees(_: Scale) -> bool:
    """Run the search against every threshold of a small range."""
    for threshold in range(1, 70):
        low, high = 1, 2
        while high <= threshold:
            low, high = high, 2 * high
        while low + 1 < high:
            middle = (low + high) // 2
            low, high = (middle, high) if middle <= threshold else (low, middle)
        if low != threshold:
            return False
    return True


THEOREMS = (
    Theorem(
        id="frontier.need-is-monotone",
        statement=(
            "The bytes that k sequences of t tokens need do not shrink as k or t grows, so what "
            "fits stays fitting for fewer sequences and for shorter ones."
        ),
        theory="non-linear integers",
        holds_for="every k and t and any number of resources, by induction",
        rests=("ferrum_verify.plan.frontier:need", "ferrum_verify.plan.frontier:fits"),
        rules=(),
        checks=need,
    ),
    Theorem(
        id="frontier.bisection-is-exact",
        statement=(
            "Doubling to a value that does not fit, and bisection from there, end at the largest "
            "value that fits: it fits, and nothing above it does."
        ),
        theory="functions, integers",
        holds_for="every monotone condition, by induction on the loop",
        rests=(
            "ferrum_verify.plan.frontier:largest_tokens",
            "ferrum_verify.plan.frontier:largest_sequences",
        ),
        rules=(),
        checks=bisection,
        recheck=bisect_agrees,
    ),
)
