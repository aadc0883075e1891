"""Each encoding of places, owners, orders and boundaries against brute force."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from ferrum_verify.counterexamples import Shape
from ferrum_verify.derive.bindings import BindingLayout, BindingSlot, ClaimIdentity
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.memory_plan import StepSlot
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.limits import Limits
from ferrum_verify.plan.sharing import EXECUTIONS
from ferrum_verify.prove.bindings import (
    cover_exactly,
    is_aligned,
    layout_claims,
    neighbours_are_apart,
    own_one_each,
    owner_claims,
)
from ferrum_verify.prove.checkpoint_ranges import never_meet
from ferrum_verify.prove.divisibility import Span, contained
from ferrum_verify.prove.obligation import Proved, Refuted, Vacuous
from ferrum_verify.prove.prover import prove
from ferrum_verify.prove.reachability import all_are_beyond, smallest_is_within
from ferrum_verify.prove.slots import outlives_none, slot_claims
from ferrum_verify.prove.spans import have_no_boundary
from ferrum_verify.prove.windows import PlanGraph, ends_before, never, never_together
from tests.prove.statements import holds, outcome, shown

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.prove.prover import Proof


def test_neighbours_share_no_byte() -> None:
    assert holds(neighbours_are_apart, ((0, 5), (5, 8), (8, 9)))
    assert shown(neighbours_are_apart, ((0, 5), (5, 8), (7, 9))) == (7,)
    assert shown(neighbours_are_apart, ((0, 6), (5, 8))) == (5,)
    assert shown(neighbours_are_apart, ((0, U64_MAX), (U64_MAX - 1, U64_MAX))) == (U64_MAX - 1,)


def test_ranges_cover_every_byte_and_none_beyond() -> None:
    assert holds(cover_exactly, ((0, 5), (5, 8)), 8)
    assert not holds(cover_exactly, ((0, 5), (6, 8)), 8)
    assert not holds(cover_exactly, ((0, 5), (5, 9)), 8)
    assert not holds(cover_exactly, ((0, 5), (5, 7)), 8)
    assert not holds(cover_exactly, (), 1)


def test_a_slot_is_aligned_at_both_ends_and_not_empty() -> None:
    for offset, size, unit in itertools.product((0, 4, 8, 16), (0, 8, 12, 16), (1, 8)):
        fair = offset % unit == 0 and size % unit == 0 and size > 0
        assert holds(is_aligned, offset & (unit - 1), size & (unit - 1), size == 0, unit) == fair
    assert not holds(is_aligned, 0, 0, False, 0)


def test_no_node_has_two_slots_of_an_arena() -> None:
    assert holds(own_one_each, (1, 2, 5), True)
    assert not holds(own_one_each, (1, 2, 2), True)
    assert not holds(own_one_each, (1, 2, 5), False)
    assert holds(own_one_each, (3,), True)


def test_two_slots_of_one_owner_are_refuted() -> None:
    """Each of them belongs to the node that owns its resource; only that there are two is wrong."""
    slots = tuple(BindingSlot(n, f"n{n}", f"r{n}", 64 * n, 64, 64) for n in range(2))
    layout = BindingLayout("bucket", ClaimIdentity("pool", ("r0", "r1")), 128, slots)

    def outcome_of(*slots: BindingSlot) -> type:
        claims = owner_claims(replace(layout, slots=slots), "/a", {0: "r0", 1: "r1"})
        (verdict,) = prove([claims], Limits(), lambda _: True).claims
        return type(verdict.outcome)

    assert outcome_of(*slots) is Proved
    assert outcome_of(*slots, slots[0]) is Refuted
    assert outcome_of(slots[0], slots[0]) is Refuted
    assert outcome_of(slots[0], replace(slots[1], resource_id="r0")) is Refuted


def test_slots_are_apart_in_whatever_order_they_are_listed() -> None:
    places = ((0, 0), (1, 128), (2, 32))
    slots = tuple(BindingSlot(n, f"n{n}", f"r{n}", start, 64, 32) for n, start in places)
    layout = BindingLayout("bucket", ClaimIdentity("pool", ("r0", "r1", "r2")), 192, slots)
    claims = layout_claims(layout, "/a", {}, Shape(1, 1, 1))
    (apart, *_) = prove([claims], Limits(), lambda _: True).claims
    assert apart.obligation.formula.encode is neighbours_are_apart
    assert apart.outcome == Refuted((32,))


def test_two_lives_that_interleave_are_never_apart() -> None:
    assert not holds(never)


def test_no_node_has_ended_before_it_starts() -> None:
    assert not holds(ends_before, ((),))
    assert holds(ends_before, ((), (0,)))


def test_members_are_apart_in_either_order() -> None:
    chain = ((), (0,))
    assert holds(never_together, chain, (0,), (1,))
    assert holds(never_together, chain, (1,), (0,))
    assert not holds(never_together, ((), ()), (0,), (1,))


def test_what_is_read_after_the_fence_outlives_whatever_shares() -> None:
    assert holds(outlives_none, False)
    assert not holds(outlives_none, True)


Nodes: TypeAlias = list[tuple[str, list[str], str]]
"""Nodes in plan order: each with what it depends on, and the one resource that it uses."""

CHAIN: Nodes = [("n0", [], "a"), ("n1", ["n0"], "b"), ("n2", [], "b"), ("n3", ["n2"], "c")]
"""b comes between a and c, but its two users are in no order: a need not be dead before c."""
WHOLE: Nodes = [CHAIN[0], CHAIN[1], ("n2", ["n1"], "b"), CHAIN[3]]


def slot_of(nodes: Nodes, execution: Execution = "fenced") -> Proof:
    graph = PlanGraph(
        [
            FragmentNode(id=name, dependencies=tuple(before), resources=(resource,))
            for name, before, resource in nodes
        ]
    )
    members = tuple(sorted({resource for _, _, resource in nodes}))
    slot = StepSlot(kind="ordered_single_fence_step_wave", resource_ids=members)
    return prove([slot_claims(slot, "s", "/s", graph, execution)], Limits(), lambda _: True)


def refuted(proof: Proof) -> list[tuple[str, ...]]:
    return [verdict.obligation.names for verdict in proof.of(Refuted)]


def test_members_across_a_third_are_asked_where_it_is_not_whole() -> None:
    proof = slot_of(CHAIN)
    assert refuted(proof) == [("a", "c")]
    lemmas = [v for v in proof.verdicts if v.obligation.lemma]
    assert [(v.obligation.names, type(v.outcome)) for v in lemmas] == [(("b",), Refuted)]


def test_members_across_a_third_that_is_whole_follow_from_it() -> None:
    proof = slot_of(WHOLE)
    assert refuted(proof) == []
    assert [v.obligation.names for v in proof.claims] == [("a", "b"), ("b", "c")]
    lemmas = [v for v in proof.verdicts if v.obligation.lemma]
    assert [(v.obligation.names, type(v.outcome)) for v in lemmas] == [(("b",), Proved)]


def test_a_refuted_neighbour_opens_up_the_others() -> None:
    nodes: Nodes = [("n0", [], "a"), ("n1", [], "b"), ("n2", [], "c")]
    models: tuple[Execution, ...] = ("fenced", "concurrent")
    for execution in models:
        asked = {v.obligation.names for v in slot_of(nodes, execution).claims}
        assert asked == {("a", "b"), ("b", "c"), ("a", "c")}
    assert refuted(slot_of(nodes, "in-order")) == []


def test_lives_that_interleave_are_refuted_in_every_model() -> None:
    nodes: Nodes = [("n0", [], "a"), ("n1", ["n0"], "b"), ("n2", ["n1"], "a")]
    for execution in EXECUTIONS:
        assert refuted(slot_of(nodes, execution)) == [("a", "b")]


def test_under_concurrent_every_user_is_asked() -> None:
    # b's last user waits for a, its first does not, and so does a's first for nothing.
    nodes: Nodes = [("n0", [], "a"), ("n1", [], "b"), ("n2", ["n0", "n1"], "b")]
    assert refuted(slot_of(nodes, "concurrent")) == [("a", "b")]
    nodes = [("n0", [], "a"), ("n1", [], "a"), ("n2", ["n1"], "b")]
    assert refuted(slot_of(nodes, "concurrent")) == [("a", "b")]
    # b's first user waits for a, and its last one for nothing.
    nodes = [("n0", [], "a"), ("n1", ["n0"], "b"), ("n2", [], "b")]
    assert refuted(slot_of(nodes, "concurrent")) == [("a", "b")]


SPANS = [
    (Span(1, 1),),
    (Span(1, 2),),
    (Span(3, 2),),
    (Span(1, 6),),
    (Span(1, 4), Span(7, 6)),
    (Span(10, 1), Span(1, 3), Span(2, 2)),
]


def permitted(spans: tuple[Span, ...], count: int) -> bool:
    return all(count >= span.minimum and count % span.alignment == 0 for span in spans)


def test_what_one_side_permits_the_other_does() -> None:
    limit = 40
    for base, head in itertools.product(SPANS, repeat=2):
        lost = [n for n in range(1, limit + 1) if permitted(base, n) and not permitted(head, n)]
        if lost:
            # The first that is lost, and up to it, and not below it.
            assert shown(contained, base, head, limit) == (lost[0],)
            assert shown(contained, base, head, lost[0]) == (lost[0],)
            below = outcome(contained, base, head, lost[0] - 1)
            assert isinstance(below, Proved | Vacuous)
        else:
            assert holds(contained, base, head, limit)


def test_the_smallest_boundary_is_within_a_limit_or_shown() -> None:
    for spans in SPANS:
        smallest = next(n for n in itertools.count(1) if permitted(spans, n))
        assert holds(smallest_is_within, spans, smallest)
        if smallest > 1:
            assert shown(smallest_is_within, spans, smallest - 1) == (smallest,)
            assert holds(all_are_beyond, spans, smallest - 1)
        assert not holds(all_are_beyond, spans, smallest)


def test_a_boundary_needs_both_sides_of_a_prompt() -> None:
    half = 1 << 63
    assert shown(have_no_boundary, (Span(2, 3),), (Span(4, 1),)) == (7, 0, 3)
    assert holds(have_no_boundary, (Span(1, half),), (Span(half, 1),))
    assert shown(have_no_boundary, (Span(1, half),), (Span(half - 1, 1),)) == (U64_MAX, 0, half)


def test_states_never_meet_at_any_boundary() -> None:
    pairs = itertools.product((1, 3), (False, True), (1, 2), (False, True), (0, 2, 3, 6))
    for left, grows, right, grows_too, distance in pairs:
        for alike, (first, last) in itertools.product((False, True), ((1, 1), (2, 3))):
            met = None
            for tokens in range(first, last + 1):
                end = left * (tokens if grows else 1)
                other = range(distance, distance + right * (tokens if grows_too else 1))
                both = [byte for byte in range(end) if byte in other]
                same = alike and end == len(other)
                if both and not same:
                    met = (tokens, both[0])
                    break
            asked = ((left, grows), (right, grows_too), distance, alike, (first, last))
            if met is None:
                assert holds(never_meet, *asked)
            else:
                assert shown(never_meet, *asked) == met


def test_where_states_end_is_reckoned_beyond_64_bits() -> None:
    for bits in (64, 65, 100, 126):
        tokens = 1 << (bits - 63)
        asked = ((1 << 63, True), (1, False), 5, False, (tokens, tokens))
        assert shown(never_meet, *asked) == (tokens, 5)
