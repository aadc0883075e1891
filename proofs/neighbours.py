"""What can be told of all pairs in a chain by looking at neighbours only.

The general claims are in the theory of uninterpreted functions: nodes are anything, "happens
before" is any transitive relation, and nothing else about a plan matters. Where neighbours are
*not* enough, the counterexample and its minimality are propositional, over every plan of a size.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .concrete_plan import ConcretePlan, every_plan
from .symbolic_plan import SymbolicPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

NODE = z3.DeclareSort("Node")
BEFORE = z3.Function("before", NODE, NODE, z3.BoolSort())
GAP_EDGES, GAP_USERS = {(0, 1), (2, 3)}, [{0}, {1, 2}, {3}]
GAP_NODES = 4


def transitive(a: z3.ExprRef, b: z3.ExprRef, c: z3.ExprRef) -> z3.BoolRef:
    """State transitivity at three nodes."""
    return z3.Implies(z3.And(BEFORE(a, b), BEFORE(b, c)), BEFORE(a, c))


def total_order(_: Scale) -> Iterator[Check]:
    """Prove that a chain of neighbours that precede each other is totally ordered."""
    member, end, following = z3.Consts("member end following", NODE)
    yield from proves(
        "step",
        "If every node of a chain precedes its end or is it, and the end precedes the node that "
        "follows, then every node of the longer chain precedes its end or is it.",
        "QF_UF",
        BEFORE(member, following),
        (
            z3.Or(BEFORE(member, end), member == end),
            BEFORE(end, following),
            transitive(member, end, following),
        ),
    )
    low, high, last, current = z3.Ints("low high last current")
    yield from proves(
        "apart",
        "Of two nodes of which one precedes the other, no moment has both running: the second "
        "starts no sooner than the first ends.",
        "QF_LIA",
        z3.Not(z3.And(low <= current, current < high, last <= current)),
        (high <= last,),
    )


def ascending(_: Scale) -> Iterator[Check]:
    """Prove that strictly ascending neighbours make a list without repeats."""
    low, end, following = z3.Ints("low end following")
    yield from proves(
        "step",
        "If every element so far is at most the last, and the last is less than the next, then "
        "every element so far is less than the next, and so differs from it.",
        "QF_LIA",
        z3.And(low < following, low != following),
        (low <= end, end < following),
    )


def disjoint(_: Scale) -> Iterator[Check]:
    """Prove that non-empty ranges, sorted by start, are disjoint when neighbours are."""
    starts, ends = z3.Ints("x.start y.start z.start"), z3.Ints("x.end y.end z.end")
    byte = z3.Int("byte")

    def share(left: int, right: int, at: z3.ArithRef) -> z3.BoolRef:
        return z3.And(starts[left] <= at, at < ends[left], starts[right] <= at, at < ends[right])

    full = [start < end for start, end in zip(starts, ends, strict=True)]
    in_place = [starts[0] <= starts[1], starts[1] <= starts[2]]
    yield from proves(
        "apart",
        "Of two ranges that are not empty and share no byte, the one that starts first ends "
        "before the other starts: else the byte at that start would be in both.",
        "QF_LIA",
        ends[0] <= starts[1],
        (full[0], full[1], in_place[0], z3.Not(share(0, 1, starts[1]))),
    )
    yield from proves(
        "step",
        "If a range ends before the last so far starts, and that before the next starts, then "
        "the range shares no byte with the next.",
        "QF_LIA",
        z3.Not(share(0, 2, byte)),
        (*full, ends[0] <= starts[1], ends[1] <= starts[2]),
    )
    neighbours = [
        z3.Not(share(left, right, at)) for left, right in ((0, 1), (1, 2)) for at in starts
    ]
    yield from exhibits(
        "empty",
        "With an empty range in between it fails: bytes 0 to 2, none at 1, and 1 to 2.",
        "QF_LIA",
        *in_place,
        *(start == value for start, value in zip(starts, (0, 1, 1), strict=True)),
        *(end == value for end, value in zip(ends, (2, 1, 2), strict=True)),
        *neighbours,
        share(0, 2, z3.IntVal(1)),
    )


def disjoint_agrees(_: Scale) -> bool:
    """Try every three small ranges in order; only those with an empty one may fail."""
    ranges = [(start, end) for start in range(4) for end in range(start, 5)]
    failing = [
        three
        for three in itertools.product(ranges, repeat=3)
        if three[0][0] <= three[1][0] <= three[2][0]
        and not set(range(*three[0])) & set(range(*three[1]))
        and not set(range(*three[1])) & set(range(*three[2]))
        and set(range(*three[0])) & set(range(*three[2]))
    ]
    return ((0, 2), (1, 1), (1, 2)) in failing and all(
        any(start == end for start, end in three) for three in failing
    )


def concurrent(_: Scale) -> Iterator[Check]:
    """Prove that concurrent order is passed on from neighbour to neighbour.

    What is given of all users is stated at the three that matter: any user of A, the user that B
    must have, any user of C. Without quantifiers both solvers decide it.
    """
    uses_a, uses_b, uses_c = (z3.Function(f"uses.{r}", NODE, z3.BoolSort()) for r in "abc")
    first, middle, last = z3.Consts("first middle last", NODE)
    yield from proves(
        "concurrent.step",
        "If every user of A precedes every user of B, every user of B every user of C, and B has "
        "a user, then every user of A precedes every user of C.",
        "QF_UF",
        z3.Implies(z3.And(uses_a(first), uses_c(last)), BEFORE(first, last)),
        (
            uses_b(middle),
            z3.Implies(z3.And(uses_a(first), uses_b(middle)), BEFORE(first, middle)),
            z3.Implies(z3.And(uses_b(middle), uses_c(last)), BEFORE(middle, last)),
            transitive(first, middle, last),
        ),
    )


def in_order(_: Scale) -> Iterator[Check]:
    """Prove the same of in-order sharing, where positions decide."""
    first, last = z3.Ints("b.first b.last")
    a_last, c_first = z3.Ints("a.last c.first")
    yield from proves(
        "in-order.step",
        "If A's last user stands before B's first, and B's last before C's first, then A's last "
        "stands before C's first.",
        "QF_LIA",
        a_last < c_first,
        (a_last < first, first <= last, last < c_first),
    )


def fenced_gap(_: Scale) -> Iterator[Check]:
    """Show the smallest plan where fenced neighbours leave a pair that is not fenced-safe."""

    def gap(plan: SymbolicPlan) -> list[z3.BoolRef]:
        return [
            *plan.definitions,
            *plan.sorted_by_users(),
            plan.fenced(0, 1),
            plan.fenced(1, 2),
            z3.Not(plan.fenced(0, 2)),
        ]

    plan = SymbolicPlan(GAP_NODES, len(GAP_USERS))
    yield from exhibits(
        "counterexample",
        "Four nodes, with an edge from 0 to 1 and one from 2 to 3. A is used by 0, B by 1 and 2, "
        "C by 3: A is fenced from B and B from C, but node 0 does not precede node 3.",
        "QF_UF",
        *gap(plan),
        *plan.is_exactly(GAP_EDGES, GAP_USERS),
    )
    yield from excludes(
        "none-with-fewer-edges",
        "With one edge or none there is no such plan of four nodes.",
        "QF_UF",
        *gap(plan),
        plan.at_most_edges(len(GAP_EDGES) - 1),
    )
    for nodes in range(1, GAP_NODES):
        yield from excludes(
            f"none-with-{nodes}-nodes",
            f"No plan of {nodes} node(s) has such resources, whatever its edges and uses.",
            "QF_UF",
            *gap(SymbolicPlan(nodes, len(GAP_USERS))),
        )


def has_gap(plan: ConcretePlan) -> bool:
    """Whether some three resources by first user are fenced as neighbours, yet not as a pair."""
    return any(
        plan.fenced(a, b) and plan.fenced(b, c) and not plan.fenced(a, c)
        for a, b, c in itertools.combinations(plan.by_users(), 3)
    )


def smallest_gap(_: Scale) -> bool:
    """Try the stated plan, and every plan of three resources with fewer nodes."""
    users = tuple(frozenset(who) for who in GAP_USERS)
    smaller = itertools.chain(every_plan(1, 3), every_plan(2, 3), every_plan(3, 3))
    return has_gap(ConcretePlan(GAP_NODES, frozenset(GAP_EDGES), users)) and not any(
        has_gap(plan) for plan in smaller
    )


THEOREMS = (
    Theorem(
        id="neighbours.decide-a-total-order",
        statement=(
            "If each invocation row's node precedes the next row's, then it precedes every later "
            "one, so no two rows are ever live at once."
        ),
        theory="functions",
        holds_for="every number of rows, by induction",
        rests=("ferrum_verify.derive.liveness:derive_pool_liveness",),
        rules=(
            "liveness.rows-overlap",
            "liveness.mode-not-derived",
        ),
        checks=total_order,
    ),
    Theorem(
        id="neighbours.decide-ascending-lists",
        statement=(
            "A list whose neighbours are strictly ascending is sorted, and holds nothing twice."
        ),
        theory="linear integers",
        holds_for="every length, by induction",
        rests=("ferrum_verify.rules.ascending:first_fault",),
        rules=(
            "graph.dependencies-not-canonical",
            "graph.resources-not-canonical",
            "descriptor.not-canonical",
        ),
        checks=ascending,
    ),
    Theorem(
        id="neighbours.decide-disjoint",
        statement=(
            "Among ranges of bytes that are not empty, sorted by start, if no two neighbours "
            "share a byte then no two ranges do. With empty ranges it fails."
        ),
        theory="linear integers",
        holds_for="every number of ranges, by induction",
        rests=("ferrum_verify.prove.bindings:layout_claims",),
        rules=("binding.arena",),
        checks=disjoint,
        recheck=disjoint_agrees,
    ),
    Theorem(
        id="neighbours.decide-concurrent",
        statement=(
            "If neighbours in a slot are concurrent-safe, sorted by first user, then so is every "
            "pair. The same holds of in-order sharing."
        ),
        theory="functions, integers",
        holds_for="every plan and any number of members, by induction",
        rests=("ferrum_verify.plan.sharing:slot_safety",),
        rules=("slot.shared-while-live",),
        checks=lambda scale: itertools.chain(concurrent(scale), in_order(scale)),
    ),
    Theorem(
        id="neighbours.do-not-decide-fenced",
        statement=(
            "Fenced neighbours do not make every pair fenced-safe, so each pair must be checked. "
            "The smallest plan has four nodes, edges 0 to 1 and 2 to 3, and resources used by 0, "
            "by 1 and 2, and by 3: the first and last are not fenced from each other."
        ),
        theory="propositional",
        holds_for="counterexample, smallest by nodes, then edges",
        rests=(
            "ferrum_verify.derive.slots:derive_step_slots",
            "ferrum_verify.plan.sharing:slot_safety",
        ),
        rules=(
            "slot.shared-while-live",
            "slot.not-derived",
        ),
        checks=fenced_gap,
        recheck=smallest_gap,
    ),
)
