"""Nodes that are only issued in plan order: started in turn, each once its dependencies ended.

This is how an ordered command batch runs on a device that overlaps its commands, so it is the
obvious way to read the fenced model. These theorems say what would keep two resources apart under
that reading, and that the fenced test is something else: a rule that the engine keeps, stricter
here and laxer there. Linear integers with uninterpreted functions for schedules, as the times are
only compared; propositional logic for the smallest plans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .concrete_plan import ConcretePlan, every_plan
from .concrete_schedules import collides
from .logic import every, some
from .symbolic_plan import SymbolicPlan
from .timing import END, NODE, START, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOGIC = "QF_UFLIA"
LONG_RUNNER = ConcretePlan(3, frozenset({(1, 2)}), (frozenset({0, 1}), frozenset({2})))
DRAINED = ConcretePlan(3, frozenset({(0, 1)}), (frozenset({0}), frozenset({2})))


def issued(_: Scale) -> Iterator[Check]:
    """Prove what keeps two resources apart when nodes are only issued in plan order."""
    position = z3.Function("position", NODE, z3.IntSort())
    user, dependent, born, x, y = z3.Consts("user dependent born x y", NODE)
    yield from proves(
        "sound",
        "If a node that depends on a user of A is issued no later than B's first user, then that "
        "user of A has ended when B is born.",
        LOGIC,
        END(user) <= START(born),
        (
            *runs(user, dependent, born),
            END(user) <= START(dependent),
            START(dependent) <= START(born),
        ),
    )
    stop = position(born) + 1

    def ends(node: z3.ExprRef) -> z3.ArithRef:
        return z3.If(node == user, stop, position(node) + 1)

    given = [
        position(user) < position(born),
        position(x) < position(y),
        z3.Implies(x == user, position(y) > position(born)),
    ]
    yield from proves(
        "complete.legal",
        "If every node that depends on a user of A is issued later than B's first user, let each "
        "node start at its place in plan order and take one unit, but that user of A until B is "
        "born: every dependency, x to y, is kept.",
        LOGIC,
        z3.And(ends(x) <= position(y), position(x) < ends(x), position(user) < ends(user)),
        given,
    )
    yield from proves(
        "complete.collides",
        "That user of A runs when B is born.",
        LOGIC,
        z3.And(position(user) <= position(born), position(born) < ends(user)),
        given,
    )


def drained(plan: SymbolicPlan) -> z3.BoolRef:
    """Say that resource 0 stands before resource 1, each of its users awaited by 1's birth."""
    awaited = (
        z3.Implies(
            plan.use[0][user],
            some(
                z3.And(plan.edge[user, dependent], plan.first[1][born])
                for dependent in plan.nodes
                for born in plan.nodes
                if user < dependent <= born
            ),
        )
        for user in plan.nodes
    )
    return z3.And(plan.stands_before(0, 1), every(awaited))


def fenced_forward(plan: SymbolicPlan) -> z3.BoolRef:
    """Say that resource 0 is fenced before resource 1."""
    return z3.And(plan.stands_before(0, 1), plan.last_precedes_first(0, 1))


def too_lax(plan: SymbolicPlan) -> z3.BoolRef:
    """Say that the fenced test passes and yet the two can be live together."""
    return z3.And(fenced_forward(plan), z3.Not(drained(plan)))


def too_strict(plan: SymbolicPlan) -> z3.BoolRef:
    """Say that the fenced test fails and yet the two cannot be live together."""
    return z3.And(drained(plan), z3.Not(fenced_forward(plan)))


def smallest(
    name: str, claim: str, stated: ConcretePlan, broken: Callable[[SymbolicPlan], z3.BoolRef]
) -> Iterator[Check]:
    """Exhibit the stated plan, and exclude fewer edges and fewer nodes."""
    plan = SymbolicPlan(stated.nodes, 2)
    exactly = plan.is_exactly(set(stated.edges), [set(users) for users in stated.users])
    yield from exhibits(name, claim, "QF_UF", *plan.definitions, *exactly, broken(plan))
    yield from excludes(
        f"{name}.none-without-edges",
        "Without an edge there is no such plan.",
        "QF_UF",
        *plan.definitions,
        plan.at_most_edges(len(stated.edges) - 1),
        broken(plan),
    )
    for fewer in range(1, stated.nodes):
        small = SymbolicPlan(fewer, 2)
        yield from excludes(
            f"{name}.none-with-{fewer}-nodes",
            f"With {fewer} node(s) there is no such plan, whatever its edges and uses.",
            "QF_UF",
            *small.definitions,
            broken(small),
        )


def fenced_differs(_: Scale) -> Iterator[Check]:
    """Show that the fenced test is neither enough nor needed when nodes are only issued."""
    yield from smallest(
        "not-enough",
        "Node 2 waits for node 1 and not for node 0, the other user of A: fenced, but node 0 may "
        "still run when node 2 starts.",
        LONG_RUNNER,
        too_lax,
    )
    yield from smallest(
        "not-needed",
        "Node 1 waits for node 0 and is issued before node 2: A is dead when B is born, but no "
        "path leads from node 0 to node 2.",
        DRAINED,
        too_strict,
    )


def awaited_in_time(plan: ConcretePlan) -> bool:
    """Whether one resource stands before the other, each of its users awaited by its birth."""
    return any(
        max(left) < min(right)
        and all(any((user, j) in plan.edges for j in range(min(right) + 1)) for user in left)
        for left, right in (plan.users, plan.users[::-1])
    )


def issued_agrees(_: Scale) -> bool:
    """Try every schedule of small plans whose nodes are issued in plan order."""
    return all(
        collides(plan, "issued") != awaited_in_time(plan)
        for nodes in range(1, 4)
        for plan in every_plan(nodes, 2)
    )


def smallest_difference(_: Scale) -> bool:
    """Try the two stated plans, and every smaller one."""
    smaller = [*every_plan(1, 2), *every_plan(2, 2), *every_plan(3, 2, most_edges=0)]
    return (
        LONG_RUNNER.fenced(0, 1)
        and collides(LONG_RUNNER, "issued")
        and not DRAINED.fenced(0, 1)
        and not collides(DRAINED, "issued")
        and all(plan.fenced(0, 1) != collides(plan, "issued") for plan in smaller)
    )


THEOREMS = (
    Theorem(
        id="issue-order.exact-test",
        statement=(
            "When nodes are only issued in plan order (each starts no sooner than the one before "
            "it, and waits for its dependencies), a resource is always dead before another is "
            "born exactly when its users all stand before the other's first user and each has a "
            "dependent that is issued no later than that."
        ),
        theory="functions, integers",
        holds_for="every plan and every schedule",
        rests=("ferrum_verify.prove.schedules:live_together",),
        rules=(),
        checks=issued,
        recheck=issued_agrees,
    ),
    Theorem(
        id="issue-order.is-not-the-fenced-test",
        statement=(
            "The fenced test is a promise of the ordered batch, and no fact about nodes that are "
            "only issued in plan order. It is not enough: nodes 0 and 1 use one resource and node "
            "2 another, the only edge is 1 to 2, and node 0 may still run when node 2 starts. Nor "
            "is it needed: node 0 uses one and node 2 the other, the only edge is 0 to 1, and "
            "node 1 starts before node 2 and after node 0 has ended."
        ),
        theory="propositional",
        holds_for="counterexamples, smallest by nodes, then edges",
        rests=("ferrum_verify.prove.schedules:live_together",),
        rules=("slot.shared-while-live",),
        checks=fenced_differs,
        recheck=smallest_difference,
    ),
)
