"""Runs each mutant against the tests that must notice it: ``python -m tests.mutants``.

A copy of the checkout is mutated, never the checkout itself. The tests must pass on the copy as
it is, or they could not tell anything. Exit status 1 if a mutant is alive that is not said to be
equivalent, or if one is said to be and is not; else 3 if tests ran out of time, which says nothing.
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

COPIED = ("ferrum_verify", "proofs", "models", "tests", "docs")
LIMIT_SECONDS = 300.0
PASSED, FAILED, OUT_OF_TIME = 0, 1, -1
FATES = {PASSED: "alive", FAILED: "noticed", OUT_OF_TIME: "undecided"}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("part", nargs="?", default="", help="of a file or of a reason")
    parser.add_argument("--limit", type=float, default=LIMIT_SECONDS, help="seconds for a mutant")
    options = parser.parse_args(arguments)
    mutants = [each for each in table() if options.part in f"{each.file}: {each.weakens}"]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        _copy(copy)
        tests = dict.fromkeys(test for mutant in mutants for test in mutant.tests)
        if result(copy, tests, limit=None) != PASSED:
            print("the tests fail without any mutant, so they tell nothing")
            return 1
        results = [(mutant, _tried(copy, mutant, options.limit)) for mutant in mutants]
    return told(results)


def told(results: Sequence[tuple[Mutant, int]]) -> int:
    """Say which mutants are not noticed and not said to be equivalent; the exit status."""
    undecided = [mutant for mutant, found in results if found == OUT_OF_TIME]
    wrong = [
        mutant
        for mutant, found in results
        if found not in (PASSED if mutant.equivalent else FAILED, OUT_OF_TIME)
    ]
    print(f"{len(results)} mutants, {len(wrong)} not as they should be, {len(undecided)} undecided")
    for mutant in wrong + undecided:
        print(f"  {mutant.file}: {mutant.weakens}")
    if wrong:
        return 1
    return 3 if undecided else 0


def _copy(target: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    for name in COPIED:
        shutil.copytree(ROOT / name, target / name, ignore=ignored)
    shutil.copy2(ROOT / "pyproject.toml", target)


def _tried(copy: Path, mutant: Mutant, limit: float) -> int:
    """What the tests say of the mutant, and print it."""
    path = copy / mutant.file
    source = path.read_text(encoding="utf-8")
    started = time.monotonic()
    path.write_text(mutant.applied(source), encoding="utf-8")
    # Compiled code is told from its source by seconds and length, which may not differ.
    shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
    try:
        found = result(copy, mutant.tests, limit)
    finally:
        path.write_text(source, encoding="utf-8")
        shutil.rmtree(path.parent / "__pycache__", ignore_errors=True)
    fate = FATES.get(found, "no test could run")
    seconds = time.monotonic() - started
    print(f"{seconds:5.1f} s  {fate:10}{mutant.file}: {mutant.weakens}", flush=True)
    if mutant.equivalent:
        print(f"         said to be equivalent: {mutant.equivalent}", flush=True)
    return found


def result(copy: Path, tests: Iterable[str], limit: float | None) -> int:
    """What pytest says of the tests; anything but 0 and 1 says nothing about a mutant.

    ``limit`` are the seconds after which the answer is ``OUT_OF_TIME``: on a busy machine the
    tests of a mutant that nobody notices take as long as those of one that runs on for ever.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    try:
        return subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            timeout=limit,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return OUT_OF_TIME


if __name__ == "__main__":
    sys.exit(main())
