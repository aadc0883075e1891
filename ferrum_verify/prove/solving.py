"""Solving: decides formulas with z3, each once, within limits."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING

import z3

from ferrum_verify.limits import MOST_NUMBERS, Limits
from ferrum_verify.prove.answers import Answers, key_of
from ferrum_verify.prove.obligation import Outcome, Proved, Refuted, Undecided, Vacuous

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrum_verify.prove.obligation import Formula, Obligation, Statement


@dataclass
class Session:
    """One document's run of the solver.

    Answers are kept by formula, so that the thousand equal claims of a deep model cost one query;
    ``formulas`` counts those that the document came to, whether the solver decides them now or
    ``answers`` knows them of another document. One incremental solver a logic is reused for all.
    """

    limits: Limits = field(default_factory=Limits)
    formulas: int = 0
    answers: Answers = field(default_factory=Answers)
    _decided: dict[Formula, tuple[Formula, Outcome]] = field(default_factory=dict)
    _solvers: dict[str, z3.Solver] = field(default_factory=dict)
    _deadline: float = field(init=False)

    def __post_init__(self) -> None:
        """Start the document's clock, and bound the solver's memory."""
        self._deadline = time.monotonic() + self.limits.document_seconds
        z3.set_param("memory_max_size", self.limits.memory_mib)

    def decide(self, obligation: Obligation) -> Outcome:
        """Whether the claim holds."""
        asked = obligation.formula
        if asked not in self._decided:
            # What a deadline left open may be decided in another run, but not in this one.
            self._decided[asked] = asked, self._ask(asked)
        return self._decided[asked][1]

    def shared(self, obligation: Obligation) -> Obligation:
        """The obligation, decided before, with the one formula that all equal ones are kept as."""
        return replace(obligation, formula=self._decided[obligation.formula][0])

    @property
    def expired(self) -> bool:
        """Whether the document's limit is used up."""
        return time.monotonic() >= self._deadline

    def _ask(self, formula: Formula) -> Outcome:
        if self.expired:
            return Undecided(
                f"the document's limit of {self.limits.document_seconds:g} s was used up; raise "
                "it with --proof-limit"
            )
        numbers = numbers_in(formula.arguments)
        if numbers > MOST_NUMBERS:
            return Undecided(
                f"the claim speaks of {numbers:,} numbers of the plan, more than the "
                f"{MOST_NUMBERS:,} that one formula may"
            )
        self.formulas += 1
        known = self.answers.recalled(formula)
        if known is not None:
            return known
        try:
            outcome = self._answer(formula.statement())
        except ValueError:
            # Python writes no integer of more than some thousand digits, as which z3 takes it.
            return Undecided("the claim has a number of more digits than the solver is given")
        except (z3.Z3Exception, MemoryError) as error:
            # A solver that failed may be in any state: the next claim gets a new one.
            self._solvers.clear()
            return Undecided(f"the solver failed: {error or 'out of memory'}")
        self.answers.keep(formula, outcome, numbers)
        return outcome

    def _answer(self, statement: Statement) -> Outcome:
        solver, ends = self._solver(statement.logic), time.monotonic()
        ends += self.limits.obligation_seconds
        if self.answers.folder is None:
            return self._decide(solver, statement, ends)
        key = key_of(statement)
        known = self.answers.read(key)
        if isinstance(known, Refuted) and not self._is_broken_at(known, solver, statement, ends):
            self.answers.contradicted.append(key)
            known = None
        if known is not None and not self.answers.doubted:
            return known
        outcome = self._decide(solver, statement, ends)
        self.answers.write(key, outcome, known)
        return outcome

    def _is_broken_at(
        self, known: Refuted, solver: z3.Solver, statement: Statement, ends: float
    ) -> bool:
        """Whether the claim is broken where it is said to be: nothing is searched for."""
        if len(known.values) != len(statement.least):
            return False
        with solver:
            solver.add(*statement.violation)
            least = zip(statement.least, known.values, strict=True)
            solver.add(*(term == value for term, value in least))
            return bool(self._check(solver, ends) == z3.sat)

    def _decide(self, solver: z3.Solver, statement: Statement, ends: float) -> Outcome:
        with solver:
            solver.add(*statement.violation)
            answer = self._check(solver, ends)
            if answer == z3.sat:
                return self._least(solver, statement.least, ends)
            if answer != z3.unsat:
                return self._gave_up(solver)
        if _example_meets(statement):
            return Proved()
        with solver:
            solver.add(*statement.given)
            answer = self._check(solver, ends)
            if answer == z3.sat:
                return Proved()
            return Vacuous() if answer == z3.unsat else self._gave_up(solver)

    def _gave_up(self, solver: z3.Solver) -> Undecided:
        return Undecided(
            f"the solver gave up within {self.limits.obligation_seconds:g} s "
            f"({solver.reason_unknown()}); raise its limit with --obligation-limit"
        )

    def _check(self, solver: z3.Solver, ends: float) -> z3.CheckSatResult:
        left = min(ends, self._deadline) - time.monotonic()
        solver.set("timeout", max(1, round(left * 1000)))
        answer = solver.check()
        if answer == z3.unknown and "interrupted" in solver.reason_unknown():
            # The solver catches Ctrl-C for itself; whoever pressed it meant the whole run.
            raise KeyboardInterrupt
        return answer

    def _solver(self, logic: str) -> z3.Solver:
        if logic not in self._solvers:
            self._solvers[logic] = z3.SolverFor(logic)
        return self._solvers[logic]

    def _least(self, solver: z3.Solver, terms: Sequence[z3.ExprRef], ends: float) -> Outcome:
        # The first terms matter most: each is made as small as it can be and then held there.
        gave_up = Undecided(
            "the claim is broken, but the solver gave up while it looked for the smallest "
            "counterexample; raise its limit with --obligation-limit"
        )
        values: list[int] = []
        for term in terms:
            value = _value(solver, term)
            low = 0
            while low < value:
                middle = (low + value) // 2
                with solver:
                    solver.add(_at_most(term, middle))
                    answer = self._check(solver, ends)
                    if answer == z3.sat:
                        value = _value(solver, term)
                    elif answer == z3.unsat:
                        low = middle + 1
                    else:
                        return gave_up
            solver.add(term == value)
            if self._check(solver, ends) != z3.sat:
                return gave_up
            values.append(value)
        return Refuted(tuple(values))


def numbers_in(arguments: Iterable[object]) -> int:
    """How many numbers there are in what formulas are made of: tuples, sets and records."""
    count = 0
    waiting: list[object] = [*arguments]
    while waiting:
        value = waiting.pop()
        if isinstance(value, tuple | frozenset):
            waiting.extend(value)
        elif is_dataclass(value) and not isinstance(value, type):
            waiting.extend(getattr(value, each.name) for each in fields(value))
        else:
            count += 1
    return count


def _example_meets(statement: Statement) -> bool:
    """Whether the example, if there is one, meets what is given: arithmetic, and no search."""
    if not statement.given:
        return True
    if not statement.example:
        return False
    given = z3.substitute(z3.And(statement.given), *statement.example)
    return bool(z3.is_true(z3.simplify(given)))


def _value(solver: z3.Solver, term: z3.ExprRef) -> int:
    value = solver.model().eval(term, model_completion=True)
    return int(str(value))


def _at_most(term: z3.ExprRef, bound: int) -> z3.BoolRef:
    if isinstance(term, z3.BitVecRef):
        return z3.ULE(term, bound)
    return term <= bound
