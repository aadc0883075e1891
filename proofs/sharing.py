"""How the three execution models relate: what is safe under one is safe under the next.

That one model implies the other holds of every plan, and needs only that plan order is a linear
extension: uninterpreted functions for "happens before", integers for positions. That none of the
implications turns round is shown by the smallest plans, in propositional logic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .concrete_plan import ConcretePlan, every_plan
from .symbolic_plan import SymbolicPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

RESTS = ("ferrum_verify.plan.sharing:slot_safety",)
UNFENCED = ConcretePlan(2, frozenset(), (frozenset({0}), frozenset({1})))
FENCED_ONLY = ConcretePlan(3, frozenset({(1, 2)}), (frozenset({0, 1}), frozenset({2})))


def implications(scale: Scale) -> Iterator[Check]:
    """Prove that concurrent-safe is fenced-safe, and fenced-safe is safe in order."""
    node = z3.DeclareSort("Node")
    before = z3.Function("before", node, node, z3.BoolSort())
    position = z3.Function("position", node, z3.IntSort())
    uses_a, uses_b = (z3.Function(f"uses.{r}", node, z3.BoolSort()) for r in "ab")
    last, first, left, right = z3.Consts("a.last b.first left right", node)
    yield from proves(
        "concurrent-is-fenced",
        "If every user of A precedes every user of B, then A's last user precedes B's first, and "
        "every user of A stands before every user of B.",
        "QF_UFLIA",
        z3.And(before(last, first), position(left) < position(right)),
        (
            uses_a(left),
            uses_b(right),
            uses_a(last),
            uses_b(first),
            position(left) <= position(last),
            position(first) <= position(right),
            *(
                z3.Implies(z3.And(uses_a(a), uses_b(b)), before(a, b))
                for a in (left, last)
                for b in (right, first)
            ),
            *(
                z3.Implies(before(a, b), position(a) < position(b))
                for a in (left, last)
                for b in (right, first)
            ),
        ),
    )
    plan = SymbolicPlan(6 if scale == "full" else 4, 2)
    yield from proves(
        "outright",
        f"On every plan of {len(plan.nodes)} nodes: concurrent-safe is fenced-safe, and "
        "fenced-safe is safe in order.",
        "QF_UF",
        z3.And(
            z3.Implies(plan.concurrent(0, 1), plan.fenced(0, 1)),
            z3.Implies(plan.fenced(0, 1), plan.in_order(0, 1)),
        ),
        plan.definitions,
    )


def one_direction(_: Scale) -> Iterator[Check]:
    """Prove that the resource with the earlier first user can only be the one that dies first."""
    a_first, a_last, b_first, b_last = z3.Ints("a.first a.last b.first b.last")
    yield from proves(
        "direction",
        "If A's first user stands no later than B's first, then B's last user does not stand "
        "before A's first, as all three models would need for B to die first.",
        "QF_LIA",
        z3.Not(b_last < a_first),
        (a_first <= a_last, b_first <= b_last, a_first <= b_first),
    )
    plan = SymbolicPlan(5, 2)
    yield from proves(
        "outright",
        "On every plan of five nodes, with A's first user no later than B's: B never stands "
        "before A.",
        "QF_UF",
        z3.Not(plan.stands_before(1, 0)),
        [*plan.definitions, *plan.sorted_by_users()],
    )


def strict(_: Scale) -> Iterator[Check]:
    """Show the smallest plans that tell the models apart."""

    def stated(plan: ConcretePlan) -> tuple[SymbolicPlan, list[z3.BoolRef]]:
        symbolic = SymbolicPlan(plan.nodes, 2)
        exactly = symbolic.is_exactly(set(plan.edges), [set(users) for users in plan.users])
        return symbolic, [*symbolic.definitions, *exactly]

    plan, exactly = stated(UNFENCED)
    yield from exhibits(
        "in-order-not-fenced",
        "Two nodes without an edge, each with its own resource: safe on one stream, not fenced.",
        "QF_UF",
        *exactly,
        plan.in_order(0, 1),
        z3.Not(plan.fenced(0, 1)),
    )
    single = SymbolicPlan(1, 2)
    yield from excludes(
        "in-order-not-fenced.none-with-1-node",
        "With one node no two resources are safe in order.",
        "QF_UF",
        *single.definitions,
        single.in_order(0, 1),
    )
    plan, exactly = stated(FENCED_ONLY)
    apart = z3.And(plan.fenced(0, 1), z3.Not(plan.concurrent(0, 1)))
    yield from exhibits(
        "fenced-not-concurrent",
        "Three nodes, an edge from 1 to 2; A is used by 0 and 1, B by 2: fenced, but node 0 may "
        "still run when node 2 starts.",
        "QF_UF",
        *exactly,
        apart,
    )
    yield from excludes(
        "fenced-not-concurrent.none-without-edges",
        "Without an edge no two resources are fenced.",
        "QF_UF",
        *plan.definitions,
        plan.at_most_edges(0),
        apart,
    )
    small = SymbolicPlan(2, 2)
    yield from excludes(
        "fenced-not-concurrent.none-with-2-nodes",
        "With two nodes fenced-safe is concurrent-safe.",
        "QF_UF",
        *small.definitions,
        small.fenced(0, 1),
        z3.Not(small.concurrent(0, 1)),
    )


def smallest_apart(_: Scale) -> bool:
    """Try both plans, and every smaller one; and the implications on every plan tried."""
    tried = [
        plan for nodes, edges in ((1, 0), (2, 1), (3, 3)) for plan in every_plan(nodes, 2, edges)
    ]
    implied = all(
        plan.in_order(0, 1) >= plan.fenced(0, 1) >= plan.concurrent(0, 1) for plan in tried
    )
    unfenced = [plan for plan in tried if plan.in_order(0, 1) and not plan.fenced(0, 1)]
    fenced = [plan for plan in tried if plan.fenced(0, 1) and not plan.concurrent(0, 1)]

    def size(plan: ConcretePlan) -> tuple[int, int]:
        return plan.nodes, len(plan.edges)

    return (
        implied
        and UNFENCED in unfenced
        and size(UNFENCED) == min(map(size, unfenced))
        and FENCED_ONLY in fenced
        and size(FENCED_ONLY) == min(map(size, fenced))
    )


THEOREMS = (
    Theorem(
        id="sharing.models-form-a-hierarchy",
        statement=(
            "What is safe when nodes run concurrently is fenced-safe, and what is fenced-safe is "
            "safe in order."
        ),
        theory="functions, integers",
        holds_for="every plan; and outright up to 6 nodes",
        rests=RESTS,
        rules=("slot.shared-while-live",),
        checks=implications,
        recheck=smallest_apart,
    ),
    Theorem(
        id="sharing.earlier-born-dies-first",
        statement=(
            "Of two resources that may share, under any of the three models, it is the one with "
            "the earlier first user that dies first; so pairs sorted by first user need only be "
            "tested in one direction."
        ),
        theory="linear integers",
        holds_for="every plan",
        rests=RESTS,
        rules=("slot.shared-while-live",),
        checks=one_direction,
    ),
    Theorem(
        id="sharing.models-are-distinct",
        statement=(
            "No implication turns round. Two nodes without an edge are safe in order and not "
            "fenced; three nodes with the edge 1 to 2, resources used by 0 and 1 and by 2, are "
            "fenced and not concurrent-safe."
        ),
        theory="propositional",
        holds_for="counterexamples, smallest by nodes, then edges",
        rests=RESTS,
        rules=("slot.shared-while-live",),
        checks=strict,
        recheck=smallest_apart,
    ),
)
