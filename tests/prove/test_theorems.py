"""Running theorems: wrong statements are refuted, what is unfinished is undecided."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest
import z3

from ferrum_verify.prove import second_opinion, theorems
from ferrum_verify.prove.theorem import Check, Decision, Theorem, decide, excludes, proves

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ferrum_verify.prove.theorem import Scale

X = z3.Int("x")


def theorem(checks: Iterable[Check], recheck: Callable[[Scale], bool] | None = None) -> Theorem:
    stated = tuple(checks)
    return Theorem(
        id="test.statement",
        statement="Made for a test.",
        theory="linear integers",
        holds_for="nothing",
        rests=("ferrum_verify:audit",),
        rules=(),
        checks=lambda _: stated,
        recheck=recheck,
    )


def judge(stated: Theorem, *, with_cvc5: bool = False, seconds: float = 10) -> list[theorems.Row]:
    return list(theorems.judge(stated, "quick", with_cvc5, seconds))


def hard() -> Iterable[Check]:
    """A query that no solver answers in a millisecond: a product of two long words."""
    a, b = z3.BitVecs("a b", 64)
    return excludes(
        "factor",
        "No factors.",
        "QF_BV",
        a * b == 18446744073709551557 - 58,
        z3.UGT(a, 2**30),
        z3.UGT(b, 2**30),
        z3.BVMulNoOverflow(a, b, False),
    )


def test_a_wrong_statement_is_refuted() -> None:
    (row,) = judge(theorem(proves("wrong", "Every number is small.", "QF_LIA", X < 5)))
    assert row.result == "refuted"
    assert row.detail == "wrong: sat where unsat is needed"


def test_a_contradiction_in_the_premises_is_refuted() -> None:
    (row,) = judge(theorem(proves("empty", "All is well.", "QF_LIA", X < 5, (X < 0, X > 0))))
    assert row.result == "refuted"
    assert row.detail == "empty.premises: unsat where sat is needed"


def test_a_wrong_enumeration_is_refuted() -> None:
    right = proves("right", "A number is itself.", "QF_LIA", X == X + 0)
    rows = judge(theorem(right, recheck=lambda _: False))
    assert [row.result for row in rows] == ["proved", "refuted"]


def test_a_timeout_is_undecided() -> None:
    rows = judge(theorem(hard()), with_cvc5=second_opinion.available(), seconds=0.001)
    assert {row.result for row in rows} == {"undecided"}
    assert all(row.detail.startswith("factor: ") for row in rows)
    assert theorems.exit_status(rows) == 3


def test_a_refutation_outweighs_a_timeout() -> None:
    wrong = [*hard(), *proves("wrong", "Every number is small.", "QF_LIA", X < 5)]
    (row,) = judge(theorem(wrong), seconds=0.001)
    assert row.result in ("refuted", "undecided")
    rows = [
        theorems.Row("a", "", "z3", 0.0, "undecided", 1),
        theorems.Row("b", "", "z3", 0.0, "refuted", 1),
    ]
    assert theorems.exit_status(rows) == 1


def test_exit_status_of_what_is_proved_or_not_asked_is_zero() -> None:
    rows = [
        theorems.Row("a", "", "z3", 0.0, "proved", 1),
        theorems.Row("a", "", "cvc5", 0.0, "unavailable", 0),
    ]
    assert theorems.exit_status(rows) == 0


def test_a_disagreement_names_the_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "available", lambda: True)
    monkeypatch.setattr(second_opinion, "solver_name", lambda: "cvc5 0")
    monkeypatch.setattr(second_opinion, "decide", lambda *_: Decision("sat", 0.0))
    right = proves("right", "A number is itself.", "QF_LIA", X == X + 0)
    _, row = judge(theorem(right), with_cvc5=True)
    assert row.result == "disagreement"
    assert row.detail == "right: z3 says unsat, cvc5 says sat"
    assert theorems.exit_status([row]) == 1


def test_giving_up_is_no_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "available", lambda: True)
    monkeypatch.setattr(second_opinion, "solver_name", lambda: "cvc5 0")
    monkeypatch.setattr(second_opinion, "decide", lambda *_: Decision("unknown", 0.0, "gave up"))
    right = proves("right", "A number is itself.", "QF_LIA", X == X + 0)
    _, row = judge(theorem(right), with_cvc5=True)
    assert (row.result, row.detail) == ("undecided", "right: gave up")


def test_without_cvc5_the_row_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    right = proves("right", "A number is itself.", "QF_LIA", X == X + 0)
    _, row = judge(theorem(right), with_cvc5=True)
    assert row.result == "unavailable"
    assert "pip install 'ferrum-verify[second-opinion]'" in row.detail


def test_rows_come_one_by_one_in_order() -> None:
    names = ["align-up.monotone", "spans.no-shortcut"]
    stream = theorems.stream(names, scale="quick", with_cvc5=False)
    assert next(stream).theorem == names[0]
    assert {row.theorem for row in stream} == {names[1]}


@pytest.mark.skipif(not second_opinion.available(), reason="cvc5 is not installed")
def test_each_theorem_has_a_row_for_each_solver() -> None:
    rows = theorems.run(["spans.no-shortcut"], scale="quick")
    assert [row.solver.split()[0] for row in rows] == ["z3", "enumeration", "cvc5"]
    assert {row.result for row in rows} == {"proved"}
    assert rows[0].checks == rows[2].checks > 1


def test_an_unknown_name_is_an_error_that_says_it() -> None:
    with pytest.raises(KeyError, match=r"no such theorem: align-up\.mots"):
        theorems.run(["align-up.mots"])


def test_text_that_cannot_be_parsed_is_unknown() -> None:
    assert decide("(assert (frobnicate 3))", 5).answer == "unknown"
