"""Capacity: what must fit does, and the frontier is where it is said to be.

Mirrors ``rules/capacity.py`` and ``plan/frontier.py``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import Shape, ShapeCounterexample
from ferrum_verify.documents.primitives import U32_MAX, U64_MAX, U128_MAX
from ferrum_verify.plan.sizes import UNIT
from ferrum_verify.plan.turns import row_groups, slot_groups
from ferrum_verify.prove.formulas import LOGIC, Words, is_sound
from ferrum_verify.prove.need import (
    Need,
    all_sound,
    fits,
    passes,
    several_fit,
    several_pass,
)
from ferrum_verify.prove.obligation import Obligation, Statement, formula
from ferrum_verify.rules import capacity as rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.documents.memory_plan import DynamicDescriptor, MemoryPlan
    from ferrum_verify.plan.frontier import Headroom
    from ferrum_verify.prove.obligation import Claims


def runnable_claims(memory: MemoryPlan, at: str, batch: Need) -> Claims:
    """The claim that static bytes and one minimal request fit the usable bytes.

    It is stated over the rows themselves, not over the totals that the plan states.
    """
    need = replace(batch, static=sum(row.size_bytes for row in memory.static_allocations))
    usable = memory.policy_capacity_bytes - memory.reserve_bytes
    total = need.at(UNIT)
    if total is None or usable <= 0:
        return
    yield Obligation(
        id=f"{at}: runnable",
        claim=f"The static bytes and one request of one token fit the {usable:,} usable bytes.",
        names=(),
        rule=rules.EXCEEDS,
        location=f"{at}/minimum_runnable_request_bytes",
        formula=formula(fits, need, UNIT, usable),
        message=f"static bytes and a minimal request need {total:,} bytes, "
        f"{total - usable:,} more than the {usable:,} usable ones",
        witness=lambda _: ShapeCounterexample(UNIT, total, usable, f"{at}/policy_capacity_bytes"),
    )


def frontier_claims(memory: MemoryPlan, at: str, need: Need, headroom: Headroom) -> Claims:
    """The claims that the frontier's batch fits at every smaller length, and no longer one does.

    Only where memory ends it: where a declared maximum does, the second has nothing to say.
    """
    longest, usable = headroom.tokens, memory.usable_capacity_bytes
    if not longest or headroom.sequences != 1:
        return
    claim = _of_usable_bytes(at)

    yield claim(
        id=f"{at}: frontier",
        claim=f"One sequence of any length up to {longest:,} tokens fits the {usable:,} usable "
        "bytes.",
        formula=formula(fits, need, Shape(1, longest, 1), usable),
        message=f"one sequence of up to {longest:,} tokens does not fit {usable:,} bytes",
    )
    beyond = longest + 1
    if headroom.refused_bytes is not None and beyond <= U64_MAX:
        yield claim(
            id=f"{at}: frontier is exact",
            claim=f"One sequence of {beyond:,} tokens does not fit the {usable:,} usable bytes.",
            formula=formula(passes, need, Shape(1, beyond, 1), usable),
            message=f"one sequence of {beyond:,} tokens still fits {usable:,} bytes",
        )


def sequence_claims(memory: MemoryPlan, at: str, need: Need, headroom: Headroom) -> Claims:
    """The claims that as many sequences as the frontier says fit, or any fewer, and not one more.

    The sequences are of one length, ``headroom.tokens``, and their number is the unknown.
    """
    most, tokens, usable = headroom.sequences, headroom.tokens, memory.usable_capacity_bytes
    if not most:
        return
    claim = _of_usable_bytes(at)
    yield claim(
        id=f"{at}: frontier of sequences",
        claim=f"Up to {most:,} sequences of {tokens:,} tokens each fit the {usable:,} usable "
        "bytes.",
        formula=formula(several_fit, need, tokens, most, usable),
        message=f"up to {most:,} sequences of {tokens:,} tokens each do not fit {usable:,} bytes",
    )
    more = most + 1
    if headroom.refused_bytes is not None and more * tokens <= U64_MAX and more <= U32_MAX:
        yield claim(
            id=f"{at}: frontier of sequences is exact",
            claim=f"{more:,} sequences of {tokens:,} tokens each do not fit the {usable:,} usable "
            "bytes.",
            formula=formula(several_pass, need, tokens, more, usable),
            message=f"{more:,} sequences of {tokens:,} tokens each still fit {usable:,} bytes",
        )


def total_claims(memory: MemoryPlan, at: str) -> Claims:
    """The claim that sums over the pools fit their integers: u64 for minima, u128 for ceilings."""
    static = sum(row.size_bytes for row in memory.static_allocations)
    minima = [getattr(pool, name) for pool in memory.dynamic_pools for name in rules.MINIMA]
    ceilings = [
        pool.theoretical_ceiling_bytes + pool.reusable_workspace_ceiling_bytes
        for pool in memory.dynamic_pools
    ]
    yield Obligation(
        id=f"{at}: totals",
        claim="The static bytes and the pools' minima add up within u64, and the ceilings within "
        "u128.",
        names=(),
        rule=rules.OVERFLOW,
        location=f"{at}/minimum_runnable_request_bytes",
        formula=formula(sums_fit, (static, *minima), (static, *ceilings)),
        message="the plan's totals pass the integers that hold them",
    )


def sums_fit(minima: tuple[int, ...], ceilings: tuple[int, ...]) -> Statement:
    """The minima add up within u64, and the ceilings within u128."""
    words = Words.up_to(max(sum(minima), sum(ceilings), 2**128))
    least, most = words.sum(minima), words.sum(ceilings)
    return Statement(
        LOGIC, z3.And(z3.ULE(least, words.u64), z3.ULE(most, words.constant(U128_MAX)))
    )


def _of_usable_bytes(at: str) -> partial[Obligation]:
    return partial(Obligation, names=(), rule=rules.EXCEEDS, location=f"{at}/usable_capacity_bytes")


def batch_need(memory: MemoryPlan, descriptors: Mapping[str, DynamicDescriptor]) -> Need | None:
    """What a batch needs by the plan's rows; None where a row that shares bytes is not sound."""
    groups = [
        group for pool in memory.dynamic_pools for group in (*slot_groups(pool), *row_groups(pool))
    ]
    if not all_sound(groups, descriptors):
        return None
    own = [
        row
        for row in descriptors.values()
        if row.lifetime in ("request", "sequence") and is_sound(row)
    ]
    return Need.of(memory.static_bytes, own, groups, descriptors)
