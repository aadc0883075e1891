"""What a theorem is: a general fact in words, and the solver queries that establish it.

A theorem speaks of every plan at once; an obligation of one plan is something else. It is a
list of *checks*. A check is a set of assertions with the answer they must get:

- a proof asserts what is given and the denial of the goal, and must be unsatisfiable. Beside
  each proof stands a check that what is given can be met at all, so that nothing is proven
  from a contradiction;
- a counterexample is asserted with the formula it breaks, and must be satisfiable; that there
  is no smaller one must be unsatisfiable.

The solvers are given the exported SMT-LIB text, and never the objects it was printed from, so
what is published is what was decided.
"""

from __future__ import annotations

import textwrap
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import z3

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

Answer = Literal["sat", "unsat", "unknown"]
Scale = Literal["quick", "full"]
"""How large the bounded checks are: ``quick`` for a test run, ``full`` for ``prove``."""


@dataclass(frozen=True)
class Check:
    """One query: assertions, and the answer that the theorem needs."""

    name: str
    claim: str
    logic: str
    assertions: tuple[z3.BoolRef, ...]
    expected: Literal["sat", "unsat"]

    def smt2(self, theorem: str) -> str:
        """Return the query as a self-contained SMT-LIB 2 script, its claim as a comment."""
        printer = z3.Solver()
        printer.add(*self.assertions)
        # The first two lines are the printer's own banner and an unknown status.
        body = str(printer.to_smt2()).split("\n", 2)[2]
        title = f"{theorem} / {self.name}: {self.expected} is expected"
        comment = textwrap.wrap(
            self.claim,
            96,
            initial_indent="; ",
            subsequent_indent="; ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        return "\n".join(
            [
                f"; {title}",
                *comment,
                "(set-info :smt-lib-version 2.6)",
                f"(set-logic {self.logic})",
                f"(set-info :status {self.expected})",
                body,
            ]
        )


@dataclass(frozen=True)
class Theorem:
    """A general fact that the fast path rests on, or the exact place where one ends."""

    id: str
    statement: str
    theory: str
    """In a word or two; each check names its logic as SMT-LIB does."""
    holds_for: str
    """How far it goes: every size (by induction, or no sizes at all), or up to a bound."""
    rests: tuple[str, ...]
    """What in the product would be wrong if it were false, as ``module:name``."""
    rules: tuple[str, ...]
    """The ids of the rules whose checks would be wrong with it."""
    checks: Callable[[Scale], Iterable[Check]]
    recheck: Callable[[Scale], bool] | None = None
    """Plain Python that settles the finite part by trying every case; it knows no solver."""


@dataclass(frozen=True)
class Decision:
    """What a solver said about one script, how long it took, and why it gave up if it did."""

    answer: Answer
    seconds: float
    reason: str = ""


def proves(
    name: str, claim: str, logic: str, goal: z3.BoolRef, given: Iterable[z3.BoolRef] = ()
) -> Iterator[Check]:
    """State that the goal follows from what is given, and that the givens can be met."""
    premises = tuple(given)
    yield Check(name, claim, logic, (*premises, z3.Not(goal)), "unsat")
    if premises:
        yield Check(f"{name}.premises", f"The premises can be met: {claim}", logic, premises, "sat")


def exhibits(name: str, claim: str, logic: str, *assertions: z3.BoolRef) -> Iterator[Check]:
    """State that the assertions hold together: a counterexample, named in full, is one."""
    yield Check(name, claim, logic, assertions, "sat")


def excludes(name: str, claim: str, logic: str, *assertions: z3.BoolRef) -> Iterator[Check]:
    """State that nothing meets the assertions: no counterexample of this size, say."""
    yield Check(name, claim, logic, assertions, "unsat")


def decide(script: str, timeout_seconds: float) -> Decision:
    """Ask z3 about an SMT-LIB 2 script. A timeout is ``unknown``, whatever the script says."""
    solver = z3.Solver()
    solver.set("timeout", max(1, round(timeout_seconds * 1000)))
    started = time.perf_counter()
    try:
        solver.from_string(script)
        answer = solver.check()
    except z3.Z3Exception as error:  # what the binding raises for text that it cannot parse
        return Decision("unknown", time.perf_counter() - started, str(error))
    seconds = time.perf_counter() - started
    if answer == z3.sat:
        return Decision("sat", seconds)
    if answer == z3.unsat:
        return Decision("unsat", seconds)
    reason = str(solver.reason_unknown())
    if "interrupted" in reason:  # the solver takes Ctrl-C for itself and answers "unknown"
        raise KeyboardInterrupt
    return Decision("unknown", seconds, reason)


def z3_name() -> str:
    """Name the solver and its version, as rows and reports show it."""
    return f"z3 {z3.get_version_string()}"
