"""How the bytes of a demand grow with the shape.

Non-linear integers for the forms that multiply: the engine refuses what overflows, so a size is
the true product or no size at all, and over the integers monotonicity of a product is one sign
rule. As 64-bit words the same claim is a comparison of two multipliers, which no bit-blasting
solver finishes. Linear integers for the staircase of buckets, by induction on its steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .machine import LARGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RESTS = ("ferrum_verify.plan.sizes:demand_bytes", "ferrum_verify.plan.sizes:maximal_shape")


@dataclass(frozen=True)
class Shape:
    """A symbolic shape."""

    sequences: z3.ArithRef
    tokens: z3.ArithRef
    pages: z3.ArithRef

    def positive(self) -> z3.BoolRef:
        """State that every dimension is at least 1."""
        return z3.And(self.sequences >= 1, self.tokens >= 1, self.pages >= 1)

    def within(self, other: Shape) -> z3.BoolRef:
        """State that no dimension passes the other's."""
        return z3.And(
            self.sequences <= other.sequences,
            self.tokens <= other.tokens,
            self.pages <= other.pages,
        )


def shape(name: str) -> Shape:
    """Return a shape of three variables."""
    return Shape(*z3.Ints(f"{name}.sequences {name}.tokens {name}.pages"))


def products(_: Scale) -> Iterator[Check]:
    """Prove that each multiplying form is monotone and fits wherever its maximum fits."""
    small, large = shape("small"), shape("large")
    fixed, each, other = z3.Ints("fixed each other")
    forms: dict[str, Callable[[Shape], z3.ArithRef]] = {
        "fixed": lambda _: fixed,
        "actual-sequences": lambda at: each * at.sequences,
        "tokens": lambda at: each * at.tokens,
        "affine": lambda at: fixed + each * at.sequences + other * at.tokens,
        "pages": lambda at: each * at.pages,
    }
    for name, form in forms.items():
        yield from proves(
            name,
            f"The bytes of the form {name} do not shrink as a shape grows in any dimension, and "
            "are within 64 bits at a shape that is within one where they are.",
            "QF_NIA",
            z3.And(form(small) <= form(large), form(small) <= LARGEST),
            (
                fixed >= 0,
                each >= 0,
                other >= 0,
                small.positive(),
                small.within(large),
                form(large) <= LARGEST,
            ),
        )


def staircase(_: Scale) -> Iterator[Check]:
    """Prove the form of buckets monotone, by induction on the number of its steps.

    A bucket is put in front of a staircase about which the claim holds already. ``low`` and
    ``high`` are what the rest gives at the two shapes, where it covers them.
    """
    small, large, front, rest = shape("small"), shape("large"), shape("front"), shape("rest")
    front_bytes, rest_bytes, low, high = z3.Ints("front.bytes rest.bytes low high")
    covers_small, covers_large = z3.Bools("rest.covers.small rest.covers.large")
    value_small = z3.If(small.within(front), front_bytes, low)
    value_large = z3.If(large.within(front), front_bytes, high)
    defined_small = z3.Or(small.within(front), covers_small)
    defined_large = z3.Or(large.within(front), covers_large)
    yield from proves(
        "base",
        "A staircase of one bucket covers every shape below a covered one, and has one value.",
        "QF_LIA",
        small.within(front),
        (small.within(large), large.within(front)),
    )
    induction = (
        small.within(large),
        front.within(rest),
        front_bytes <= rest_bytes,
        z3.Implies(covers_small, rest_bytes <= low),
        z3.Implies(covers_large, rest_bytes <= high),
        z3.Implies(covers_large, z3.And(covers_small, low <= high)),
    )
    yield from proves(
        "step",
        "With one more bucket in front, no larger and of no more bytes than the next, the "
        "staircase still covers every smaller shape, with no more bytes, and never gives less "
        "than its first bucket.",
        "QF_LIA",
        z3.Implies(
            defined_large,
            z3.And(defined_small, value_small <= value_large, front_bytes <= value_small),
        ),
        (*induction, defined_large),
    )
    last, last_bytes = shape("last"), z3.Int("last.bytes")
    yield from proves(
        "maximal",
        "The last bucket's own shape is covered by no earlier bucket, which is smaller in some "
        "dimension; so the maximal shape takes the last bucket's bytes, and covers every shape "
        "that any bucket covers.",
        "QF_LIA",
        z3.And(z3.Not(last.within(front)), z3.Implies(small.within(front), small.within(last))),
        (front.within(last), z3.Not(last.within(front)), front_bytes <= last_bytes),
    )


def shrinking(_: Scale) -> Iterator[Check]:
    """Show why a bucket may not have fewer bytes than the one before."""
    tokens, bytes_first, bytes_second = z3.Ints("tokens first.bytes second.bytes")

    def value(at: z3.ArithRef) -> z3.ArithRef:
        return z3.If(at <= 1, bytes_first, bytes_second)

    legal = (bytes_first >= 1, bytes_second >= 1, tokens >= 1, tokens + 1 <= 2)
    shrinks = value(tokens) > value(tokens + 1)
    yield from exhibits(
        "counterexample",
        "Buckets of 2 bytes up to one token and 1 byte up to two tokens shrink.",
        "QF_LIA",
        *legal,
        bytes_first == 2,
        bytes_second == 1,
        shrinks,
    )
    yield from excludes(
        "none-smaller",
        "With 1 byte in the first bucket nothing shrinks.",
        "QF_LIA",
        *legal,
        bytes_first <= 1,
        shrinks,
    )


def first_shrinking() -> tuple[int, int] | None:
    """Find the first two bucket sizes between which the staircase shrinks."""
    for first in range(1, 4):
        for second in range(1, 4):
            staircase_bytes = {tokens: first if tokens <= 1 else second for tokens in (1, 2)}
            if staircase_bytes[1] > staircase_bytes[2]:
                return first, second
    return None


def covered(_: Scale) -> Iterator[Check]:
    """Prove that what is reserved at a bucket's capacity is enough at each shape it covers."""
    bytes_at, bytes_capacity, slot, others, sum_at, sum_capacity = z3.Ints(
        "bytes.at bytes.capacity slot others sum.at sum.capacity"
    )
    grown = bytes_at <= bytes_capacity
    yield from proves(
        "member",
        "A slot as large as the greatest of its members at the capacity holds each of them at "
        "every covered shape.",
        "QF_LIA",
        bytes_at <= slot,
        (grown, slot == z3.If(bytes_capacity >= others, bytes_capacity, others)),
    )
    yield from proves(
        "greatest.step",
        "A greatest member over one resource more is still no larger than at the capacity.",
        "QF_LIA",
        z3.If(sum_at >= bytes_at, sum_at, bytes_at)
        <= z3.If(sum_capacity >= bytes_capacity, sum_capacity, bytes_capacity),
        (grown, sum_at <= sum_capacity),
    )
    yield from proves(
        "sum.step",
        "A sum over one resource more is still no larger than at the capacity.",
        "QF_LIA",
        sum_at + bytes_at <= sum_capacity + bytes_capacity,
        (grown, sum_at <= sum_capacity),
    )


THEOREMS = (
    Theorem(
        id="demand.products-are-monotone",
        statement=(
            "The fixed, actual-sequences, tokens, affine and pages forms never shrink as a shape "
            "grows in any dimension, so a form that fits 64 bits at its maximal shape fits at "
            "every admissible shape, with no more bytes."
        ),
        theory="non-linear integers",
        holds_for="every shape and every coefficient",
        rests=RESTS,
        rules=("descriptor.size-overflow",),
        checks=products,
    ),
    Theorem(
        id="demand.staircase-is-monotone",
        statement=(
            "A staircase of shape buckets, each no smaller and of no fewer bytes than the one "
            "before, never shrinks as a shape grows, covers every shape below a covered one, and "
            "at its maximal shape takes the last bucket's bytes."
        ),
        theory="linear integers",
        holds_for="every number of buckets, by induction",
        rests=RESTS,
        rules=("descriptor.size-overflow",),
        checks=staircase,
    ),
    Theorem(
        id="demand.staircase-must-not-shrink",
        statement=(
            "Without the rule that bytes do not shrink from bucket to bucket, the maximal shape "
            "is not the worst: 2 bytes for one token and 1 byte for two is the smallest case."
        ),
        theory="linear integers",
        holds_for="counterexample, smallest by the first bucket's bytes",
        rests=("ferrum_verify.rules.descriptor_rows:demand_fault",),
        rules=("descriptor.illegal-demand",),
        checks=shrinking,
        recheck=lambda _: first_shrinking() == (2, 1),
    ),
    Theorem(
        id="demand.capacity-covers",
        statement=(
            "Bytes that are reserved at a bucket's capacity, as the greatest member of a slot or "
            "a sum over rows, are enough at every shape that the bucket covers."
        ),
        theory="linear integers",
        holds_for="every number of resources, by induction",
        rests=("ferrum_verify.derive.reusable:pool_budget",),
        rules=("reusable.budget",),
        checks=covered,
    ),
)
