"""What storage really takes: a size aligned, then rounded up to whole blocks.

Sixty-four-bit bit-vectors, as for ``align_up``. Two nested roundings with two symbolic powers of
two are slow to compare pairwise, so the first theorem reduces them to one rounding by the
coarser of the two, and the others are proved of that one rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .machine import (
    LARGEST,
    WORD_BITS,
    align_up,
    aligned,
    any_storage,
    constant,
    power_of_two,
    wide,
    word,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_BV"
RESTS = ("ferrum_verify.plan.sizes:quantize",)
STRICT_ALIGNMENT = 2


def one_rounding(_: Scale) -> Iterator[Check]:
    """Prove that two roundings are one, by the coarser alignment."""
    size, storage = word("size"), any_storage()
    twice, once = storage.quantize(size), align_up(size, storage.quantum())
    yield from proves(
        "same",
        "Aligning and then filling whole blocks is one rounding up to the coarser of the two; "
        "one overflows exactly when the other does.",
        LOGIC,
        z3.And(twice.fits == once.fits, z3.Implies(twice.fits, twice.value == once.value)),
        storage.legal(),
    )
    yield from proves(
        "power",
        "The coarser of the two is a power of two.",
        LOGIC,
        power_of_two(storage.quantum()),
        storage.legal(),
    )
    yield from proves(
        "aligned",
        "A quantized size is not below the size, and a multiple of the alignment and of the block.",
        LOGIC,
        z3.And(
            z3.UGE(twice.value, size),
            aligned(twice.value, storage.alignment),
            z3.Implies(storage.in_blocks, aligned(twice.value, storage.block)),
        ),
        (*storage.legal(), twice.fits),
    )
    yield from proves(
        "order",
        "Filling blocks first and then aligning gives the same: the order does not matter.",
        LOGIC,
        z3.Implies(
            storage.in_blocks,
            align_up(align_up(size, storage.block).value, storage.alignment).value == twice.value,
        ),
        (*storage.legal(), twice.fits),
    )


def monotone(_: Scale) -> Iterator[Check]:
    """Prove monotonicity and idempotence of both roundings together."""
    storage, small, large = any_storage(), word("small"), word("large")
    low, high = storage.quantize(small), storage.quantize(large)
    yield from proves(
        "monotone",
        "If the larger size can be quantized then so can the smaller, to no more.",
        LOGIC,
        z3.And(low.fits, z3.ULE(low.value, high.value)),
        (*storage.legal(), high.fits, z3.ULE(small, large)),
    )
    again = storage.quantize(low.value)
    yield from proves(
        "idempotent",
        "Quantizing a quantized size fits and changes nothing.",
        LOGIC,
        z3.And(again.fits, again.value == low.value),
        (*storage.legal(), low.fits),
    )


def sub_additive(_: Scale) -> Iterator[Check]:
    """Prove that one claim never takes more than its parts claimed apart."""
    left, right, quantum = word("left"), word("right"), word("quantum")
    parts = align_up(left, quantum), align_up(right, quantum)
    whole = align_up(left + right, quantum)
    no_carry = z3.ULE(left, constant(LARGEST) - right)
    bits = WORD_BITS + 1
    apart = wide(parts[0].value, bits) + wide(parts[1].value, bits)
    yield from proves(
        "sum-is-aligned",
        "The sum of two aligned sizes is aligned, in 65 bits so that it cannot wrap.",
        LOGIC,
        apart & wide(quantum - 1, bits) == 0,
        (power_of_two(quantum), parts[0].fits, parts[1].fits),
    )
    yield from proves(
        "sub-additive",
        "The quantized sum is at most the sum of the quantized parts, because that sum is "
        "aligned and large enough, and rounding up is least.",
        LOGIC,
        z3.ULE(wide(whole.value, bits), apart),
        (power_of_two(quantum), parts[0].fits, parts[1].fits, no_carry, whole.fits),
    )


def not_additive(_: Scale) -> Iterator[Check]:
    """Show that the bound is no equality: two claims can take more than one."""
    left, right, alignment = word("left"), word("right"), word("alignment")
    apart = align_up(left, alignment).value + align_up(right, alignment).value
    together = align_up(left + right, alignment).value
    small = (z3.UGE(left, 1), z3.UGE(right, 1), z3.ULT(left, 16), z3.ULT(right, 16))
    yield from exhibits(
        "counterexample",
        "Two sizes of 1 at alignment 2 take 4 bytes apart and 2 together.",
        LOGIC,
        *small,
        alignment == STRICT_ALIGNMENT,
        left == 1,
        right == 1,
        apart != together,
    )
    yield from excludes(
        "none-smaller",
        "Alignment 1 adds nothing, and 1 is the smallest size that can be claimed.",
        LOGIC,
        *small,
        alignment == 1,
        apart != together,
    )


def first_strict() -> tuple[int, int, int] | None:
    """Find the first alignment and sizes for which parts take more than the whole."""

    def rounded(size: int, alignment: int) -> int:
        return -(-size // alignment) * alignment

    for alignment in (1, 2, 4):
        for left in range(1, 8):
            for right in range(1, 8):
                apart = rounded(left, alignment) + rounded(right, alignment)
                if apart != rounded(left + right, alignment):
                    return alignment, left, right
    return None


THEOREMS = (
    Theorem(
        id="quantize.one-rounding",
        statement=(
            "Aligning a size and then filling whole blocks is one rounding up, by the coarser of "
            "alignment and block, in either order. The result is not below the size and a "
            "multiple of both."
        ),
        theory="bit-vectors",
        holds_for="every size, alignment and block",
        rests=RESTS,
        rules=("static.stride-mismatch",),
        checks=one_rounding,
    ),
    Theorem(
        id="quantize.monotone",
        statement=(
            "Quantization is monotone, overflow included, and idempotent: a smaller size never "
            "takes more, and a quantized size stays as it is."
        ),
        theory="bit-vectors",
        holds_for="every size, alignment and block",
        rests=RESTS,
        rules=("descriptor.size-overflow",),
        checks=monotone,
    ),
    Theorem(
        id="quantize.sub-additive",
        statement=(
            "Quantization is sub-additive: the quantized sum of two sizes is at most the sum of "
            "the two quantized sizes."
        ),
        theory="bit-vectors",
        holds_for="every two sizes and every quantum",
        rests=("ferrum_verify.plan.sizes:resident_ceiling",),
        rules=("pool.ceiling",),
        checks=sub_additive,
    ),
    Theorem(
        id="quantize.not-additive",
        statement=(
            "Quantization is not additive, so the sequences of one batch that claim together can "
            "take less than apart: at alignment 2, two claims of 1 byte take 4 bytes and one of 2 "
            "takes 2."
        ),
        theory="bit-vectors",
        holds_for="counterexample, smallest by alignment, then sizes",
        rests=("ferrum_verify.plan.sizes:resident_ceiling",),
        rules=("pool.ceiling",),
        checks=not_additive,
        recheck=lambda _: first_strict() == (STRICT_ALIGNMENT, 1, 1),
    ),
)
