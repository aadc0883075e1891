"""Storages: who touches which bytes of which arena in a buffer plan, and how they grow.

All names of one storage count for its bytes. Names at the very same place are one *extent*; the
extents of a storage that may overlap are one *region*: bytes of different regions of one storage
have nothing to do with each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.plan.affine import Amount, Box, minus, plus
from ferrum_verify.plan.arms import Arms, arms_of, choices_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.buffer_plan import Affine, Buffer, BufferNode, BufferPlan

START = -1
"""The position of what writes every ``live_in`` buffer: before all nodes."""


class Use(NamedTuple):
    """A node reads or writes an extent by one of its names.

    Of one node what it reads comes before what it writes, which is what ``phase`` counts.
    """

    node: int
    write: bool
    arms: Arms
    name: int

    @property
    def phase(self) -> int:
        """When the use takes place: nodes one after the other, of each first what it reads."""
        return 2 * self.node + self.write


@dataclass(slots=True, eq=False)
class Extent:
    """Bytes from ``start`` to ``end`` of an arena, and their uses in program order.

    ``lowest`` and ``highest`` bound them at every shape.
    """

    storage: int
    start: Amount
    end: Amount
    lowest: int
    highest: int
    uses: list[Use] = field(default_factory=list)

    @property
    def place(self) -> tuple[Amount, Amount]:
        """What tells it from the other extents of its arena."""
        return self.start, self.end


@dataclass(eq=False)
class Region:
    """Extents of one storage, each of which may overlap some other, in one arena."""

    storage: int
    arena: str
    extents: list[Extent]
    lowest: int
    highest: int

    @cached_property
    def uses(self) -> list[Use]:
        """The uses of all extents in program order."""
        if len(self.extents) == 1:
            return self.extents[0].uses
        return sorted((use for each in self.extents for use in each.uses), key=_BY_PHASE)

    @cached_property
    def positions(self) -> list[int]:
        """The nodes of the uses, ascending, each once."""
        return sorted({use.node for use in self.uses})

    @property
    def first(self) -> int:
        """The phase of the first use."""
        return self.uses[0].phase

    @property
    def last(self) -> int:
        """The phase of the last use."""
        return self.uses[-1].phase


_BY_PHASE = attrgetter("phase")


@dataclass(frozen=True)
class Storages:
    """A buffer plan as its judges see it: nodes by position, buffers by their place in the list.

    ``roots`` has for each buffer that of its storage, and ``starts`` where it begins in the arena;
    None where a name or a dimension that it needs is at fault. ``nodes`` are in program order.
    """

    plan: BufferPlan
    nodes: Sequence[BufferNode]
    box: Box

    @cached_property
    def position(self) -> dict[str, int]:
        """Each buffer's place in the list, of several with one id the first."""
        position: dict[str, int] = {}
        for index, buffer in enumerate(self.plan.buffers):
            position.setdefault(buffer.id, index)
        return position

    def amount(self, of: int | Affine) -> Amount | None:
        """The bytes as an amount; None where they grow with an unknown dimension."""
        names = self.box.names
        if isinstance(of, int):
            return (of, *(0 for _ in names))
        if not of.per.keys() <= set(names):
            return None
        return (of.fixed, *(of.per.get(name, 0) for name in names))

    @cached_property
    def sizes(self) -> list[Amount | None]:
        """The bytes of each buffer."""
        return [self.amount(buffer.bytes) for buffer in self.plan.buffers]

    @cached_property
    def offsets(self) -> list[Amount | None]:
        """The offset of each buffer, in its arena or in the buffer that it is an alias of."""
        return [
            self.amount(0 if buffer.offset is None else buffer.offset)
            if buffer.offset is not None or buffer.alias_of is not None
            else None
            for buffer in self.plan.buffers
        ]

    @cached_property
    def parents(self) -> list[int | None]:
        """For each alias the buffer that it names; None where it is none, or names none."""
        return [
            None if buffer.alias_of is None else self.position.get(buffer.alias_of)
            for buffer in self.plan.buffers
        ]

    @cached_property
    def circles(self) -> list[list[int]]:
        """The aliases that name each other in a circle, each circle once."""
        circles: list[list[int]] = []
        done: set[int] = set()
        for index, _ in enumerate(self.plan.buffers):
            path: list[int] = []
            on_path: dict[int, int] = {}
            at: int | None = index
            while at is not None and at not in done and at not in on_path:
                on_path[at] = len(path)
                path.append(at)
                at = self.parents[at]
            if at is not None and at in on_path:
                circles.append(path[on_path[at] :])
            done.update(path)
        return circles

    @cached_property
    def placed(self) -> list[tuple[int, Amount] | None]:
        """For each buffer its storage, and where it begins in the arena; None where unknown."""
        buffers, parents = self.plan.buffers, self.parents
        placed: dict[int, tuple[int, Amount] | None] = dict.fromkeys(
            (each for circle in self.circles for each in circle), None
        )
        for index, _ in enumerate(buffers):
            path = []
            at: int | None = index
            while at is not None and at not in placed:
                path.append(at)
                at = parents[at] if buffers[at].alias_of is not None else None
            for each in reversed(path):
                placed[each] = self._place(each, placed)
        return [placed[index] for index, _ in enumerate(buffers)]

    def _place(
        self, index: int, placed: Mapping[int, tuple[int, Amount] | None]
    ) -> tuple[int, Amount] | None:
        buffer, offset = self.plan.buffers[index], self.offsets[index]
        if offset is None or self.sizes[index] is None:
            return None
        if buffer.alias_of is None:
            return (index, offset) if buffer.arena in self.plan.arenas else None
        parent = self.parents[index]
        held = None if parent is None else placed[parent]
        return None if held is None else (held[0], plus(held[1], offset))

    @cached_property
    def extents(self) -> list[Extent | None]:
        """For each buffer its extent; buffers of one storage and place have the same."""
        known: dict[tuple[int, Amount, Amount], Extent] = {}
        found: list[Extent | None] = []
        for place, size in zip(self.placed, self.sizes, strict=True):
            if place is None or size is None:
                found.append(None)
                continue
            storage, start = place
            end = plus(start, size)
            key = (storage, start, end)
            if key not in known:
                known[key] = Extent(storage, start, end, self.box.lower(start), self.box.upper(end))
            found.append(known[key])
        self._put_uses(found)
        return found

    def _put_uses(self, extents: Sequence[Extent | None]) -> None:
        buffers, end = self.plan.buffers, len(self.nodes)
        for name, extent in enumerate(extents):
            if extent is not None and buffers[name].live_in:
                extent.uses.append(Use(START, True, (), name))
        for index, node in enumerate(self.nodes):
            arms = self.arms[index]
            if arms is None:
                continue
            for names, write in ((node.reads, False), (node.writes, True)):
                for each in dict.fromkeys(names):
                    place = self.position.get(each)
                    held = None if place is None else extents[place]
                    if place is not None and held is not None:
                        held.uses.append(Use(index, write, arms, place))
        for name, extent in enumerate(extents):
            if extent is not None and buffers[name].live_out:
                extent.uses.append(Use(end, False, (), name))

    @cached_property
    def arms(self) -> list[Arms | None]:
        """The arms of each node; None where they exclude each other, so that it never runs."""
        return [arms_of(node.arms) for node in self.nodes]

    @cached_property
    def choices(self) -> dict[str, list[str]]:
        """For each condition its arms."""
        return choices_of(node.arms for node in self.nodes)

    @cached_property
    def regions(self) -> list[Region]:
        """The regions that anybody uses, those of a storage one after the other."""
        of_storage: dict[int, dict[int, Extent]] = {}
        for extent in self.extents:
            if extent is not None and extent.uses:
                of_storage.setdefault(extent.storage, {})[id(extent)] = extent
        return [
            region
            for storage, extents in of_storage.items()
            for region in self._regions_of(storage, list(extents.values()))
        ]

    def _regions_of(self, storage: int, extents: list[Extent]) -> Iterator[Region]:
        arena = self.plan.buffers[storage].arena
        assert arena is not None
        extents.sort(key=lambda each: (each.lowest, each.highest))
        held: list[Extent] = []
        highest = 0
        for extent in extents:
            if held and extent.lowest >= highest:
                yield Region(storage, arena, held, held[0].lowest, highest)
                held = []
            highest = max(highest, extent.highest) if held else extent.highest
            held.append(extent)
        yield Region(storage, arena, held, held[0].lowest, highest)

    def reaches_out(self, name: int) -> bool:
        """Whether a name has bytes at some shape that its storage has not."""
        place, extent = self.placed[name], self.extents[name]
        if place is None or extent is None:
            return False
        whole = self.extents[place[0]]
        return whole is not None and self.box.upper(minus(extent.end, whole.end)) > 0

    def node_place(self, position: int) -> str:
        """Where a node stands in the plan; what is the host's stands nowhere in it."""
        index = self._listed.get(self.nodes[position].id)
        return "" if index is None else f"/nodes/{index}"

    @cached_property
    def _listed(self) -> dict[str, int]:
        return {node.id: index for index, node in enumerate(self.plan.nodes)}

    def of(self, use: Use) -> Buffer:
        """The buffer by whose name a use is."""
        return self.plan.buffers[use.name]


def box_of(plan: BufferPlan) -> Box:
    """The shapes of a plan, of the dimensions that have any value."""
    dimensions = {name: each for name, each in plan.shape.items() if each.minimum <= each.maximum}
    return Box(
        tuple(dimensions),
        tuple(each.minimum for each in dimensions.values()),
        tuple(each.maximum for each in dimensions.values()),
    )
