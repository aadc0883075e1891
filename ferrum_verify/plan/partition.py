"""Partitions: which members of a pool share a slot, so that the slots take few bytes.

A slot takes as many bytes as its largest member, so the least sum is a *max-colouring* of the
graph of members that may not share. That is hard in general (Pemmaraju, Raman and Varadarajan,
who met it in memory managers). First fit by descending size is cheap and not always least
(theorem ``best-slots.first-fit-can-miss``); of few members, every partition that could
be better is tried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_TRIED = 20_000
"""Places of a member that are tried before the search gives up. Nine members have fewer."""

_MOST_SEARCHED = 200
"""Members of a pool that is searched at all: the search would be in the last few of more."""


class Partition(NamedTuple):
    """Members by position, slot by slot; ``exhausted`` says that no other one takes less."""

    slots: list[list[int]]
    exhausted: bool


def partition_bytes(slots: Iterable[Sequence[int]], sizes: Sequence[int]) -> int:
    """The bytes that slots take: each as many as its largest member."""
    return sum(max(sizes[member] for member in slot) for slot in slots)


def best_partition(sizes: Sequence[int], before: Sequence[int], least: int) -> Partition:
    """First fit by descending size, or what a search finds that takes less.

    ``before`` has for each member, as bits, those that may share with it by coming first;
    ``least`` are the bytes below which nothing need be looked for.
    """
    order = sorted(range(len(sizes)), key=lambda member: (-sizes[member], member))
    first = _first_fit(order, before)
    if partition_bytes(first, sizes) == least or len(order) > _MOST_SEARCHED:
        return Partition(first, exhausted=False)
    search = _Search(sizes, before, first, least)
    exhausted = search.place(order, 0)
    return Partition(search.best, exhausted)


class _Slot:
    """Members that share with one another, in the order in which they came and as bits."""

    def __init__(self, member: int) -> None:
        self.members = [member]
        self._bits = 1 << member

    def takes(self, member: int, before: Sequence[int]) -> bool:
        """Whether a member may share with all of the slot."""
        earlier = self._bits & (1 << member) - 1
        return earlier & before[member] == earlier and (
            earlier == self._bits
            or all(before[other] >> member & 1 for other in self.members if other > member)
        )

    def push(self, member: int) -> None:
        """Let a member in."""
        self.members.append(member)
        self._bits |= 1 << member

    def pop(self) -> None:
        """Let the member out that came last."""
        self._bits ^= 1 << self.members.pop()


def _first_fit(order: Iterable[int], before: Sequence[int]) -> list[list[int]]:
    slots: list[_Slot] = []
    for member in order:
        slot = next((slot for slot in slots if slot.takes(member, before)), None)
        if slot is None:
            slots.append(_Slot(member))
        else:
            slot.push(member)
    return [slot.members for slot in slots]


class _Search:
    """Depth first: each member, the largest first, into each slot that takes it or a new one.

    A slot is as large as the member that opens it, so what has been placed says what it takes.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        before: Sequence[int],
        best: list[list[int]],
        least: int,
    ) -> None:
        self._sizes, self._before, self._least = sizes, before, least
        self.best, self._lowest = best, partition_bytes(best, sizes)
        self._slots: list[_Slot] = []
        self._tried = 0

    def place(self, members: Sequence[int], taken: int) -> bool:
        """Place the members, beside slots of ``taken`` bytes; whether nothing is left untried."""
        if taken >= self._lowest or self._lowest == self._least:
            return True
        if not members:
            self.best, self._lowest = [list(slot.members) for slot in self._slots], taken
            return True
        member, *rest = members
        for slot in self._slots:
            if slot.takes(member, self._before):
                slot.push(member)
                whole = self._tries(rest, taken)
                slot.pop()
                if not whole:
                    return False
        self._slots.append(_Slot(member))
        whole = self._tries(rest, taken + self._sizes[member])
        self._slots.pop()
        return whole

    def _tries(self, members: Sequence[int], taken: int) -> bool:
        self._tried += 1
        return self._tried <= MOST_TRIED and self.place(members, taken)
