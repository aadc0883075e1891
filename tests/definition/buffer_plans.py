"""Buffer plans, by definition: what can go wrong with a byte in some run at some shape.

Every combination of arms, every shape and every run of the execution model is tried. A node that
is not taken stays where it is and touches nothing. What order has nothing to do with (places,
reads without a write, names that overlap in part) is told once for a shape and its arms.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import combinations as pairs_of
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.definition.buffer_places import combinations, places, runs_in, shapes
from tests.definition.runs import moments, waits_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.definition.buffer_places import Place
    from tests.definition.runs import Waits

Json = Any


class Fault(NamedTuple):
    """What goes wrong, of which nodes and storages, at which shape and with which arms.

    ``misplaced``: a buffer lies where it may not. ``partial``: two names that one node uses
    overlap in part. ``unwritten``: a byte is read that nobody wrote. ``together``: a byte of two
    storages is live at one moment. ``lost``: a reader finds another value than that of its writer.
    ``race``: of two accesses of one byte the later in the list need not wait for the earlier.
    """

    kind: str
    about: tuple[str, ...]
    shape: tuple[tuple[str, int], ...]
    arms: tuple[tuple[str, str], ...]


@dataclass(slots=True)
class Byte:
    """One byte of one storage: who writes and reads it, as positions, and whether it lasts."""

    storage: str
    writers: set[int] = field(default_factory=set)
    readers: set[int] = field(default_factory=set)
    live_in: bool = False
    live_out: bool = False
    read_places: dict[int, set[Place]] = field(default_factory=dict)
    write_places: dict[int, set[Place]] = field(default_factory=dict)


def faults(document: Json, model: str) -> list[Fault]:
    """Everything that goes wrong in some run of the model."""
    found: dict[tuple[str, tuple[str, ...]], Fault] = {}
    waits = waits_of([{"dependencies": [], **each} for each in document["nodes"]])
    for shape in shapes(document):
        placed, misplaced = places(document, shape)
        for arms in combinations(document):
            told: list[tuple[str, tuple[str, ...]]] = [("misplaced", (name,)) for name in misplaced]
            told += _told(document, model, waits, placed, arms)
            for kind, about in told:
                fault = Fault(kind, about, tuple(shape.items()), tuple(arms.items()))
                found.setdefault((kind, about), fault)
    return list(found.values())


def _told(
    document: Json, model: str, waits: Waits, placed: dict[str, Place], arms: dict[str, str]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    nodes = document["nodes"]
    taken = [at for at, node in enumerate(nodes) if runs_in(node, arms)]
    for at in taken:
        yield from partial_overlaps(nodes[at], placed)
    for stands in bytes_of(document, placed, taken):
        for byte in stands:
            name = byte.storage
            for reader in sorted(byte.readers):
                if not byte.live_in and not any(each < reader for each in byte.writers):
                    yield "unwritten", (nodes[reader]["id"], name)
            if byte.live_out and not byte.live_in and not byte.writers:
                yield "unwritten", ("", name)
            for first, second in _ordered(byte):
                if meet(model, waits, first, second):
                    yield "race", (nodes[first]["id"], nodes[second]["id"], name)
        for wanting, left, right in lost(model, waits, stands):
            who = "" if wanting is None else nodes[wanting]["id"]
            yield "lost", (who, left, nodes[right]["id"])
        for one, other in pairs_of(stands, 2):
            if _live_together(model, waits, one, other):
                yield "together", tuple(sorted((one.storage, other.storage)))


def partial_overlaps(node: Json, placed: dict[str, Place]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The pairs of names, one of them written, whose bytes overlap and are not the same."""
    for written in dict.fromkeys(node["writes"]):
        for other in dict.fromkeys([*node["reads"], *node["writes"]]):
            if placed[written].meets(placed[other]) and not placed[written].is_at(placed[other]):
                yield "partial", (node["id"], *sorted((written, other)))


def bytes_of(document: Json, placed: dict[str, Place], taken: list[int]) -> Iterator[list[Byte]]:
    """The storages that hold each byte of the arenas, with who touches it there.

    Bytes that the same buffers hold are alike, so one of each kind is looked at.
    """
    cuts: dict[str, set[int]] = {}
    for place in placed.values():
        cuts.setdefault(place.arena, set()).update((place.start, place.end))
    for arena, edges in cuts.items():
        for at in sorted(edges):
            held: dict[str, Byte] = {}
            here = {
                name: place
                for name, place in placed.items()
                if place.arena == arena and place.start <= at < place.end
            }
            for buffer in document["buffers"]:
                if buffer["id"] in here:
                    storage = here[buffer["id"]].storage
                    byte = held.setdefault(storage, Byte(storage))
                    byte.live_in |= buffer.get("live_in", False)
                    byte.live_out |= buffer.get("live_out", False)
            for position in taken:
                node = document["nodes"][position]
                for name in node["reads"]:
                    if name in here:
                        byte = held[here[name].storage]
                        byte.readers.add(position)
                        byte.read_places.setdefault(position, set()).add(here[name])
                for name in node["writes"]:
                    if name in here:
                        byte = held[here[name].storage]
                        byte.writers.add(position)
                        byte.write_places.setdefault(position, set()).add(here[name])
            if held:
                yield list(held.values())


def in_place(node: int, read: Byte, written: Byte) -> bool:
    """Whether the node reads the one byte and writes the other at the very same place."""
    if node in read.writers or node not in read.readers or node not in written.writers:
        return False
    froms, to = read.read_places[node], written.write_places[node]
    return all(one.is_at(other) for one in froms for other in to)


def _ordered(byte: Byte) -> Iterator[tuple[int, int]]:
    """The pairs of accesses by two nodes, one of them a write, the earlier in the list first."""
    for one, other in pairs_of(sorted(byte.writers | byte.readers), 2):
        if one in byte.writers or other in byte.writers:
            yield one, other


@cache
def meet(model: str, waits: Waits, earlier: int, later: int) -> bool:
    """Whether in some run the later in the list starts before the earlier has ended."""
    return any(
        moment.has_started(later) and not moment.has_ended(earlier)
        for moment in moments(model, waits)
    )


def lost(model: str, waits: Waits, stands: list[Byte]) -> Iterator[tuple[int | None, str, int]]:
    """The reads of a value that something else is, or may be, written over.

    Told as the reader (None for the end), the storage, and who writes over it.
    """
    everybody = {each for byte in stands for each in byte.writers}
    for byte in stands:
        ends: list[int | None] = [None] if byte.live_out else []
        for reader in [*sorted(byte.readers), *ends]:
            before = [each for each in byte.writers if reader is None or each < reader]
            if not before and not byte.live_in:
                continue
            writer = max(before, default=None)
            if writer is not None and reader is not None and meet(model, waits, writer, reader):
                yield reader, byte.storage, writer
            for other in everybody - {writer, reader}:
                if between(model, waits, writer, other, reader):
                    yield reader, byte.storage, other


@cache
def between(model: str, waits: Waits, writer: int | None, other: int, reader: int | None) -> bool:
    """Whether in some run the other writes neither wholly before the writer nor after the reader.

    No writer is whoever filled the buffers before the first node, no reader who reads at the end.
    """
    reached = moments(model, waits)
    begun = [
        moment
        for moment in reached
        if writer is None or (moment.has_started(writer) and not moment.has_ended(other))
    ]
    if writer is not None and reader is None:
        return bool(begun)
    late = [
        moment
        for moment in reached
        if moment.has_started(other) and (reader is None or not moment.has_ended(reader))
    ]
    if writer is None:
        return bool(late)
    return any(later.comes_after(moment) for moment in begun for later in late)


def _live_together(model: str, waits: Waits, one: Byte, other: Byte) -> bool:
    sides = tuple(
        (
            sum(1 << each for each in byte.writers),
            sum(1 << each for each in byte.writers | byte.readers),
            byte.live_in and bool(byte.readers or byte.live_out),
            byte.live_out,
        )
        for byte in (one, other)
    )
    # A node that works in place has ended with the one byte before it begins with the other.
    turns = tuple(
        sum(1 << each for each in left.readers if in_place(each, left, right))
        for left, right in ((one, other), (other, one))
    )
    return overlap(model, waits, sides, turns)


Side = tuple[int, int, bool, bool]


@cache
def overlap(model: str, waits: Waits, sides: tuple[Side, ...], turns: tuple[int, ...]) -> bool:
    """Whether at some moment of some run both bytes live."""
    if not all((writers or lives_in) for writers, _, lives_in, _ in sides):
        return False
    for moment in moments(model, waits):
        running = moment.started & ~moment.ended
        working = [at for at in range(len(waits)) if (turns[0] | turns[1]) & running & 1 << at]
        for halves in product((False, True), repeat=len(working)):
            done = sum(1 << at for at, half in zip(working, halves, strict=True) if half)
            undone = sum(1 << at for at, half in zip(working, halves, strict=True) if not half)
            if all(
                _lives(
                    sides[side],
                    moment.started & ~(undone & turns[1 - side]),
                    moment.ended | (done & turns[side]),
                )
                for side in (0, 1)
            ):
                return True
    return False


def _lives(side: Side, started: int, ended: int) -> bool:
    writers, touching, lives_in, lives_out = side
    begun = lives_in or bool(writers & started)
    return begun and (lives_out or bool(touching & ~ended))
