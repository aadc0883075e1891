"""Answers: what the solver said of formulas, kept from one document to the next.

A formula names its unknowns by their places, never by the plan's names, so that equal questions
about different plans are one formula. In one process it is looked up as it is; between processes
by its SMT-LIB text, its logic and the solver's version.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import z3

from ferrum_verify.prove.obligation import Outcome, Proved, Refuted, Undecided, Vacuous
from ferrum_verify.prove.script import script

if TYPE_CHECKING:
    from ferrum_verify.cache.folder import CacheFolder
    from ferrum_verify.prove.obligation import Formula, Statement

MOST_NUMBERS_KEPT = 120_000
"""Numbers in the formulas that one process keeps: some MiB, however many plans there are."""


@dataclass(slots=True)
class Answers:
    """What is known of formulas, in this process and, with a ``folder``, from others.

    With ``doubted`` nothing that the folder says is taken: what is decided again is compared,
    and ``contradicted`` has the keys where the two differ. An answer that was not given, or not
    to the end, is never kept: another run may have more time.
    """

    folder: CacheFolder | None = None
    doubted: bool = False
    contradicted: list[str] = field(default_factory=list)
    _known: OrderedDict[Formula, tuple[Outcome, int]] = field(default_factory=OrderedDict)
    _numbers: int = 0

    def recalled(self, formula: Formula) -> Outcome | None:
        """What this process knows of the formula."""
        if formula not in self._known:
            return None
        self._known.move_to_end(formula)
        return self._known[formula][0]

    def keep(self, formula: Formula, outcome: Outcome, numbers: int) -> None:
        """Keep what was decided of a formula that is made of so many numbers."""
        if isinstance(outcome, Undecided):
            return
        self._known[formula] = outcome, numbers
        self._numbers += numbers
        while self._numbers > MOST_NUMBERS_KEPT:
            _, (_, fewer) = self._known.popitem(last=False)
            self._numbers -= fewer

    def read(self, key: str) -> Outcome | None:
        """What the folder says of the formula whose key this is; a refuted one is to be checked."""
        if self.folder is None:
            return None
        return _outcome(self.folder.read("formulas", key))

    def write(self, key: str, outcome: Outcome, before: Outcome | None) -> None:
        """Tell the folder, unless it said the same ``before``."""
        if self.folder is None or isinstance(outcome, Undecided) or outcome == before:
            return
        if before is not None:
            self.contradicted.append(key)
        wire: dict[str, Any] = {"answer": type(outcome).__name__.lower()}
        if isinstance(outcome, Refuted):
            wire["least"] = list(outcome.values)
        self.folder.write("formulas", key, wire)


def key_of(statement: Statement) -> str:
    """The name of a statement that is the same in every process, in hexadecimal digits."""
    least = "\n".join(term.sexpr() for term in statement.least)
    parts = (statement.logic, z3.get_full_version(), str(len(statement.given)), least)
    return hashlib.sha256("\0".join((*parts, script(statement))).encode()).hexdigest()


def _outcome(wire: Any) -> Outcome | None:
    match wire:
        case {"answer": "refuted", "least": [*values]} if all(type(each) is int for each in values):
            return Refuted(tuple(values))
        case {"answer": "proved"}:
            return Proved()
        case {"answer": "vacuous"}:
            return Vacuous()
    return None
