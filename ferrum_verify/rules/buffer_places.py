"""Buffer plans: where buffers lie, in their arenas, in what they alias, and within a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import (
    ByteRange,
    NamedShape,
    OverlapCounterexample,
    ShapeCounterexample,
)
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.findings.wording import bytes_words
from ferrum_verify.plan.affine import at, minus, plus, smallest_point
from ferrum_verify.plan.overlaps import partial_overlaps
from ferrum_verify.plan.sizes import describe
from ferrum_verify.rules.buffer import FORM, PAGE, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.affine import Amount, Point
    from ferrum_verify.plan.storages import Extent, Storages

JUDGED = f"{PAGE}, «What is judged»"


def shape_at(storages: Storages, point: Point) -> NamedShape:
    """The point as a shape of the plan's dimensions."""
    return NamedShape(tuple(zip(storages.box.names, point, strict=True)))


def at_shape(storages: Storages, point: Point) -> str:
    """Where in a sentence: " at 3 tokens"; nothing where the plan has one shape."""
    return f" at {describe(shape_at(storages, point))}" if point else ""


def check(storages: Storages) -> Iterator[Finding]:
    """All rules of places. Raises ``UndecidedShapeError`` where a question of shapes stays open."""
    for index, buffer in enumerate(storages.plan.buffers):
        offset, size = storages.offsets[index], storages.sizes[index]
        if offset is None or size is None:
            continue
        if buffer.alias_of is not None:
            parent = storages.parents[index]
            held = None if parent is None else storages.sizes[parent]
            if parent is not None and held is not None and storages.placed[index] is not None:
                yield from _check_alias(storages, index, parent, plus(offset, size), held)
        elif buffer.arena in storages.plan.arenas:
            yield from _check_arena(storages, index, offset, size)
            yield from _check_aligned(storages, index, offset)
    yield from _check_nodes(storages)


OVERFLOW = Rule(
    id="buffer.overflow",
    summary="No buffer reaches past byte 2^64 − 1 at any shape.",
    why="The address wraps there, and the buffer lies over whatever is at the arena's start.",
    fix="Lower the offset, the bytes or the bounds of the dimensions that they grow with.",
    source=FORM,
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/1/offset": 2**64 - 64}),
)
OUT_OF_ARENA = Rule(
    id="buffer.out-of-arena",
    summary="A buffer lies within its arena at every shape.",
    why="What it holds behind the arena's end belongs to somebody else.",
    fix="Give the arena more bytes, move the buffer, or lower the bounds of the dimensions.",
    source=JUDGED,
    judgment="safety",
    example=Example("buffer-plan", {"/arenas/dram/bytes": 8192}),
)


def _check_arena(storages: Storages, index: int, offset: Amount, size: Amount) -> Iterator[Finding]:
    buffer = storages.plan.buffers[index]
    assert buffer.arena is not None
    limit = storages.plan.arenas[buffer.arena].bytes
    end = plus(offset, size)
    if storages.box.upper(end) <= limit:
        return
    passes = storages.box.upper(end) > U64_MAX
    beyond = U64_MAX if passes else limit
    point = smallest_point([minus(end, _fixed(end, beyond), 1)], storages.box)
    assert point is not None
    where = at_shape(storages, point)
    place = pointer("/buffers", index)
    if passes:
        yield OVERFLOW.finding(
            f"{named(buffer)} ends behind byte 2^64 - 1{where}",
            place,
            counterexample=ShapeCounterexample(shape_at(storages, point), overflow=True),
            about=(buffer.id,),
        )
        return
    yield OUT_OF_ARENA.finding(
        f"{named(buffer)} ends at byte {at(end, point):,}{where}, and arena `{buffer.arena}` has "
        f"{limit:,} bytes",
        place,
        counterexample=ShapeCounterexample(
            shape_at(storages, point),
            bytes=at(end, point),
            limit=limit,
            limit_from=pointer("/arenas", buffer.arena, "bytes"),
        ),
        about=(buffer.id,),
    )


MISALIGNED = Rule(
    id="buffer.misaligned",
    summary="A buffer's first byte is a multiple of its arena's alignment at every shape.",
    why="Kernels load whole vectors and transfers whole lines: what is not aligned faults, or is "
    "read from the wrong place.",
    fix="Round the offset up to the arena's alignment.",
    source=JUDGED,
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/4/offset": 12316}),
)


def _check_aligned(storages: Storages, index: int, offset: Amount) -> Iterator[Finding]:
    buffer = storages.plan.buffers[index]
    assert buffer.arena is not None
    unit = storages.plan.arenas[buffer.arena].alignment
    box = storages.box
    point = box.least
    if at(offset, point) % unit == 0:
        # From an aligned corner one more of some dimension is the nearest that is not.
        place = next(
            (
                place
                for place, rate in enumerate(offset[1:])
                if rate % unit and box.least[place] < box.most[place]
            ),
            None,
        )
        if place is None:
            return
        point = (*point[:place], point[place] + 1, *point[place + 1 :])
    yield MISALIGNED.finding(
        f"{named(buffer)} begins at byte {at(offset, point):,}{at_shape(storages, point)}, and "
        f"arena `{buffer.arena}` is aligned to {unit:,}",
        pointer("/buffers", index, "offset"),
        about=(buffer.id,),
    )


OUTSIDE_ALIAS = Rule(
    id="buffer.alias-outside",
    summary="An alias lies within the buffer that it is a name of, at every shape.",
    why="Who writes to it writes to bytes behind the buffer, which others hold.",
    fix="Lower the alias's offset or bytes, or alias a buffer that holds all of them.",
    source=f"{PAGE}, «Aliases»",
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/3/offset": 8192}),
)


def _check_alias(
    storages: Storages, index: int, parent: int, end: Amount, held: Amount
) -> Iterator[Finding]:
    point = smallest_point([minus(end, held, 1)], storages.box)
    if point is None:
        return
    buffer, whole = storages.plan.buffers[index], storages.plan.buffers[parent]
    yield OUTSIDE_ALIAS.finding(
        f"{named(buffer)} ends at byte {at(end, point):,} of {named(whole)}"
        f"{at_shape(storages, point)}, which has {at(held, point):,} bytes",
        pointer("/buffers", index),
        counterexample=ShapeCounterexample(
            shape_at(storages, point),
            bytes=at(end, point),
            limit=at(held, point),
            limit_from=pointer("/buffers", parent, "bytes"),
        ),
        about=(buffer.id,),
    )


PARTIAL_OVERLAP = Rule(
    id="buffer.partial-overlap",
    summary="What a node reads and writes lies at the very same place, or apart.",
    why="A kernel that works in place takes each element before it puts one there. Where the two "
    "are shifted, it overwrites what it has still to read.",
    fix="Move the buffer that the node writes.",
    source=f"{PAGE}, «In place»",
    judgment="safety",
    example=Example("buffer-plan", {"/buffers/2/offset": 64, "/shape/tokens/maximum": 63}),
)


def _check_nodes(storages: Storages) -> Iterator[Finding]:
    plan = storages.plan
    for node, one, other, point in partial_overlaps(storages):
        verbs = [
            f"{'writes' if use.write else 'reads'} {named(storages.of(use))}"
            for use in (one, other)
        ]
        extents = [_extent(storages, use.name) for use in (one, other)]
        sides = [
            ByteRange(plan.buffers[use.name].id, at(extent.start, point), at(extent.end, point))
            for use, extent in zip((one, other), extents, strict=True)
        ]
        places = [bytes_words(side.start, side.end) for side in sides]
        yield PARTIAL_OVERLAP.finding(
            f"{named(storages.nodes[node])} {verbs[0]} in {places[0]} and {verbs[1]} in "
            f"{places[1]}{at_shape(storages, point)}, which overlap and are not the same",
            storages.node_place(node),
            counterexample=OverlapCounterexample(
                shape_at(storages, point), sides[0], sides[1], max(each.start for each in sides)
            ),
            about=(storages.nodes[node].id, sides[0].resource, sides[1].resource),
        )


def _extent(storages: Storages, name: int) -> Extent:
    extent = storages.extents[name]
    assert extent is not None
    return extent


def _fixed(like: Amount, value: int) -> Amount:
    return (value, *(0 for _ in like[1:]))
