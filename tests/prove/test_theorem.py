"""The SMT-LIB 2 texts say what the formulas say, and can be read without this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import z3

from ferrum_verify.prove import theorems
from ferrum_verify.prove.theorem import Check, decide, proves

if TYPE_CHECKING:
    from pathlib import Path

    from ferrum_verify.prove.theorem import Theorem


@pytest.mark.parametrize("theorem", theorems.load(), ids=lambda theorem: theorem.id)
def test_the_text_reads_back_as_the_formulas(theorem: Theorem) -> None:
    """The runner is given the text; it must say what the formulas do, one by one."""
    for check in theorem.checks("quick"):
        read_back = z3.parse_smt2_string(check.smt2(theorem.id))
        assert len(read_back) == len(check.assertions)
        for printed, formula in zip(read_back, check.assertions, strict=True):
            assert z3.eq(z3.simplify(printed), z3.simplify(formula)), check.name


def test_the_formulas_get_the_answer_of_the_text() -> None:
    (theorem,) = (each for each in theorems.load() if each.id == "spans.no-shortcut")
    for check in theorem.checks("quick"):
        solver = z3.Solver()
        solver.add(*check.assertions)
        assert str(solver.check()) == check.expected, check.name


@pytest.mark.parametrize("theorem", theorems.load(), ids=lambda theorem: theorem.id)
def test_each_text_names_its_theorem_claim_logic_and_answer(theorem: Theorem) -> None:
    names = [check.name for check in theorem.checks("quick")]
    assert len(set(names)) == len(names)
    for check in theorem.checks("quick"):
        lines = check.smt2(theorem.id).splitlines()
        comment = [line for line in lines if line.startswith(";")]
        assert comment[0] == f"; {theorem.id} / {check.name}: {check.expected} is expected"
        words = " ".join(line.removeprefix("; ") for line in comment[1:])
        assert words == check.claim
        assert f"(set-logic {check.logic})" in lines
        assert f"(set-info :status {check.expected})" in lines
        assert lines[-1] == "(check-sat)" or lines[-2:] == ["(check-sat)", ""]
        assert max(map(len, comment)) <= 100


def test_export_writes_one_file_for_each_query(tmp_path: Path) -> None:
    written = theorems.export(tmp_path / "queries", scale="quick")
    queries = sum(len(list(theorem.checks("quick"))) for theorem in theorems.load())
    assert len(set(written)) == queries
    first = written[0].read_text(encoding="utf-8")
    assert first.startswith("; accesses.neighbours-decide / read: unsat is expected\n")


def test_a_proof_brings_a_check_that_its_premises_can_be_met() -> None:
    x = z3.Int("x")
    contradiction = list(proves("absurd", "Anything follows.", "QF_LIA", x == 7, (x < 0, x > 0)))
    assert [check.expected for check in contradiction] == ["unsat", "sat"]
    proof, premises = (decide(check.smt2("test"), 5).answer for check in contradiction)
    assert (proof, premises) == ("unsat", "unsat")


def test_a_claim_of_several_lines_stays_a_comment() -> None:
    check = Check("long", "word " * 60, "QF_LIA", (z3.Int("x") > 0,), "sat")
    body = [line for line in check.smt2("test").splitlines() if not line.startswith(";")]
    assert all(line.startswith(("(", " ", ")")) or not line for line in body)
    assert decide(check.smt2("test"), 5).answer == "sat"
