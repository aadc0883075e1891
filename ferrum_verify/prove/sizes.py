"""Sizes: no demand passes u64, quantization loses nothing, and ceilings hold at every shape.

Mirrors ``rules/descriptor_rows.py`` and the ceiling of ``rules/pool_totals.py``, without resting
on the theorem that the maximal shape suffices: each claim speaks of every admissible shape.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import Shape, ShapeCounterexample
from ferrum_verify.documents.primitives import U32_MAX, U64_MAX
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.sizes import Claim, resident_ceiling
from ferrum_verify.prove.evaluation import rounded_both_ways, value_at
from ferrum_verify.prove.formulas import (
    LINEAR,
    LOGIC,
    SymbolicShape,
    Words,
    defined_at,
    defined_up_to,
    in_one_order,
    is_sound,
    is_sound_but_for_alignment,
    largest_of,
    linear,
    linear_counts,
    linear_covered,
    most_taken,
    shape_of,
)
from ferrum_verify.prove.obligation import Obligation, Statement, formula
from ferrum_verify.rules import descriptor_rows as rules
from ferrum_verify.rules.pool_totals import CEILING

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool
    from ferrum_verify.documents.terms import Terms
    from ferrum_verify.prove.obligation import Claims

_FREE_SEQUENCES = U32_MAX
"""The bound of a demand that takes no notice of sequences."""


def descriptor_claims(row: DynamicDescriptor, at: str) -> Claims:
    """The claims about one descriptor's bytes, for all of its shapes."""
    if not is_sound_but_for_alignment(row):
        return
    claimed = Claim.of(row)
    yield _loses_nothing(row, claimed, at)
    if not is_sound(row):
        return
    yield _fits(row, claimed, at)
    yield _never_shrinks(row, at)


def _fits(row: DynamicDescriptor, claimed: Claim, at: str) -> Obligation:
    return Obligation(
        id=f"{at}: fits u64",
        claim=f"The bytes of `{row.base_resource_id}`, aligned and in whole blocks, fit u64 at "
        "every shape that its demand is defined at.",
        names=(row.base_resource_id,),
        rule=rules.SIZE_OVERFLOW,
        location=f"{at}/demand",
        formula=formula(fit_u64, claimed),
        message=f"the size of dynamic resource `{row.base_resource_id}` passes u64 at a shape that "
        "its demand admits",
        witness=lambda values: ShapeCounterexample(shape_of(values), overflow=True),
    )


def fit_u64(claimed: Claim) -> Statement:
    """At every shape of its demand the bytes that a row takes fit u64."""
    words, shape = Words.up_to(largest_of(claimed)), SymbolicShape.named()
    return _at_every_shape(claimed, shape, z3.ULE(words.taken(claimed, shape), words.u64))


def _loses_nothing(row: DynamicDescriptor, claimed: Claim, at: str) -> Obligation:
    unit = claimed.granule

    def witness(values: tuple[int, ...]) -> Counterexample | None:
        shape = shape_of(values)
        rounded = rounded_both_ways(row, shape)
        if rounded is None:
            return None
        return ShapeCounterexample(shape, max(rounded), min(rounded), at)

    return Obligation(
        id=f"{at}: quantized",
        claim=f"At every shape `{row.base_resource_id}` takes the least multiple of {unit:,} bytes "
        "that holds what it asks for.",
        names=(row.base_resource_id,),
        rule=rules.ALIGNMENT,
        location=at,
        formula=formula(round_as_division_does, claimed),
        message=f"dynamic resource `{row.base_resource_id}` is aligned to {claimed.alignment:,} "
        "bytes, and the masks of the allocator give it another size than the least multiple",
        witness=witness,
    )


def round_as_division_does(claimed: Claim) -> Statement:
    """Masks round as division does; the unit need be no power of two here, so it can fail."""
    words, shape = Words.up_to(largest_of(claimed)), SymbolicShape.named()
    goal = words.taken(claimed, shape) == words.least(claimed, shape)
    return _at_every_shape(claimed, shape, goal)


def _at_every_shape(claimed: Claim, shape: SymbolicShape, goal: z3.BoolRef) -> Statement:
    given = defined_at(claimed.terms, shape)
    return Statement(LOGIC, goal, given, least=shape.counts, example=shape.smallest)


def _never_shrinks(row: DynamicDescriptor, at: str) -> Obligation:
    terms = row.demand.terms

    def witness(values: tuple[int, ...]) -> Counterexample:
        small, large = shape_of(values), shape_of(values[3:])
        return ShapeCounterexample(
            small, value_at(terms, small), value_at(terms, large), f"{at}/demand"
        )

    return Obligation(
        id=f"{at}: never shrinks",
        claim=f"The bytes of `{row.base_resource_id}` never shrink as a shape grows.",
        names=(row.base_resource_id,),
        rule=rules.ILLEGAL_DEMAND,
        location=f"{at}/demand",
        formula=formula(is_monotone, terms),
        message=f"the demand of dynamic resource `{row.base_resource_id}` shrinks as the shape "
        "grows",
        witness=witness,
    )


def is_monotone(terms: Terms) -> Statement:
    """A shape that is larger in every count asks for no fewer bytes."""
    small, within = linear_counts("", defined_up_to(terms))
    large, within_larger = linear_counts("_larger", defined_up_to(terms))
    covered = linear_covered(terms, small) + linear_covered(terms, large)
    grows = [one <= other for one, other in zip(small, large, strict=True)]
    return Statement(
        LINEAR,
        linear(terms, small) <= linear(terms, large),
        (*within, *within_larger, *covered, *grows),
        least=(*small, *large),
        example=tuple((count, z3.IntVal(1)) for count in (*small, *large)),
    )


def ceiling_claims(pool: DynamicPool, members: list[DynamicDescriptor], at: str) -> Claims:
    """The claim that a pool's members never hold more than its theoretical ceiling.

    Each member is at a shape of its own, with all of its instances; alike members are counted
    together, so a pool of a thousand layers has a formula of a few terms. The sequences of one
    batch share an ``actual_sequences`` demand, and one claim each is the worst padding
    (theorem ``resident.actual-sequences``), so such a member counts the smallest claim for every
    instance.
    """
    if not members or not all(is_sound(member) for member in members):
        return
    alike = Counter[Claim]()
    for member in members:
        alike[Claim.of(member)] += member.theoretical_maximum_instances
    ceiling = pool.theoretical_ceiling_bytes
    name = f"pool `{short_pool(pool.pool_id)}`"

    def witness(_: tuple[int, ...]) -> Counterexample | None:
        # Each member up to its own maximum: the largest shape is where that is for all.
        tops = [defined_up_to(claimed.terms) for claimed in alike]
        shape = Shape(
            max(top.sequences if top.sequences < _FREE_SEQUENCES else 1 for top in tops),
            max(top.tokens if top.tokens < U64_MAX else 1 for top in tops),
            max(top.pages if top.pages < U64_MAX else 1 for top in tops),
        )
        try:
            total = sum(resident_ceiling(member) for member in members)
        except SizeError:
            return None
        return ShapeCounterexample(shape, total, ceiling, f"{at}/theoretical_ceiling_bytes")

    yield Obligation(
        id=f"{at}: ceiling",
        claim=f"All instances of all members of {name}, each at any shape that its demand admits, "
        f"hold at most {ceiling:,} bytes together.",
        names=(pool.pool_id,),
        rule=CEILING,
        location=f"{at}/theoretical_ceiling_bytes",
        formula=formula(stay_under, in_one_order(alike.items()), ceiling),
        message=f"the members of {name} can hold more than its theoretical ceiling of "
        f"{ceiling:,} bytes",
        witness=witness,
    )


def stay_under(alike: tuple[tuple[Claim, int], ...], ceiling: int) -> Statement:
    """Rows that are so many of each kind, each kind at a shape of its own, take at most that.

    As no kind's shape bears on another's, that is so exactly when each kind takes at most what
    it takes at its largest, and those sums are no more than the ceiling: the solver proves both.
    """
    words = Words.up_to(max(sum(count * largest_of(claimed) for claimed, count in alike), ceiling))
    total = words.constant(0)
    goal: list[z3.BoolRef] = []
    given: list[z3.BoolRef] = []
    example: list[tuple[z3.BitVecRef, z3.BitVecRef]] = []
    for index, (claimed, instances) in enumerate(alike):
        shape = SymbolicShape.named(f"_{index}")
        given += defined_at(claimed.terms, shape)
        example += shape.smallest
        most = defined_up_to(claimed.terms)
        if claimed.terms.only("sequences") is not None:
            given.append(shape.sequences == 1)
            most = replace(most, sequences=1)
        largest = words.constant(most_taken(claimed, most))
        goal.append(z3.ULE(words.taken(claimed, shape), largest))
        total += words.constant(instances) * largest
    goal.append(z3.ULE(total, words.constant(ceiling)))
    return Statement(LOGIC, z3.And(goal), tuple(given), example=tuple(example))
