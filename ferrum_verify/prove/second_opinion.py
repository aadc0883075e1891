"""A second solver, cvc5, asked about the same SMT-LIB 2 text.

A proof is worth what its solver is worth. Two solvers with nothing in common but the input
language rarely have the same fault, so an answer that both give can be relied on, and a
contradiction is a fault in one of them (or in the export) that must be seen. Giving up is no
contradiction: ``unknown`` stays ``unknown``. cvc5 is an optional extra.
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from typing import Any

from ferrum_verify.prove.theorem import Answer, Decision

MISSING = "cvc5 is not installed: pip install 'ferrum-verify[second-opinion]'"


def available() -> bool:
    """Whether cvc5 can be imported here."""
    return importlib.util.find_spec("cvc5") is not None


def solver_name() -> str:
    """Name the second solver and its version, as rows and reports show it."""
    return f"cvc5 {_cvc5().__version__}" if available() else "cvc5"


def decide(script: str, timeout_seconds: float) -> Decision:
    """Ask cvc5 about an SMT-LIB 2 script; without cvc5 the answer is ``unknown``, and says so.

    The answer is that of the last ``check-sat``; a script without one is ``unknown``.
    """
    if not available():
        return Decision("unknown", 0.0, MISSING)
    started = time.perf_counter()
    output = _last_answer(script, timeout_seconds)
    seconds = time.perf_counter() - started
    answer: Answer
    match output:
        case "sat" | "unsat" as answer:
            return Decision(answer, seconds)
        case "unknown":
            timed_out = seconds >= timeout_seconds
            reason = f"no answer within {timeout_seconds:g} s" if timed_out else "gave up"
        case "":
            reason = "the script asks nothing"
        case _:
            reason = output
    return Decision("unknown", seconds, reason)


def _last_answer(script: str, timeout_seconds: float) -> str:
    """What the last ``check-sat`` printed, or the error that ended the script before."""
    cvc5 = _cvc5()
    solver = cvc5.Solver(cvc5.TermManager())
    solver.setOption("tlimit-per", str(max(1, round(timeout_seconds * 1000))))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, script, "script")
    symbols = parser.getSymbolManager()
    output = ""
    try:
        while not (command := parser.nextCommand()).isNull():
            text = str(command.invoke(solver, symbols)).strip()
            if command.getCommandName() == "check-sat":
                output = text
            elif text.startswith("(error"):
                return text
    except RuntimeError as error:  # what the binding raises for text that it cannot parse
        return str(error)
    return output


def contradicts(first: Answer, second: Answer) -> bool:
    """Whether two answers exclude each other; an ``unknown`` excludes nothing."""
    return {first, second} == {"sat", "unsat"}


def _cvc5() -> Any:
    """Import cvc5 only when it is asked for: it is large, and optional."""
    return importlib.import_module("cvc5")
