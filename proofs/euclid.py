"""The greatest common divisor that merged alignments are divided by.

Non-linear integers, one step of the algorithm at a time. Divisibility is stated with its
quotient (``a = g * x``), never with a remainder: then each step is an identity between
polynomials, which a solver checks by expanding both sides, instead of a search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_NIA"


def certificate(_: Scale) -> Iterator[Check]:
    """Prove that the loop ends in a common divisor that is a combination of both numbers."""
    a, b, left, right, quotient, rest = z3.Ints("a b left right quotient rest")
    s, t, p, r = z3.Ints("s t p r")
    divided = rest == left - quotient * right
    yield from proves(
        "base",
        "Each of the two numbers is a combination of both.",
        LOGIC,
        z3.And(a == a * 1 + b * 0, b == a * 0 + b * 1),
    )
    yield from proves(
        "step",
        "If both numbers in hand are combinations of a and b, so is the remainder of one by the "
        "other.",
        LOGIC,
        rest == a * (s - quotient * p) + b * (t - quotient * r),
        (left == a * s + b * t, right == a * p + b * r, divided),
    )
    x, y, divisor = z3.Ints("x y divisor")
    yield from proves(
        "back",
        "What divides the number in hand and the remainder divides the number before, so the "
        "last non-zero number divides a and b.",
        LOGIC,
        left == divisor * (quotient * x + y),
        (right == divisor * x, rest == divisor * y, divided),
    )
    yield from proves(
        "end",
        "The remainder is smaller than the number it is taken by, so the loop ends.",
        LOGIC,
        z3.And(rest >= 0, rest < right),
        (right > 0, divided, quotient == left / right),
    )
    g, c, d = z3.Ints("g c d")
    yield from proves(
        "greatest",
        "Every common divisor of a and b divides a combination of them.",
        LOGIC,
        g == divisor * (c * s + d * t),
        (g == a * s + b * t, a == divisor * c, b == divisor * d),
    )
    yield from proves(
        "bezout",
        "Divided by their greatest common divisor, the numbers have a combination that is 1.",
        LOGIC,
        c * s + d * t == 1,
        (g > 0, g == g * (c * s + d * t)),
    )
    yield from proves(
        "bezout.factored",
        "The premise of the last claim is the combination itself, factored.",
        LOGIC,
        g * (c * s + d * t) == a * s + b * t,
        (a == g * c, b == g * d),
    )


def loop_agrees(_: Scale) -> bool:
    """Run the loop on every small pair; compare with the largest divisor found by trial."""
    for a in range(1, 41):
        for b in range(1, 41):
            (left, s, t), (right, p, r) = (a, 1, 0), (b, 0, 1)
            while right:
                q = left // right
                (left, s, t), (right, p, r) = (right, p, r), (left % right, s - q * p, t - q * r)
            trial = max(g for g in range(1, min(a, b) + 1) if a % g == 0 and b % g == 0)
            if left != trial or a // left * s + b // left * t != 1:
                return False
    return True


THEOREMS = (
    Theorem(
        id="euclid.bezout-certificate",
        statement=(
            "Euclid's loop ends in the greatest common divisor g of a and b, and there are u and "
            "v with u(a/g) + v(b/g) = 1."
        ),
        theory="non-linear integers",
        holds_for="every two positive numbers, by induction on the loop",
        rests=("ferrum_verify.derive.spans:merge_spans",),
        rules=("checkpoint.boundary-intersection",),
        checks=certificate,
        recheck=loop_agrees,
    ),
)
