"""The first-fit derivation of Step slots, on every plan at once.

Propositional logic over ``SymbolicPlan``: a boolean for each edge, each use and each resource
that may not be shared. The derivation is encoded as the engine runs it (seed 000,
``derive_pool_step_slots``): resources by first and last user, each joining the first slot all of
whose members it is ordered with, tested in both directions. Since resources with equal users are
alike but for their number, numbering them in this order loses no case.

The bounded proof is about the algorithm as a whole. That it holds without a bound is the
induction beside it: a slot only ever gains a member that passed the test against each of the
others, and that test is the definition of fenced safety.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import z3

from ferrum_verify.prove.theorem import Check, Scale, Theorem, excludes, exhibits, proves

from .concrete_plan import ConcretePlan, every_plan
from .logic import every, exactly_one, some
from .symbolic_plan import SymbolicPlan

if TYPE_CHECKING:
    from collections.abc import Iterator

LOGIC = "QF_UF"
RESTS = ("ferrum_verify.derive.slots:derive_step_slots",)
FULL, QUICK = (10, 8), (4, 3)
UNSAFE_EDGES, UNSAFE_USERS = {(1, 2)}, [{0, 1}, {2}]


def ordered(plan: SymbolicPlan, left: int, right: int) -> z3.BoolRef:
    """Encode the engine's own test of two intervals, in both directions."""
    return z3.Or(plan.last_precedes_first(left, right), plan.last_precedes_first(right, left))


@dataclass(frozen=True)
class Slots:
    """Which slot each resource is in; a slot is named by the resource that opened it."""

    joined: list[list[z3.BoolRef]]
    """``joined[r][o]``: resource r is in the slot that o opened, o ≤ r."""
    definitions: list[z3.BoolRef]

    def together(self, left: int, right: int) -> z3.BoolRef:
        """Say that the lower and the higher resource are in one slot."""
        return some(z3.And(self.joined[left][o], self.joined[right][o]) for o in range(left + 1))


def first_fit(plan: SymbolicPlan, reusable: list[z3.BoolRef]) -> Slots:
    """Encode the derivation as the engine runs it, non-reusable resources among the others."""
    joined: list[list[z3.BoolRef]] = []
    definitions: list[z3.BoolRef] = []
    for r in plan.resources:
        fits = [
            z3.And(
                reusable[r],
                joined[o][o],
                every(
                    z3.Implies(joined[m][o], z3.And(reusable[m], ordered(plan, m, r)))
                    for m in range(o, r)
                ),
            )
            for o in range(r)
        ]
        row = [z3.Bool(f"slot.{r}.{o}") for o in range(r + 1)]
        definitions += [row[o] == z3.And(fits[o], z3.Not(some(fits[:o]))) for o in range(r)]
        definitions.append(row[r] == z3.Not(some(fits)))
        joined.append(row)
    return Slots(joined, definitions)


def forward_first_fit(plan: SymbolicPlan, reusable: list[z3.BoolRef]) -> Slots:
    """Encode the verifier's derivation: only reusable resources, tested only forwards."""
    joined: list[list[z3.BoolRef]] = []
    definitions: list[z3.BoolRef] = []
    for r in plan.resources:
        fits = [
            z3.And(
                joined[o][o],
                every(
                    z3.Implies(joined[m][o], plan.last_precedes_first(m, r)) for m in range(o, r)
                ),
            )
            for o in range(r)
        ]
        row = [z3.Bool(f"forward.{r}.{o}") for o in range(r + 1)]
        definitions += [
            row[o] == z3.And(reusable[r], fits[o], z3.Not(some(fits[:o]))) for o in range(r)
        ]
        definitions.append(row[r] == z3.And(reusable[r], z3.Not(some(fits))))
        joined.append(row)
    return Slots(joined, definitions)


def any_plan(scale: Scale) -> tuple[SymbolicPlan, list[z3.BoolRef], str]:
    """Return the symbolic plan of the scale's bound, its reusable flags, and words for both."""
    nodes, resources = FULL if scale == "full" else QUICK
    plan = SymbolicPlan(nodes, resources)
    reusable = [z3.Bool(f"reusable.{r}") for r in plan.resources]
    return plan, reusable, f"up to {nodes} nodes and {resources} resources"


def fenced_safe(scale: Scale) -> Iterator[Check]:
    """Prove every derived slot fenced-safe, bounded outright and unbounded by induction."""
    plan, reusable, bound = any_plan(scale)
    slots = first_fit(plan, reusable)
    given = [*plan.definitions, *plan.sorted_by_users(), *slots.definitions]
    pairs = list(itertools.combinations(plan.resources, 2))
    yield from proves(
        "bounded",
        f"On every plan of {bound}, any two members of a derived slot are fenced-safe, and no "
        "resource that may not be shared has company.",
        LOGIC,
        every(
            z3.Implies(
                slots.together(left, right),
                z3.And(reusable[left], reusable[right], plan.fenced(left, right)),
            )
            for left, right in pairs
        ),
        given,
    )
    yield from proves(
        "one-slot-each",
        f"On every plan of {bound}, each resource is in exactly one slot.",
        LOGIC,
        every(exactly_one(row) for row in slots.joined),
        given,
    )
    yield from newcomer()


def newcomer() -> Iterator[Check]:
    """Prove without a bound that a slot stays pairwise ordered as members join it."""
    resource = z3.DeclareSort("Resource")
    member = z3.Function("member", resource, z3.BoolSort())
    in_order = z3.Function("ordered", resource, resource, z3.BoolSort())
    new, left, right = z3.Consts("new left right", resource)

    def joined(who: z3.ExprRef) -> z3.BoolRef:
        return z3.Or(member(who), who == new)

    yield from proves(
        "induction.step",
        "If any two members of a slot are ordered, and the newcomer with each of them, then any "
        "two members of the slot that it has joined are ordered.",
        LOGIC,
        z3.Implies(z3.And(joined(left), joined(right), left != right), in_order(left, right)),
        [
            z3.Implies(z3.And(member(left), member(right), left != right), in_order(left, right)),
            *(z3.Implies(member(who), in_order(who, new)) for who in (left, right)),
            *(in_order(who, new) == in_order(new, who) for who in (left, right)),
        ],
    )
    last, first, user, other = z3.Ints("last first user other")
    yield from proves(
        "induction.test",
        "The test of last against first user is the definition: if the last user stands before "
        "the other's first, every user stands before every user of the other.",
        "QF_LIA",
        user < other,
        (last < first, user <= last, first <= other),
    )


def forward_only(scale: Scale) -> Iterator[Check]:
    """Prove that the verifier's faster derivation gives the engine's slots."""
    plan, reusable, bound = any_plan(scale)
    slots, forward = first_fit(plan, reusable), forward_first_fit(plan, reusable)
    yield from proves(
        "bounded",
        f"On every plan of {bound}, setting aside what may not be shared and testing only the "
        "earlier member's last user against the later's first user gives the same slots.",
        LOGIC,
        every(
            z3.Implies(reusable[r], slots.joined[r][o] == forward.joined[r][o])
            for r in plan.resources
            for o in range(r + 1)
        ),
        [
            *plan.definitions,
            *plan.sorted_by_users(),
            *slots.definitions,
            *forward.definitions,
        ],
    )
    first, last, later_first, later_last = z3.Ints("first last later.first later.last")
    yield from proves(
        "direction",
        "By first user, the later resource cannot die before the earlier is born, on any plan.",
        "QF_LIA",
        z3.Not(later_last < first),
        (first <= last, later_first <= later_last, first <= later_first),
    )


def not_concurrent_safe(scale: Scale) -> Iterator[Check]:
    """Show the smallest plan whose derived slot breaks when nodes run concurrently."""
    nodes, resources = len({n for users in UNSAFE_USERS for n in users}), len(UNSAFE_USERS)
    plan = SymbolicPlan(nodes, resources)
    slots = first_fit(plan, [z3.BoolVal(True)] * resources)
    given = [*plan.definitions, *plan.sorted_by_users(), *slots.definitions]
    broken = z3.And(slots.together(0, 1), z3.Not(plan.concurrent(0, 1)))
    yield from exhibits(
        "counterexample",
        "Three nodes, the first and second use one resource, the third another, and only the "
        "second comes before the third: the two share a slot, and the first node may still run "
        "when the third begins.",
        LOGIC,
        *given,
        *plan.is_exactly(UNSAFE_EDGES, UNSAFE_USERS),
        broken,
    )
    yield from excludes(
        "none-without-edges",
        "Without an edge nothing shares.",
        LOGIC,
        *given,
        plan.at_most_edges(0),
        broken,
    )
    for fewer in range(1, nodes):
        small = SymbolicPlan(fewer, resources)
        yield from excludes(
            f"none-with-{fewer}-nodes",
            f"With {fewer} node(s), any two resources that are fenced-safe are concurrent-safe, "
            "so no slot of any number of resources breaks.",
            LOGIC,
            *small.definitions,
            small.fenced(0, 1),
            z3.Not(small.concurrent(0, 1)),
        )


def breaks(plan: ConcretePlan) -> bool:
    """Whether some derived slot of the plan is not concurrent-safe."""
    return any(
        not plan.concurrent(left, right)
        for slot in plan.greedy_slots()
        for left, right in itertools.combinations(slot, 2)
    )


def smallest_break(_: Scale) -> bool:
    """Try the stated plan, and every plan with fewer nodes, or as many and fewer edges."""
    users = tuple(frozenset(who) for who in UNSAFE_USERS)
    smaller = itertools.chain(
        every_plan(1, 2), every_plan(2, 2), every_plan(3, 2, most_edges=len(UNSAFE_EDGES) - 1)
    )
    stated = ConcretePlan(3, frozenset(UNSAFE_EDGES), users)
    return breaks(stated) and not any(breaks(plan) for plan in smaller)


def enumeration_agrees(scale: Scale) -> bool:
    """Run the derivation on every plan of a small size; every slot must be fenced-safe."""
    nodes, resources = (4, 2) if scale == "full" else (3, 3)
    return all(
        plan.fenced(a, b)
        for plan in every_plan(nodes, resources)
        for slot in plan.greedy_slots()
        for a, b in itertools.combinations(slot, 2)
    )


THEOREMS = (
    Theorem(
        id="slots.are-fenced-safe",
        statement=(
            "On every plan, whatever its edges and uses, any two members of a slot that first fit "
            "derives are fenced-safe, every resource is in exactly one slot, and one that may not "
            "be shared is alone."
        ),
        theory="propositional",
        holds_for="every plan up to 10 nodes and 8 resources; every plan, by induction",
        rests=RESTS,
        rules=(
            "slot.not-derived",
            "slot.retained-shared",
        ),
        checks=fenced_safe,
        recheck=enumeration_agrees,
    ),
    Theorem(
        id="slots.forward-test-is-enough",
        statement=(
            "Setting aside what may not be shared, and testing each slot only forwards (its "
            "members' last users against the newcomer's first user), gives the slots that the "
            "engine derives by testing everything in both directions."
        ),
        theory="propositional",
        holds_for="every plan up to 10 nodes and 8 resources; the direction on every plan",
        rests=RESTS,
        rules=("slot.not-derived",),
        checks=forward_only,
    ),
    Theorem(
        id="slots.are-not-concurrent-safe",
        statement=(
            "A derived slot may break when independent nodes overlap. The smallest plan has three "
            "nodes and two resources: nodes 0 and 1 use the first, node 2 the second, and the "
            "only edge is from 1 to 2."
        ),
        theory="propositional",
        holds_for="counterexample, smallest by nodes, resources and edges",
        rests=("ferrum_verify.plan.sharing:slot_safety",),
        rules=("slot.shared-while-live",),
        checks=not_concurrent_safe,
        recheck=smallest_break,
    ),
)
