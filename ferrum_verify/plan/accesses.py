"""Accesses: which node reads and writes which bytes of which resource, and what must be over first.

A plan's nodes bind values to bytes, as inputs and outputs, and have effects on states. From plan
order alone follows what each reader means to read: what the last writer before it left. So for
any two accesses of the same bytes, one of them a write, one must be over before the other
begins. Whether it is, in every run, is a question for an execution model.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from ferrum_verify.documents.node import PlanNode, TokenWork

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.plan.order import HappensBefore

ENDLESS = 2**64
"""The end of an access that reaches to the end of its resource."""

MOST_STEPS = 2_000_000
"""Steps of the sweep over one plan's accesses; what needs more is a plan nobody made."""

Mode = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Access:
    """A node reads or writes the bytes ``[start, end)`` of a resource, in its largest step.

    ``value`` is what lies there; None where the document does not say. An output brings its
    value about; a node that writes to its input only changes what was there. ``place`` are the
    steps to the binding, effect or list below the node.
    """

    node: int
    resource: str
    start: int
    end: int
    mode: Mode
    value: str | None
    place: tuple[str | int, ...]
    is_state: bool = False
    is_output: bool = False


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two accesses of the same bytes of which ``first`` must have ended when ``then`` starts.

    ``value`` is what ``first`` reads and ``then`` overwrites; None where both write, or where
    the reader waits for the writer.
    """

    first: Access
    then: Access
    start: int
    end: int
    value: str | None = None


def ended_before(order: HappensBefore, first: int, then: int, execution: Execution) -> bool:
    """Whether the node at ``first`` has ended when the one at ``then`` starts, in every run."""
    if first >= then:
        return False
    if execution == "in-order":
        return True
    if execution == "fenced":
        return order.barriers[then] >= first
    return order.precedes(first, then)


class TooManyAccessesError(Exception):
    """More than ``MOST_STEPS``: what was found until then is all that is told."""


def declared_bytes(program: ModelProgram | None) -> dict[str, int]:
    """The bytes of each state that grows with its sequence, when that is as long as it may be.

    By the state's value. Without a program nothing is known of how states grow.
    """
    return {
        state.value_id: state.capacity_demand.bytes_per_token * state.capacity_demand.maximum_tokens
        for state in (() if program is None else program.states)
        if not isinstance(state.capacity_demand, str)
    }


def accesses_of(
    nodes: Sequence[FragmentNode | PlanNode],
    maximum_tokens: int,
    declared: Mapping[str, int],
) -> dict[str, list[Access]]:
    """The accesses of each resource in plan order, of one node its reads first.

    ``maximum_tokens`` are scheduled in the largest step: what a node's work projects grows in
    proportion to them. ``declared`` has the bytes of states that grow otherwise, by value.
    """
    found: dict[str, list[Access]] = {}
    for index, node in enumerate(nodes):
        mine = (
            _of_plan_node(index, node, maximum_tokens, declared)
            if isinstance(node, PlanNode)
            else _of_fragment_node(index, node)
        )
        for access in sorted(mine, key=lambda each: each.mode):
            found.setdefault(access.resource, []).append(access)
    return found


def _of_fragment_node(index: int, node: FragmentNode) -> Iterator[Access]:
    for position, resource in enumerate(node.reads or ()):
        yield Access(index, resource, 0, ENDLESS, "read", None, ("reads", position))
    for position, resource in enumerate(node.writes or ()):
        yield Access(index, resource, 0, ENDLESS, "write", None, ("writes", position))


def _of_plan_node(
    index: int, node: PlanNode, maximum_tokens: int, declared: Mapping[str, int]
) -> Iterator[Access]:
    extents = {
        (axis.value_id, axis.role, axis.ordinal): axis.canonical_extent
        for axis in (node.work.projections if isinstance(node.work, TokenWork) else ())
    }
    bound: set[str] = set()
    for position, binding in enumerate(node.values):
        extent = extents.get((binding.value_id, binding.role, binding.ordinal))
        for part in binding.storage.components:
            bound.add(part.resource_id)
            start = part.offset_bytes
            if binding.usage == "state":
                # Only the run tells how far a state that grows is filled.
                end = start + max(part.length_bytes, declared.get(binding.value_id, 0))
            elif extent:
                end = start + part.length_bytes * maximum_tokens // extent
            else:
                end = start + part.length_bytes
            for mode in MODES[binding.access]:
                yield Access(
                    index,
                    part.resource_id,
                    start,
                    end,
                    mode,
                    binding.value_id,
                    ("values", position),
                    binding.usage == "state",
                    binding.role == "output",
                )
    for position, effect in enumerate(node.state_effects):
        for resource in effect.resource_ids:
            if resource not in bound:
                for mode in MODES[effect.access]:
                    yield Access(
                        index,
                        resource,
                        0,
                        ENDLESS,
                        mode,
                        effect.state_value_id,
                        ("state_effects", position),
                        True,
                    )


MODES: dict[str, tuple[Mode, ...]] = {
    "read": ("read",),
    "write": ("write",),
    "read_write": ("read", "write"),
}
"""What each kind of access does, one after the other."""


@dataclass(slots=True)
class _Segment:
    """Bytes that all accesses so far touch alike: who wrote them last, and who read them since."""

    start: int
    end: int
    written: Access | None = None
    read: list[Access] = field(default_factory=list)


def conflicts_of(accesses: Mapping[str, Sequence[Access]]) -> Iterator[Conflict]:
    """Every pair of accesses of which one must be over before the other, neighbours only.

    A write is held to the reads since the write before it, and to that write where nobody read;
    a read to the last write. That all other pairs follow is ``proofs/accesses.py``. Raises
    ``TooManyAccessesError`` past ``MOST_STEPS``.
    """
    producers: dict[str | None, list[int]] = {}
    for of_resource in accesses.values():
        for access in of_resource:
            if access.is_output:
                producers.setdefault(access.value, []).append(access.node)
    steps = 0
    for of_resource in accesses.values():
        if all(access.mode == "read" for access in of_resource):
            continue
        segments: list[_Segment] = []
        told: set[tuple[int, int, str | None]] = set()
        for access in of_resource:
            covered = _cover(segments, access)
            steps += sum(1 + len(each.read) for each in covered)
            if steps > MOST_STEPS:
                raise TooManyAccessesError
            for segment in covered:
                for conflict in _met(segment, access, producers):
                    key = (conflict.first.node, conflict.then.node, conflict.value)
                    if key not in told:
                        told.add(key)
                        yield conflict
                if access.mode == "write":
                    segment.written, segment.read = access, []
                else:
                    segment.read.append(access)


def _met(
    segment: _Segment, access: Access, producers: Mapping[str | None, Sequence[int]]
) -> Iterator[Conflict]:
    start, end = segment.start, segment.end
    last = segment.written
    if access.mode == "read":
        if last is None or last.node == access.node:
            return
        # The host reads whatever is there, and what it writes is an input of those that read it.
        is_input = last.value is None and access.value not in producers
        if is_input or access.value in (None, last.value):
            yield Conflict(last, access, start, end)
        elif _is_older(access.value, last.node, producers):
            # Whoever wrote last was not who the reader waits for: its value is gone.
            yield Conflict(access, last, start, end, access.value)
        return
    for reader in segment.read:
        if reader.node != access.node:
            value = reader.value if reader.value != access.value else None
            yield Conflict(reader, access, start, end, value)
    if last is not None and not segment.read and last.node != access.node:
        yield Conflict(last, access, start, end)


def _is_older(
    value: str | None, position: int, producers: Mapping[str | None, Sequence[int]]
) -> bool:
    """Whether the value was there before the node at the position; an input always was."""
    written = producers.get(value)
    return not written or min(written) < position


def _cover(segments: list[_Segment], access: Access) -> list[_Segment]:
    """The segments of the access's bytes, split at its ends, with new ones where there is none."""
    covered: list[_Segment] = []
    at = access.start
    index = bisect_right(segments, at, key=lambda each: each.start) - 1
    if index >= 0 and segments[index].end > at:
        _split(segments, index, at)
    index = bisect_left(segments, at, key=lambda each: each.start)
    while at < access.end:
        if index == len(segments) or segments[index].start > at:
            end = access.end if index == len(segments) else min(access.end, segments[index].start)
            segments.insert(index, _Segment(at, end))
        elif segments[index].end > access.end:
            _split(segments, index, access.end)
        covered.append(segments[index])
        at = segments[index].end
        index += 1
    return covered


def _split(segments: list[_Segment], index: int, at: int) -> None:
    segment = segments[index]
    if segment.start < at < segment.end:
        segments.insert(index + 1, _Segment(at, segment.end, segment.written, [*segment.read]))
        segment.end = at
