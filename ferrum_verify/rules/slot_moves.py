"""Which members stand in another slot than the engine would put them in."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ferrum_verify.findings.wording import marked

if TYPE_CHECKING:
    from collections.abc import Sequence

    Slots = Sequence[tuple[str, ...]]

_MOST_MOVES = 4
_MOST_NAMES = 4


def same_partition(one: Slots, other: Slots) -> bool:
    """Whether the same members share bytes, in whatever order slots and members are written."""
    return sorted(tuple(sorted(ids)) for ids in one) == sorted(tuple(sorted(ids)) for ids in other)


def moves_in_words(stated: Slots, derived: Slots) -> str:
    """Who stands where, and where the engine has it: "`a`: slot 0, the engine has slot 2".

    Each derived slot is taken for the stated one that shares most members with it, and goes by
    its number, so that of two slots of which one lost a member only that member has moved. A
    derived slot that is like none of the stated ones is one more slot.
    """
    place = {name: index for index, ids in enumerate(stated) for name in ids}
    counterpart = _counterparts(stated, derived, place)
    moved: dict[tuple[int, str], list[str]] = {}
    for index, ids in enumerate(derived):
        there = counterpart.get(index)
        where = f"slot {there}" if there is not None else "a slot of its own"
        if there is None and len(ids) > 1:
            where = f"one more slot, for {len(ids)} members"
        for name in ids:
            if name in place and there != place[name]:
                moved.setdefault((place[name], where), []).append(name)
    words = []
    for (here, where), names in list(moved.items())[:_MOST_MOVES]:
        rest = len(names) - _MOST_NAMES
        more = f" and {rest:,} more" if rest > 0 else ""
        words.append(
            f"{', '.join(marked(names[:_MOST_NAMES]))}{more}: slot {here}, the engine has {where}"
        )
    rest = sum(map(len, list(moved.values())[_MOST_MOVES:]))
    return "; ".join(words) + (f"; and {rest:,} more" if rest else "")


def _counterparts(stated: Slots, derived: Slots, place: dict[str, int]) -> dict[int, int]:
    """The stated slot that each derived one is taken for; most shared members first."""
    shared = Counter(
        (index, place[name]) for index, ids in enumerate(derived) for name in ids if name in place
    )
    found: dict[int, int] = {}
    taken: set[int] = set()
    for index, other in sorted(shared, key=lambda pair: (-shared[pair], pair)):
        if index not in found and other not in taken:
            found[index] = other
            taken.add(other)
    return found
