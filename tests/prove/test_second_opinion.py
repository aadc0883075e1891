"""cvc5 on SMT-LIB 2 text: what it answers, and what it makes of text that it cannot read."""

from __future__ import annotations

import importlib.util

import pytest

from ferrum_verify.prove import second_opinion

needs_cvc5 = pytest.mark.skipif(not second_opinion.available(), reason="cvc5 is not installed")

DECLARE = "(set-logic QF_LIA)\n(declare-const x Int)\n"


@needs_cvc5
@pytest.mark.parametrize(("claim", "answer"), [("(> x 3)", "sat"), ("(> x x)", "unsat")])
def test_it_answers(claim: str, answer: str) -> None:
    script = f"; a comment\n{DECLARE}(assert {claim})\n(check-sat)\n"
    decision = second_opinion.decide(script, 10)
    assert (decision.answer, decision.reason) == (answer, "")


@needs_cvc5
def test_the_last_question_counts() -> None:
    script = f"{DECLARE}(push 1)(assert (> x x))(check-sat)(pop 1)(check-sat)"
    script = script.replace("(set-logic", "(set-option :incremental true)(set-logic")
    assert second_opinion.decide(script, 10).answer == "sat"


@needs_cvc5
def test_a_script_without_a_question_is_unknown() -> None:
    decision = second_opinion.decide(DECLARE, 10)
    assert (decision.answer, decision.reason) == ("unknown", "the script asks nothing")


@needs_cvc5
@pytest.mark.parametrize(
    "script",
    [
        "(set-logic QF_LIA)(assert (frobnicate 3))(check-sat)",
        "(assert",
        "not smt",
    ],
)
def test_text_that_it_refuses_is_unknown_with_its_reason(script: str) -> None:
    decision = second_opinion.decide(script, 10)
    assert decision.answer == "unknown"
    assert decision.reason


def test_without_cvc5_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    decision = second_opinion.decide(f"{DECLARE}(check-sat)", 10)
    assert (decision.answer, decision.reason) == ("unknown", second_opinion.MISSING)
    assert second_opinion.solver_name() == "cvc5"


def test_only_sat_and_unsat_contradict() -> None:
    assert second_opinion.contradicts("sat", "unsat")
    assert second_opinion.contradicts("unsat", "sat")
    assert not second_opinion.contradicts("sat", "sat")
    assert not second_opinion.contradicts("unknown", "unsat")
    assert not second_opinion.contradicts("sat", "unknown")
