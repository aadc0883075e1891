"""Clashes: two storages never hold one byte while both live.

Mirrors ``plan/clashes.py`` and ``plan/sweep.py``. Of two neighbours it is asked whether the one
has ended when the other begins; where not, whether they have a byte in common at some shape, and
where they have, whether the one is used while the other lives.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

import z3

from ferrum_verify.findings.capping import MAXIMUM_OF_A_RULE
from ferrum_verify.plan.affine import UndecidedShapeError
from ferrum_verify.plan.clashes import TooManyTriesError
from ferrum_verify.plan.storages import START
from ferrum_verify.plan.sweep import TooManyQuestionsError, neighbours
from ferrum_verify.plan.uses import TooManyStepsError
from ferrum_verify.prove.buffer_bytes import nowhere
from ferrum_verify.prove.buffer_lives import Life, never_used_while_alive, over_before
from ferrum_verify.prove.buffer_runs import living_together
from ferrum_verify.prove.obligation import Obligation, Proved, Refuted, Statement, formula
from ferrum_verify.prove.windows import stream
from ferrum_verify.rules import buffer_lives as rules

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    from ferrum_verify.counterexamples import ScheduleCounterexample
    from ferrum_verify.plan.clashes import Clashes
    from ferrum_verify.plan.storages import Extent, Region, Storages, Use
    from ferrum_verify.prove.buffer_bytes import Bounds, Choices
    from ferrum_verify.prove.buffer_runs import Room
    from ferrum_verify.prove.obligation import Claims, Formula, Outcome
    from ferrum_verify.prove.windows import PlanGraph, Window


def clash_claims(
    storages: Storages,
    graph: PlanGraph,
    clashes: Clashes,
    bounds: Bounds,
    room: Room,
) -> Claims:
    """The claims that together say: no two storages hold one byte while both live.

    They end with the ``MAXIMUM_OF_A_RULE``-th that is refuted: of more there is no finding.
    """
    pairs = _Pairs(storages, graph, clashes, bounds, room)
    questions = neighbours(storages.regions)
    refuted: set[tuple[int, int]] = set()
    try:
        pair = next(questions)
        while len(refuted) < MAXIMUM_OF_A_RULE:
            outcome, has_ended = yield from pairs.claims(*pair)
            if isinstance(outcome, Refuted):
                refuted.add((pair[0].storage, pair[1].storage))
            pair = questions.send(has_ended)
    except (StopIteration, TooManyQuestionsError):
        return  # of the latter the rules speak


def always() -> Statement:
    """True: the uses follow each other as they are listed, or there are none."""
    return Statement("QF_IDL", z3.BoolVal(True))


def never() -> Statement:
    """False: nothing ends before the start, and nothing begins behind the end."""
    return Statement("QF_IDL", z3.BoolVal(False))


@dataclass(frozen=True)
class _Pairs:
    storages: Storages
    graph: PlanGraph
    clashes: Clashes
    bounds: Bounds
    room: Room

    @property
    def end(self) -> int:
        return len(self.graph.names)

    @property
    def execution(self) -> str:
        return self.clashes.runs.execution

    def claims(
        self, first: Region, then: Region
    ) -> Generator[Obligation, Outcome, tuple[Outcome, bool]]:
        """The claims about two regions; returns what came of them.

        With it comes whether the first has ended before the other begins.
        """
        over = self._over(first, then)
        outcome = yield self._obligation(first, then, "over", over, lemma=True)
        if isinstance(outcome, Proved):
            yield self._obligation(first, then, "over", over)
            return outcome, True
        # The claim has as many parts as there are names at different places, and is the first of
        # them that does not hold.
        told, worst = over, 0
        for held, met in ((first, then), (then, first)):
            for one, other in product(held.extents, met.extents):
                part, outcome = yield from self._of_extents(held, met, one, other)
                rank = (
                    2 if isinstance(outcome, Refuted) else 0 if isinstance(outcome, Proved) else 1
                )
                if rank >= worst:
                    told, worst = part, rank
                if worst == 2:
                    break
        return (yield self._obligation(first, then, "lives", told)), False

    def _of_extents(
        self, held: Region, met: Region, one: Extent, other: Extent
    ) -> Generator[Obligation, Outcome, tuple[Formula, Outcome]]:
        """Whether bytes of one extent are used in the other while they live, and what tells it."""
        told = self._apart(one, other)
        outcome = yield self._obligation(held, met, "apart", told, lemma=True)
        if isinstance(outcome, Proved):
            return told, outcome
        open_: tuple[Formula, Outcome] | None = None
        told, outcome = formula(always), Proved()
        for writers in held.extents:
            if writers is not one:
                apart = self._apart(writers, one, other)
                outcome = yield self._obligation(held, met, "apart", apart, lemma=True)
                if isinstance(outcome, Proved):
                    continue
            extents = (writers, one, other)
            readers = yield from self._readers(held, met, extents)
            births = yield from self._births(met, held, extents)
            told = self._alive(extents, readers, births)
            outcome = yield self._obligation(held, met, "lives", told, lemma=True)
            if isinstance(outcome, Refuted):
                return told, outcome
            if not isinstance(outcome, Proved):
                open_ = told, outcome
        return open_ or (told, Proved())

    def _readers(
        self, held: Region, met: Region, extents: tuple[Extent, Extent, Extent]
    ) -> Generator[Obligation, Outcome, list[Use]]:
        """Who reads what is there from the start, of the bytes that the extents have in common."""
        found: list[Use] = []
        if any(use.node == START for use in extents[0].uses):
            for each in held.extents:
                readers = [use for use in each.uses if not use.write]
                if readers and each not in extents:
                    apart = self._apart(each, *extents)
                    outcome = yield self._obligation(held, met, "apart", apart, lemma=True)
                    if isinstance(outcome, Proved):
                        continue
                found += readers
        return found

    def _births(
        self, met: Region, held: Region, extents: tuple[Extent, Extent, Extent]
    ) -> Generator[Obligation, Outcome, tuple[list[Use], list[Use]]]:
        """Who writes the bytes that the extents have in common by names of the last one's storage.

        Returned with those that read what is there from the start.
        """
        writes: list[Use] = []
        readers: list[Use] = []
        for each in met.extents:
            if not any(use.write for use in each.uses):
                continue
            if each not in extents:
                apart = self._apart(each, *extents)
                outcome = yield self._obligation(held, met, "apart", apart, lemma=True)
                if isinstance(outcome, Proved):
                    continue
            writes += [use for use in each.uses if use.write and use.node != START]
            readers += yield from self._readers(met, held, (each, extents[2], extents[1]))
        return writes, readers

    def _apart(self, *extents: Extent) -> Formula:
        if max(each.lowest for each in extents) >= min(each.highest for each in extents):
            return formula(always)
        ordered = sorted(extents, key=lambda each: each.place)
        pairs = tuple((each.start, of.end) for each in ordered for of in ordered)
        return formula(nowhere, self.bounds, pairs)

    def _over(self, first: Region, then: Region) -> Formula:
        lefts = _once(use for use in first.uses if use.node != START)
        rights = _once(use for use in then.uses if use.node != self.end)
        if not lefts or not rights:
            return formula(always)
        if lefts[-1].node == self.end or rights[0].node == START:
            return formula(never)
        if self.execution == "in-order":
            # One after the other: the last of the one and the first of the others tell.
            lefts, rights = lefts[-1:], rights[:1]
        elif self.execution == "fenced":
            # Barriers ascend; of a node that has both its neighbours tell.
            lefts = [use for use in lefts if use.node in first.positions[-2:]]
            rights = [use for use in rights if use.node in then.positions[:2]]
        if min(use.phase for use in rights) <= max(use.phase for use in lefts):
            return formula(never)
        window, places = self._window([*lefts, *rights])
        return formula(
            over_before,
            window,
            self.execution == "fenced",
            tuple((places[use.node], use.write, ()) for use in lefts),
            tuple((places[use.node], use.write, ()) for use in rights),
        )

    def _alive(
        self,
        extents: tuple[Extent, Extent, Extent],
        readers: Sequence[Use],
        births: tuple[Sequence[Use], Sequence[Use]],
    ) -> Formula:
        """That no use of the last extent takes place while the bytes of the others live."""
        writers, one, other = extents
        life = [use for use in one.uses if use.node != START]
        uses = [use for use in other.uses if use.node != START]
        writes = [use for use in writers.uses if use.write and use.node != START]
        if not life or not uses:
            return formula(always)
        told = [*life, *uses, *writes, *births[0]]
        window, places = self._window(told)
        conditions = {
            condition for use in (*told, *readers, *births[1]) for condition, _ in use.arms
        }
        choices: Choices = tuple(
            (condition, tuple(arms))
            for condition, arms in self.storages.choices.items()
            if condition in conditions
        )

        def lived(uses: Sequence[Use], writes: Sequence[Use], readers: Sequence[Use]) -> Life:
            return Life(
                tuple((places[use.node], use.write, use.arms) for use in uses),
                tuple((places[use.node], use.write, use.arms) for use in writes),
                tuple(dict.fromkeys(use.arms for use in readers)),
            )

        return formula(
            never_used_while_alive,
            window,
            self.execution == "fenced",
            choices,
            lived(life, writes, readers),
            lived(uses, *births),
        )

    def _window(self, uses: Sequence[Use]) -> tuple[Window, dict[int, int]]:
        """The nodes that bear on the order of the uses, and the place of each use's node."""
        positions = sorted({use.node for use in uses if use.node != self.end})
        if self.execution == "in-order" or not positions:
            places = {position: place for place, position in enumerate(positions)}
            return stream(len(positions)), places | {self.end: len(positions)}
        first, last = positions[0], positions[-1]
        window = self.graph.window(first, last)
        places = {position: position - first for position in positions}
        return window, places | {self.end: len(window)}

    def _obligation(
        self, first: Region, then: Region, what: str, asked: Formula, *, lemma: bool = False
    ) -> Obligation:
        names = [self.storages.plan.buffers[each.storage].id for each in (first, then)]
        claim = f"`{names[0]}` and `{names[1]}` never hold one byte while both live"
        return Obligation(
            id=f"/buffers/{first.storage}: {names[0]} and {names[1]} {what}",
            claim=f"{claim} ({self.execution}).",
            names=tuple(sorted(names)),
            rule=rules.SHARED_WHILE_LIVE,
            location=f"/buffers/{max(first.storage, then.storage)}",
            formula=asked,
            message=f"`{names[0]}` and `{names[1]}` hold the same bytes while both live",
            witness=lambda _: self.room.shown(lambda: self._shown(first, then)),
            lemma=lemma,
        )

    def _shown(self, first: Region, then: Region) -> ScheduleCounterexample | None:
        try:
            clash = self.clashes.of(first, then)
        except (TooManyTriesError, UndecidedShapeError, TooManyStepsError):
            return None
        if clash is None:
            return None
        execution = self.clashes.runs.execution
        return living_together(self.storages, self.graph, execution, clash)


def _once(uses: Iterable[Use]) -> list[Use]:
    """The uses by node and mode, ascending, each once."""
    return list({use.phase: use for use in uses}.values())
