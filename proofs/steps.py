"""Steps that overlap: why as many as may overlap decide all of them.

The host's list is gone through once a step, so what waits for what is the same in every step: an
edge from one action to another, so many steps later, is there in all steps or in none. From that
follows that the order of two nodes depends on how far apart their steps are and on nothing else.
What an edge costs to decide, an event's capture, is a question of the last record before a wait.

Uninterpreted functions over actions and whole numbers for steps: by induction on chains of edges,
a handful of arbitrary actions at a time. The same is tried outright on small schedules.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

from .timing import NODE

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_UFLIA"
INT, BOOL = z3.IntSort(), z3.BoolSort()
EDGE = z3.Function("edge", NODE, NODE, INT, BOOL)
"""From one action to another, so many steps later."""
REACHES = z3.Function("reaches", NODE, INT, NODE, INT, BOOL)
"""A chain of edges leads from one action in one step to another in another."""

Edges = frozenset[tuple[int, int, int]]


def _there(x: z3.ExprRef, at: z3.ArithRef, y: z3.ExprRef, then: z3.ArithRef) -> z3.BoolRef:
    """An edge is there from step 0 on, and leads to no earlier step."""
    return z3.And(at >= 0, then >= at, EDGE(x, y, then - at))


def invariance(_: Scale) -> Iterator[Check]:
    """Prove that the order of two nodes depends on how far apart their steps are."""
    a, x, y = z3.Consts("a x y", NODE)
    k, m, n = z3.Ints("k m n")
    yield from proves(
        "edge",
        "An edge between two steps is there one step later too, and one step earlier where there "
        "are such steps.",
        LOGIC,
        _there(x, m, y, n) == _there(x, m + 1, y, n + 1),
        (m >= 0,),
    )
    yield from proves(
        "later",
        "If a chain is there one step later, then so is the chain with one more edge.",
        LOGIC,
        REACHES(a, k + 1, y, n + 1),
        (
            k >= 0,
            m >= k,
            z3.Implies(REACHES(a, k, x, m), REACHES(a, k + 1, x, m + 1)),
            REACHES(a, k, x, m),
            _there(x, m, y, n),
            z3.Implies(
                z3.And(REACHES(a, k + 1, x, m + 1), _there(x, m + 1, y, n + 1)),
                REACHES(a, k + 1, y, n + 1),
            ),
        ),
    )
    yield from proves(
        "earlier",
        "If a chain that begins in step 1 or later is there one step earlier, then so is the chain "
        "with one more edge: no chain leads to a step before that of its beginning.",
        LOGIC,
        REACHES(a, k, y, n),
        (
            k >= 0,
            m >= k,
            z3.Implies(REACHES(a, k + 1, x, m + 1), REACHES(a, k, x, m)),
            REACHES(a, k + 1, x, m + 1),
            _there(x, m + 1, y, n + 1),
            z3.Implies(z3.And(REACHES(a, k, x, m), _there(x, m, y, n)), REACHES(a, k, y, n)),
        ),
    )
    yield from capture()


def capture() -> Iterator[Check]:
    """Prove that an event stands for the same record, a step later as well."""
    recorded = z3.Function("recorded", INT, BOOL)
    wait, last, other, length = z3.Ints("wait last other length")
    yield from proves(
        "capture",
        "If a list of so many actions is gone through again and again, and the last record before "
        "a wait is known, then the last record before the same wait of the next step is the same "
        "one, a step later.",
        LOGIC,
        z3.And(recorded(last + length), z3.Or(other <= last + length, other >= wait + length)),
        (
            length > 0,
            last >= 0,
            last < wait,
            recorded(last),
            recorded(other),
            recorded(last) == recorded(last + length),
            other >= length,
            recorded(other) == recorded(other - length),
            z3.Implies(
                recorded(other - length), z3.Or(other - length <= last, other >= wait + length)
            ),
        ),
    )


def decided(scale: Scale) -> Iterator[Check]:
    """Prove that the steps up to the distance decide what becomes of any two."""
    yield from invariance(scale)
    a, b = z3.Consts("a b", NODE)
    k, n, back, distance = z3.Ints("k n back distance")
    yield from proves(
        "near",
        "Two nodes in later steps are ordered as the same two nodes are so many steps earlier: if "
        "that holds of a number of steps, it holds of one more.",
        LOGIC,
        REACHES(a, k, b, n) == REACHES(a, k - back - 1, b, n - back - 1),
        (
            back >= 0,
            n >= k,
            k - back >= 1,
            REACHES(a, k, b, n) == REACHES(a, k - back, b, n - back),
            REACHES(a, k - back, b, n - back) == REACHES(a, k - back - 1, b, n - back - 1),
        ),
    )
    yield from proves(
        "far",
        "Two nodes that are further apart are in order: the first happens before the second so "
        "many steps later, which its stream, or the host, keeps before the second.",
        LOGIC,
        REACHES(a, k, b, n),
        (
            n > k + distance,
            REACHES(a, k, b, k + distance),
            z3.Implies(n > k + distance, REACHES(b, k + distance, b, n)),
            z3.Implies(
                z3.And(REACHES(a, k, b, k + distance), REACHES(b, k + distance, b, n)),
                REACHES(a, k, b, n),
            ),
        ),
    )


def decided_agrees(scale: Scale) -> bool:
    """Try small schedules of two or three actions, each its own stream, in seven steps."""
    sizes = ((2, 2), (3, 1)) if scale == "quick" else ((2, 3), (3, 2))
    return all(_agrees(edges, nodes) for nodes, most in sizes for edges in _schedules(nodes, most))


def _schedules(nodes: int, most: int) -> Iterator[Edges]:
    """The edges of a stream from step to step, and some between streams, 0 to 2 steps apart."""
    own = frozenset((node, node, 1) for node in range(nodes))
    others = [
        (x, y, weight)
        for x, y in itertools.permutations(range(nodes), 2)
        for weight in range(3)
        if weight or x < y
    ]
    for count in range(most + 1):
        for chosen in itertools.combinations(others, count):
            yield own | frozenset(chosen)


def _agrees(edges: Edges, nodes: int, steps: int = 7) -> bool:
    before = _closure(edges, nodes, steps)

    def whole(first: int, then: int) -> bool:
        pairs = itertools.product(range(nodes), repeat=2)
        return all(((x, first), (y, then)) in before for x, y in pairs)

    distance = next((step for step in range(1, 4) if whole(0, step)), None)
    if distance is None:
        return True
    return all(
        (((x, k), (y, n)) in before) == (n - k > distance or ((x, 0), (y, n - k)) in before)
        for x, y in itertools.product(range(nodes), repeat=2)
        for k in range(steps)
        for n in range(k, steps)
    )


def _closure(edges: Edges, nodes: int, steps: int) -> set[tuple[tuple[int, int], tuple[int, int]]]:
    every = list(itertools.product(range(nodes), range(steps)))
    found = {
        ((x, step), (y, step + weight)) for x, y, weight in edges for step in range(steps - weight)
    }
    for middle in every:  # Warshall's
        for first in every:
            if (first, middle) in found:
                found |= {(first, last) for last in every if (middle, last) in found}
    return found


THEOREMS = (
    Theorem(
        id="steps.order-depends-on-distance",
        statement=(
            "Under a schedule one node of step k happens before another of step l exactly when it "
            "does so in steps k + 1 and l + 1: a step that is put in front changes no order "
            "among those behind it."
        ),
        theory="functions, integers",
        holds_for="every schedule and every number of steps, by induction",
        rests=("ferrum_verify.plan.unrolling:Unrolling",),
        rules=("schedule.dependency-not-kept", "schedule.lags-for-ever"),
        checks=invariance,
        recheck=decided_agrees,
    ),
    Theorem(
        id="steps.distance-decides",
        statement=(
            "If every node of step k happens before every node of step k + D, then the steps from "
            "0 to D decide of any two nodes in any two steps whether they are ordered."
        ),
        theory="functions, integers",
        holds_for="every schedule and every number of steps",
        rests=("ferrum_verify.plan.unrolling:unroll",),
        rules=("slot.shared-while-live", "value.race", "graph.race", "liveness.rows-overlap"),
        checks=decided,
        recheck=decided_agrees,
    ),
)
