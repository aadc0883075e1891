"""The buffers of an ExecuTorch method: the planned tensors that its instructions touch."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.findings.wording import plural
from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from ferrum_verify.importers.bindings import Guard
    from ferrum_verify.importers.drafting import Draft
    from ferrum_verify.importers.pte_calls import Call, Method
    from ferrum_verify.importers.pte_values import Value

MOST_ALIKE = 1_000
"""Values at the same bytes that are looked at for the one that a view is of."""

_Time = tuple[int, "Guard"]
"""An instruction's position, and the arms that it runs in; -1 is before the first."""


class Step(NamedTuple):
    """An instruction in one combination of arms, and the storages that it touches there."""

    name: str
    at: int
    call: Call
    guard: Guard
    reads: list[int]
    writes: list[int]


class _Uses:
    """When each value is touched first, and written first; which are read before that."""

    def __init__(self, method: Method, steps: list[Step], returned: set[int]) -> None:
        states = (at for at, each in enumerate(method.values) if each.state)
        self.written: dict[int, _Time] = dict.fromkeys((*method.inputs, *states), (-1, ()))
        self.touched: dict[int, _Time] = dict(self.written)
        early: set[int] = set()
        for step in steps:
            early |= {each for each in step.reads if each not in self.written}
            for value in (*step.reads, *step.writes):
                self.touched.setdefault(value, (step.at, step.guard))
            for value in step.writes:
                self.written.setdefault(value, (step.at, step.guard))
        for value in returned:
            self.touched.setdefault(value, (len(steps), ()))
        self.lasting = early & self.written.keys()

    def base(self, value: int, alike: list[int]) -> int | None:
        """The last of these values that was written whenever the value is first touched."""
        at, guard = self.touched[value]
        for each in islice(reversed(alike), MOST_ALIKE):
            since, within = self.written[each]
            if since < at and set(within) <= set(guard):
                return each
        return None


def add_buffers(
    draft: Draft, method: Method, steps: list[Step], returned: set[int], prefix: str
) -> None:
    """Put the planned tensors that are touched into the draft, in the order of their numbers.

    A tensor that nobody writes is taken as a view of what was written last, to the very same
    bytes, of the values before it: they are numbered in program order.
    """
    uses = _Uses(method, steps, returned)
    places: dict[tuple[int | None, int, int], list[int]] = {}
    views = 0
    for value in sorted(uses.touched):
        each, name = method.value(value), f"{prefix}v{value}"
        if not each.planned:
            continue
        alike = places.setdefault((each.memory, each.offset, each.bytes), [])
        base = None if value in uses.written else uses.base(value, alike)
        if base is not None:
            draft.alias(name, f"{prefix}v{base}", each.bytes, each.label)
            views += 1
            continue
        arena = f"{prefix}memory{each.memory}"
        if arena not in draft.arenas:
            raise ForeignPlanError(f"Value {value} lies in a memory that is not planned.")
        draft.place(name, arena, each.offset, each.bytes, each.label)
        if value in uses.written:
            alike.append(value)
        _mark(draft, name, each, value, uses)
    for value in returned:
        if f"{prefix}v{value}" in draft.buffers:
            draft.buffers[draft.storage(f"{prefix}v{value}")]["live_out"] = True
    if views:
        draft.note(
            f"{plural(views, 'value')} that no instruction writes are views: each is taken as "
            "another name of the value that was last written to the very same bytes before it."
        )


def _mark(draft: Draft, name: str, value: Value, number: int, uses: _Uses) -> None:
    """What lives before the first instruction or after the last one, and what is not known."""
    unread = ""
    if number in uses.lasting:
        unread = "it is read before it is written, and whether it is kept is not recorded"
    elif number not in uses.written:
        unread = "no instruction writes it, and it lies where none before it lies"
    lasts = value.state or number in uses.lasting
    if lasts or unread or uses.written[number][0] == -1:
        draft.buffers[name]["live_in"] = True
    if lasts:
        draft.buffers[name]["live_out"] = True
    for each in filter(None, (unread, value.unread)):
        draft.note(f"Value {number} is not understood: {each}.", buffers=[name])
