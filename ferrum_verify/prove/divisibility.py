"""Divisibility: what several alignments divide together, stated so that a solver sees it.

Linear integers. Counts of tokens are 64-bit, but alignments are constants of the plan, so "n is
a multiple of a" is linear with its quotient named: n = a·x. Bit-vectors would have to divide,
circuit by circuit. What no theory finds by itself is that n = a·x = b·y is a multiple of the
least common multiple of a and b. It follows from Bézout's coefficients: with u·a + v·b = gcd(a, b),
n = lcm(a, b)·(u·y + v·x), so that combination is named in each formula. A name for a combination
excludes no model: wrong coefficients could leave a claim undecided, and never prove or refute it.
The theorem ``spans.merge-is-the-conjunction`` says the same for all numbers at once.
"""

from __future__ import annotations

from math import lcm
from typing import TYPE_CHECKING, NamedTuple

import z3

from ferrum_verify.counterexamples import SpanConstraint
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.prove.obligation import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

LOGIC = "QF_LIA"


class Span(NamedTuple):
    """A constraint on a count of tokens: at least the minimum, and a multiple of the alignment.

    Unlike the document's own it may have numbers that pass u64.
    """

    minimum: int
    alignment: int

    def permits(self, tokens: int) -> bool:
        """Whether ``tokens`` is a legal count."""
        return tokens >= self.minimum and tokens % self.alignment == 0


class Divided(NamedTuple):
    """That a count is a multiple of several alignments; ``quotient`` is by their common one."""

    given: list[z3.BoolRef]
    quotient: z3.ArithRef
    multiple: int


def common(spans: Sequence[Span]) -> SpanConstraint:
    """What all spans permit, as one constraint."""
    least = max((span.minimum for span in spans), default=1)
    return SpanConstraint(least, lcm(*(span.alignment for span in spans)))


def counted(tokens: z3.ArithRef) -> list[z3.BoolRef]:
    """That a span of tokens is not empty, and fits u64."""
    return [tokens >= 1, tokens <= U64_MAX]


def divided(tokens: z3.ArithRef, alignments: Iterable[int]) -> Divided:
    """That every alignment divides the count, with the certificate for all of them together."""
    given: list[z3.BoolRef] = []
    quotient, multiple = tokens, 1
    for index, alignment in enumerate(alignments):
        factor = z3.Int(f"{tokens}_by_{index}")
        given.append(tokens == alignment * factor)
        if multiple % alignment:
            common, mine, other = bezout(multiple, alignment)
            joint = z3.Int(f"{tokens}_joint_{index}")
            given.append(joint == mine * factor + other * quotient)
            quotient, multiple = joint, multiple // common * alignment
    return Divided(given, quotient, multiple)


def permitted(tokens: z3.ArithRef, spans: Sequence[Span]) -> Divided:
    """That every span permits the count."""
    division = divided(tokens, dict.fromkeys(span.alignment for span in spans))
    least = dict.fromkeys(span.minimum for span in spans)
    return division._replace(given=[*division.given, *(tokens >= minimum for minimum in least)])


def contained(base: tuple[Span, ...], head: tuple[Span, ...], limit: int) -> Statement:
    """Each count up to a limit that all of ``base`` permit, all of ``head`` permit."""
    tokens = z3.Int("tokens")
    division = permitted(tokens, base)
    known = (division.quotient, division.multiple)
    refused = z3.Or([refuses(tokens, span, known) for span in head])
    given = (tokens >= 1, tokens <= limit, *division.given)
    return Statement(LOGIC, z3.Not(refused), given, least=(tokens,))


def refuses(tokens: z3.ArithRef, span: Span, known: tuple[z3.ArithRef, int]) -> z3.BoolRef:
    """That the span refuses the count: it is too small, or leaves a remainder.

    ``known`` is a quotient of the count and the number that it is by. Where the alignment
    divides that number, the distance of the two quotients is named, which shows the solver that
    the remainder is a multiple of the alignment.
    """
    by, rest, distance = z3.Ints(f"{tokens}_quotient {tokens}_rest {tokens}_distance")
    quotient, multiple = known
    leaves = [tokens == span.alignment * by + rest, rest >= 1, rest < span.alignment]
    if multiple % span.alignment == 0:
        leaves.append(by == multiple // span.alignment * quotient - distance)
    return z3.Or(tokens < span.minimum, z3.And(leaves))


def bezout(left: int, right: int) -> tuple[int, int, int]:
    """The greatest common divisor, and the coefficients of the two that give it."""
    mine, other = (1, 0), (0, 1)
    while right:
        times = left // right
        left, right = right, left % right
        mine, other = other, (mine[0] - times * other[0], mine[1] - times * other[1])
    return left, mine[0], mine[1]
