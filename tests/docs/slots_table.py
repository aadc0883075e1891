"""Puts into ``docs/slots.md`` what slots cost: ``python -m tests.docs.slots_table``.

The models' families, and the reference engine's own problems of 8 to 80 layers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import models
from ferrum_verify import best_slots
from ferrum_verify.findings.wording import byte_count
from ferrum_verify.plan.sharing import EXECUTIONS
from tests.docs.pages import ROOT
from tests.vectors import scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.counterexamples import Execution
    from tests.definition.sizes import Json

PAGE = ROOT / "docs" / "slots.md"
SCALE = (
    "decoder-8",
    "decoder-16-parallel",
    "decoder-32",
    "decoder-48",
    "decoder-64",
    "decoder-80",
)
_TABLE = re.compile(r"(?<=<!-- table -->\n).*?(?=<!-- end of table -->)", re.DOTALL)


def documents() -> Iterator[tuple[str, Json]]:
    """Every problem of the table, by name."""
    for family in models.families():
        yield family, models.problem(family)
    for name in SCALE:
        yield name, scale(name)["problem"]


def table() -> str:
    """The table: of each problem the pool with the most bytes, under each model."""
    lines = [
        "| problem | resources | plan | in-order | fenced | concurrent |",
        "|:--|--:|--:|--:|--:|--:|",
    ]
    for name, problem in documents():
        cells = [_cells(problem, execution) for execution in EXECUTIONS]
        members, taken, _ = cells[0]
        lines.append(f"| {name} | {members} | {taken} | {' | '.join(cell[2] for cell in cells)} |")
    return "\n".join(lines) + "\n"


def _cells(problem: Json, execution: Execution) -> tuple[str, str, str]:
    pool = max(best_slots(problem, execution).pools, key=lambda each: each.bytes)
    best = byte_count(pool.best_bytes)
    if not pool.proved:
        best += f", at least {byte_count(pool.least_bytes)}"
    return f"{sum(map(len, pool.slots)):,}", byte_count(pool.bytes), best


def written(text: str) -> str:
    """The page with the table of today."""
    page, count = _TABLE.subn(lambda _: table(), text)
    assert count == 1
    return page


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
