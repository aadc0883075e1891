"""The list of theorems, ``proofs/README.md``, written from the theorems themselves."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ferrum_verify.prove.theorems import ENUMERATION, Chapter, Row, chapters, directory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

HEAD = """\
# Theorems

The facts about *every* plan that the fast path rests on. Each file here states one idea in words,
proves it, and says in its first lines why its theory is the right one. `ferrum-verify prove` (or
`make prove`) runs them all: z3 decides the SMT-LIB 2 text of every query, cvc5 is asked for a
second opinion where it is installed, and what is finite is also settled by plain enumeration in
Python. A query that a solver does not finish in time is `undecided`, never proved.

A proof by induction is a base and a step, each a query of its own; a statement that fails is given
with its smallest counterexample, which is asserted, and queries that exclude every smaller one.
Every query's premises are shown to be satisfiable, so nothing is proven from a contradiction.

A file has the name of the part of the product that it is about, where there is one; the files
without a section below are the vocabulary that the others share.
This page is generated from the theorems, times excepted: they are those of one run, in seconds.
"""


def render(listed: Iterable[Chapter], rows: Iterable[Row]) -> str:
    """Return the page: a table of all theorems with their times, then a section for each file."""
    listed = tuple(listed)
    seconds = {(row.theorem, row.solver.split()[0]): row.seconds for row in rows}
    table = [
        "| theorem | theory | holds for | queries | z3 | enumeration | cvc5 |",
        "| --- | --- | --- | --: | --: | --: | --: |",
    ]
    sections = []
    for chapter in listed:
        sections.append(f"## `{chapter.file}`\n\n{chapter.about}\n")
        for theorem in chapter.theorems:
            queries = sum(1 for _ in theorem.checks("full"))
            times = (_time(seconds, theorem.id, solver) for solver in ("z3", ENUMERATION, "cvc5"))
            anchor = re.sub(r"[^a-z0-9-]", "", theorem.id)
            table.append(
                f"| [{theorem.id}](#{anchor}) | {theorem.theory} | {theorem.holds_for} | {queries} "
                f"| {' | '.join(times)} |"
            )
            rests = ", ".join(f"`{name}`" for name in theorem.rests)
            rules = ", ".join(f"`{rule}`" for rule in theorem.rules)
            dependents = "; ".join(filter(None, (rests, rules and f"the rules {rules}")))
            sections.append(
                f"### {theorem.id}\n\n{theorem.statement}\n\n"
                f"What rests on it: {dependents or 'nothing yet'}.\n"
            )
    return "\n".join([HEAD, *table, "", *sections])


def without_times(page: str) -> str:
    """Return the page with every time blanked, as two runs never agree on those."""
    return re.sub(r"(?<=\| )(<0\.1|\d+\.\d|–)(?= \|)", "", page)


def write(rows: Iterable[Row]) -> Path:
    """Write the page beside the theorems with the times of these rows; return its path."""
    path = directory() / "README.md"
    path.write_text(render(chapters(), rows), encoding="utf-8")
    return path


def _time(seconds: Mapping[tuple[str, str], float], theorem: str, solver: str) -> str:
    spent = seconds.get((theorem, solver))
    if spent is None:
        return "–"
    return f"{spent:.1f}" if spent >= 0.05 else "<0.1"
