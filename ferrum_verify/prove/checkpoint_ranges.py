"""Checkpoint ranges: the bytes that are copied of different states never meet, or are the same.

Mirrors ``derive/checkpoint_ranges.py``, without its projection of states and its look at the
largest boundary alone: each claim speaks of every boundary. Bit-vectors are the theory, as
offsets and counts are words of the hardware. A range ends at an offset plus bytes times tokens,
both of 64 bits, so 128 bits hold it without wrapping; one factor is a constant of the plan, and
the product a few shifts and additions.

States on one resource are few, so each pair is asked, at every boundary that both can have.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, TypeAlias

import z3

from ferrum_verify.counterexamples import ByteRange, OverlapCounterexample, Shape
from ferrum_verify.documents.checkpoint import StateSemantics
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.program import TokenScaled
from ferrum_verify.documents.tensor import SizeError, tensor_storage_bytes
from ferrum_verify.findings import pointer
from ferrum_verify.prove.obligation import Obligation, Proved, Statement, formula
from ferrum_verify.rules import checkpoint, value

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, MemoryPlan
    from ferrum_verify.documents.node import PlanNode, ValueBinding
    from ferrum_verify.documents.program import ModelProgram, ProgramState
    from ferrum_verify.prove.obligation import Claims
    from ferrum_verify.reading.document import Places

LOGIC = "QF_BV"
_WIDTH = 128

Growth: TypeAlias = tuple[int, bool]
"""The bytes that are copied of a state, and whether they are for each token."""

MOST_PAIRED = 64
"""States on one resource of which every pair is asked; of more, which no program has, those
whose ranges follow each other."""


@dataclass(frozen=True, slots=True)
class Copied:
    """The bytes that are copied of a state: ``[start, start + size)`` of its resource.

    Of a state that ``grows`` they are ``size`` bytes for each token, up to ``most`` tokens.
    ``content`` is all that says what the bytes mean, ``place`` points at its first binding.
    """

    state_id: str
    value_id: str
    resource_id: str
    start: int
    size: int
    grows: bool
    most: int
    content: Hashable
    place: str

    def end(self, tokens: int) -> int:
        """Where the range ends at a boundary, in bytes."""
        return self.start + self.size * (tokens if self.grows else 1)


def range_claims(states: Sequence[Copied], at: str, *, captured: bool) -> Claims:
    """The claims that no byte is copied for two states at any boundary.

    That states are apart from the first token on is a matter of where values lie, whether they
    are captured or not. What comes after is asked only where they are ``captured`` at all. ``at``
    points at the program's states.
    """
    by_resource: dict[str, list[Copied]] = {}
    for state in states:
        by_resource.setdefault(state.resource_id, []).append(state)
    for together in by_resource.values():
        together.sort(key=lambda state: (state.start, state.size))
        few = len(together) <= MOST_PAIRED
        for left, right in combinations(together, 2) if few else pairwise(together):
            outcome = yield _apart(left, right, at, 1, 1)
            most = min(left.most, right.most)
            grow = most > 1 and (left.grows or right.grows)
            if captured and grow and isinstance(outcome, Proved):
                yield _apart(left, right, at, 2, most)


def copied_states(
    program: ModelProgram, nodes: Sequence[PlanNode], memory: MemoryPlan, places: Places
) -> list[Copied]:
    """The states of which a plain copy of one range makes sense, as nodes first use them.

    Of the others the checkpoint rules say why not.
    """
    declared = {state.value_id: state for state in program.states}
    rows = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    uses: dict[str, list[tuple[ValueBinding, str]]] = {}
    for index, node in enumerate(nodes):
        for ordinal, binding in enumerate(node.values):
            if binding.value_id in declared:
                place = pointer(places.nodes, index, "values", ordinal, "storage", "components")
                uses.setdefault(binding.value_id, []).append((binding, place))
    found = []
    for value_id, bound in uses.items():
        binding, place = bound[0]
        alike = all(
            other.tensor == binding.tensor and other.storage == binding.storage
            for other, _ in bound
        )
        copy = _copied(declared[value_id], binding, rows, place) if alike else None
        if copy is not None:
            found.append(copy)
    return found


def _copied(
    state: ProgramState,
    binding: ValueBinding,
    rows: Mapping[str, DynamicDescriptor],
    place: str,
) -> Copied | None:
    components = binding.storage.components
    if len(components) != 1 or not isinstance(state.checkpoint, StateSemantics):
        return None
    (component,) = components
    row = rows.get(component.resource_id)
    if row is None:
        return None
    try:
        size = tensor_storage_bytes(binding.tensor)
    except SizeError:
        return None
    grows = state.checkpoint.contents == "prefix_positions"
    most = U64_MAX
    if grows:
        # Positions follow each other from byte 0, in storage that is claimed by the token.
        scaled = state.capacity_demand
        held = row.demand.terms.only("tokens")
        if component.offset_bytes != 0 or held is None or not isinstance(scaled, TokenScaled):
            return None
        most = min(held.most, scaled.maximum_tokens)
    return Copied(
        state_id=state.id,
        value_id=state.value_id,
        resource_id=component.resource_id,
        start=component.offset_bytes,
        size=size,
        grows=grows,
        most=most,
        content=(binding.tensor, state.checkpoint),
        place=place,
    )


def _apart(left: Copied, right: Copied, at: str, first: int, last: int) -> Obligation:
    """The claim about two states at every boundary from ``first`` to ``last`` tokens."""
    # Counted from where the first begins, states that follow each other alike ask alike.
    origin, distance = left.start, right.start - left.start
    may_be_same = distance == 0 and left.content == right.content

    def witness(values: tuple[int, ...]) -> Counterexample:
        tokens, byte = values
        return OverlapCounterexample(
            Shape(1, tokens, 1),
            ByteRange(left.resource_id, left.start, left.end(tokens)),
            ByteRange(right.resource_id, right.start, right.end(tokens)),
            origin + byte,
        )

    def message(found: Counterexample | None) -> str:
        where = ""
        if isinstance(found, OverlapCounterexample) and isinstance(found.shape, Shape):
            tokens = found.shape.tokens
            counted = "the first token" if tokens == 1 else f"{tokens:,} tokens"
            where = f" at byte {found.byte:,} from {counted} on"
        return (
            f"the states {left.state_id} and {right.state_id} meet in {left.resource_id}{where}, "
            "and are not the same content in the same form"
        )

    at_once = first == 1
    until = f"from {first:,} to {last:,} tokens" if last > first else "from the first token on"
    return Obligation(
        id=f"{left.place}: {left.state_id} apart from {right.state_id}, {until}",
        claim=f"At every boundary {until}, no byte of {left.resource_id} is copied for both "
        f"{left.state_id} and {right.state_id}, unless they are one content in one form.",
        names=(left.value_id, right.value_id) if at_once else (left.state_id, right.state_id),
        rule=value.OVERLAP if at_once else checkpoint.STATE_LAYOUT,
        location=right.place if at_once else at,
        formula=formula(
            never_meet,
            (left.size, left.grows),
            (right.size, right.grows),
            distance,
            may_be_same,
            (first, last),
        ),
        message=message,
        witness=witness,
    )


def never_meet(
    left: Growth, right: Growth, distance: int, may_be_same: bool, counts: tuple[int, int]
) -> Statement:
    """No byte is copied for both states at a boundary from the first count to the last.

    The right one begins ``distance`` bytes after the left one. Two that ``may_be_same`` are if
    they are of one length.
    """
    count, byte = z3.BitVec("tokens", 64), z3.BitVec("byte", _WIDTH)
    tokens = z3.ZeroExt(_WIDTH - 64, count)
    left_end, right_end = (
        _word(size) * tokens if grows else _word(size) for size, grows in (left, right)
    )
    start = _word(distance)
    both = [z3.ULT(byte, left_end), z3.UGE(byte, start), z3.ULT(byte, start + right_end)]
    if may_be_same:
        both.append(left_end != right_end)
    first, last = counts
    return Statement(
        LOGIC,
        z3.Not(z3.And(both)),
        (z3.UGE(count, first), z3.ULE(count, last)),
        least=(count, byte),
        example=((count, z3.BitVecVal(first, 64)),),
    )


def _word(value: int) -> z3.BitVecRef:
    return z3.BitVecVal(value, _WIDTH)
