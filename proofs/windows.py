"""The stretch of plan order that can bear on a question about some nodes.

Linear integers with uninterpreted functions: the schedule of the stretch is given by two functions
of the node, the times outside are built from positions, and one arbitrary dependency stands for
all. Nothing but comparisons and differences occurs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

from .timing import END, NODE, START

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_UFLIA"


def windows(_: Scale) -> Iterator[Check]:
    """Prove that nodes outside a stretch of plan order do not bear on schedules of it.

    The stretch is from position ``first`` to ``last``, and its schedule lies between ``early``
    and ``late``. Earlier nodes run one by one before it, later ones one by one after it. ``x``
    to ``y`` is an arbitrary dependency.
    """
    position = z3.Function("position", NODE, z3.IntSort())
    x, y = z3.Consts("x y", NODE)
    first, last, early, late = z3.Ints("first last early late")

    def inside(node: z3.ExprRef) -> z3.BoolRef:
        return z3.And(first <= position(node), position(node) <= last)

    def begins(node: z3.ExprRef) -> z3.ArithRef:
        before = early - 1 - (first - position(node))
        after = late + (position(node) - last)
        outside = z3.If(position(node) < first, before, after)
        return z3.If(inside(node), START(node), outside)

    def ends(node: z3.ExprRef) -> z3.ArithRef:
        return z3.If(inside(node), END(node), begins(node) + 1)

    within = [
        z3.Implies(
            inside(node),
            z3.And(early <= START(node), START(node) < END(node), END(node) <= late),
        )
        for node in (x, y)
    ]
    yield from proves(
        "extends",
        "A schedule of the stretch that keeps the dependencies inside it extends to one of all "
        "nodes that keeps them all, and leaves the times inside as they are.",
        LOGIC,
        ends(x) <= begins(y),
        (
            first <= last,
            early <= late,
            position(x) < position(y),
            *within,
            z3.Implies(z3.And(inside(x), inside(y)), END(x) <= START(y)),
        ),
    )
    z = z3.Const("z", NODE)
    yield from proves(
        "extends-fenced",
        "If the stretch also starts its nodes in plan order, and a node there waits for all up to "
        "its latest dependency, then so does every node: z stands up to x, for which y waits.",
        LOGIC,
        z3.And(ends(z) <= begins(y), begins(x) <= begins(y)),
        (
            first <= last,
            early <= late,
            position(z) <= position(x),
            position(x) < position(y),
            *within,
            z3.Implies(
                inside(z),
                z3.And(early <= START(z), START(z) < END(z), END(z) <= late),
            ),
            z3.Implies(z3.And(inside(x), inside(y)), START(x) <= START(y)),
            z3.Implies(z3.And(inside(z), inside(x), inside(y)), END(z) <= START(y)),
        ),
    )


THEOREMS = (
    Theorem(
        id="windows.suffice",
        statement=(
            "A question about the order of some nodes is settled by the stretch of plan order "
            "from the first to the last of them: every schedule of the stretch extends to one of "
            "the whole plan, under every model."
        ),
        theory="functions, integers",
        holds_for="every plan and every schedule",
        rests=("ferrum_verify.prove.windows:Window",),
        rules=("slot.shared-while-live", "liveness.rows-overlap", "value.race", "graph.race"),
        checks=windows,
    ),
)
