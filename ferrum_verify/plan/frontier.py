"""The capacity frontier: how many sequences of how many tokens a memory plan has room for.

A batch of ``k`` sequences of ``t`` tokens each needs the static bytes, ``k`` times the request
and sequence bytes of one sequence at the shape (1, t), and the Step slots and invocation peaks
of one step at the shape (k, k·t): everything quantized, as the pools of the plan share it. It
fits when that is no more than the usable capacity, and no declared maximum is passed.

The need grows with ``k`` and with ``t`` (theorem ``frontier.need-is-monotone``), so bisection
finds the largest batch exactly. That holds for rows that the descriptor rules accept; what this
file says of a plan with faulty rows means nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.sizes import Claim
from ferrum_verify.plan.turns import bytes_in_turn, row_groups, slot_groups

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ferrum_verify.documents.memory_plan import DynamicDescriptor, MemoryPlan

CURVE_POINTS = 128
"""Sequence counts that a curve takes; of more, as many evenly spread ones on a logarithmic
scale, the least and the greatest always among them."""

_OF_A_SEQUENCE = ("request", "sequence")

_Kinds = tuple[tuple[int, int], ...]
"""Numbers of rows by what they claim: an index, and how many there are."""


class _Kind(NamedTuple):
    """What alike rows claim, and the first of their resources."""

    claim: Claim
    resource: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What decides whether a batch fits, in bytes and counts.

    Rows that claim the same stand once, with their number: a plan of 64 layers has about a
    dozen different ones. ``shared`` holds groups whose members use the same bytes in turn, with
    the number of each; ``rows`` has what their indices stand for.
    """

    usable_bytes: int
    static_bytes: int
    maximum_sequences: int
    maximum_scheduled_tokens: int | None
    pages: int
    per_sequence: tuple[tuple[_Kind, int], ...]
    shared: tuple[tuple[tuple[_Kinds, ...], int], ...]
    rows: tuple[_Kind, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Headroom:
    """The largest batch in one direction.

    ``bytes`` is what it needs. Where not even one fits, the count that was asked for is 0 and
    ``bytes`` is None. ``refused_bytes`` is what the next larger batch would need; None where a
    declared maximum ends it and not memory. ``refused_because`` completes the sentence "one
    more is refused: …".
    """

    sequences: int
    tokens: int
    bytes: int | None
    refused_bytes: int | None
    refused_because: str


def capacity_of(
    memory: MemoryPlan, maximum_scheduled_tokens: int | None = None, pages: int = 1
) -> Capacity:
    """The capacity facts of a memory plan.

    ``maximum_scheduled_tokens`` bounds the tokens of one step, all sequences together; None
    where the document does not say. Raises SizeError where a pool names a resource that has no
    descriptor, since its bytes are then unknown.
    """
    descriptors = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    places: dict[Claim, int] = {}
    first: list[_Kind] = []

    def kinds(resources: Iterable[str]) -> _Kinds:
        counts: Counter[int] = Counter()
        for resource in resources:
            claim = Claim.of(_named(descriptors, resource))
            place = places.setdefault(claim, len(first))
            if place == len(first):
                first.append(_Kind(claim, resource))
            counts[place] += 1
        return tuple(counts.items())

    groups: Counter[tuple[_Kinds, ...]] = Counter()
    for pool in memory.dynamic_pools:
        for alternatives in slot_groups(pool) + row_groups(pool):
            groups[tuple(dict.fromkeys(kinds(each) for each in alternatives))] += 1
    in_turn = tuple(first)
    own = kinds(name for name, row in descriptors.items() if row.lifetime in _OF_A_SEQUENCE)
    return Capacity(
        usable_bytes=memory.usable_capacity_bytes,
        static_bytes=memory.static_bytes,
        maximum_sequences=min(
            [
                memory.maximum_active_sequences,
                *(
                    row.theoretical_maximum_instances
                    for row in descriptors.values()
                    if row.lifetime in _OF_A_SEQUENCE
                ),
            ]
        ),
        maximum_scheduled_tokens=maximum_scheduled_tokens,
        pages=pages,
        per_sequence=tuple((first[place], count) for place, count in own),
        shared=tuple(groups.items()),
        rows=in_turn,
    )


def _named(descriptors: Mapping[str, DynamicDescriptor], resource: str) -> DynamicDescriptor:
    row = descriptors.get(resource)
    if row is None:
        raise SizeError(f"of `{resource}` is unknown, as it has no descriptor")
    return row


def need(capacity: Capacity, sequences: int, tokens: int) -> int:
    """The bytes that ``sequences`` sequences of ``tokens`` tokens each need.

    Raises SizeError, whose text completes "one more is refused: …", where the batch passes a
    declared maximum.
    """
    if sequences < 1 or tokens < 1:
        raise ValueError("a batch has at least one sequence of at least one token")
    together = sequences * tokens
    if sequences > capacity.maximum_sequences:
        raise SizeError(f"{capacity.maximum_sequences:,} sequences are the declared maximum")
    scheduled = capacity.maximum_scheduled_tokens
    if scheduled is not None and together > scheduled:
        raise SizeError(f"{scheduled:,} tokens of all sequences are the most in one step")
    if together > U64_MAX:
        raise SizeError("the tokens of all sequences together pass u64")
    one = Shape(1, tokens, capacity.pages)
    step = Shape(sequences, together, capacity.pages)
    own = sum(times * _bytes(row, one) for row, times in capacity.per_sequence)
    sizes = [_bytes(row, step) for row in capacity.rows]
    in_turn = bytes_in_turn(capacity.shared, sizes.__getitem__)
    return capacity.static_bytes + sequences * own + in_turn


def fits(capacity: Capacity, sequences: int, tokens: int) -> bool:
    """Whether ``sequences`` sequences of ``tokens`` tokens each have room."""
    try:
        return need(capacity, sequences, tokens) <= capacity.usable_bytes
    except SizeError:
        return False


def largest_tokens(capacity: Capacity, sequences: int) -> Headroom:
    """The longest that ``sequences`` sequences, all of one length, can be together."""
    tokens = _largest(lambda count: fits(capacity, sequences, count))
    return _headroom(capacity, sequences, tokens, sequences, tokens + 1)


def largest_sequences(capacity: Capacity, tokens: int) -> Headroom:
    """The most sequences of ``tokens`` tokens each that have room together."""
    sequences = _largest(lambda count: fits(capacity, count, tokens))
    return _headroom(capacity, sequences, tokens, sequences + 1, tokens)


def curve(capacity: Capacity, points: int = CURVE_POINTS) -> list[Headroom]:
    """The frontier: for sequence counts from one up, how long the sequences can be.

    It ends at the most sequences that fit with one token each; empty where not even one
    sequence of one token fits.
    """
    most = largest_sequences(capacity, 1).sequences
    return [largest_tokens(capacity, sequences) for sequences in _spread(most, points)]


def _headroom(
    capacity: Capacity, sequences: int, tokens: int, next_sequences: int, next_tokens: int
) -> Headroom:
    refused: int | None = None
    try:
        refused = need(capacity, next_sequences, next_tokens)
        because = f"it needs {refused:,} bytes of {capacity.usable_bytes:,} usable ones"
    except SizeError as error:
        because = str(error)
    return Headroom(
        sequences=sequences,
        tokens=tokens,
        bytes=need(capacity, sequences, tokens) if sequences and tokens else None,
        refused_bytes=refused,
        refused_because=because,
    )


def _largest(holds: Callable[[int], bool]) -> int:
    """The largest count for which a condition holds that, once false, stays false; or 0."""
    if not holds(1):
        return 0
    low, high = 1, 2
    while holds(high):
        low, high = high, 2 * high
    while low + 1 < high:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _spread(most: int, points: int) -> list[int]:
    if most <= points:
        return list(range(1, most + 1))
    ratio = most ** (1 / (points - 1))
    return sorted({*(min(most, round(ratio**step)) for step in range(points)), most})


def _bytes(kind: _Kind, shape: Shape) -> int:
    try:
        return kind.claim.bytes_at(shape)
    except SizeError as error:
        raise SizeError(f"the size of `{kind.resource}` {error}") from None
