"""Whether a pool's slots are those of the same nodes in another order."""

from __future__ import annotations

from itertools import combinations, islice
from typing import TYPE_CHECKING

from ferrum_verify.derive.slots import derive_step_slots
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.rules.slot_moves import same_partition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.rules.expected import Expected

    Slots = Sequence[tuple[str, ...]]

_MOST_NODES = 2_000
"""Of more nodes no other order is looked for."""
_MOST_IN_ALL = 20_000
"""Nodes that all pools go through together in one try, at most."""
_MOST_PAIRS = 12
"""Pairs of nodes that are tried in each other's place."""


def order_in_words(
    facts: Expected, members: Sequence[DynamicDescriptor], stated: Slots, derived: Slots
) -> str:
    """In which order of the nodes the engine has the stated slots; "" where none is found.

    With a program it is the program's. Without one it may be that two nodes stand in each other's
    place, which is said where it is so of one pair alone.
    """
    order, program = facts.order, facts.subject.program
    if order is None or len(order.nodes) > _MOST_NODES:
        return ""
    if len(order.nodes) * len(facts.pools) > _MOST_IN_ALL:
        return ""
    names = [node.id for node in order.nodes]

    def fits(other: list[str]) -> bool:
        place = {name: index for index, name in enumerate(other)}
        if any(place[each] >= place[node.id] for node in order.nodes for each in node.dependencies):
            return False
        again = HappensBefore([order.nodes[order.position[name]] for name in other])
        slots = derive_step_slots(members, again, facts.subject.kept)
        return same_partition(stated, [slot.resource_ids for slot in slots])

    if program is not None:
        other = [node.id for block in program.blocks for node in block.nodes]
        if other == names or sorted(other) != sorted(names) or not fits(other):
            return ""
        here, there = next(pair for pair in zip(names, other, strict=True) if pair[0] != pair[1])
        return (
            "; the nodes stand in another order than in the program, of which these slots are: "
            f"where the plan has `{here}`, the program has `{there}`"
        )
    moved = _moved(stated, derived) & order.users.keys()
    pairs = combinations(sorted({order.users[name][0] for name in moved}), 2)
    found = [pair for pair in islice(pairs, _MOST_PAIRS) if fits(_exchanged(names, *pair))]
    if len(found) != 1:
        return ""
    left, right = (f"`{names[index]}`" for index in found[0])
    return f"; they would be the engine's if {left} and {right} stood in each other's place"


def _moved(stated: Slots, derived: Slots) -> set[str]:
    """The members of slots that one of the two has and the other has not."""
    ours, theirs = ({tuple(sorted(ids)) for ids in slots} for slots in (stated, derived))
    place = {name: ids for ids in theirs - ours for name in ids}
    return {name for ids in ours - theirs for name in ids if name in place}


def _exchanged(names: list[str], left: int, right: int) -> list[str]:
    other = list(names)
    other[left], other[right] = other[right], other[left]
    return other
