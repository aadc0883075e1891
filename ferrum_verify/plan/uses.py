"""Uses of bytes in the runs of an execution model: which have ended when others begin.

Nodes are known by their positions in program order; -1 is the start, which has ended before any
node begins, and the number of nodes the end. A node that a run does not take passes its order on,
so what has ended before what is the same in every run.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ferrum_verify.plan.accesses import ended_before
from ferrum_verify.plan.order import bit_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.plan.storages import Region, Use

MOST_STEPS = 3_000_000
"""Dependencies that are gone through for one plan whose closure does not fit the memory."""


class TooManyStepsError(Exception):
    """More than ``MOST_STEPS``."""


class Runs:
    """What has ended before what, in every run of the model."""

    def __init__(self, order: HappensBefore, execution: Execution) -> None:
        self.order = order
        self.execution = execution
        self.end = len(order.nodes)
        self._steps = 0

    def is_over(self, first: int, then: int) -> bool:
        """Whether one node has ended when another, later in program order, begins."""
        if first < 0 or then >= self.end or self.execution == "in-order":
            return first < then
        if self.execution == "concurrent" and not self.order.is_tractable:
            return self._reaches(first, then)
        return ended_before(self.order, first, then, self.execution)

    def _reaches(self, first: int, then: int) -> bool:
        seen = {then}
        waiting = [then]
        while waiting:
            for earlier in self.order.earlier(waiting.pop()):
                self._steps += 1
                if earlier == first:
                    return True
                if earlier > first and earlier not in seen:
                    seen.add(earlier)
                    waiting.append(earlier)
            if self._steps > MOST_STEPS:
                raise TooManyStepsError
        return False

    def has_ended(self, first: Region, then: Region) -> bool:
        """Whether all uses of a region are over before any of another begins, in every run."""
        if first.last >= then.first:
            return False
        if self.execution == "in-order":
            return True
        lefts, rights = first.positions, then.positions
        if self.execution == "fenced":
            # Barriers ascend, so the last of the one and the first of the other tell of all;
            # of a node that reads the one and writes the other, the next ones beside it.
            if lefts[-1] != rights[0]:
                return self.is_over(lefts[-1], rights[0])
            return (len(lefts) < 2 or self.is_over(lefts[-2], rights[0])) and (
                len(rights) < 2 or self.is_over(lefts[-1], rights[1])
            )
        if self.order.is_tractable:
            users = bit_set(each for each in lefts if each >= 0)
            return all(
                not users & ~(1 << right) & ~self.order.ancestors[right]
                for right in rights
                if right < self.end
            )
        return all(left == right or self.is_over(left, right) for right in rights for left in lefts)

    def side_by_side(self, lefts: Sequence[Use], rights: Sequence[Use]) -> tuple[Use, Use] | None:
        """A use of the first, and a later one of the others that may begin before it has ended.

        Both ascend by phase.
        """
        if self.execution == "in-order":
            return None
        positions = [use.node for use in lefts]
        if self.execution == "concurrent" and self.order.is_tractable:
            users = bit_set(each for each in positions if each >= 0)
            for right in rights:
                if right.node < self.end:
                    loose = users & ((1 << max(right.node, 0)) - 1)
                    loose &= ~self.order.ancestors[right.node] if right.node >= 0 else 0
                    if loose:
                        place = bisect_left(positions, loose.bit_length() - 1)
                        return lefts[place], right
            return None
        for right in rights:
            place = bisect_left(positions, right.node) - 1
            # Barriers ascend: where the nearest has ended, so have those before it.
            for each in range(place, -1, -1):
                if not self.is_over(positions[each], right.node):
                    return lefts[each], right
                if self.execution == "fenced":
                    break
        return None
