"""Need: the bytes that a batch takes in all, as one formula, and whether they fit.

Alike rows and groups are counted together, so a model of a thousand layers has a formula of a
few terms.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import Shape
from ferrum_verify.plan.sizes import Claim
from ferrum_verify.plan.turns import bytes_in_turn
from ferrum_verify.prove.formulas import (
    LOGIC,
    SymbolicShape,
    Words,
    defined_up_to,
    in_one_order,
    is_sound,
    largest_at,
    largest_in_turn,
    shared_by,
)
from ferrum_verify.prove.obligation import Statement

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.plan.turns import Group
    from ferrum_verify.prove.formulas import Shared


def all_sound(groups: Iterable[Group], descriptors: Mapping[str, DynamicDescriptor]) -> bool:
    """Whether the bytes of every resource in the groups can be spoken of."""
    named = {resource for group in groups for row in group for resource in row}
    return all(name in descriptors and is_sound(descriptors[name]) for name in named)


@dataclass(frozen=True, slots=True)
class Need:
    """Static bytes, rows that each sequence has for itself, and groups that take turns.

    Each kind of row and of group stands with how many there are of it.
    """

    static: int
    own: tuple[tuple[Claim, int], ...] = ()
    shared: Shared = ()

    @classmethod
    def of(
        cls,
        static: int,
        own: Iterable[DynamicDescriptor],
        groups: Sequence[Group],
        descriptors: Mapping[str, DynamicDescriptor],
    ) -> Need:
        """The need of rows of the sequence, and of groups of resources that share bytes."""
        named = {resource for group in groups for row in group for resource in row}
        claims = {resource: Claim.of(descriptors[resource]) for resource in named}
        return cls(
            static, in_one_order(Counter(map(Claim.of, own)).items()), shared_by(groups, claims)
        )

    def largest(self, most: Shape) -> int:
        """No less than the need of one sequence at any shape within ``most``."""
        own = sum(count * largest_at(claim, most) for claim, count in self.own)
        return self.static + own + largest_in_turn(self.shared, most)

    def formula(
        self,
        words: Words,
        one: SymbolicShape,
        step: SymbolicShape,
        sequences: z3.BitVecRef | None = None,
    ) -> z3.BitVecRef:
        """The need of sequences that are each at ``one``, with a step at ``step``.

        One sequence, unless their number is given.
        """
        total = words.constant(self.static)
        for claim, count in self.own:
            each = words.constant(count) * words.taken(claim, one)
            total += each if sequences is None else each * sequences
        return total + words.in_turn(self.shared, step)

    def at(self, shape: Shape) -> int | None:
        """The need of one sequence at a shape; None where a demand is not defined there."""
        own = (claim for claim, _ in self.own)
        turns = (claim for rows, _ in self.shared for row in rows for claim, _ in row)
        if any(shape.tokens > defined_up_to(claim.terms).tokens for claim in (*own, *turns)):
            return None
        fixed = SymbolicShape.fixed(shape)
        value = z3.simplify(self.formula(Words.up_to(self.largest(shape)), fixed, fixed))
        return int(str(value))

    def bytes_at(self, shape: Shape) -> int:
        """The same without a formula; raises SizeError where a demand is not defined there."""
        own = sum(count * claim.bytes_at(shape) for claim, count in self.own)
        return self.static + own + bytes_in_turn(self.shared, lambda each: each.bytes_at(shape))


def _without_static(need: Need, limit: int) -> tuple[Need, int]:
    """The need and its limit less the static bytes, where these are within the limit."""
    if need.static > limit:
        return need, limit
    return replace(need, static=0), limit - need.static


def fits(need: Need, most: Shape, limit: int) -> Statement:
    """At every shape within ``most`` one sequence needs at most the limit, in bytes."""
    need, limit = _without_static(need, limit)
    shape = SymbolicShape.up_to(most)
    words = Words.beside(max(need.largest(most), limit), *shape.counts)
    return Statement(
        LOGIC,
        z3.ULE(need.formula(words, shape, shape), words.constant(limit)),
        shape.within(most),
        least=shape.counts,
        example=shape.smallest,
    )


def passes(need: Need, shape: Shape, limit: int) -> Statement:
    """At this shape one sequence needs more than the limit, in bytes."""
    fixed = SymbolicShape.fixed(shape)
    words = Words.beside(max(need.largest(shape), limit), *fixed.counts)
    return Statement(LOGIC, z3.UGT(need.formula(words, fixed, fixed), words.constant(limit)))


def several_fit(need: Need, tokens: int, most: int, limit: int) -> Statement:
    """Up to so many sequences of that many tokens each need at most the limit, in bytes."""
    need, limit = _without_static(need, limit)
    sequences = z3.BitVec("sequences", most.bit_length())
    together, words = _several(need, tokens, sequences, most, limit)
    return Statement(
        LOGIC,
        z3.ULE(together, words.constant(limit)),
        (z3.UGE(sequences, 1), z3.ULE(sequences, most)),
        least=(sequences,),
        example=((sequences, z3.BitVecVal(1, sequences.size())),),
    )


def several_pass(need: Need, tokens: int, sequences: int, limit: int) -> Statement:
    """So many sequences of that many tokens each need more than the limit, in bytes."""
    fixed = z3.BitVecVal(sequences, sequences.bit_length())
    together, words = _several(need, tokens, fixed, sequences, limit)
    return Statement(LOGIC, z3.UGT(together, words.constant(limit)))


def _several(
    need: Need, tokens: int, sequences: z3.BitVecRef, most: int, limit: int
) -> tuple[z3.BitVecRef, Words]:
    """The need of up to ``most`` sequences whose number is a term, and the words it is in.

    What one step takes for all of them grows with their number.
    """
    beyond = Shape(most, most * tokens, 1)
    one = SymbolicShape.fixed(Shape(1, tokens, 1))
    in_all = Words(beyond.tokens.bit_length())
    step = SymbolicShape(
        sequences, in_all.widened(sequences) * in_all.constant(tokens), z3.BitVecVal(1, 1)
    )
    words = Words.beside(max(most * need.largest(beyond), limit), *one.counts, *step.counts)
    return need.formula(words, one, step, words.widened(sequences)), words
