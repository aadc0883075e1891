"""Buffers: what is claimed of another planner's plan.

Mirrors ``rules/buffer_places.py`` and ``rules/buffer_lives.py``. The sweep is driven by the
solver's own answers, and which bytes meet is asked of it as well; what must be over before what
follows from program order alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import (
    ByteRange,
    NamedShape,
    OverlapCounterexample,
    ShapeCounterexample,
)
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.findings import pointer
from ferrum_verify.plan.affine import UndecidedShapeError, at, plus
from ferrum_verify.plan.clashes import Clashes
from ferrum_verify.plan.overlaps import MOST_PAIRS, candidates
from ferrum_verify.plan.reads import Reads, TooManyReadsError
from ferrum_verify.plan.uses import Runs
from ferrum_verify.prove.accesses import ended_formula
from ferrum_verify.prove.buffer_bytes import aligned, nowhere, written
from ferrum_verify.prove.buffer_clashes import clash_claims
from ferrum_verify.prove.buffer_runs import Room, meeting
from ferrum_verify.prove.obligation import Obligation, formula
from ferrum_verify.prove.windows import PlanGraph
from ferrum_verify.rules import buffer_lives, buffer_places
from ferrum_verify.rules.schedule_order import NOT_KEPT, dependency_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.counterexamples import Counterexample, Execution
    from ferrum_verify.plan.affine import Amount
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.plan.reads import Conflict
    from ferrum_verify.plan.storages import Extent, Storages, Use
    from ferrum_verify.prove.buffer_bytes import Bounds
    from ferrum_verify.prove.obligation import Claims


@dataclass(frozen=True)
class BufferClaims:
    """What claims are stated of: storages, and the order of their nodes where it is sound."""

    storages: Storages
    order: HappensBefore | None
    execution: Execution
    streams: Mapping[str, str]

    @property
    def bounds(self) -> Bounds:
        """The bounds of the dimensions."""
        box = self.storages.box
        return tuple(zip(box.least, box.most, strict=True))

    def shape(self, values: tuple[int, ...]) -> NamedShape:
        """The solver's values of the dimensions as a shape."""
        names = self.storages.box.names
        return NamedShape(tuple(zip(names, values[: len(names)], strict=True)))

    def sources(self) -> Iterator[Claims]:
        """Every source of claims; each is asked on its own."""
        yield self._place_claims()
        yield self._overlap_claims()
        if self.order is None:
            return
        graph = PlanGraph(self.order.nodes)
        clashes = Clashes(Runs(self.order, self.execution), self.storages.box)
        room = Room(self.streams)
        yield clash_claims(self.storages, graph, clashes, self.bounds, room)
        reads = Reads(self.storages, clashes)
        if self.execution != "in-order":
            yield self._conflict_claims(graph, reads, room)
        yield self._read_claims()
        if self.streams:
            yield self._kept_claims(graph)

    def _place_claims(self) -> Claims:
        storages = self.storages
        for index, buffer in enumerate(storages.plan.buffers):
            offset, size = storages.offsets[index], storages.sizes[index]
            if offset is None or size is None or storages.placed[index] is None:
                continue
            parent = storages.parents[index]
            held = None if parent is None else storages.sizes[parent]
            if buffer.alias_of is None:
                assert buffer.arena is not None
                arena = storages.plan.arenas[buffer.arena]
                place = pointer("/arenas", buffer.arena, "bytes")
                limit = (arena.bytes, *(0 for _ in storages.box.names))
                yield self._within(index, plus(offset, size), limit, place)
                yield self._aligned(index, offset, arena.alignment)
            elif held is not None:
                place = pointer("/buffers", parent or 0, "bytes")
                yield self._within(index, plus(offset, size), held, place)

    def _within(self, index: int, end: Amount, limit: Amount, place: str) -> Obligation:
        buffer = self.storages.plan.buffers[index]
        whole = "its arena" if buffer.alias_of is None else f"`{buffer.alias_of}`"
        rule = buffer_places.OUT_OF_ARENA
        if buffer.alias_of is not None:
            rule = buffer_places.OUTSIDE_ALIAS

        def witness(values: tuple[int, ...]) -> Counterexample:
            if buffer.alias_of is None and at(end, values) > U64_MAX:
                return ShapeCounterexample(self.shape(values), overflow=True)
            return ShapeCounterexample(
                self.shape(values), at(end, values), at(limit, values), place
            )

        return Obligation(
            id=f"/buffers/{index}: inside",
            claim=f"`{buffer.id}` ends within {whole} at every shape.",
            names=(buffer.id,),
            rule=rule,
            location=f"/buffers/{index}",
            formula=formula(nowhere, self.bounds, ((limit, end),)),
            message=f"`{buffer.id}` ends behind {whole} at the shape that is shown",
            witness=witness,
            told_by=((buffer_places.OVERFLOW, (buffer.id,)),),
        )

    def _aligned(self, index: int, offset: Amount, unit: int) -> Obligation:
        buffer = self.storages.plan.buffers[index]
        return Obligation(
            id=f"/buffers/{index}: aligned",
            claim=f"`{buffer.id}` begins at a multiple of {unit:,} at every shape.",
            names=(buffer.id,),
            rule=buffer_places.MISALIGNED,
            location=f"/buffers/{index}/offset",
            formula=formula(aligned, self.bounds, offset, unit),
            message=f"`{buffer.id}` does not begin at a multiple of {unit:,} at some shape",
        )

    def _overlap_claims(self) -> Claims:
        for asked, (node, one, other, left, right) in enumerate(candidates(self.storages)):
            if asked > MOST_PAIRS:
                return
            yield self._overlap(node, (one, left), (other, right))

    def _overlap(self, node: int, one: tuple[Use, Extent], other: tuple[Use, Extent]) -> Obligation:
        left, right = one[1], other[1]
        names = [self.storages.of(use).id for use, _ in (one, other)]
        both = (left, right)

        def witness(values: tuple[int, ...]) -> Counterexample:
            sides = [
                ByteRange(name, at(each.start, values), at(each.end, values))
                for name, each in zip(names, both, strict=True)
            ]
            return OverlapCounterexample(
                self.shape(values), sides[0], sides[1], max(each.start for each in sides)
            )

        user = self.storages.nodes[node].id
        return Obligation(
            id=f"/nodes/{node}: {names[0]} and {names[1]}",
            claim=f"`{names[0]}` and `{names[1]}`, which `{user}` uses, lie at the same place or "
            "apart at every shape.",
            names=(user, *names),
            rule=buffer_places.PARTIAL_OVERLAP,
            location=self.storages.node_place(node),
            formula=formula(
                nowhere,
                self.bounds,
                tuple((each.start, of.end) for each in both for of in both),
                (
                    (left.start, right.start),
                    (right.start, left.start),
                    (left.end, right.end),
                    (right.end, left.end),
                ),
            ),
            message=f"`{user}` uses `{names[0]}` and `{names[1]}`, which overlap in part at the "
            "shape that is shown",
            witness=witness,
        )

    def _conflict_claims(self, graph: PlanGraph, reads: Reads, room: Room) -> Claims:
        told: set[tuple[str, ...]] = set()
        try:
            for region in self.storages.regions:
                for conflict in reads.conflicts(region):
                    if conflict.first.node < 0 or conflict.then.node >= len(graph.names):
                        continue
                    names = buffer_lives.conflict_names(self.storages, region, conflict)
                    if names not in told:
                        told.add(names)
                        yield self._over(graph, conflict, names, room)
        except (TooManyReadsError, UndecidedShapeError):
            return  # the rules say so

    def _over(
        self, graph: PlanGraph, conflict: Conflict, names: tuple[str, ...], room: Room
    ) -> Obligation:
        first, then = conflict.first, conflict.then
        verbs = ["writes" if use.write else "reads" for use in (first, then)]
        return Obligation(
            id=f"{names[2]}: {names[0]} before {names[1]}",
            claim=f"`{names[0]}`, which {verbs[0]} bytes of `{names[2]}`, has ended before "
            f"`{names[1]}`, which {verbs[1]} them, starts ({self.execution}).",
            names=names,
            rule=buffer_lives.RACE if first.write else buffer_lives.OVERWRITTEN,
            location=self.storages.node_place(then.node),
            formula=ended_formula(graph, first.node, then.node, self.execution),
            message=f"`{names[0]}` {verbs[0]} and `{names[1]}` {verbs[1]} the same bytes of "
            f"`{names[2]}`, and may meet there",
            witness=lambda _: room.shown(
                lambda: meeting(self.storages, graph, self.execution, conflict)
            ),
        )

    def _kept_claims(self, graph: PlanGraph) -> Claims:
        """That what the plan's nodes depend on has ended, under a schedule."""
        for index, node in enumerate(self.storages.plan.nodes):
            then = graph.position.get(node.id)
            for dependency in dict.fromkeys(node.dependencies):
                first = graph.position.get(dependency)
                if first is not None and then is not None:
                    yield Obligation(
                        id=f"/nodes/{index}: after {dependency}",
                        claim=f"`{dependency}` has ended before `{node.id}`, which depends on it, "
                        "starts (schedule).",
                        names=dependency_key(dependency, node.id, 0),
                        rule=NOT_KEPT,
                        location=f"/nodes/{index}",
                        formula=ended_formula(graph, first, then, self.execution),
                        message=f"`{node.id}` depends on `{dependency}`, which may still run when "
                        "it starts",
                    )

    def _read_claims(self) -> Claims:
        for region in self.storages.regions:
            writes = [
                (use, extent) for extent in region.extents for use in extent.uses if use.write
            ]
            for extent in region.extents:
                for use in extent.uses:
                    if not use.write and not self.storages.reaches_out(use.name):
                        yield self._written(use, extent, writes)

    def _written(self, read: Use, extent: Extent, writes: list[tuple[Use, Extent]]) -> Obligation:
        storages = self.storages
        before = [(use, each) for use, each in writes if use.node < read.node]
        conditions = {
            condition for use in (read, *(use for use, _ in before)) for condition, _ in use.arms
        }
        names = buffer_lives.read_names(storages, read)
        reader = f"`{names[0]}`" if len(names) > 1 else "the end"
        return Obligation(
            id=f"/buffers/{read.name}: written before {reader}",
            claim=f"Every byte of `{names[-1]}` that {reader} reads was written before, in every "
            "run at every shape.",
            names=names,
            rule=buffer_lives.READ_BEFORE_WRITE,
            location=storages.node_place(read.node) if len(names) > 1 else f"/buffers/{read.name}",
            formula=formula(
                written,
                self.bounds,
                extent.place,
                tuple(dict.fromkeys((each.place, use.arms) for use, each in before)),
                read.arms,
                tuple(
                    (condition, tuple(arms))
                    for condition, arms in storages.choices.items()
                    if condition in conditions
                ),
            ),
            message=f"{reader} reads bytes of `{names[-1]}` that were not written before",
        )
