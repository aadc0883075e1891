"""Sums that the engine adds up word by word, with a check at each addition.

The verifier adds in unbounded integers and compares once at the end; these theorems say that
this is the same. Bit-vectors, because the point is the carry: the running word has 64 bits and
its true value stands beside it in 128, wide enough for every row a plan may have. The bound on
128-bit ceilings is plain linear arithmetic on constants, and so in integers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

from .machine import LARGEST, constant, wide, word

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGEST_COUNT = 2**32 - 1
ROWS = 65_536
TRUE_BITS = 128


def checked_fold(_: Scale) -> Iterator[Check]:
    """Prove that a fold of checked additions fails exactly when the true sum does not fit."""
    total, addend, truth = word("total"), word("addend"), z3.BitVec("truth", TRUE_BITS)
    intact = z3.Bool("intact")
    largest = z3.BitVecVal(LARGEST, TRUE_BITS)
    carries = z3.UGT(addend, constant(LARGEST) - total)
    still = z3.And(intact, z3.Not(carries))
    grown = truth + wide(addend, TRUE_BITS)

    def agree(sound: z3.BoolRef, running: z3.BitVecRef, true: z3.BitVecRef) -> z3.BoolRef:
        return z3.And(
            sound == z3.ULE(true, largest), z3.Implies(sound, wide(running, TRUE_BITS) == true)
        )

    yield from proves(
        "base",
        "The empty sum is 0, and fits.",
        "QF_BV",
        agree(intact, total, truth),
        (intact, total == 0, truth == 0),
    )
    yield from proves(
        "step",
        "One addend more keeps the running word equal to the true sum while that fits; once it "
        "does not, it never fits again, since nothing is subtracted.",
        "QF_BV",
        agree(still, total + addend, grown),
        (
            agree(intact, total, truth),
            z3.ULE(truth, z3.BitVecVal(LARGEST * ROWS, TRUE_BITS)),
        ),
    )


def wide_ceilings(_: Scale) -> Iterator[Check]:
    """Prove that no sum of 128 bits in a memory plan can overflow."""
    rows, total, size, instances, budget = z3.Ints("rows total size instances budget")
    resident = LARGEST * LARGEST_COUNT
    yield from proves(
        "row",
        "A resident maximum, a quantized size times a number of instances, is at most "
        "(2^64 - 1)(2^32 - 1).",
        "QF_NIA",
        size * instances <= resident,
        (size >= 0, size <= LARGEST, instances >= 0, instances <= LARGEST_COUNT),
    )
    yield from proves(
        "step",
        "A sum over the rows is at most that for each of them.",
        "QF_LIA",
        total + size <= (rows + 1) * resident,
        (total <= rows * resident, size <= resident),
    )
    yield from proves(
        "plan",
        "All rows of a plan, dynamic and static, with a workspace ceiling of 64 bits for each "
        "pool, stay below 2^128.",
        "QF_LIA",
        total + budget < 2**TRUE_BITS,
        (total <= ROWS * resident, budget <= ROWS * LARGEST),
    )


THEOREMS = (
    Theorem(
        id="sums.checked-fold",
        statement=(
            "Adding up words of 64 bits with a check at each addition fails exactly when the true "
            "sum passes 64 bits, and otherwise gives it: the order does not matter, and one "
            "comparison at the end does."
        ),
        theory="bit-vectors",
        holds_for="every number of addends up to the 65,536 rows of a plan, by induction",
        rests=(
            "ferrum_verify.derive.memory_plan:derive_plan",
            "ferrum_verify.rules.capacity:check",
        ),
        rules=(
            "capacity.total-overflow",
            "pool.total-overflow",
            "static.total-overflow",
        ),
        checks=checked_fold,
    ),
    Theorem(
        id="sums.ceilings-fit-128-bits",
        statement=(
            "The 128-bit ceilings of a memory plan never overflow, so the engine's refusals of "
            "such an overflow cannot happen."
        ),
        theory="non-linear integers",
        holds_for="every plan within the limit of rows",
        rests=(
            "ferrum_verify.derive.memory_plan:derive_plan",
            "ferrum_verify.rules.capacity:check",
        ),
        rules=("capacity.total-overflow",),
        checks=wide_ceilings,
    ),
)
