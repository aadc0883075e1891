"""Slots: two members of a Step slot are never live together.

Mirrors ``rules/slot.py`` and ``plan/sharing.py``, without reading their conclusions: neither the
closure nor the derived slots.

Members are taken by first user. Under ``concurrent``, "all of one before all of the other" is
transitive, so neighbours are asked, and others only where a neighbour is refuted. Under
``fenced`` the last user of one must come before the first of the other, which carries over a
third member only if that one's own first user comes before its last; that is asked as well.
The theorems of ``proofs/neighbours.py`` say so for every plan.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import z3

from ferrum_verify.counterexamples import ByteRange, OverlapCounterexample
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.sizes import UNIT, request_bytes
from ferrum_verify.prove.obligation import Obligation, Proved, Statement, Undecided, formula
from ferrum_verify.prove.schedules import live_together
from ferrum_verify.prove.windows import LOGIC, ends_before, never, never_together, stream
from ferrum_verify.rules import slot as rules
from ferrum_verify.rules import slot_members

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping

    from ferrum_verify.counterexamples import Counterexample, Execution
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, StepSlot
    from ferrum_verify.prove.obligation import Claims, Formula, Outcome
    from ferrum_verify.prove.windows import PlanGraph


def slot_claims(
    slot: StepSlot,
    name: str,
    at: str,
    graph: PlanGraph,
    execution: Execution,
    *,
    foreign: frozenset[str] = frozenset(),
    repeated: frozenset[str] = frozenset(),
) -> Claims:
    """The claims that together say: no two members of the slot are ever live together.

    A member that no node uses has no life; the slot rules report it. They report the ``foreign``
    members too, whose bytes are not the slot's, and the ``repeated`` ones, which stand in other
    slots of the pool as well: what clashes with one of those clashes for that reason.
    """
    users = {
        resource: graph.users[resource]
        for resource in dict.fromkeys(slot.resource_ids)
        if resource in graph.users and resource not in foreign
    }
    members = sorted(users, key=lambda resource: (users[resource][0], resource))
    before: list[int] = []  # per member, the earlier ones that are known to be dead, as bits
    for index, member in enumerate(members):
        known = 0
        asked = 0
        # The nearest member that is neither asked about nor known to be dead by then.
        while open_ := ((1 << index) - 1) & ~(known | asked):
            other = open_.bit_length() - 1
            asked |= 1 << other
            earlier = members[other]
            outcome = yield _apart((earlier, member), name, at, graph, execution, repeated=repeated)
            if isinstance(outcome, Undecided):
                break  # one open claim says enough: the member may clash with any before it
            if isinstance(outcome, Proved):
                known |= 1 << other
                if before[other] and (
                    execution != "fenced" or (yield from _is_whole(earlier, name, at, graph))
                ):
                    known |= before[other]
        before.append(known)


def _is_whole(
    member: str, name: str, at: str, graph: PlanGraph
) -> Generator[Obligation, Outcome, bool]:
    first, last = graph.users[member][0], graph.users[member][-1]
    if first == last:
        return True
    outcome = yield Obligation(
        id=f"{at}: whole {member}",
        claim=f"The first user of `{member}` completes before its last user starts, in every "
        f"schedule, so what is dead before `{member}` in {name} is dead after it.",
        names=(member,),
        rule=rules.SHARED_WHILE_LIVE,
        location=at,
        formula=formula(ends_before, graph.window(first, last)),
        lemma=True,
    )
    return isinstance(outcome, Proved)


def _apart(
    members: tuple[str, str],
    name: str,
    at: str,
    graph: PlanGraph,
    execution: Execution,
    *,
    repeated: frozenset[str],
) -> Obligation:
    """The claim that two members, the earlier used first, are never live together."""
    left, right = members
    lefts, rights = graph.users[left], graph.users[right]

    def message(found: Counterexample | None) -> str:
        clause = f"{name} gives the same bytes to `{left}` and `{right}`, which "
        if found is None:
            return clause + (
                f"no dependency separates: `{graph.names[rights[0]]}` need not wait for "
                f"`{graph.names[lefts[-1]]}`, and only the order of other nodes keeps them apart"
            )
        return clause + "are live together in the schedule that is shown"

    return Obligation(
        id=f"{at}: {left} before {right}",
        claim=f"`{left}` and `{right}`, which share {name}, are never live together ({execution}).",
        names=members,
        rule=rules.SHARED_WHILE_LIVE if repeated.isdisjoint(members) else slot_members.REPEATED,
        location=at,
        formula=_FORMULAS[execution](graph, lefts, rights),
        message=message,
        witness=lambda _: live_together(graph, left, right, execution),
    )


def strangers_of(
    pool: DynamicPool, descriptors: Mapping[str, DynamicDescriptor]
) -> tuple[frozenset[str], frozenset[str]]:
    """The members of a pool's slots that are no Step resources of it, and those in several."""
    slots = Counter(r for slot in pool.step_resource_slots for r in set(slot.resource_ids))
    own = {
        name
        for name in slots
        if (row := descriptors.get(name)) is not None
        and row.lifetime == "step"
        and (row.pool_id == pool.pool_id or name in pool.resource_ids)
    }
    repeated = (name for name, count in slots.items() if count > 1)
    return frozenset(slots.keys() - own), frozenset(repeated)


def _in_order(_: PlanGraph, lefts: list[int], rights: list[int]) -> Formula:
    # One stream: only the order in which the users stand matters, so only they are encoded.
    users = {user: place for place, user in enumerate(sorted({*lefts, *rights}))}
    return formula(
        never_together,
        stream(len(users)),
        tuple(users[user] for user in lefts),
        tuple(users[user] for user in rights),
    )


def _fenced(graph: PlanGraph, lefts: list[int], rights: list[int]) -> Formula:
    last, first = lefts[-1], rights[0]
    return formula(ends_before, graph.window(last, first)) if last < first else formula(never)


def _concurrent(graph: PlanGraph, lefts: list[int], rights: list[int]) -> Formula:
    first, last = lefts[0], max(lefts[-1], rights[-1])
    return formula(
        never_together,
        graph.window(first, last),
        tuple(user - first for user in lefts),
        tuple(user - first for user in rights),
    )


_FORMULAS = {"in-order": _in_order, "fenced": _fenced, "concurrent": _concurrent}


def retained_claims(
    slot: StepSlot,
    name: str,
    at: str,
    retained: frozenset[str],
    descriptors: Mapping[str, DynamicDescriptor],
) -> Claims:
    """The claims that no retained completion resource shares its slot.

    A retained resource is read after every node has ended, so any other member of the slot
    is live with it at some time, whatever the schedule.
    """
    for resource in slot.resource_ids:
        if resource in retained:
            yield _alone(resource, slot, name, at, descriptors)


def _alone(
    resource: str,
    slot: StepSlot,
    name: str,
    at: str,
    descriptors: Mapping[str, DynamicDescriptor],
) -> Obligation:
    def others() -> Iterator[str]:
        return (other for other in slot.resource_ids if other != resource)

    return Obligation(
        id=f"{at}: retained {resource}",
        claim=f"`{resource}`, which is read after the terminal fence, shares {name} with nothing.",
        names=(resource,),
        rule=slot_members.RETAINED_SHARED,
        location=at,
        formula=formula(outlives_none, any(True for _ in others())),
        message=lambda _: (
            f"{name} gives the bytes of `{resource}`, which is read after the terminal fence, "
            f"also to `{next(others())}`"
        ),
        witness=lambda _: _same_bytes(resource, others(), descriptors),
    )


def outlives_none(shared: bool) -> Statement:
    """No other member lives before the read, which comes after the fence that all ends precede."""
    start, end, fence, read = z3.Ints("start end fence read")
    given = (start - end <= -1, end - fence <= 0, fence - read <= 0)
    return Statement(LOGIC, z3.Not(z3.And(z3.BoolVal(shared), start < read)), given)


def _same_bytes(
    resource: str, others: Iterable[str], descriptors: Mapping[str, DynamicDescriptor]
) -> Counterexample | None:
    """The bytes of a resource and of the first other member that has a size."""
    own = _bytes_of(resource, descriptors)
    sized = (found for other in others if (found := _bytes_of(other, descriptors)) is not None)
    met = next(sized, None)
    return None if own is None or met is None else OverlapCounterexample(UNIT, own, met, 0)


def _bytes_of(name: str, descriptors: Mapping[str, DynamicDescriptor]) -> ByteRange | None:
    try:
        return ByteRange(name, 0, request_bytes(descriptors[name], UNIT))
    except (KeyError, SizeError):
        return None
