"""The table of mutants speaks of the code as it is; ``python -m tests.mutants`` runs it."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.mutants.__main__ import FAILED, OUT_OF_TIME, PASSED, result, told
from tests.mutants.table import ROOT, Mutant, table

if TYPE_CHECKING:
    from pathlib import Path

ENCODINGS = {
    f"ferrum_verify/prove/{name}.py"
    for name in (
        "accesses",
        "bindings",
        "capacity",
        "checkpoint_ranges",
        "claims",
        "divisibility",
        "formulas",
        "holding",
        "lifetimes",
        "liveness",
        "need",
        "obligation",
        "prover",
        "reachability",
        "reusable",
        "sizes",
        "slots",
        "solving",
        "spans",
        "windows",
    )
}
"""Whatever encodes, asks or decides."""


@pytest.mark.parametrize("mutant", table(), ids=lambda mutant: mutant.weakens)
def test_a_mutant_changes_one_place_of_its_file(mutant: Mutant) -> None:
    changed = mutant.applied((ROOT / mutant.file).read_text(encoding="utf-8"))
    ast.parse(changed)
    assert mutant.text != mutant.replacement
    assert mutant.tests
    assert all((ROOT / test.partition("::")[0]).is_file() for test in mutant.tests)


def test_no_mutant_is_listed_twice() -> None:
    changes = Counter((each.file, each.text, each.replacement) for each in table())
    reasons = Counter(each.weakens for each in table())
    assert max(changes.values()) == max(reasons.values()) == 1


def test_every_file_that_the_proofs_rest_on_has_mutants() -> None:
    mutated = {mutant.file for mutant in table()}
    assert mutated >= ENCODINGS | {
        "ferrum_verify/auditing/proofs.py",
        "ferrum_verify/report/shown.py",
    }


def test_what_runs_out_of_time_is_neither_noticed_nor_alive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert result(tmp_path, (), limit=0.0) == OUT_OF_TIME
    mutant = replace(table()[0], equivalent="")
    found = {each: told([(mutant, each)]) for each in (PASSED, FAILED, OUT_OF_TIME)}
    assert found == {PASSED: 1, FAILED: 0, OUT_OF_TIME: 3}
    assert capsys.readouterr().out.splitlines()[-2] == (
        "1 mutants, 0 not as they should be, 1 undecided"
    )
    assert told([(replace(mutant, equivalent="so"), each) for each in (PASSED, FAILED)]) == 1
