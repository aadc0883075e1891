"""Exporting a plan's obligations as SMT-LIB 2, and asking a second solver about them.

Each obligation is a script of its own, with its claim as a comment. A second solver is asked
once for each formula.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.prove import second_opinion
from ferrum_verify.prove.obligation import Proved, Refuted, Vacuous
from ferrum_verify.prove.script import smt2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ferrum_verify.prove.obligation import Obligation
    from ferrum_verify.prove.prover import Verdict
    from ferrum_verify.prove.theorem import Answer, Decision

_LONGEST_NAME = 120


def write_obligations(verdicts: Iterable[Verdict], folder: Path) -> int:
    """Write one file for each obligation, lemmas included; return how many.

    The file's name is the obligation's, made safe for any file system and unique. Raises
    OSError where the folder cannot be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    taken: Counter[str] = Counter()
    count = 0
    for verdict in verdicts:
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", verdict.obligation.id).strip("-")[-_LONGEST_NAME:]
        taken[name] += 1
        suffix = f"~{taken[name]}" if taken[name] > 1 else ""
        (folder / f"{name}{suffix}.smt2").write_text(smt2(verdict.obligation), encoding="utf-8")
        count += 1
    return count


@dataclass(frozen=True, slots=True)
class SecondOpinion:
    """What cvc5 says of a formula that z3 decided."""

    obligation: Obligation
    decision: Decision
    contradicts: bool


def second_opinions(verdicts: Iterable[Verdict], timeout_seconds: float) -> Iterator[SecondOpinion]:
    """Ask cvc5 about each formula that z3 decided, once."""
    asked = set()
    for verdict in verdicts:
        answer: Answer
        if isinstance(verdict.outcome, Proved | Vacuous):
            answer = "unsat"
        elif isinstance(verdict.outcome, Refuted):
            answer = "sat"
        else:
            continue
        obligation = verdict.obligation
        if obligation.formula in asked:
            continue
        asked.add(obligation.formula)
        decision = second_opinion.decide(smt2(obligation), timeout_seconds)
        disagrees = second_opinion.contradicts(answer, decision.answer)
        yield SecondOpinion(obligation, decision, disagrees)
