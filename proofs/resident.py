"""How many bytes the instances of one descriptor can hold together.

Integers, by induction on the claims. Each step is a sum of a few unknowns; the products in it
(claims times bytes) stay opaque monomials that both solvers merely add up, so no width has to be
chosen and the 128-bit ceiling never enters. What the steps take as given about quantization is
what ``quantize`` proves of 64-bit words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_NIA"


def actual_sequences(_: Scale) -> Iterator[Check]:
    """Prove that one claim for each sequence is the worst that a batch can be split into."""
    unit, sequences = z3.Int("unit"), z3.Int("sequences")
    together, more = z3.Int("together"), z3.Int("more")
    yield from proves(
        "claim.base",
        "One sequence in one claim takes one unit: the quantized bytes of one sequence.",
        LOGIC,
        together <= sequences * unit,
        (sequences == 1, together == unit),
    )
    yield from proves(
        "claim.step",
        "If s sequences in one claim take at most s units, then s + 1 take at most s + 1, since "
        "quantization is sub-additive.",
        LOGIC,
        more <= (sequences + 1) * unit,
        (unit > 0, sequences >= 1, together <= sequences * unit, more <= together + unit),
    )
    held, spent, claim, size = (z3.Int(name) for name in ("held", "spent", "claim", "size"))
    yield from proves(
        "batch.base",
        "Without any claim nothing is held.",
        LOGIC,
        held <= spent * unit,
        (held == 0, spent == 0),
    )
    yield from proves(
        "batch.step",
        "If the claims so far hold at most one unit for each of their sequences, then so do they "
        "with one claim more, of any number of sequences.",
        LOGIC,
        held + claim <= (spent + size) * unit,
        (unit > 0, size >= 1, held <= spent * unit, claim <= size * unit),
    )
    instances = z3.Int("instances")
    yield from proves(
        "ceiling",
        "The claims hold at most minimum times instances, when all their sequences together are "
        "no more than the instances.",
        LOGIC,
        held <= instances * unit,
        (unit > 0, spent >= 0, spent <= instances, held <= spent * unit),
    )


def per_instance(_: Scale) -> Iterator[Check]:
    """Prove the bound of every other form: the maximal shape for each instance."""
    held, claims, claim, largest, instances = (
        z3.Int(name) for name in ("held", "claims", "claim", "largest", "instances")
    )
    yield from proves(
        "base",
        "Without any claim nothing is held.",
        LOGIC,
        held <= claims * largest,
        (held == 0, claims == 0),
    )
    yield from proves(
        "step",
        "One instance more adds at most the quantized bytes at the maximal shape.",
        LOGIC,
        held + claim <= (claims + 1) * largest,
        (claims >= 0, held <= claims * largest, claim <= largest),
    )
    yield from proves(
        "ceiling",
        "As many claims as there are instances, or fewer, hold at most maximum times instances.",
        LOGIC,
        held <= instances * largest,
        (largest > 0, claims >= 0, claims <= instances, held <= claims * largest),
    )


def worst_split(alignment: int, each: int, sequences: int) -> int:
    """Try every split of some sequences into claims; return the most bytes they hold."""

    def claimed(count: int) -> int:
        return -(-count * each // alignment) * alignment

    most = [0] * (sequences + 1)
    for total in range(1, sequences + 1):
        most[total] = max(claimed(last) + most[total - last] for last in range(1, total + 1))
    return most[sequences]


def splits_agree(_: Scale) -> bool:
    """Compare the ceiling with the worst split, for small alignments, sizes and batches."""
    return all(
        worst_split(alignment, each, sequences) == -(-each // alignment) * alignment * sequences
        for alignment in (1, 2, 4, 8)
        for each in range(1, 18)
        for sequences in range(1, 9)
    )


THEOREMS = (
    Theorem(
        id="resident.actual-sequences",
        statement=(
            "However the sequences of a batch are split into claims of an actual-sequences "
            "demand, the claims together hold at most the quantized bytes of one sequence times "
            "the number of instances."
        ),
        theory="non-linear integers",
        holds_for="every number of sequences and claims, by induction",
        rests=("ferrum_verify.plan.sizes:resident_ceiling",),
        rules=("pool.ceiling",),
        checks=actual_sequences,
        recheck=splits_agree,
    ),
    Theorem(
        id="resident.per-instance",
        statement=(
            "For every other demand form, the instances together hold at most the quantized "
            "bytes at the maximal shape times the number of instances."
        ),
        theory="non-linear integers",
        holds_for="every number of instances, by induction",
        rests=("ferrum_verify.plan.sizes:resident_ceiling",),
        rules=("pool.ceiling",),
        checks=per_instance,
    ),
)
