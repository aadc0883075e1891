"""Lives of buffers: what is claimed of every run, with times of nodes and the arms that they take.

A node has read by its middle what it reads, and begins to write then: that is how it works in
place. Bytes live from where a write of them begins to where their last use ends, so two storages
that have a byte in common live together at some moment at which one of them is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import z3

from ferrum_verify.prove.buffer_bytes import Choices, arms_taken
from ferrum_verify.prove.obligation import Statement
from ferrum_verify.prove.windows import LOGIC, fences_of

if TYPE_CHECKING:
    from ferrum_verify.plan.arms import Arms
    from ferrum_verify.prove.windows import Window

Placed: TypeAlias = "tuple[int, bool, Arms]"
"""A use: its node's place in the window, whether it writes, and the arms that it runs in. The place
behind the last one is the end, which reads what outlives the nodes."""


class _Run:
    """The times of a window's nodes: when each starts, is halfway and ends."""

    def __init__(self, window: Window, *, fenced: bool, choices: Choices = ()) -> None:
        places = range(len(window))
        self.starts = [z3.Int(f"start_{place}") for place in places]
        self.middles = [z3.Int(f"middle_{place}") for place in places]
        self.ends = [z3.Int(f"end_{place}") for place in places]
        self.given: list[z3.BoolRef] = []
        self.example: list[tuple[z3.ExprRef, z3.ExprRef]] = []
        for place, earliers in enumerate(window):
            start, middle, end = self.starts[place], self.middles[place], self.ends[place]
            self.given += [start - middle <= -1, middle - end <= -1]
            self.given += [self.ends[each] - start <= 0 for each in earliers]
            ticks = zip((start, middle, end), range(2 * place, 2 * place + 3), strict=True)
            self.example += [(time, z3.IntVal(tick)) for time, tick in ticks]
        if fenced:
            done, fences = fences_of(window, self.starts, self.ends)
            self.given += fences
            self.example += [(by, z3.IntVal(2 * place + 2)) for place, by in enumerate(done)]
        self.taken = arms_taken(choices)
        self.now = z3.Int("now")
        self.example.append((self.now, z3.IntVal(0)))

    def takes(self, use: Placed) -> list[z3.BoolRef]:
        """That the run takes the node of a use."""
        return [self.taken[each] for each in use[2]]

    def has_begun(self, use: Placed) -> z3.BoolRef:
        """Whether a use has begun by now; at the end all others are over."""
        place, writes, _ = use
        if place == len(self.starts):
            return z3.And([end - self.now <= 0 for end in self.ends])
        return (self.middles if writes else self.starts)[place] - self.now <= 0

    def goes_on(self, use: Placed) -> z3.BoolRef:
        """Whether a use is not over by now."""
        place, writes, _ = use
        if place == len(self.starts):
            return z3.BoolVal(True)
        return self.now - (self.ends if writes else self.middles)[place] <= -1

    def statement(self, broken: z3.BoolRef) -> Statement:
        """It is broken at no moment of any run."""
        return Statement(LOGIC, z3.Not(broken), tuple(self.given), example=tuple(self.example))


def over_before(
    window: Window, fenced: bool, lefts: tuple[Placed, ...], rights: tuple[Placed, ...]
) -> Statement:
    """All of the one uses are over before any of the others begins."""
    run = _Run(window, fenced=fenced)
    going = z3.Or([run.goes_on(use) for use in lefts])
    begun = z3.Or([run.has_begun(use) for use in rights])
    return run.statement(z3.And(going, begun))


class Life(NamedTuple):
    """The uses that bytes are alive for, and the writes that bring them about.

    In a run with any of the ``read_in`` arms they are there before all nodes.
    """

    uses: tuple[Placed, ...]
    writes: tuple[Placed, ...]
    read_in: tuple[Arms, ...]


def never_used_while_alive(
    window: Window, fenced: bool, choices: Choices, life: Life, other: Life
) -> Statement:
    """No use of the other takes place while the bytes of the life are alive.

    A read of bytes that are not there by then is none: whoever reads them is told of that.
    """
    run = _Run(window, fenced=fenced, choices=choices)
    needed = [z3.And([*run.takes(use), run.goes_on(use)]) for use in life.uses]
    lives = z3.And(_there(run, life, 2 * len(window) + 2), z3.Or(needed))
    return run.statement(z3.And(_in_use(run, other), z3.Or(_in_use(run, life), lives)))


def _there(run: _Run, life: Life, phase: int) -> z3.BoolRef:
    """Whether bytes are there by now: from the start, or by a write that is listed before."""
    from_start = [z3.And([run.taken[each] for each in arms]) for arms in life.read_in]
    written = [
        z3.And([*run.takes(use), run.has_begun(use)]) for use in life.writes if _phase(use) < phase
    ]
    return z3.Or([*from_start, *written])


def _in_use(run: _Run, life: Life) -> z3.BoolRef:
    """Whether some use of bytes goes on that are there."""
    there: dict[int, z3.BoolRef] = {}
    used = []
    for use in life.uses:
        goes_on = [*run.takes(use), run.has_begun(use), run.goes_on(use)]
        if not use[1]:
            # Reads between the same two writes find the same there.
            before = sum(_phase(each) < _phase(use) for each in life.writes)
            if before not in there:
                there[before] = _there(run, life, _phase(use))
            goes_on.append(there[before])
        used.append(z3.And(goes_on))
    return z3.Or(used)


def _phase(use: Placed) -> int:
    return 2 * use[0] + use[1]
