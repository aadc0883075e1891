"""Sharing: when two resources may hold the same bytes, under each execution model.

Sharing is safe if the last use of one resource precedes the first use of the other, in every
run that is possible. The models are in-order (one stream in plan order), fenced (the same, and
the last user of the one happens before the first user of the other) and concurrent (every user
of the one happens before every user of the other).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.plan.order import bit_set, bits_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.plan.order import HappensBefore

EXECUTIONS: tuple[Execution, ...] = ("in-order", "fenced", "concurrent")


MOST_PAIRS = 20_000
"""Unsafe pairs of one slot that are named, in each model; of the rest it is only said that
there are more.

A slot of ten thousand members that all clash has fifty million of them.
"""


@dataclass(frozen=True, slots=True)
class SlotSafety:
    """Whether the members of a slot are ever live together, under each execution model.

    ``unsafe`` has the pairs that are, for each model: the member with the earlier first user
    first, ties by id. ``unnamed`` are the models that have more than are named.
    """

    unsafe: dict[Execution, tuple[tuple[str, str], ...]]
    unnamed: tuple[Execution, ...] = ()

    def safe(self, execution: Execution) -> bool:
        """Whether no two members are ever live together."""
        return not self.unsafe[execution]


class _Pairs:
    """Unsafe pairs under one model, named up to a limit."""

    def __init__(self) -> None:
        self.named: list[tuple[str, str]] = []
        self.has_more = False

    def add(self, missing: int, members_at: dict[int, list[int]], names: list[str]) -> None:
        """The newest member clashes with all whose users or ends are missing before it."""
        room = MOST_PAIRS - len(self.named)
        if not room:
            self.has_more = True
            return
        others = {other for user in bits_of(missing) for other in members_at[user]}
        self.named += [(names[other], names[-1]) for other in sorted(others)[:room]]
        self.has_more = len(others) > room


def slot_safety(resources: Sequence[str], order: HappensBefore) -> SlotSafety | None:
    """Judge all pairs of members; None when a member has no user, so no life to speak of.

    Sorted by first user, a pair can only be safe with the earlier member dying first. So one
    pass suffices: what must have happened before a member's first (or every) user is the
    union over all members before it, and whoever is missing there names the unsafe pairs.
    """
    users = {resource: order.users.get(resource, []) for resource in resources}
    if not all(users.values()):
        return None
    members = sorted(users, key=lambda resource: (users[resource][0], resource))
    ancestors = order.ancestors

    in_order, fenced, concurrent = _Pairs(), _Pairs(), _Pairs()
    lasts = 0
    everyone = 0
    owners: dict[int, list[int]] = {}
    enders: dict[int, list[int]] = {}
    names: list[str] = []
    for index, member in enumerate(members):
        mine = users[member]
        first, last = mine[0], mine[-1]
        names.append(member)
        if lasts >> first:
            in_order.add(lasts >> first << first, enders, names)
        missing = lasts & ~ancestors[first]
        if missing:
            fenced.add(missing, enders, names)
        common = ancestors[first]
        for user in mine[1:]:
            common &= ancestors[user]
        missing = everyone & ~common
        if missing:
            concurrent.add(missing, owners, names)
        lasts |= 1 << last
        everyone |= bit_set(mine)
        enders.setdefault(last, []).append(index)
        for user in mine:
            owners.setdefault(user, []).append(index)
    found: dict[Execution, _Pairs] = {
        "in-order": in_order,
        "fenced": fenced,
        "concurrent": concurrent,
    }
    return SlotSafety(
        {model: tuple(pairs.named) for model, pairs in found.items()},
        tuple(model for model, pairs in found.items() if pairs.has_more),
    )


def sharing_before(members: Sequence[str], order: HappensBefore, execution: Execution) -> list[int]:
    """For each member those that may share bytes with it by coming first, as bits by place.

    ``members`` ascend by first user, so what comes first has an earlier place. A member without
    a user shares with nobody. The answers are those of ``slot_safety`` for all pairs at once:
    nodes hand on what is dead when they start to the nodes that depend on them.
    """
    users = [order.users.get(member, []) for member in members]
    dead = _DEAD[execution](users, order)
    before = []
    for mine in users:
        common = dead[mine[0]] if mine else 0
        if execution == "concurrent":
            for user in mine[1:]:
                common &= dead[user]
        before.append(common)
    return before


def _passed(users: list[list[int]], order: HappensBefore) -> list[int]:
    """For each node the members whose last user stands before it."""
    ending = _at_nodes(((last[-1],) if last else () for last in users), order)
    passed, so_far = [], 0
    for ends in ending:
        passed.append(so_far)
        so_far |= ends
    return passed


def _ended(users: list[list[int]], order: HappensBefore) -> list[int]:
    """For each node the members whose last user happens before it."""
    return _handed_on(_at_nodes(((last[-1],) if last else () for last in users), order), order)


def _finished(users: list[list[int]], order: HappensBefore) -> list[int]:
    """For each node the members all of whose users happen before it."""
    begun = _handed_on(_at_nodes(users, order), order)
    everyone = [bit_set(mine) for mine in users]
    finished: list[int] = []
    for node, ancestors in enumerate(order.ancestors):
        dead = 0
        for dependency in order.earlier(node):
            dead |= finished[dependency]
        for member in bits_of(begun[node] & ~dead):
            if everyone[member] & ancestors == everyone[member]:
                dead |= 1 << member
        finished.append(dead)
    return finished


_DEAD = {"in-order": _passed, "fenced": _ended, "concurrent": _finished}


def _at_nodes(users: Iterable[Sequence[int]], order: HappensBefore) -> list[int]:
    """For each node the members that name it, as bits."""
    members = [0] * len(order.nodes)
    for member, mine in enumerate(users):
        for user in mine:
            members[user] |= 1 << member
    return members


def _handed_on(at_nodes: list[int], order: HappensBefore) -> list[int]:
    """For each node what stands at the nodes that happen before it."""
    handed: list[int] = []
    for node, _ in enumerate(at_nodes):
        members = 0
        for dependency in order.earlier(node):
            members |= handed[dependency] | at_nodes[dependency]
        handed.append(members)
    return handed


def hazards(
    memory: MemoryPlan, order: HappensBefore, execution: Execution
) -> dict[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """The slots whose members may be live together, each with those pairs."""
    found = {}
    for pool in memory.dynamic_pools:
        for slot in pool.step_resource_slots:
            safety = slot_safety(slot.resource_ids, order) if len(slot.resource_ids) > 1 else None
            if safety is not None and not safety.safe(execution):
                found[slot.resource_ids] = safety.unsafe[execution]
    return found


def wanted_order(
    left: str, right: str, order: HappensBefore, execution: Execution
) -> list[tuple[int, int]]:
    """The pairs of nodes that must be ordered for two resources to share, ``left`` coming first.

    Where the second of a pair does not stand behind the first in plan order, no dependency can
    order it.
    """
    lefts, rights = order.users[left], order.users[right]
    if execution == "concurrent":
        return [(one, other) for one in lefts for other in rights]
    return [(lefts[-1], rights[0])]


def explain_clash(left: str, right: str, order: HappensBefore, execution: Execution) -> str:
    """Why two resources with users may be live together: names and uses, in one clause.

    The pair must be unsafe under the execution model, ``left`` with the earlier first user.
    """
    lefts, rights = order.users[left], order.users[right]
    nodes = order.nodes
    both = f"`{left}` ({_life(lefts, nodes)}) and `{right}` ({_life(rights, nodes)}), which"
    clause = f"{both} are live together: "
    if lefts[-1] >= rights[0]:
        shared = set(lefts) & set(rights)
        if shared:
            return f"{clause}`{nodes[min(shared)].id}` uses both"
        return f"{clause}`{nodes[rights[0]].id}` runs before `{nodes[lefts[-1]].id}` in plan order"
    if execution == "fenced":
        user, other = lefts[-1], rights[0]
        if order.barriers[other] >= user:
            # No run shows the two live together, so there is no counterexample to look for.
            return (
                f"{both} no dependency separates: `{nodes[other].id}` need not wait for "
                f"`{nodes[user].id}`, and only the order of other nodes keeps them apart"
            )
    else:
        user, other = next(
            (user, other) for other in rights for user in lefts if not order.precedes(user, other)
        )
    return f"{clause}`{nodes[other].id}` need not wait for `{nodes[user].id}`"


def _life(users: list[int], nodes: Sequence[FragmentNode | PlanNode]) -> str:
    first, last = nodes[users[0]].id, nodes[users[-1]].id
    return f"used by `{first}`" if first == last else f"used from `{first}` to `{last}`"
