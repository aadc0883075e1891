"""Buffer plans in order, by definition: one run for each combination of arms, byte by byte.

Every byte of the arenas is a cell that holds the name of the storage that was last written there.
Beside that the rule of lives: a cell belongs to one storage at a time, from the first node that
writes it to the last that touches it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.definition.buffer_places import combinations, places, runs_in, shapes
from tests.definition.buffer_plans import bytes_of, in_place, partial_overlaps

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.definition.buffer_plans import Byte

Json = Any


def faults_in_order(document: Json) -> set[tuple[str, tuple[str, ...]]]:
    """Everything that goes wrong: its kind, and whom it is about."""
    found: set[tuple[str, tuple[str, ...]]] = set()
    nodes = document["nodes"]
    for shape in shapes(document):
        placed, misplaced = places(document, shape)
        found |= {("misplaced", (name,)) for name in misplaced}
        for arms in combinations(document):
            taken = [at for at, node in enumerate(nodes) if runs_in(node, arms)]
            found |= {each for at in taken for each in partial_overlaps(nodes[at], placed)}
            for stands in bytes_of(document, placed, taken):
                found |= set(_played(nodes, stands, taken))
                found |= set(_shared(stands, len(nodes)))
    return found


def _played(
    nodes: list[Json], stands: list[Byte], taken: list[int]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What the cell holds when it is read, and what it should hold."""
    holds = {each.storage for each in stands if _wanted_at_first(each)}
    for at in taken:
        for each in stands:
            if at in each.readers and holds != {each.storage}:
                kind = "lost" if each.live_in or any(w < at for w in each.writers) else "unwritten"
                yield kind, (nodes[at]["id"], each.storage)
        written = {each.storage for each in stands if at in each.writers}
        holds = written or holds
    for each in stands:
        if each.live_out and holds != {each.storage}:
            yield "lost" if each.live_in or each.writers else "unwritten", ("", each.storage)


def _shared(stands: list[Byte], count: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The storages that want the cell at one time."""
    lives: list[tuple[int, int, Byte]] = []
    for each in stands:
        needed = _wanted_at_first(each)
        if needed or each.writers:
            first = -1 if needed else min(each.writers)
            last = count if each.live_out else max(each.writers | each.readers, default=-1)
            lives.append((first, last, each))
    lives.sort(key=lambda life: life[:2])
    for at, (first, last, one) in enumerate(lives):
        for since, until, other in lives[at + 1 :]:
            if since > last:
                break
            handed = since == last and in_place(since, one, other)
            handed |= first == until and in_place(first, other, one)
            if not handed:
                yield "together", tuple(sorted((one.storage, other.storage)))


def _wanted_at_first(byte: Byte) -> bool:
    """Whether it lives before the first node: it holds something, and somebody reads it."""
    return byte.live_in and (bool(byte.readers) or byte.live_out)
