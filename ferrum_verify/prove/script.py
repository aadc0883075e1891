"""Scripts: statements as SMT-LIB 2, the same text in every process."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import z3

if TYPE_CHECKING:
    from ferrum_verify.prove.obligation import Obligation, Statement


def smt2(obligation: Obligation) -> str:
    """The obligation as a self-contained SMT-LIB 2 script: unsat exactly when it holds."""
    statement = obligation.formula.statement()
    comment = "\n".join(f"; {line}" for line in obligation.claim.splitlines())
    return (
        f"; {obligation.id}\n{comment}\n; It holds exactly when this script is unsatisfiable.\n"
        f"(set-info :smt-lib-version 2.6)\n(set-logic {statement.logic})\n{script(statement)}"
    )


def script(statement: Statement) -> str:
    """The declarations and assertions that are unsatisfiable exactly when the statement holds."""
    printer = z3.Solver()
    printer.add(*statement.violation)
    # The printer's first two lines are its own banner and an unknown status.
    body = str(printer.to_smt2()).split("\n", 2)[2]
    # It numbers the terms that it names by all that the process made before.
    numbers: dict[str, int] = {}
    return re.sub(r"(?<=[$?]x)\d+", lambda m: str(numbers.setdefault(m[0], len(numbers))), body)
