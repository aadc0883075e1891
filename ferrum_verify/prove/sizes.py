"""Sizes: no demand passes u64, quantization loses nothing, and ceilings hold at every shape.

Mirrors ``rules/descriptor.py`` and the ceiling of ``rules/pool.py``, without resting on the
theorem that the maximal shape suffices: each claim speaks of every admissible shape.
"""

from __future__ import annotations

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
    is_sound,
    is_sound_but_for_alignment,
    largest_of,
    linear,
    linear_counts,
    linear_covered,
    shape_of,
)
from ferrum_verify.prove.obligation import Obligation, Violation
from ferrum_verify.rules import descriptor_rows as rules
from ferrum_verify.rules.pool_totals import CEILING

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool
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
    def encode() -> Violation:
        words, shape = Words.up_to(largest_of(claimed)), SymbolicShape.named()
        passes = z3.UGT(words.taken(claimed, shape), words.u64)
        return Violation((*defined_at(claimed.terms, shape), passes), shape.counts)

    return Obligation(
        id=f"{at}: fits u64",
        claim=f"The bytes of `{row.base_resource_id}`, aligned and in whole blocks, fit u64 at "
        "every shape that its demand is defined at.",
        names=(row.base_resource_id,),
        logic=LOGIC,
        rule=rules.SIZE_OVERFLOW,
        location=f"{at}/demand",
        key=("fits", claimed),
        violation=encode,
        message=lambda found: (
            f"the size of dynamic resource `{row.base_resource_id}` passes u64 at a shape that "
            "its demand admits"
        ),
        witness=lambda values: ShapeCounterexample(shape_of(values), overflow=True),
    )


def _loses_nothing(row: DynamicDescriptor, claimed: Claim, at: str) -> Obligation:
    """Masks round as division does; the unit need be no power of two here, so it can fail."""
    unit = claimed.granule

    def encode() -> Violation:
        words, shape = Words.up_to(largest_of(claimed)), SymbolicShape.named()
        taken, least = words.taken(claimed, shape), words.least(claimed, shape)
        return Violation(
            (*defined_at(claimed.terms, shape), z3.ULE(taken, words.u64), taken != least),
            shape.counts,
        )

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
        logic=LOGIC,
        rule=rules.ALIGNMENT,
        location=at,
        key=("quantized", claimed),
        violation=encode,
        message=lambda _: (
            f"dynamic resource `{row.base_resource_id}` is aligned to {claimed.alignment:,} bytes, "
            "and the masks of the allocator give it another size than the least multiple"
        ),
        witness=witness,
    )


def _never_shrinks(row: DynamicDescriptor, at: str) -> Obligation:
    terms = row.demand.terms

    def encode() -> Violation:
        small, defined = linear_counts("", defined_up_to(terms))
        large, defined_larger = linear_counts("_larger", defined_up_to(terms))
        covered = linear_covered(terms, small) + linear_covered(terms, large)
        grows = [one <= other for one, other in zip(small, large, strict=True)]
        shrinks = linear(terms, small) > linear(terms, large)
        return Violation((*defined, *defined_larger, *covered, *grows, shrinks), (*small, *large))

    def witness(values: tuple[int, ...]) -> Counterexample:
        small, large = shape_of(values), shape_of(values[3:])
        return ShapeCounterexample(
            small, value_at(terms, small), value_at(terms, large), f"{at}/demand"
        )

    return Obligation(
        id=f"{at}: never shrinks",
        claim=f"The bytes of `{row.base_resource_id}` never shrink as a shape grows.",
        names=(row.base_resource_id,),
        logic=LINEAR,
        rule=rules.ILLEGAL_DEMAND,
        location=f"{at}/demand",
        key=("monotone", terms),
        violation=encode,
        message=lambda _: (
            f"the demand of dynamic resource `{row.base_resource_id}` shrinks as the shape grows"
        ),
        witness=witness,
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
    alike: dict[Claim, int] = {}
    for member in members:
        claimed = Claim.of(member)
        alike[claimed] = alike.get(claimed, 0) + member.theoretical_maximum_instances
    ceiling = pool.theoretical_ceiling_bytes
    name = f"pool `{short_pool(pool.pool_id)}`"

    def encode() -> Violation:
        given: list[z3.BoolRef] = []
        largest = sum(count * largest_of(claimed) for claimed, count in alike.items())
        words = Words.up_to(max(largest, ceiling))
        total = words.constant(0)
        for index, (claimed, instances) in enumerate(alike.items()):
            shape = SymbolicShape.named(f"_{index}")
            given += defined_at(claimed.terms, shape)
            if claimed.terms.only("sequences") is not None:
                given.append(shape.sequences == 1)
            total += words.constant(instances) * words.taken(claimed, shape)
        return Violation((*given, z3.UGT(total, words.constant(ceiling))))

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
        logic=LOGIC,
        rule=CEILING,
        location=f"{at}/theoretical_ceiling_bytes",
        key=("ceiling", frozenset(alike.items()), ceiling),
        violation=encode,
        message=lambda _: (
            f"the members of {name} can hold more than its theoretical ceiling of {ceiling:,} bytes"
        ),
        witness=witness,
    )
