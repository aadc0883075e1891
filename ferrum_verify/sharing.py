"""Sharing: when two resources may hold the same bytes, under each execution model.

Two resources may share when one is dead before the other is born, and that depends on how
nodes run. The models are in-order (one stream in plan order), fenced (the same, and the last
user of the one happens before the first user of the other) and concurrent (every user of the
one happens before every user of the other).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ferrum_verify.order import bit_set, bits_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.order import HappensBefore

Execution = Literal["in-order", "fenced", "concurrent"]
EXECUTIONS: tuple[Execution, ...] = ("in-order", "fenced", "concurrent")


@dataclass(frozen=True, slots=True)
class SlotSafety:
    """Whether the members of a slot are ever live together, under each execution model.

    ``unsafe`` has the pairs that are, for each model: the member with the earlier first user
    first, ties by id.
    """

    unsafe: dict[Execution, tuple[tuple[str, str], ...]]

    def safe(self, execution: Execution) -> bool:
        """Whether no two members are ever live together."""
        return not self.unsafe[execution]


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

    in_order: list[tuple[str, str]] = []
    fenced: list[tuple[str, str]] = []
    concurrent: list[tuple[str, str]] = []
    latest = -1
    lasts = 0
    everyone = 0
    owners: dict[int, list[str]] = {}
    enders: dict[int, list[str]] = {}
    for index, member in enumerate(members):
        mine = users[member]
        first, last = mine[0], mine[-1]
        if latest >= first:
            in_order.extend(
                (other, member) for other in members[:index] if users[other][-1] >= first
            )
        missing = lasts & ~ancestors[first]
        if missing:
            fenced.extend(_pairs(missing, enders, member))
        common = ancestors[first]
        for user in mine[1:]:
            common &= ancestors[user]
        missing = everyone & ~common
        if missing:
            concurrent.extend(_pairs(missing, owners, member))
        latest = max(latest, last)
        lasts |= 1 << last
        everyone |= bit_set(mine)
        enders.setdefault(last, []).append(member)
        for user in mine:
            owners.setdefault(user, []).append(member)
    return SlotSafety(
        {
            "in-order": tuple(in_order),
            "fenced": tuple(fenced),
            "concurrent": tuple(concurrent),
        }
    )


def explain_clash(left: str, right: str, order: HappensBefore, execution: Execution) -> str:
    """Why two resources with users may be live together: names and uses, in one clause.

    The pair must be unsafe under the execution model, ``left`` with the earlier first user.
    """
    lefts, rights = order.users[left], order.users[right]
    names = [node.id for node in order.nodes]
    clause = (
        f"`{left}` ({_life(lefts, names)}) and `{right}` ({_life(rights, names)}), which are live "
        "together: "
    )
    if lefts[-1] >= rights[0]:
        shared = set(lefts) & set(rights)
        if shared:
            return f"{clause}`{names[min(shared)]}` uses both"
        return f"{clause}`{names[rights[0]]}` runs before `{names[lefts[-1]]}` in plan order"
    if execution == "fenced":
        user, other = lefts[-1], rights[0]
    else:
        user, other = next(
            (user, other) for other in rights for user in lefts if not order.precedes(user, other)
        )
    return f"{clause}`{names[other]}` need not wait for `{names[user]}`"


def _life(users: list[int], names: list[str]) -> str:
    first, last = names[users[0]], names[users[-1]]
    return f"used by `{first}`" if first == last else f"used from `{first}` to `{last}`"


def _pairs(missing: int, members_at: dict[int, list[str]], member: str) -> list[tuple[str, str]]:
    found = dict.fromkeys(other for user in bits_of(missing) for other in members_at[user])
    return [(other, member) for other in found]
