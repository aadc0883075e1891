"""Merging the token spans that providers permit.

A span constraint permits n when n is at least a minimum and a multiple of an alignment.
Non-linear integers, with divisibility as an explicit quotient. No solver finds by itself that a
multiple of a and of b is one of their least common multiple: it needs the Bézout coefficients
that ``euclid`` proves to exist. With them the claim is one polynomial identity, given here as the
certificate, and both solvers check it by expanding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .machine import LARGEST

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_NIA"
RESTS = ("ferrum_verify.derive.spans:merge_spans",)


def conjunction(_: Scale) -> Iterator[Check]:
    """Prove that the merge of two constraints permits what both permit, and nothing else.

    The alignments are g·a and g·b, with u·a + v·b = 1; their least common multiple is g·a·b.
    """
    n, g, a, b, u, v, x, y, q = z3.Ints("n g a b u v x y q")
    by_left, by_right, combination = n - g * a * x, n - g * b * y, u * a + v * b - 1
    left_over = n - g * a * b * (u * y + v * x)
    yield from proves(
        "certificate",
        "What n lacks to the multiple u·y + v·x of the least common multiple is a combination of "
        "three differences, whatever the numbers are.",
        LOGIC,
        left_over == v * b * by_left + u * a * by_right - n * combination,
    )
    zero_left, zero_right, zero_combination, lacking = z3.Ints("zero.a zero.b zero.uv lacking")
    yield from proves(
        "both-imply-merged",
        "All three differences are 0 when both alignments divide n, so n lacks nothing.",
        LOGIC,
        lacking == 0,
        (
            lacking == v * b * zero_left + u * a * zero_right - n * zero_combination,
            zero_left == 0,
            zero_right == 0,
            zero_combination == 0,
        ),
    )
    yield from proves(
        "merged-implies-both",
        "A multiple of the least common multiple is one of each alignment.",
        LOGIC,
        z3.And(n == (g * a) * (b * q), n == (g * b) * (a * q)),
        (n == g * a * b * q,),
    )
    first, second = z3.Ints("minimum.first minimum.second")
    yield from proves(
        "minimum",
        "At least the greater minimum is at least both.",
        "QF_LIA",
        (n >= z3.If(first >= second, first, second)) == z3.And(n >= first, n >= second),
    )
    yield from proves(
        "quotient",
        "The engine's own form, the first alignment divided by g and then multiplied by the "
        "second, is that multiple.",
        LOGIC,
        a * (g * b) == g * a * b,
    )


def fold(_: Scale) -> Iterator[Check]:
    """Prove the merge of any number of providers, one at a time."""
    n, so_far, following = z3.Ints("n minimum.so-far minimum.next")
    everyone, permitted = z3.Bools("permitted.by-all permitted.by-next")
    divided, divided_next, divided_merged = z3.Bools("divided divided.next divided.merged")
    merged = z3.If(so_far >= following, so_far, following)
    yield from proves(
        "base",
        "Minimum 1 and alignment 1 permit every positive count, as no provider at all does.",
        "QF_LIA",
        z3.And(n >= 1, n == 1 * n),
        (n >= 1,),
    )
    yield from proves(
        "step",
        "If the constraint so far permits what every provider so far does, then merged with the "
        "next it permits what every provider including the next does.",
        "QF_LIA",
        z3.And(everyone, permitted) == z3.And(n >= merged, divided_merged),
        (
            everyone == z3.And(n >= so_far, divided),
            permitted == z3.And(n >= following, divided_next),
            divided_merged == z3.And(divided, divided_next),
        ),
    )


def refusal(_: Scale) -> Iterator[Check]:
    """Prove that a merge is refused exactly when no count of 64 bits is left."""
    n, q, minimum, alignment, multiple, smallest = z3.Ints(
        "n q minimum alignment multiple smallest"
    )
    yield from proves(
        "multiple",
        "When the least common multiple passes 64 bits, so does every positive multiple of it.",
        LOGIC,
        n > LARGEST,
        (multiple > LARGEST, n >= 1, n == multiple * q),
    )
    least = z3.And(smallest == alignment * q, smallest >= minimum, smallest - alignment < minimum)
    k = z3.Int("k")
    yield from proves(
        "smallest",
        "The minimum rounded up to the alignment is the smallest permitted count, so when it "
        "passes 64 bits nothing is permitted.",
        LOGIC,
        n >= smallest,
        (alignment >= 1, minimum >= 1, least, n == alignment * k, n >= minimum),
    )
    yield from proves(
        "permitted",
        "It is itself permitted: positive, a multiple of the alignment, and not below the minimum; "
        "so where it fits, something is permitted.",
        LOGIC,
        z3.And(smallest >= minimum, smallest >= 1, smallest % alignment == 0),
        (alignment >= 1, minimum >= 1, least),
    )
    prefix, suffix, processed, boundary, prompt = z3.Ints("prefix suffix processed boundary prompt")
    yield from proves(
        "boundary",
        "When the smallest prefix and suffix together pass 64 bits, no prompt of 64 bits has a "
        "legal boundary, from any processed count.",
        "QF_LIA",
        prompt > LARGEST,
        (
            prefix + suffix > LARGEST,
            processed >= 0,
            boundary - processed >= prefix,
            prompt - boundary >= suffix,
        ),
    )
    everyone, so_far = z3.Bools("permitted.by-all permitted.so-far")
    yield from proves(
        "early",
        "If the providers so far permit nothing, no further provider changes that: the order of "
        "merging does not decide whether it is refused.",
        "QF_UF",
        z3.Not(everyone),
        (z3.Implies(everyone, so_far), z3.Not(so_far)),
    )


def reach(_: Scale) -> Iterator[Check]:
    """Prove that the smallest permitted counts decide whether any boundary is in reach."""
    prefix, suffix, held, boundary, prompt, processed = z3.Ints(
        "prefix suffix held boundary prompt processed"
    )
    yield from proves(
        "needed",
        "A legal boundary within the tokens that are held needs the smallest prefix to be within "
        "them, and a prompt with one needs room for the smallest suffix as well.",
        "QF_LIA",
        z3.And(prefix <= held, prefix + suffix <= prompt),
        (
            processed >= 0,
            boundary - processed >= prefix,
            prompt - boundary >= suffix,
            boundary <= held,
        ),
    )
    yield from proves(
        "enough",
        "And where the smallest prefix is within them, it is itself a legal boundary, of the "
        "prompt that is longer by the smallest suffix.",
        "QF_LIA",
        z3.And(boundary <= held, boundary - 0 >= prefix, prompt - boundary >= suffix),
        (prefix >= 1, prefix <= held, boundary == prefix, prompt == prefix + suffix),
    )


def shortcuts(_: Scale) -> Iterator[Check]:
    """Show that neither the product nor the greater alignment will do."""
    n, a, b = z3.Ints("n a b")

    def divides(alignment: z3.ArithRef) -> z3.BoolRef:
        return n % alignment == 0

    bounds = (a >= 1, b >= 1, a <= b, n >= 1)
    both = z3.And(divides(a), divides(b))
    larger = both != divides(b)
    yield from exhibits(
        "product",
        "Alignments 2 and 2 both permit 2, their product does not.",
        LOGIC,
        *bounds,
        a == 2,
        b == 2,
        n == 2,
        both,
        n % 4 != 0,
    )
    yield from excludes(
        "product.none-smaller",
        "With an alignment of 1 the product is the other, and is right.",
        LOGIC,
        *bounds,
        a == 1,
        both != (n % b == 0),
    )
    yield from exhibits(
        "greater",
        "The greater of 2 and 3 permits 3, alignment 2 does not.",
        LOGIC,
        *bounds,
        a == 2,
        b == 3,
        n == 3,
        larger,
    )
    for low, high in ((1, 1), (1, 2), (2, 2), (1, 3)):
        yield from excludes(
            f"greater.none-at-{low}-{high}",
            f"For {low} and {high} the greater alignment is right.",
            LOGIC,
            *bounds,
            a == low,
            b == high,
            larger,
        )


def first_failures() -> tuple[tuple[int, int, int] | None, tuple[int, int, int] | None]:
    """Find the first alignments and count at which each shortcut goes wrong."""

    def first(shortcut: bool) -> tuple[int, int, int] | None:
        for b in range(1, 6):
            for a in range(1, b + 1):
                for n in range(1, 40):
                    both = n % a == 0 and n % b == 0
                    if both != (n % (a * b if shortcut else b) == 0):
                        return a, b, n
        return None

    return first(shortcut=True), first(shortcut=False)


THEOREMS = (
    Theorem(
        id="spans.merge-is-the-conjunction",
        statement=(
            "The merge of two span constraints, the greater minimum and the least common multiple "
            "of the alignments, permits a count exactly when both permit it."
        ),
        theory="non-linear integers",
        holds_for="every two constraints",
        rests=RESTS,
        rules=("checkpoint.boundary-intersection",),
        checks=conjunction,
    ),
    Theorem(
        id="spans.fold-is-the-conjunction",
        statement=(
            "Merged over any number of providers, starting from minimum 1 and alignment 1, the "
            "constraint permits exactly what every provider permits."
        ),
        theory="linear integers",
        holds_for="every number of providers, by induction",
        rests=RESTS,
        rules=("checkpoint.boundary-intersection",),
        checks=fold,
    ),
    Theorem(
        id="spans.refusal-is-emptiness",
        statement=(
            "A merge is refused (its least common multiple, its smallest count, or smallest "
            "prefix plus smallest suffix passes 64 bits) exactly when nothing of 64 bits is "
            "permitted by all, in whatever order the providers are merged."
        ),
        theory="non-linear integers",
        holds_for="every number of providers",
        rests=(*RESTS, "ferrum_verify.derive.spans:merge_boundaries"),
        rules=("checkpoint.boundary-intersection",),
        checks=refusal,
    ),
    Theorem(
        id="spans.smallest-decides-reach",
        statement=(
            "Some boundary is legal within the tokens that the states hold exactly when the "
            "smallest legal prefix is within them."
        ),
        theory="linear integers",
        holds_for="every constraint and every number of tokens",
        rests=("ferrum_verify.derive.reachability:reach",),
        rules=("checkpoint.never-reachable",),
        checks=reach,
    ),
    Theorem(
        id="spans.no-shortcut",
        statement=(
            "The product of the alignments is too strict (2 and 2: it refuses 2) and the greater "
            "of them too lax (2 and 3: it permits 3)."
        ),
        theory="non-linear integers",
        holds_for="counterexamples, smallest by the greater alignment, then the lesser",
        rests=RESTS,
        rules=("checkpoint.boundary-intersection",),
        checks=shortcuts,
        recheck=lambda _: first_failures() == ((2, 2, 2), (2, 3, 3)),
    ),
)
