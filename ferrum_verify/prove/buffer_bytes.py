"""Bytes of buffer plans: what is claimed of every shape, in words so wide that nothing wraps."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import z3

from ferrum_verify.prove.obligation import Statement

if TYPE_CHECKING:
    from ferrum_verify.plan.affine import Amount
    from ferrum_verify.plan.arms import Arms

LOGIC = "QF_BV"

Bounds: TypeAlias = tuple[tuple[int, int], ...]
"""The least and the greatest value of each dimension."""

Less: TypeAlias = "tuple[Amount, Amount]"
"""Two amounts, of which the first is less than the other."""

Choices: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Conditions, each with its arms."""


class _Shape:
    """Unknown dimensions in words of a width at which none of the amounts wraps."""

    def __init__(self, bounds: Bounds, *amounts: Amount) -> None:
        largest = max(
            (
                amount[0]
                + sum(rate * most for rate, (_, most) in zip(amount[1:], bounds, strict=True))
                for amount in amounts
            ),
            default=0,
        )
        self.bits = max(largest, *(most for _, most in bounds), 1).bit_length() + 1
        self.counts = [z3.BitVec(f"dimension_{place}", self.bits) for place, _ in enumerate(bounds)]
        self.given = tuple(
            bound
            for count, (least, most) in zip(self.counts, bounds, strict=True)
            for bound in (z3.UGE(count, least), z3.ULE(count, most))
        )
        self.example = tuple(
            (count, z3.BitVecVal(least, self.bits))
            for count, (least, _) in zip(self.counts, bounds, strict=True)
        )

    def of(self, amount: Amount) -> z3.BitVecRef:
        """The bytes of an amount."""
        total = z3.BitVecVal(amount[0], self.bits)
        for rate, count in zip(amount[1:], self.counts, strict=True):
            if rate:
                total += z3.BitVecVal(rate, self.bits) * count
        return total

    def less(self, pair: Less) -> z3.BoolRef:
        """One amount is less than the other."""
        return z3.ULT(self.of(pair[0]), self.of(pair[1]))


def nowhere(bounds: Bounds, all_of: tuple[Less, ...], any_of: tuple[Less, ...] = ()) -> Statement:
    """There is no shape at which all of these amounts are less than others, and any of those."""
    amounts = [amount for pair in (*all_of, *any_of) for amount in pair]
    shape = _Shape(bounds, *amounts)
    met = z3.And(*map(shape.less, all_of))
    if any_of:
        met = z3.And(met, z3.Or(*map(shape.less, any_of)))
    return Statement(LOGIC, z3.Not(met), shape.given, tuple(shape.counts), shape.example)


def aligned(bounds: Bounds, offset: Amount, unit: int) -> Statement:
    """At every shape the offset is a multiple of the unit."""
    shape = _Shape(bounds, offset, (unit, *(0 for _ in bounds)))
    rest = z3.URem(shape.of(offset), z3.BitVecVal(unit, shape.bits))
    return Statement(LOGIC, rest == 0, shape.given, tuple(shape.counts), shape.example)


def written(
    bounds: Bounds,
    place: Less,
    writes: tuple[tuple[Less, Arms], ...],
    arms: Arms,
    choices: Choices,
) -> Statement:
    """Each byte of the place is in some write, at every shape, in every run with the arms."""
    shape = _Shape(bounds, *place, *(amount for pair, _ in writes for amount in pair))
    byte = z3.BitVec("byte", shape.bits)

    def inside(pair: Less) -> z3.BoolRef:
        return z3.And(z3.ULE(shape.of(pair[0]), byte), z3.ULT(byte, shape.of(pair[1])))

    taken = arms_taken(choices)
    unwritten = [z3.Not(z3.And(inside(pair), *(taken[each] for each in of))) for pair, of in writes]
    lost = z3.And(inside(place), *(taken[each] for each in arms), *unwritten)
    return Statement(
        LOGIC,
        z3.Not(lost),
        shape.given,
        (*shape.counts, byte),
        (*shape.example, (byte, z3.BitVecVal(0, shape.bits))),
    )


def arms_taken(choices: Choices) -> dict[tuple[str, str], z3.BoolRef]:
    """For each arm whether a run takes it: of each condition the first that is chosen, or the last.

    So exactly one is, and nothing need be given.
    """
    taken: dict[tuple[str, str], z3.BoolRef] = {}
    for place, (condition, arms) in enumerate(choices):
        none_yet = z3.BoolVal(True)
        for number, arm in enumerate(arms[:-1]):
            chosen = z3.Bool(f"arm_{place}_{number}")
            taken[condition, arm] = z3.And(none_yet, chosen)
            none_yet = z3.And(none_yet, z3.Not(chosen))
        taken[condition, arms[-1]] = none_yet
    return taken
