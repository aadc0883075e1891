"""Better partitions by OR-tools' CP-SAT, where first fit misses the bound and it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

from ferrum_verify.plan.partition import Partition, partition_bytes
from ferrum_verify.plan.unordered import least_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.plan.unordered import Level

MISSING = "OR-tools is not installed; pip install 'ferrum-verify[optimize]' brings it"

_MOST_UNITS = 2**62
"""CP-SAT sums in 64 bits."""


def available() -> bool:
    """Whether OR-tools is installed."""
    return find_spec("ortools") is not None


def improved(
    sizes: Sequence[int],
    before: Sequence[int],
    slots: Sequence[Sequence[int]],
    bound: Sequence[Level],
    seconds: float,
) -> Partition:
    """The best partition that CP-SAT finds within ``seconds``, no worse than ``slots``.

    The larger slots come first; a slot's size is told by one truth for each distinct size that
    it reaches.
    """
    from ortools.sat.python import cp_model  # noqa: PLC0415 - an extra, and slow to import

    largest_first = sorted(slots, key=lambda slot: -max(sizes[member] for member in slot))
    steps = [size - lower for size, lower in pairwise([*(level.size for level in bound), 0])]
    least, lowest = least_bytes(bound), partition_bytes(slots, sizes)
    # Beyond what all partitions take, each slot more takes at least the least size.
    spare = (lowest - least) // bound[-1].size
    places = range(min(len(sizes), len(bound[-1].members) + spare))
    unchanged = Partition([list(slot) for slot in slots], exhausted=False)
    unit = gcd(*steps)
    if len(places) * bound[0].size // unit > _MOST_UNITS:
        return unchanged
    model = cp_model.CpModel()
    reaches = [[model.new_bool_var("") for _ in bound] for _ in places]
    holds = [[model.new_bool_var("") for _ in places] for _ in sizes]
    of_size = {level.size: index for index, level in enumerate(bound)}
    for member, size in enumerate(sizes):
        model.add_exactly_one(holds[member])
        for place in places:
            model.add_implication(holds[member][place], reaches[place][of_size[size]])
            model.add_hint(
                holds[member][place],
                place < len(largest_first) and member in largest_first[place],
            )
    for place in places:
        for higher, lower in pairwise(reaches[place]):
            model.add_implication(higher, lower)
    for larger, smaller in pairwise(places):
        for level, _ in enumerate(bound):
            model.add_implication(reaches[smaller][level], reaches[larger][level])
    for apart in _clashing(before):
        for place in places:
            model.add_at_most_one(holds[member][place] for member in apart)
    cost = sum(
        step // unit * reaches[place][level] for place in places for level, step in enumerate(steps)
    )
    model.add(cost >= least // unit)
    model.minimize(cost)
    solver = cp_model.CpSolver()
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return unchanged
    found = [
        [member for member, _ in enumerate(sizes) if solver.value(holds[member][place])]
        for place in places
    ]
    filled = [slot for slot in found if slot]
    if partition_bytes(filled, sizes) > lowest:
        return unchanged
    return Partition(filled, status == cp_model.OPTIMAL)


def _clashing(before: Sequence[int]) -> Iterator[list[int]]:
    """Sets of members of which no two may share, that together hold every such pair."""
    apart = [~earlier & (1 << member) - 1 for member, earlier in enumerate(before)]
    left = list(apart)
    for member in reversed(range(len(before))):
        while left[member]:
            together, room, wanted = [member], apart[member], left[member]
            while room:
                other = (room & wanted or room).bit_length() - 1
                together.append(other)
                room &= apart[other]
            for later in together:
                for earlier in together:
                    left[later] &= ~(1 << earlier)
            yield together
