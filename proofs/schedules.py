"""Why the tests of sharing are right: what they say of schedules.

A schedule gives each node a start and a later end. A resource is live from the first start to
the last end of its users, and two resources collide when both are live at one moment. The tests
never mention time; these theorems say that they are *exact*: no legal schedule collides when a
test passes, and some legal schedule does when it fails, so nothing safe is refused.

Times are integers and only ever compared, and nodes are told apart by name alone: linear integers
with uninterpreted functions, of a handful of arbitrary nodes, hence of every plan.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

from .concrete_plan import every_plan
from .concrete_schedules import collides
from .timing import BEFORE, END, NODE, START, live, runs

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_UFLIA"


def waits() -> Iterator[Check]:
    """Prove that a node waits for all that happens before it, not only its dependencies."""
    early, middle, late = z3.Consts("early middle late", NODE)
    yield from proves(
        "waiting.step",
        "If a node starts no sooner than a dependency ends, and that no sooner than what happens "
        "before it ends, then the node starts no sooner than that ends.",
        LOGIC,
        END(early) <= START(late),
        (*runs(early, middle, late), END(early) <= START(middle), END(middle) <= START(late)),
    )


def concurrent(_: Scale) -> Iterator[Check]:
    """Prove the concurrent test exact."""
    yield from waits()
    a, a_other, b, b_other = z3.Consts("a a.other b b.other", NODE)
    moment = z3.Int("moment")
    yield from proves(
        "sound",
        "If every user of A happens before every user of B, no moment of any schedule has both "
        "live.",
        LOGIC,
        z3.Not(z3.And(live(moment, a, a_other), live(moment, b, b_other))),
        (*runs(a, a_other, b, b_other), END(a_other) <= START(b)),
    )
    yield from proves(
        "cases",
        "If the test fails both ways, then some user of A and some of B are unordered (or the "
        "same node), or else one pair is ordered one way and another pair the other way.",
        "QF_UF",
        z3.Or(
            z3.Not(z3.Or(BEFORE(a, b), BEFORE(b, a))),
            z3.Not(z3.Or(BEFORE(a_other, b_other), BEFORE(b_other, a_other))),
            z3.And(BEFORE(b, a), BEFORE(a_other, b_other)),
        ),
        (z3.Not(BEFORE(a, b)), z3.Not(BEFORE(b_other, a_other))),
    )
    later = z3.If(START(a_other) >= START(b), START(a_other), START(b))
    yield from proves(
        "crossed",
        "If a user of B happens before one of A, and a user of A before one of B, then both are "
        "live at one moment of every schedule.",
        LOGIC,
        z3.And(
            z3.Or(live(later, a_other, a), live(later, a_other, a_other)),
            z3.Or(live(later, b, b_other), live(later, b, b)),
        ),
        (*runs(a, a_other, b, b_other), END(b) <= START(a), END(a_other) <= START(b_other)),
    )
    yield from together()


def together() -> Iterator[Check]:
    """Prove that two unordered nodes can run at the same moment, by building the schedule.

    First everything that happens before either of the two, in plan order; then the two at once;
    then everything else in plan order. Each node takes one unit of time. ``x`` to ``y`` is an
    arbitrary dependency.
    """
    position = z3.Function("position", NODE, z3.IntSort())
    early = z3.Function("early", NODE, z3.BoolSort())
    a, b, x, y = z3.Consts("a b x y", NODE)
    count = z3.Int("count")

    def begins(node: z3.ExprRef) -> z3.ArithRef:
        late = count + 1 + position(node)
        return z3.If(early(node), position(node), z3.If(z3.Or(node == a, node == b), count, late))

    given = [
        *(z3.And(position(node) >= 0, position(node) < count) for node in (a, b, x, y)),
        position(x) < position(y),
        z3.Not(early(a)),
        z3.Not(early(b)),
        z3.Implies(early(y), early(x)),
        z3.Implies(z3.Or(y == a, y == b), early(x)),
    ]
    yield from proves(
        "together.legal",
        "Every node starts no sooner than each of its dependencies ends. What happens before the "
        "two is closed under dependencies and holds neither, as they are unordered.",
        LOGIC,
        begins(x) + 1 <= begins(y),
        given,
    )
    yield from proves(
        "together.collides",
        "The two run at the same moment, so a resource of each is live then.",
        LOGIC,
        begins(a) == begins(b),
        given,
    )


def in_order(_: Scale) -> Iterator[Check]:
    """Prove the in-order test exact, for one stream that runs the nodes in plan order."""
    a_first, a_last, b_first, b_last = z3.Consts("a.first a.last b.first b.last", NODE)
    moment = z3.Int("moment")
    yield from proves(
        "sound",
        "If A's last user stands before B's first, no moment has both live: on one stream a node "
        "starts no sooner than every earlier one ends.",
        LOGIC,
        z3.Not(z3.And(live(moment, a_first, a_last), live(moment, b_first, b_last))),
        (*runs(a_first, a_last, b_first, b_last), END(a_last) <= START(b_first)),
    )
    later = z3.If(START(a_first) >= START(b_first), START(a_first), START(b_first))
    yield from proves(
        "complete",
        "If neither stands wholly before the other, both are live when the later of them is born, "
        "in every schedule of the stream.",
        LOGIC,
        z3.And(live(later, a_first, a_last), live(later, b_first, b_last)),
        (
            *runs(a_first, a_last, b_first, b_last),
            *(
                # At or before in plan order: the same node, or it has ended by then.
                z3.Or(one == other, END(one) <= START(other))
                for one, other in (
                    (a_first, a_last),
                    (b_first, b_last),
                    (b_first, a_last),
                    (a_first, b_last),
                )
            ),
        ),
    )


def waiting(_: Scale) -> Iterator[Check]:
    """Prove that one node waits for another in every schedule exactly when it must."""
    yield from waits()
    x, y = z3.Consts("x y", NODE)
    yield from proves(
        "reversed",
        "If y happens before x, then y starts before x ends in every schedule.",
        LOGIC,
        START(y) < END(x),
        (*runs(x, y), END(y) <= START(x)),
    )
    yield from together()


def concurrent_agrees(scale: Scale) -> bool:
    """Try every schedule of unit steps of every small plan."""
    sizes = ((1, 0), (2, 1), (3, 3), (4, 2)) if scale == "full" else ((1, 0), (2, 1), (3, 3))
    return all(
        collides(plan, "free") != plan.concurrent(0, 1)
        for nodes, edges in sizes
        for plan in every_plan(nodes, 2, edges)
    )


def in_order_agrees(_: Scale) -> bool:
    """Run every small plan on one stream."""
    return all(
        collides(plan, "stream") != plan.in_order(0, 1)
        for nodes in range(1, 5)
        for plan in every_plan(nodes, 2, most_edges=0)
    )


THEOREMS = (
    Theorem(
        id="schedules.concurrent-test-is-exact",
        statement=(
            "Two resources are never live together, in any schedule in which each node waits for "
            "its dependencies, exactly when every user of one happens before every user of the "
            "other."
        ),
        theory="functions, integers",
        holds_for="every plan and every schedule",
        rests=("ferrum_verify.plan.sharing:slot_safety",),
        rules=("slot.shared-while-live",),
        checks=concurrent,
        recheck=concurrent_agrees,
    ),
    Theorem(
        id="schedules.in-order-test-is-exact",
        statement=(
            "Two resources are never live together on one stream that runs the nodes in plan "
            "order exactly when all users of one stand before all users of the other."
        ),
        theory="functions, integers",
        holds_for="every plan and every schedule of the stream",
        rests=("ferrum_verify.plan.sharing:slot_safety",),
        rules=("slot.shared-while-live",),
        checks=in_order,
        recheck=in_order_agrees,
    ),
    Theorem(
        id="schedules.waiting-is-order",
        statement=(
            "One node ends before another starts in every schedule in which nodes wait for their "
            "dependencies exactly when it happens before it; so constraints on the times of "
            "dependencies alone decide every question of order."
        ),
        theory="functions, integers",
        holds_for="every plan and every schedule",
        rests=("ferrum_verify.plan.order:HappensBefore",),
        rules=("slot.shared-while-live", "liveness.rows-overlap"),
        checks=waiting,
    ),
)
