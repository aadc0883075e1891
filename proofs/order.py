"""The closure of dependencies, computed once as a set of ancestors for each node.

Happens-before is the least transitive relation that holds the edges. That the sets of ancestors
*are* that relation is an induction along plan order, in the theory of uninterpreted functions; one
query for each direction. The same is also said outright of every plan of a small size, with the
sets as bit-vectors, as the verifier keeps them, beside a closure of another kind (Warshall's).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, proves

from .concrete_plan import every_plan
from .logic import every

if TYPE_CHECKING:
    from collections.abc import Iterator

FULL_NODES, QUICK_NODES = 6, 4


def closure(scale: Scale) -> Iterator[Check]:
    """Prove the sets of ancestors to be the least transitive relation that holds the edges."""
    node = z3.DeclareSort("Node")
    edge, ancestor, closed = (
        z3.Function(name, node, node, z3.BoolSort()) for name in ("edge", "ancestor", "closed")
    )
    early, middle, late, parent = z3.Consts("early middle late parent", node)

    def by_parent(who: z3.ExprRef, of: z3.ExprRef, through: z3.ExprRef) -> z3.BoolRef:
        return z3.And(edge(through, of), z3.Or(who == through, ancestor(who, through)))

    yield from proves(
        "edges",
        "A dependency is an ancestor.",
        "QF_UF",
        ancestor(parent, late),
        (
            z3.Implies(by_parent(parent, late, parent), ancestor(parent, late)),
            edge(parent, late),
        ),
    )
    yield from proves(
        "transitive.step",
        "If ancestors of ancestors are ancestors for every dependency of a node, they are for the "
        "node: its ancestor in between is a dependency or an ancestor of one.",
        "QF_UF",
        ancestor(early, late),
        (
            ancestor(early, middle),
            by_parent(middle, late, parent),
            z3.Implies(
                z3.And(ancestor(early, middle), ancestor(middle, parent)), ancestor(early, parent)
            ),
            z3.Implies(by_parent(early, late, parent), ancestor(early, late)),
        ),
    )
    yield from proves(
        "least.step",
        "Any transitive relation that holds the edges, and the ancestors of every dependency of a "
        "node, holds the ancestors of the node: the sets are the least such relation.",
        "QF_UF",
        closed(early, late),
        (
            by_parent(early, late, parent),
            z3.Implies(edge(parent, late), closed(parent, late)),
            z3.Implies(ancestor(early, parent), closed(early, parent)),
            z3.Implies(z3.And(closed(early, parent), closed(parent, late)), closed(early, late)),
        ),
    )
    yield from outright(FULL_NODES if scale == "full" else QUICK_NODES)


def outright(count: int) -> Iterator[Check]:
    """Prove bit sets equal to Warshall's closure on every plan of some nodes."""
    nodes, pairs = range(count), list(itertools.combinations(range(count), 2))
    edges = {(i, j): z3.Bool(f"edge.{i}.{j}") for i, j in pairs}
    none = z3.BitVecVal(0, count)
    sets = [z3.BitVec(f"ancestors.{j}", count) for j in nodes]
    given = []
    for j in nodes:
        union = none
        for i in range(j):
            union |= z3.If(edges[i, j], sets[i] | z3.BitVecVal(1 << i, count), none)
        given.append(sets[j] == union)
    reaches = dict(edges)
    for k in nodes:
        for i, j in itertools.product(range(k), range(k + 1, count)):
            longer = z3.Bool(f"through.{k}.{i}.{j}")
            given.append(longer == z3.Or(reaches[i, j], z3.And(reaches[i, k], reaches[k, j])))
            reaches[i, j] = longer
    never = z3.BoolVal(False)
    yield from proves(
        "outright",
        f"On every plan of {count} nodes the bit of i is set in the set of j exactly when "
        "Warshall's closure leads from i to j.",
        "QF_BV",
        every(
            (z3.Extract(i, i, sets[j]) == 1) == reaches.get((i, j), never)
            for i, j in itertools.product(nodes, nodes)
        ),
        given,
    )


def forward(_: Scale) -> Iterator[Check]:
    """Prove that plan order agrees with happens-before, and so that there is no cycle."""
    start, middle, end = z3.Ints("start middle end")
    yield from proves(
        "step",
        "A path that leads to a later node still does with one edge more, as each edge does.",
        "QF_LIA",
        start < end,
        (start < middle, middle < end),
    )
    yield from proves(
        "acyclic",
        "So no path leads from a node to itself.",
        "QF_LIA",
        start != end,
        (start < end,),
    )


def sets_agree(scale: Scale) -> bool:
    """Compute the sets of every small plan as the verifier does; compare with following edges."""
    for nodes in range(1, 6 if scale == "full" else 5):
        for plan in every_plan(nodes, 0):
            sets: list[int] = []
            for j in range(nodes):
                union = 0
                for i, end in plan.edges:
                    if end == j:
                        union |= sets[i] | 1 << i
                sets.append(union)
            if any(
                bool(sets[j] >> i & 1) != plan.precedes(i, j)
                for i in range(nodes)
                for j in range(nodes)
            ):
                return False
    return True


THEOREMS = (
    Theorem(
        id="order.ancestors-are-the-closure",
        statement=(
            "Where each node's set is the union of its dependencies and their sets, in plan "
            "order, a node is in another's set exactly when it happens before it."
        ),
        theory="functions, bit-vectors",
        holds_for="every plan, by induction; and outright up to 6 nodes",
        rests=("ferrum_verify.plan.order:HappensBefore",),
        rules=(
            "slot.shared-while-live",
            "liveness.rows-overlap",
        ),
        checks=closure,
        recheck=sets_agree,
    ),
    Theorem(
        id="order.plan-order-agrees",
        statement=(
            "When every dependency is an earlier node, what happens before a node stands before "
            "it in plan order, and there is no cycle."
        ),
        theory="linear integers",
        holds_for="every plan, by induction on the path",
        rests=("ferrum_verify.plan.order:HappensBefore", "ferrum_verify.plan.sharing:slot_safety"),
        rules=(
            "graph.later-dependency",
            "graph.cycle",
        ),
        checks=forward,
    ),
)
