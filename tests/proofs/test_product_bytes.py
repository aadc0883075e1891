"""The product's sizes, peaks, arenas and frontiers are those that the theorems speak of.

As ``test_product.py`` for order and slots: each function that a theorem names in its ``rests`` is
held to a plain definition, in every one of its branches.
"""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING

import pytest

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples import Shape
from ferrum_verify.derive.bindings import BindingSlot, running_end
from ferrum_verify.derive.liveness import derive_pool_liveness, peak_bytes
from ferrum_verify.derive.reusable import pool_budget
from ferrum_verify.derive.spans import NoCommonSpan, merge_boundaries
from ferrum_verify.documents.checkpoint import BoundaryConstraint, TokenSpan
from ferrum_verify.documents.memory_plan import Binding, InvocationLiveness
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.storage import LINEAR_CONTIGUOUS
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.documents.terms import Linear, Part, Staircase, Step
from ferrum_verify.plan import frontier
from ferrum_verify.plan.sizes import (
    align_up,
    bytes_at,
    demand_bytes,
    maximal_shape,
    quantize,
    resident_ceiling,
)
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.rules.ascending import first_fault
from ferrum_verify.rules.descriptor_rows import demand_fault
from tests.proofs.test_product import PLANS, activation, order_of

if TYPE_CHECKING:
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, MemoryPlan
    from ferrum_verify.documents.terms import Count, Terms

STAIRS = Staircase((Step(1, 4, 1, 40), Step(2, 8, 3, 70)))
AFFINE = Linear(8, (Part("sequences", 24, 4), Part("tokens", 5, 7)))


def memory() -> MemoryPlan:
    subject, _ = subject_of(sample("fragment"))
    assert subject is not None
    assert subject.memory is not None
    return subject.memory


def rows() -> dict[str, DynamicDescriptor]:
    return {row.base_resource_id: row for row in memory().dynamic_descriptors}


def test_its_demands_are_their_terms() -> None:
    assert demand_bytes(AFFINE, Shape(3, 6, 99)) == 8 + 24 * 3 + 5 * 6
    assert demand_bytes(STAIRS, Shape(1, 4, 1)) == 40
    assert demand_bytes(STAIRS, Shape(1, 4, 2)) == 70
    assert maximal_shape(AFFINE) == Shape(4, 7, 1)
    assert maximal_shape(STAIRS) == Shape(2, 8, 3)
    for terms, shape, text in (
        (AFFINE, Shape(5, 1, 1), "not defined at 5 sequences"),
        (STAIRS, Shape(1, 9, 1), "no bucket"),
        (Linear(0, (Part("tokens", 0, 4),)), Shape(1, 1, 1), "0 bytes"),
        (Linear(U64_MAX, (Part("tokens", 1, 4),)), Shape(1, 1, 1), "passes u64"),
    ):
        with pytest.raises(SizeError, match=text):
            demand_bytes(terms, shape)
    with pytest.raises(SizeError, match="no bucket"):
        maximal_shape(Staircase(()))


def test_its_quantization_is_alignment_then_whole_blocks() -> None:
    profiles = {row.storage.profile for row in rows().values()}
    blocks = {profile.blocks[0] for profile in profiles}
    assert any(block > 0 for block in blocks)
    for profile in [LINEAR_CONTIGUOUS, *profiles]:
        block = max(profile.blocks[0], 1)
        for size, alignment in itertools.product((1, 63, 64, 257, 4097), (1, 16, 512)):
            aligned = -(-size // alignment) * alignment
            assert quantize(size, alignment, profile) == -(-aligned // block) * block
    for wrong in (0, 3, 48):
        with pytest.raises(SizeError, match="no power of two"):
            align_up(5, wrong)


def test_its_resident_ceiling_is_every_instance_at_its_worst() -> None:
    of_sequences = 0
    for row in rows().values():
        terms = row.demand.terms
        instances = row.theoretical_maximum_instances
        part = terms.only("sequences")
        if part is None:
            worst = bytes_at([row], maximal_shape(terms))[row.base_resource_id] * instances
        else:
            of_sequences += 1
            most = min(instances, part.most)
            worst = max(
                sum(bytes_at([row], Shape(n, 1, 1))[row.base_resource_id] for n in shares)
                for k in range(1, most + 1)
                for shares in itertools.combinations_with_replacement(range(1, most + 1), k)
                if sum(shares) <= most
            )
        assert resident_ceiling(row) == worst
    assert of_sequences


KINDS: tuple[tuple[Count, ...], ...] = ((), ("tokens",), ("sequences", "tokens"))


def every_demand() -> list[Terms]:
    rng = random.Random(7)
    stairs = [
        Staircase(tuple(Step(*(rng.randint(0, 3) for _ in range(4))) for _ in range(count)))
        for count in (0, 1, 2, 2, 3)
        for _ in range(150)
    ]
    linear = [
        Linear(fixed, tuple(Part(count, each, most) for count in counts))
        for fixed, each, most in itertools.product((0, 3), (0, 2), (0, 3))
        for counts in KINDS
    ]
    return [*stairs, *linear]


def test_its_legal_demands_never_shrink_and_are_never_empty() -> None:
    legal = 0
    for terms in every_demand():
        if demand_fault(terms) is not None:
            continue
        legal += 1
        known = {}
        for counts in itertools.product(range(1, 4), repeat=3):
            try:
                known[counts] = demand_bytes(terms, Shape(*counts))
            except SizeError:
                continue
        assert known
        for one, other in itertools.product(known, repeat=2):
            if all(low <= high for low, high in zip(one, other, strict=True)):
                assert known[one] <= known[other], terms
    assert legal > 40


def test_each_illegal_demand_is_told() -> None:
    first = Step(1, 1, 1, 8)
    for terms, text in (
        (Staircase(()), "0 shape buckets"),
        (Staircase((first,) * 65), "65 shape buckets"),
        (Staircase((Step(1, 0, 1, 8),)), "a 0 in shape bucket 0"),
        (Staircase((first, first)), "does not grow"),
        (Staircase((Step(1, 2, 1, 8), Step(2, 1, 1, 8))), "does not grow"),
        (Staircase((first, Step(1, 2, 1, 7))), "shrinks from 8 to 7"),
        (Linear(0, ()), "is 0 bytes"),
        (Linear(0, (Part("tokens", 0, 3),)), "0 bytes for each"),
        (Linear(0, (Part("tokens", 3, 0),)), "of 0 tokens"),
        (Linear(9, (Part("sequences", 0, 3), Part("tokens", 0, 3))), "no bytes for"),
        (Linear(9, (Part("sequences", 1, 0), Part("tokens", 1, 3))), "maximum of 0"),
    ):
        assert text in (demand_fault(terms) or "")
    for legal in (AFFINE, STAIRS, Linear(1, ()), Linear(0, (Part("pages", 1, 1),))):
        assert demand_fault(legal) is None


def live(*resources: str) -> InvocationLiveness:
    return InvocationLiveness.model_construct(node_id=resources[0], resource_ids=resources)


def test_its_peak_is_the_largest_row_or_all_of_them() -> None:
    sizes = {"a": 3, "b": 5, "c": 7}
    listed = [live("a", "b"), live("c")]
    assert peak_bytes("total_order_reuse", listed, sizes) == 8
    assert peak_bytes("conservative_concurrent", listed, sizes) == 15
    assert peak_bytes("total_order_reuse", [], sizes) == 0


def test_its_liveness_reuses_where_every_two_rows_are_ordered() -> None:
    modes = set()
    for number, plan in enumerate(PLANS):
        bound = number % 5 == 0
        members = [
            activation(r).model_copy(
                update={"lifetime": "invocation"}
                | ({"kind": Binding.model_construct(node_id="n0")} if bound and not r else {})
            )
            for r in range(len(plan.users))
        ]
        derived = derive_pool_liveness(members, order_of(plan))
        users = sorted(set().union(*plan.users))
        ordered = all(plan.precedes(i, j) for i, j in itertools.combinations(users, 2))
        expected = "total_order_reuse" if ordered and not bound else "conservative_concurrent"
        modes.add(derived.mode)
        assert derived.mode == expected, plan
        assert [row.node_id for row in derived.rows_in_plan_order] == [f"n{i}" for i in users]
        for row, node in zip(derived.rows_in_plan_order, users, strict=True):
            used = {f"r{r}" for r, by in enumerate(plan.users) if node in by}
            assert set(row.resource_ids) == used
    assert len(modes) == 2
    assert derive_pool_liveness([activation(0)], order_of(PLANS[0])).rows == ()


def test_its_arena_ends_where_slots_cover_it_exactly() -> None:
    places = [(start, size) for start in range(4) for size in range(1, 4)]
    for count in range(4):
        for chosen in itertools.product(places, repeat=count):
            slots = [BindingSlot(0, "n", "r", start, size, 1) for start, size in chosen]
            held = sorted(byte for start, size in chosen for byte in range(start, start + size))
            exact = held == list(range(len(held)))
            assert running_end(slots) == (len(held) if exact else None)


def test_its_lists_ascend_strictly() -> None:
    for length in range(4):
        for keys in itertools.product("abc", repeat=length):
            fault = first_fault(keys)
            ascending = list(keys) == sorted(set(keys))
            assert (fault is None) == ascending
            if fault is not None:
                before, key = keys[fault.position - 1], keys[fault.position]
                assert ("twice" if before == key else f"`{key}` stands after") in fault.text
                assert first_fault(keys[: fault.position]) is None


@pytest.mark.parametrize("scheduled", [None, 40])
def test_its_frontier_is_the_last_batch_that_fits(scheduled: int | None) -> None:
    for usable in (100_000, 145_000, 170_000, 250_000, 10**9):
        plan = memory().model_copy(update={"usable_capacity_bytes": usable})
        capacity = frontier.capacity_of(plan, scheduled)
        tokens = [n for n in range(1, 300) if frontier.fits(capacity, 1, n)]
        sequences = [n for n in range(1, 20) if frontier.fits(capacity, n, 1)]
        longest = frontier.largest_tokens(capacity, 1)
        most = frontier.largest_sequences(capacity, 1)
        # What fits does so from one up without a gap, and bisection finds its end.
        assert tokens == list(range(1, longest.tokens + 1))
        assert sequences == list(range(1, most.sequences + 1))
        for found in (longest, most):
            assert (found.bytes is None) == (found.sequences * found.tokens == 0)
            assert found.refused_bytes is None or found.refused_bytes > usable


def test_its_frontier_refuses_no_batch_and_what_passes_a_maximum() -> None:
    capacity = frontier.capacity_of(memory())
    with pytest.raises(ValueError, match="at least one"):
        frontier.need(capacity, 0, 1)
    with pytest.raises(SizeError, match="declared maximum"):
        frontier.need(capacity, capacity.maximum_sequences + 1, 1)
    with pytest.raises(SizeError, match="in one step"):
        frontier.need(frontier.capacity_of(memory(), 3), 2, 2)
    with pytest.raises(SizeError, match="pass u64"):
        frontier.need(capacity, 2, U64_MAX)


def test_its_budget_covers_every_smaller_shape() -> None:
    descriptors = rows()
    for pool in memory().dynamic_pools:

        def budget(tokens: int) -> tuple[int, int] | None:
            found = pool_budget(
                pool.pool_id,  # noqa: B023
                pool.step_resource_slots,  # noqa: B023
                pool.invocation_liveness,  # noqa: B023
                mode=pool.invocation_liveness_mode,  # noqa: B023
                descriptors=descriptors,
                shape=Shape(1, tokens, 1),
            )
            return None if found is None else (found.step_bytes, found.invocation_bytes)

        most = budget(16)
        assert (most is None) == (not pool.step_resource_slots and not pool.invocation_liveness)
        for tokens in range(1, 17):
            least = budget(tokens)
            assert (least is None) == (most is None)
            if least is not None and most is not None:
                assert all(one <= other for one, other in zip(least, most, strict=True))


def test_its_merge_of_boundaries_needs_room_for_both_sides() -> None:
    def span(minimum: int, alignment: int = 1) -> TokenSpan:
        return TokenSpan(minimum_tokens=minimum, alignment=alignment)

    half = 1 << 63
    fits = BoundaryConstraint(prefix=span(half), suffix=span(half - 1))
    merged = merge_boundaries([fits, BoundaryConstraint(prefix=span(1, 4), suffix=span(1))])
    assert (merged.prefix, merged.suffix) == (span(half, 4), span(half - 1))
    for prefixes, suffixes, text in (
        ([span(half)], [span(half)], "together pass"),
        ([span(1, half), span(1, 3)], [span(1)], "among the prefixes, alignments"),
        ([span(1)], [span(half + 1), span(1, half)], "among the suffixes, no multiple"),
    ):
        # Each alone leaves a boundary; only all of them together leave none.
        alone = [
            *(BoundaryConstraint(prefix=each, suffix=span(1)) for each in prefixes),
            *(BoundaryConstraint(prefix=span(1), suffix=each) for each in suffixes),
        ]
        with pytest.raises(NoCommonSpan, match=text):
            merge_boundaries(alone)
