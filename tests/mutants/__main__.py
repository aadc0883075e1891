"""Runs each mutant against the tests that must notice it: ``python -m tests.mutants``.

A copy of the checkout is mutated, never the checkout itself. The tests must pass on the copy as
it is, or they could not tell anything. Exit status 1 if a mutant is alive that is not said to be
equivalent, or if one is said to be and is not.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.mutants.table import ROOT, Mutant, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

COPIED = ("ferrum_verify", "proofs", "models", "tests")
LIMIT_SECONDS = 120.0
"""A mutant that runs on for so long is noticed too."""
PASSED, FAILED = 0, 1
FATES = {PASSED: "alive", FAILED: "noticed"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("part", nargs="?", default="", help="of a file or of a reason")
    options = parser.parse_args(arguments)
    mutants = [each for each in table() if options.part in f"{each.file}: {each.weakens}"]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        _copy(copy)
        tests = dict.fromkeys(test for mutant in mutants for test in mutant.tests)
        if _result(copy, tests) != PASSED:
            print("the tests fail without any mutant, so they tell nothing")
            return 1
        wrong = [mutant for mutant in mutants if not _is_as_said(copy, mutant)]
    print(f"{len(mutants)} mutants, {len(wrong)} not as they should be")
    for mutant in wrong:
        print(f"  {mutant.file}: {mutant.weakens}")
    return 1 if wrong else 0


def _copy(target: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    for name in COPIED:
        shutil.copytree(ROOT / name, target / name, ignore=ignored)
    shutil.copy2(ROOT / "pyproject.toml", target)


def _is_as_said(copy: Path, mutant: Mutant) -> bool:
    """Whether it is noticed, or is alive and said to be equivalent."""
    path = copy / mutant.file
    source = path.read_text(encoding="utf-8")
    started = time.monotonic()
    path.write_text(mutant.applied(source), encoding="utf-8")
    # Compiled code is told from its source by seconds and length, which may not differ.
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
    try:
        result = _result(copy, mutant.tests)
    finally:
        path.write_text(source, encoding="utf-8")
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
    fate = FATES.get(result, "no test could run")
    seconds = time.monotonic() - started
    print(f"{seconds:5.1f} s  {fate:8}{mutant.file}: {mutant.weakens}", flush=True)
    if mutant.equivalent:
        print(f"         said to be equivalent: {mutant.equivalent}", flush=True)
    return result == (PASSED if mutant.equivalent else FAILED)


def _result(copy: Path, tests: Iterable[str]) -> int:
    """What pytest says of the tests; anything but 0 and 1 says nothing about a mutant."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        return subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            timeout=LIMIT_SECONDS,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return FAILED


if __name__ == "__main__":
    sys.exit(main())
