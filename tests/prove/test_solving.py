"""Solving: what is proved, what is refuted, what is about nothing, and one answer a formula."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
import z3

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples import LiveResource, ScheduleCounterexample, ScheduledNode
from ferrum_verify.limits import MOST_NUMBERS, Limits
from ferrum_verify.prove import prover
from ferrum_verify.prove.bindings import neighbours_are_apart
from ferrum_verify.prove.claims import claims_of, plan_of
from ferrum_verify.prove.obligation import (
    Formula,
    Obligation,
    Proved,
    Refuted,
    Statement,
    Undecided,
    Vacuous,
    formula,
)
from ferrum_verify.prove.prover import prove
from ferrum_verify.prove.script import smt2
from ferrum_verify.prove.solving import Session, numbers_in
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.rules.proof import UNDECIDED

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.prove.obligation import Claims


def at_most(low: int, high: int, limit: int) -> Statement:
    """Whatever lies from ``low`` to ``high`` is at most the limit."""
    number = z3.Int("number")
    return Statement("QF_LIA", number <= limit, (number >= low, number <= high), least=(number,))


def with_example(low: int, high: int, limit: int, example: int) -> Statement:
    stated = at_most(low, high, limit)
    number = z3.Int("number")
    return Statement(
        stated.logic, stated.goal, stated.given, example=((number, z3.IntVal(example)),)
    )


def claim(stated: Formula) -> Obligation:
    return Obligation(
        id="claim", claim="It holds.", names=(), rule=UNDECIDED, location="", formula=stated
    )


def test_what_is_given_can_be_met_or_the_claim_is_vacuous() -> None:
    session = Session()
    assert session.decide(claim(formula(at_most, 1, 5, 5))) == Proved()
    assert session.decide(claim(formula(at_most, 1, 5, 3))) == Refuted((4,))
    # From 5 to 1 there is nothing: whatever is claimed of it holds, and so does its opposite.
    assert session.decide(claim(formula(at_most, 5, 1, 5))) == Vacuous()
    assert session.decide(claim(formula(at_most, 5, 1, 0))) == Vacuous()


@pytest.mark.parametrize(("example", "asked"), [(2, 1), (7, 2)])
def test_an_example_is_checked_and_never_believed(
    example: int, asked: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks: list[z3.Solver] = []
    check = Session._check

    def counted(session: Session, solver: z3.Solver, ends: float) -> z3.CheckSatResult:
        asks.append(solver)
        return check(session, solver, ends)

    monkeypatch.setattr(Session, "_check", counted)
    session = Session()
    assert session.decide(claim(formula(with_example, 1, 5, 5, example))) == Proved()
    assert len(asks) == asked
    assert session.decide(claim(formula(with_example, 5, 1, 5, example))) == Vacuous()


def test_a_claim_whose_premises_stay_open_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter([z3.unsat, z3.unknown])
    monkeypatch.setattr(Session, "_check", lambda *_: next(answers))
    assert isinstance(Session().decide(claim(formula(at_most, 1, 5, 5))), Undecided)


def test_a_claim_that_the_solver_gives_up_is_not_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    # Whatever is said of its premises then.
    for after in (z3.sat, z3.unsat):
        answers = iter([z3.unknown, after])
        monkeypatch.setattr(Session, "_check", lambda *_: next(answers))  # noqa: B023
        assert isinstance(Session().decide(claim(formula(at_most, 1, 5, 5))), Undecided)


def test_equal_formulas_are_decided_once() -> None:
    session = Session()
    for _ in range(3):
        session.decide(claim(formula(at_most, 1, 5, 5)))
        session.decide(claim(formula(at_most, 1, 5, 3)))
    assert session.formulas == 2


def test_a_formula_is_nothing_but_a_function_and_its_arguments() -> None:
    limit = 5

    def sees_more(low: int) -> Statement:
        return at_most(low, 5, limit)

    with pytest.raises(TypeError, match="sees more than its arguments"):
        formula(sees_more, 1)
    assert formula(at_most, 1, 5, 5) == formula(at_most, 1, 5, 5)
    assert formula(at_most, 1, 5, 5) != formula(at_most, 1, 5, 4)


@pytest.mark.parametrize("execution", ["in-order", "fenced", "concurrent"])
def test_every_example_of_a_plan_meets_what_is_given(execution: object) -> None:
    """Where an example did not, each claim would be put to the solver twice."""
    subject, _ = subject_of(sample("fragment"))
    assert subject is not None
    plan = plan_of(subject, execution, ordered=True)  # type: ignore[arg-type]
    assert plan is not None
    for verdict in prove(claims_of(plan), Limits(), lambda _: True).verdicts:
        stated = verdict.obligation.formula.statement()
        if stated.example:
            given = z3.substitute(z3.And(stated.given), *stated.example)
            assert z3.is_true(z3.simplify(given)), verdict.obligation.id


def test_a_script_numbers_its_terms_by_itself() -> None:
    # The printer goes on from all that the process made before, so two runs would differ.
    script = smt2(claim(formula(neighbours_are_apart, ((0, 5), (5, 8), (8, 9)))))
    numbers = [int(number) for number in re.findall(r"[$?]x(\d+)", script)]
    assert len(numbers) > 5
    assert list(dict.fromkeys(numbers)) == list(range(max(numbers) + 1))


def test_one_slot_is_apart_in_a_script_that_other_solvers_read() -> None:
    script = smt2(claim(formula(neighbours_are_apart, ((0, 5),))))
    assert "(assert\n false)" in script


def speaks_of(numbers: tuple[tuple[int, ...], ...]) -> Statement:
    return at_most(0, len(numbers), 1)


def test_a_claim_about_too_many_numbers_names_the_limit() -> None:
    session = Session()
    assert numbers_in((((1, 2), frozenset({3})), Limits(1, 2, 300), "name")) == 7
    most = tuple((number,) for number in range(MOST_NUMBERS + 1))
    outcome = session.decide(claim(formula(speaks_of, most)))
    assert isinstance(outcome, Undecided)
    assert "100,001 numbers of the plan, more than the 100,000" in outcome.reason
    assert not session.formulas
    assert session.decide(claim(formula(speaks_of, ((1,),)))) == Proved()


def test_once_the_limit_is_used_up_no_further_source_is_asked() -> None:
    begun = []

    def source(name: str) -> Claims:
        begun.append(name)
        yield claim(formula(at_most, 1, 5, 5))

    proof = prove([source("first"), source("second")], Limits(document_seconds=0), lambda _: True)
    assert (begun, proof.expired, len(proof.verdicts)) == (["first"], True, 1)


def test_equal_formulas_are_kept_once() -> None:
    one, equal = (claim(formula(speaks_of, ((1,),))) for _ in range(2))

    def source() -> Claims:
        yield one
        yield equal

    kept = [each.obligation.formula for each in prove([source()], Limits(), lambda _: True).claims]
    assert kept[0] is kept[1]
    assert kept == [one.formula, equal.formula]


def test_counterexamples_list_so_many_nodes_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prover, "MOST_NODES", 3)
    nodes = tuple(ScheduledNode(name, 0, 1) for name in "ab")
    run = ScheduleCounterexample(nodes, LiveResource("x", "a"), LiveResource("y", "b"), 0)
    checked: list[Counterexample] = []

    def accepts(found: Counterexample) -> bool:
        checked.append(found)
        return True

    broken = replace(claim(formula(at_most, 1, 5, 3)), witness=lambda _: run)

    def source() -> Claims:
        yield broken
        yield broken

    proof = prove([source()], Limits(), accepts)
    assert [each.counterexample for each in proof.of(Refuted)] == [run, None]
    assert checked == [run, run]
