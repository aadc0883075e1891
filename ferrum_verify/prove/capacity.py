"""Capacity: what must fit does, and the frontier is where it is said to be.

Mirrors ``rules/capacity.py``, the reusable ceiling of ``rules/pool.py`` and ``frontier.py``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import Shape, ShapeCounterexample
from ferrum_verify.documents.primitives import U32_MAX, U64_MAX, U128_MAX
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.sizes import UNIT, Claim
from ferrum_verify.plan.turns import row_groups, slot_groups
from ferrum_verify.prove.formulas import (
    LOGIC,
    SymbolicShape,
    Words,
    defined_up_to,
    is_sound,
    largest_at,
    largest_in_turn,
    shared_by,
)
from ferrum_verify.prove.obligation import Obligation, Violation
from ferrum_verify.rules import capacity as rules
from ferrum_verify.rules.pool_totals import REUSABLE_CEILING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.plan.frontier import Headroom
    from ferrum_verify.plan.turns import Group
    from ferrum_verify.prove.formulas import Shared
    from ferrum_verify.prove.obligation import Claims


def runnable_claims(
    memory: MemoryPlan, at: str, descriptors: Mapping[str, DynamicDescriptor]
) -> Claims:
    """The claim that static bytes and one minimal request fit the usable bytes.

    It is stated over the rows themselves, not over the totals that the plan states.
    """
    groups = _sharing(memory.dynamic_pools)
    named = {resource for group in groups for row in group for resource in row}
    if not all(name in descriptors and is_sound(descriptors[name]) for name in named):
        return
    usable = memory.policy_capacity_bytes - memory.reserve_bytes
    static = sum(row.size_bytes for row in memory.static_allocations)
    terms = _Need.of(descriptors, groups, static)
    total = terms.at(UNIT)
    if usable <= 0 or total is None:
        return

    def encode() -> Violation:
        words = Words.up_to(max(terms.largest(UNIT), usable))
        shape = SymbolicShape.named()
        needs = terms.formula(words, shape, shape)
        return Violation((*shape.within(UNIT), z3.UGT(needs, words.constant(usable))))

    yield Obligation(
        id=f"{at}: runnable",
        claim=f"The static bytes and one request of one token fit the {usable:,} usable bytes.",
        names=(),
        logic=LOGIC,
        rule=rules.EXCEEDS,
        location=f"{at}/minimum_runnable_request_bytes",
        key=("runnable", terms.key, usable),
        violation=encode,
        message=lambda _: (
            f"static bytes and a minimal request need {total:,} bytes, "
            f"{total - usable:,} more than the {usable:,} usable ones"
        ),
        witness=lambda _: ShapeCounterexample(UNIT, total, usable, f"{at}/policy_capacity_bytes"),
    )


def lane_claims(memory: MemoryPlan, pool: DynamicPool, at: str) -> Claims:
    """The claim that all lanes of all buckets fit a pool's reusable workspace ceiling."""
    reusable = memory.reusable_execution
    if reusable is None:
        return
    budgets = [
        (budget.step_bytes, budget.invocation_bytes)
        for resolved in reusable.buckets
        for budget in resolved.pool_budgets
        if budget.pool_id == pool.pool_id
    ]
    lanes, ceiling = reusable.maximum_reusable_lanes, pool.reusable_workspace_ceiling_bytes
    total = lanes * sum(step + invocation for step, invocation in budgets)

    def encode() -> Violation:
        lane = z3.BitVec("lane_count", 32)
        words = Words.up_to(2**32 * sum(map(sum, budgets)))
        each = words.constant(0)
        for step, invocation in budgets:
            each += words.constant(step) + words.constant(invocation)
        taken = words.widened(lane) * each
        return Violation((z3.ULE(lane, lanes), z3.UGT(taken, words.constant(ceiling))), (lane,))

    yield Obligation(
        id=f"{at}: lanes",
        claim=f"Any {lanes:,} lanes or fewer, each with its budget of every bucket, fit the "
        f"{ceiling:,} bytes that pool `{short_pool(pool.pool_id)}` keeps for reusable execution.",
        names=(pool.pool_id,),
        logic=LOGIC,
        rule=REUSABLE_CEILING,
        location=f"{at}/reusable_workspace_ceiling_bytes",
        key=("lanes", tuple(budgets), lanes, ceiling),
        violation=encode,
        message=lambda _: (
            f"pool `{short_pool(pool.pool_id)}` keeps {ceiling:,} bytes for reusable execution, "
            f"but {lanes:,} lanes need {total:,}"
        ),
        witness=lambda _: ShapeCounterexample(
            UNIT, total, ceiling, f"{at}/reusable_workspace_ceiling_bytes"
        ),
    )


def frontier_claims(
    memory: MemoryPlan,
    at: str,
    descriptors: Mapping[str, DynamicDescriptor],
    headroom: Headroom,
    pages: int = 1,
) -> Claims:
    """The claims that the frontier's batch fits at every smaller length, and no longer one does.

    Only where memory ends it: where a declared maximum does, the second has nothing to say.
    """
    groups = _sharing(memory.dynamic_pools)
    named = {resource for group in groups for row in group for resource in row}
    if (
        not headroom.tokens
        or headroom.sequences != 1
        or not all(name in descriptors and is_sound(descriptors[name]) for name in named)
    ):
        return
    static, usable = memory.static_bytes, memory.usable_capacity_bytes
    terms = _Need.of(descriptors, groups, static)
    longest = headroom.tokens

    words = Words.up_to(max(terms.largest(Shape(1, longest + 1, pages)), usable))

    def at_length(tokens: z3.BitVecRef) -> z3.BitVecRef:
        shape = SymbolicShape(z3.BitVecVal(1, 32), tokens, z3.BitVecVal(pages, 64))
        return terms.formula(words, shape, shape)

    def fits() -> Violation:
        tokens = z3.BitVec("tokens", 64)
        within = (z3.UGE(tokens, 1), z3.ULE(tokens, longest))
        return Violation((*within, z3.UGT(at_length(tokens), words.constant(usable))), (tokens,))

    def witness(values: tuple[int, ...]) -> Counterexample | None:
        shape = Shape(1, values[0], pages)
        total = terms.at(shape)
        if total is None:
            return None
        return ShapeCounterexample(shape, total, usable, f"{at}/usable_capacity_bytes")

    yield Obligation(
        id=f"{at}: frontier",
        claim=f"One sequence of any length up to {longest:,} tokens fits the {usable:,} usable "
        "bytes.",
        names=(),
        logic=LOGIC,
        rule=rules.EXCEEDS,
        location=f"{at}/usable_capacity_bytes",
        key=("frontier", terms.key, usable, longest, pages),
        violation=fits,
        message=lambda _: f"one sequence of up to {longest:,} tokens does not fit {usable:,} bytes",
        witness=witness,
    )
    if headroom.refused_bytes is None or longest + 1 > U64_MAX:
        return
    yield Obligation(
        id=f"{at}: frontier is exact",
        claim=f"One sequence of {longest + 1:,} tokens does not fit the {usable:,} usable bytes.",
        names=(),
        logic=LOGIC,
        rule=rules.EXCEEDS,
        location=f"{at}/usable_capacity_bytes",
        key=("beyond", terms.key, usable, longest, pages),
        violation=lambda: Violation(
            (z3.ULE(at_length(z3.BitVecVal(longest + 1, 64)), words.constant(usable)),)
        ),
        message=lambda _: f"one sequence of {longest + 1:,} tokens still fits {usable:,} bytes",
    )


def sequence_claims(
    memory: MemoryPlan,
    at: str,
    descriptors: Mapping[str, DynamicDescriptor],
    headroom: Headroom,
    pages: int = 1,
) -> Claims:
    """The claims that as many sequences as the frontier says fit, or any fewer, and not one more.

    The sequences are of one length, ``headroom.tokens``; what one step takes for all of them
    grows with their number, so the number is the unknown.
    """
    groups = _sharing(memory.dynamic_pools)
    named = {resource for group in groups for row in group for resource in row}
    most, tokens = headroom.sequences, headroom.tokens
    if not most or not all(name in descriptors and is_sound(descriptors[name]) for name in named):
        return
    static, usable = memory.static_bytes, memory.usable_capacity_bytes
    terms = _Need.of(descriptors, groups, static)
    beyond = Shape(most + 1, (most + 1) * tokens, pages)
    words = Words.up_to(max(beyond.sequences * terms.largest(beyond), usable))
    one = SymbolicShape.fixed(Shape(1, tokens, pages))

    def of(sequences: z3.BitVecRef) -> z3.BitVecRef:
        together = z3.ZeroExt(32, sequences) * z3.BitVecVal(tokens, 64)
        step = SymbolicShape(sequences, together, z3.BitVecVal(pages, 64))
        return terms.formula(words, one, step, words.widened(sequences))

    def fits() -> Violation:
        sequences = z3.BitVec("sequences", 32)
        within = (z3.UGE(sequences, 1), z3.ULE(sequences, most))
        return Violation((*within, z3.UGT(of(sequences), words.constant(usable))), (sequences,))

    yield Obligation(
        id=f"{at}: frontier of sequences",
        claim=f"Up to {most:,} sequences of {tokens:,} tokens each fit the {usable:,} usable "
        "bytes.",
        names=(),
        logic=LOGIC,
        rule=rules.EXCEEDS,
        location=f"{at}/usable_capacity_bytes",
        key=("sequences", terms.key, usable, most, tokens, pages),
        violation=fits,
        message=lambda _: (
            f"up to {most:,} sequences of {tokens:,} tokens each do not fit {usable:,} bytes"
        ),
    )
    if headroom.refused_bytes is None or beyond.tokens > U64_MAX or beyond.sequences > U32_MAX:
        return
    yield Obligation(
        id=f"{at}: frontier of sequences is exact",
        claim=f"{beyond.sequences:,} sequences of {tokens:,} tokens each do not fit the "
        f"{usable:,} usable bytes.",
        names=(),
        logic=LOGIC,
        rule=rules.EXCEEDS,
        location=f"{at}/usable_capacity_bytes",
        key=("more sequences", terms.key, usable, most, tokens, pages),
        violation=lambda: Violation(
            (z3.ULE(of(z3.BitVecVal(beyond.sequences, 32)), words.constant(usable)),)
        ),
        message=lambda _: (
            f"{beyond.sequences:,} sequences of {tokens:,} tokens each still fit {usable:,} bytes"
        ),
    )


def total_claims(memory: MemoryPlan, at: str) -> Claims:
    """The claim that sums over the pools fit their integers: u64 for minima, u128 for ceilings."""
    minima = [tuple(getattr(pool, name) for name in rules.MINIMA) for pool in memory.dynamic_pools]
    ceilings = [
        pool.theoretical_ceiling_bytes + pool.reusable_workspace_ceiling_bytes
        for pool in memory.dynamic_pools
    ]
    static = sum(row.size_bytes for row in memory.static_allocations)
    largest = static + sum(map(sum, minima)) + sum(ceilings)

    def encode() -> Violation:
        words = Words.up_to(max(largest, 2**128))
        total = words.constant(static)
        for pool in minima:
            for minimum in pool:
                total += words.constant(minimum)
        ceiling = words.constant(static)
        for each in ceilings:
            ceiling += words.constant(each)
        return Violation(
            (z3.Or(z3.UGT(total, words.u64), z3.UGT(ceiling, words.constant(U128_MAX))),)
        )

    yield Obligation(
        id=f"{at}: totals",
        claim="The static bytes and the pools' minima add up within u64, and the ceilings within "
        "u128.",
        names=(),
        logic=LOGIC,
        rule=rules.OVERFLOW,
        location=f"{at}/minimum_runnable_request_bytes",
        key=("totals", static, tuple(minima), tuple(ceilings)),
        violation=encode,
        message=lambda _: "the plan's totals pass the integers that hold them",
    )


def _sharing(pools: tuple[DynamicPool, ...]) -> list[Group]:
    return [group for pool in pools for group in (*slot_groups(pool), *row_groups(pool))]


class _Need:
    """The bytes that a batch needs, with alike rows and groups counted together."""

    def __init__(
        self,
        static: int,
        own: Mapping[Claim, int],
        shared: Shared,
    ) -> None:
        self.static = static
        self.own = own
        self.shared = shared
        self.key = (static, frozenset(own.items()), frozenset(shared.items()))

    @classmethod
    def of(
        cls,
        descriptors: Mapping[str, DynamicDescriptor],
        groups: list[Group],
        static: int,
    ) -> _Need:
        formulas = {name: Claim.of(row) for name, row in descriptors.items()}
        own = Counter(
            formulas[name]
            for name, row in descriptors.items()
            if row.lifetime in ("request", "sequence") and is_sound(row)
        )
        return cls(static, own, shared_by(groups, formulas))

    def largest(self, most: Shape) -> int:
        """No less than the need at any shape within ``most``."""
        own = sum(count * largest_at(claimed, most) for claimed, count in self.own.items())
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
        for claimed, count in self.own.items():
            each = words.constant(count) * words.taken(claimed, one)
            total += each if sequences is None else each * sequences
        return total + words.in_turn(self.shared, step)

    def at(self, shape: Shape) -> int | None:
        """The need of one sequence at a shape; None where a demand is not defined there."""
        rows = (*self.own, *(c for group in self.shared for row in group for c, _ in row))
        if any(shape.tokens > defined_up_to(claimed.terms).tokens for claimed in rows):
            return None
        fixed = SymbolicShape.fixed(shape)
        value = z3.simplify(self.formula(Words.up_to(self.largest(shape)), fixed, fixed))
        return int(str(value))
