"""Every theorem holds: for z3, by enumeration where there is one, and for cvc5."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from ferrum_verify.catalogue import catalogue
from ferrum_verify.prove import second_opinion, theorems

if TYPE_CHECKING:
    from ferrum_verify.prove.theorem import Theorem

THEOREMS = theorems.load()
COUNTEREXAMPLES = [each for each in THEOREMS if each.holds_for.startswith("counterexample")]


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)
def test_it_is_proved(theorem: Theorem) -> None:
    rows = theorems.run([theorem.id], scale="quick", with_cvc5=False)
    assert [row.result for row in rows] == ["proved"] * len(rows), rows
    assert len(rows) == (1 if theorem.recheck is None else 2)


@pytest.mark.skipif(not second_opinion.available(), reason="cvc5 is not installed")
@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)
def test_cvc5_agrees(theorem: Theorem) -> None:
    for check in theorem.checks("quick"):
        decision = second_opinion.decide(check.smt2(theorem.id), 60)
        assert decision.answer == check.expected, (check.name, decision)


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)
def test_what_rests_on_it_exists(theorem: Theorem) -> None:
    for name in theorem.rests:
        module, _, attribute = name.partition(":")
        assert hasattr(importlib.import_module(module), attribute), name
    assert set(theorem.rules) <= set(catalogue())


@pytest.mark.parametrize("chapter", theorems.chapters(), ids=lambda chapter: chapter.file)
def test_ids_are_unique_and_begin_with_the_file(chapter: theorems.Chapter) -> None:
    subject = chapter.file.removesuffix(".py").replace("_", "-")
    for theorem in chapter.theorems:
        assert theorem.id.startswith(f"{subject}.")
        assert [other.id for other in THEOREMS].count(theorem.id) == 1


def test_a_row_fits_a_terminal_of_eighty_columns() -> None:
    assert max(len(theorem.id) for theorem in THEOREMS) <= 34
    assert max(len(theorem.theory) for theorem in THEOREMS) <= 22


@pytest.mark.parametrize("theorem", COUNTEREXAMPLES, ids=lambda theorem: theorem.id)
def test_a_counterexample_is_asserted_rechecked_and_smallest(theorem: Theorem) -> None:
    expected = {check.expected for check in theorem.checks("quick")}
    assert expected == {"sat", "unsat"}
    assert theorem.recheck is not None
