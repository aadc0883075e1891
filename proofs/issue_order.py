"""Fenced runs: nodes start in plan order, and a dependency is a barrier.

What waits for a node waits for all that stand before it, as on a device that overlaps the commands
of one ordered batch between its barriers. These theorems say what keeps two resources apart in
such runs, that the fenced test of slots is enough for it, and that the test asks for more than
that. Linear integers with uninterpreted functions for runs, as the times are only compared;
propositional logic for the smallest plans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .concrete_plan import ConcretePlan, every_plan
from .concrete_schedules import collides
from .logic import some
from .symbolic_plan import SymbolicPlan
from .timing import END, NODE, START, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOGIC = "QF_UFLIA"
DRAINED = ConcretePlan(3, frozenset({(0, 1)}), (frozenset({0}), frozenset({2})))


def barriers(_: Scale) -> Iterator[Check]:
    """Prove what keeps two resources apart when a dependency is a barrier."""
    position = z3.Function("position", NODE, z3.IntSort())
    user, awaited, waiting, born = z3.Consts("user awaited waiting born", NODE)
    x, y, z = z3.Consts("x y z", NODE)
    yield from proves(
        "sound",
        "If a node that starts no later than B's first user depends on A's last user or on one "
        "behind it, then every user of A has ended when B is born.",
        LOGIC,
        END(user) <= START(born),
        (
            *runs(user, awaited, waiting, born),
            position(user) <= position(awaited),
            z3.Implies(position(user) <= position(awaited), END(user) <= START(waiting)),
            START(waiting) <= START(born),
        ),
    )
    stop = position(born) + 1

    def ends(node: z3.ExprRef) -> z3.ArithRef:
        return z3.If(node == user, stop, position(node) + 1)

    given = [
        position(user) < position(born),
        position(x) < position(y),
        position(z) <= position(x),
        z3.Implies(position(y) <= position(born), position(x) < position(user)),
    ]
    yield from proves(
        "complete.legal",
        "If every dependency of a node up to B's first user stands before A's last user, let each "
        "node start at its place in plan order and take one unit, but that user of A until B is "
        "born: every barrier is kept, z being any node up to x, for which y waits.",
        LOGIC,
        z3.And(ends(z) <= position(y), position(z) < ends(z), position(user) < ends(user)),
        given,
    )
    yield from proves(
        "complete.collides",
        "That user of A runs when B is born.",
        LOGIC,
        z3.And(position(user) <= position(born), position(born) < ends(user)),
        given,
    )


def fence(scale: Scale) -> Iterator[Check]:
    """Prove that what the fenced test passes is apart in every fenced run."""
    position = z3.Function("position", NODE, z3.IntSort())
    user, last, awaited, born = z3.Consts("user last awaited born", NODE)
    yield from proves(
        "sound",
        "A chain from A's last user to B's first ends with a dependency on that user or on a node "
        "behind it, and all users of A stand up to there: they have ended when B is born.",
        LOGIC,
        END(user) <= START(born),
        (
            *runs(user, last, awaited, born),
            position(user) <= position(last),
            z3.Or(last == awaited, position(last) < position(awaited)),
            z3.Implies(position(user) <= position(awaited), END(user) <= START(born)),
        ),
    )
    plan = SymbolicPlan(6 if scale == "full" else 4, 2)
    yield from proves(
        "outright",
        f"On every plan of {len(plan.nodes)} nodes: what is fenced has a barrier between.",
        "QF_UF",
        z3.Implies(fenced_forward(plan), drained(plan)),
        plan.definitions,
    )


def drained(plan: SymbolicPlan) -> z3.BoolRef:
    """Say that resource 0 stands before resource 1, with a barrier behind its last user."""
    return z3.And(
        plan.stands_before(0, 1),
        some(
            z3.And(plan.last[0][user], plan.edge[awaited, waiting], plan.first[1][born])
            for user in plan.nodes
            for awaited, waiting in plan.pairs
            for born in plan.nodes
            if user <= awaited and waiting <= born
        ),
    )


def fenced_forward(plan: SymbolicPlan) -> z3.BoolRef:
    """Say that resource 0 is fenced before resource 1."""
    return z3.And(plan.stands_before(0, 1), plan.last_precedes_first(0, 1))


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


def stricter(_: Scale) -> Iterator[Check]:
    """Show that the fenced test refuses what no run hurts."""
    yield from smallest(
        "not-needed",
        "Node 1 waits for node 0 and stands before node 2: A is dead when B is born, but no "
        "path leads from node 0 to node 2.",
        DRAINED,
        too_strict,
    )


def has_barrier(plan: ConcretePlan) -> bool:
    """Whether a barrier behind all users of the one resource stands up to the other's birth."""
    return any(
        max(left) < min(right) and any(max(left) <= i and j <= min(right) for i, j in plan.edges)
        for left, right in (plan.users, plan.users[::-1])
    )


def barriers_agree(_: Scale) -> bool:
    """Try every fenced run of small plans."""
    return all(
        collides(plan, "fenced") != has_barrier(plan)
        for nodes in range(1, 4)
        for plan in every_plan(nodes, 2)
    )


def fence_agrees(_: Scale) -> bool:
    """Try every fenced run of small plans that the test passes."""
    return not any(
        plan.fenced(0, 1) and collides(plan, "fenced")
        for nodes in range(1, 4)
        for plan in every_plan(nodes, 2)
    )


def smallest_difference(_: Scale) -> bool:
    """Try the stated plan, and every smaller one."""
    smaller = [*every_plan(1, 2), *every_plan(2, 2), *every_plan(3, 2, most_edges=0)]
    return (
        not DRAINED.fenced(0, 1)
        and not collides(DRAINED, "fenced")
        and all(plan.fenced(0, 1) != collides(plan, "fenced") for plan in smaller)
    )


RESTS = (
    "ferrum_verify.plan.order:HappensBefore",
    "ferrum_verify.prove.schedules:live_together",
)

THEOREMS = (
    Theorem(
        id="issue-order.barriers-are-exact",
        statement=(
            "When nodes start in plan order and each waits for all nodes up to its latest "
            "dependency, a resource is always dead before another is born exactly when its users "
            "all stand before the other's first user, and a node up to that one depends on the "
            "last of them or on a node behind it."
        ),
        theory="functions, integers",
        holds_for="every plan and every fenced run",
        rests=RESTS,
        rules=("value.overwritten", "value.race", "graph.race"),
        checks=barriers,
        recheck=barriers_agree,
    ),
    Theorem(
        id="issue-order.fence-is-sound",
        statement=(
            "Two resources that pass the fenced test, all users of one before all of the other "
            "and a chain from the last to the first, are never live together in a fenced run."
        ),
        theory="functions, integers",
        holds_for="every plan and every fenced run; and outright up to 6 nodes",
        rests=("ferrum_verify.plan.sharing:slot_safety",),
        rules=("slot.shared-while-live", "liveness.rows-overlap"),
        checks=fence,
        recheck=fence_agrees,
    ),
    Theorem(
        id="issue-order.fence-is-stricter",
        statement=(
            "The fenced test refuses pairs that no fenced run hurts: node 0 uses one resource and "
            "node 2 another, the only edge is 0 to 1, and node 1, which waits for node 0, starts "
            "before node 2."
        ),
        theory="propositional",
        holds_for="counterexample, smallest by nodes, then edges",
        rests=("ferrum_verify.prove.schedules:live_together",),
        rules=("slot.shared-while-live",),
        checks=stricter,
        recheck=smallest_difference,
    ),
)
