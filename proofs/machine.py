"""Vocabulary: sizes as the engine has them, unsigned words of 64 bits.

Alignment is a matter of masks, carries and one possible overflow, which is what bit-vectors
decide exactly and fast. The engine adds with a check, so every operation here comes with the
condition under which it does not overflow.
"""

from __future__ import annotations

from dataclasses import dataclass

import z3

WORD_BITS = 64
LARGEST = 2**WORD_BITS - 1


@dataclass(frozen=True)
class Checked:
    """A word that some arithmetic gave, and the condition that the arithmetic fits."""

    fits: z3.BoolRef
    value: z3.BitVecRef


def word(name: str) -> z3.BitVecRef:
    """Return a variable of 64 bits."""
    return z3.BitVec(name, WORD_BITS)


def constant(value: int) -> z3.BitVecRef:
    """Return a number as a word of 64 bits."""
    return z3.BitVecVal(value, WORD_BITS)


def wide(value: z3.BitVecRef, bits: int) -> z3.BitVecRef:
    """Return the word in more bits, so that sums of it do not wrap."""
    return z3.ZeroExt(bits - WORD_BITS, value)


def power_of_two(value: z3.BitVecRef) -> z3.BoolRef:
    """Say that exactly one bit is set."""
    return z3.And(value != 0, value & (value - 1) == 0)


def aligned(value: z3.BitVecRef, alignment: z3.BitVecRef) -> z3.BoolRef:
    """Say that the value is a multiple of the alignment, by its mask."""
    return value & (alignment - 1) == 0


def align_up(value: z3.BitVecRef, alignment: z3.BitVecRef) -> Checked:
    """Round up by adding the mask and clearing it; the addition is checked."""
    mask = alignment - 1
    return Checked(z3.ULE(value, constant(LARGEST) - mask), (value + mask) & ~mask)


@dataclass(frozen=True)
class Storage:
    """How a resource is stored: its alignment, and the block if the arena has fixed blocks."""

    alignment: z3.BitVecRef
    in_blocks: z3.BoolRef
    block: z3.BitVecRef

    def legal(self) -> tuple[z3.BoolRef, ...]:
        """State the premises: alignment and block are powers of two."""
        return power_of_two(self.alignment), power_of_two(self.block)

    def quantum(self) -> z3.BitVecRef:
        """Return the coarser of alignment and block."""
        coarser = z3.And(self.in_blocks, z3.UGT(self.block, self.alignment))
        return z3.If(coarser, self.block, self.alignment)

    def quantize(self, size: z3.BitVecRef) -> Checked:
        """Round up to the alignment, then to the block of a fixed-block arena."""
        once = align_up(size, self.alignment)
        twice = align_up(once.value, self.block)
        return Checked(
            z3.And(once.fits, z3.Implies(self.in_blocks, twice.fits)),
            z3.If(self.in_blocks, twice.value, once.value),
        )


def any_storage() -> Storage:
    """Return storage about which nothing is known yet."""
    return Storage(word("alignment"), z3.Bool("in_blocks"), word("block"))
