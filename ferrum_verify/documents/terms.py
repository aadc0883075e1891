"""Terms: what the forms of a demand say, apart from how the wire spells each of them.

All forms but one are *linear*: a fixed part, and a part for each of some counts. The other is a
*staircase* of shape buckets. Everything that reckons with demands (derivation, rules, proofs and
comparisons) reads their terms; only ``demand`` knows the forms.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

Count: TypeAlias = Literal["sequences", "tokens", "pages"]
COUNTS: tuple[Count, ...] = ("sequences", "tokens", "pages")
"""The counts of a shape, in the order in which everything lists them."""


class Part(NamedTuple):
    """The bytes that ``each`` of what is counted takes, and the most of them that there may be."""

    counted: Count
    each: int
    most: int


class Linear(NamedTuple):
    """A fixed part in bytes, and a part for each count that the form takes notice of.

    Forms differ in their counts, so demands with equal terms are equal.
    """

    fixed: int
    parts: tuple[Part, ...]

    @property
    def counts(self) -> tuple[Count, ...]:
        """The counts that the bytes depend on, and that the demand bounds."""
        return tuple(part.counted for part in self.parts)

    def rate(self, count: Count) -> int:
        """The bytes for each of a count; 0 where the form ignores it."""
        return next((part.each for part in self.parts if part.counted == count), 0)

    def limit(self, count: Count) -> int | None:
        """The most of a count that there may be; None where the form ignores it."""
        return next((part.most for part in self.parts if part.counted == count), None)

    def only(self, count: Count) -> Part | None:
        """The part of a count that alone decides the bytes; None of any other form."""
        if len(self.parts) == 1 and self.parts[0].counted == count:
            return self.parts[0]
        return None


class Step(NamedTuple):
    """One shape bucket: the largest shape that it covers, and the bytes of each that it does."""

    sequences: int
    tokens: int
    pages: int
    bytes: int


class Staircase(NamedTuple):
    """Shape buckets: the first step that covers a shape says its bytes."""

    steps: tuple[Step, ...]

    @property
    def counts(self) -> tuple[Count, ...]:
        """All counts: each bucket bounds them."""
        return COUNTS

    def limit(self, _count: Count) -> None:
        """No count is bounded by itself: the steps bound shapes."""

    def only(self, _count: Count) -> None:
        """No count decides alone."""


Terms: TypeAlias = Linear | Staircase
