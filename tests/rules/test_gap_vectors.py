"""Answers on ground that earlier fixtures leave open, each of a class that its ``gap`` names.

Where a line has a ``note``, what is expected is a rule of this format beyond the engine's check.
"""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify import (
    DerivationError,
    audit,
    compile_program_bindings,
    derive_memory_plan,
)
from tests.vectors import cases, fragment_of

PLANS = cases("gaps-execution-plans")
MEMORY = cases("gaps-memory-plans")
BINDINGS = cases("gaps-program-bindings")


def test_all_lines_are_here() -> None:
    assert (len(PLANS), len(MEMORY), len(BINDINGS)) == (175, 10, 35)
    assert sum(case["expect"]["conformant"] for case in PLANS) == 23


def errors_of(document: Any) -> set[str]:
    report = audit(document, prove=False)
    return {finding.family for finding in report.findings if finding.severity == "error"}


@pytest.mark.parametrize("gap", sorted({case["gap"] for case in PLANS}))
def test_plans_are_judged_right_in_an_expected_family(gap: str) -> None:
    for case in PLANS:
        if case["gap"] != gap:
            continue
        report = audit(case["bundle"], prove=False)
        errors = {finding.family for finding in report.findings if finding.severity == "error"}
        expected = case["expect"]
        assert report.verdict == ("verified" if expected["conformant"] else "violated"), case["id"]
        assert expected["conformant"] or errors & set(expected["families"]), case["id"]


def test_fragments_are_no_worse_for_bindings_that_do_not_compile() -> None:
    warned = 0
    for case in MEMORY:
        if "problem" in case:
            continue
        report = audit(fragment_of(case))
        assert not [f for f in report.findings if f.severity == "error"], case["id"]
        bindings = [f for f in report.findings if f.family == "binding"]
        if case["gap"].startswith("program bindings"):
            assert bindings, case["id"]
            warned += 1
            assert {f.severity for f in bindings} == {"warning"}
            with pytest.raises(DerivationError) as refusal:
                compile_program_bindings(fragment_of(case))
            assert {f.family for f in refusal.value.findings} == {"binding"}
            alone = audit(case["memory"], prove=False)
            assert not [f for f in alone.findings if f.family == "binding"]
    assert warned == 5


def test_the_limit_of_references_bounds_the_derivation() -> None:
    problems = [case for case in MEMORY if "problem" in case]
    assert {case["expect"]["derivable"] for case in problems} == {True, False}
    for case in problems:
        if case["expect"]["derivable"]:
            assert derive_memory_plan(case["problem"]).to_wire() == case["expect"]["memory"]
            continue
        with pytest.raises(DerivationError) as refusal:
            derive_memory_plan(case["problem"])
        rules = [finding.rule for finding in refusal.value.findings]
        assert rules == ["liveness.too-many-references"]
        assert errors_of(case["problem"]) == {"liveness"}


@pytest.mark.parametrize("gap", sorted({case["gap"] for case in BINDINGS}))
def test_problems_compile_to_the_layouts_or_are_refused_and_warned_of(gap: str) -> None:
    for case in BINDINGS:
        if case["gap"] != gap:
            continue
        expected, problem = case["expect"], case["problem"]
        report = audit(problem, prove=False)
        warnings = {f.severity for f in report.findings if f.family == "binding"}
        if expected["compilable"]:
            layouts = [layout.to_wire() for layout in compile_program_bindings(problem)]
            assert layouts == expected["layouts"], case["id"]
            assert warnings == set()
        else:
            with pytest.raises(DerivationError) as refusal:
                compile_program_bindings(problem)
            assert {f.family for f in refusal.value.findings} == {"binding"}, case["id"]
            assert warnings == {"warning"}, case["id"]
            assert report.verdict == "verified", case["id"]
        if "memory" in expected:
            assert derive_memory_plan(problem).to_wire() == expected["memory"]
