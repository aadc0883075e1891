"""Runs every theorem in ``proofs/``: z3, plain enumeration where there is one, then cvc5."""

from __future__ import annotations

import importlib
import inspect
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ferrum_verify import beside
from ferrum_verify.prove import second_opinion
from ferrum_verify.prove.theorem import Check, Decision, Scale, Theorem, decide, z3_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

Result = Literal["proved", "refuted", "undecided", "disagreement", "unavailable"]
PROOFS = "proofs"
ENUMERATION = "enumeration"
DEFAULT_TIMEOUT_SECONDS = 60.0
"""The limit of one query; all of them together need about as long as this."""


@dataclass(frozen=True)
class Row:
    """What one solver made of one theorem.

    ``disagreement`` means that cvc5 contradicts z3 on some query, and ``detail`` names it.
    """

    theorem: str
    theory: str
    solver: str
    seconds: float
    result: Result
    checks: int
    detail: str = ""


def directory() -> Path:
    """Where the theorem files lie."""
    return beside.folder(PROOFS)


@dataclass(frozen=True)
class Chapter:
    """One theorem file: its name, what it says of itself, and its theorems."""

    file: str
    about: str
    theorems: tuple[Theorem, ...]


def chapters() -> tuple[Chapter, ...]:
    """Load every file that states theorems, in alphabetical order."""
    package = beside.package(PROOFS).__name__
    found = []
    for path in sorted(directory().glob("*.py")):
        if path.stem == "__init__":
            continue
        module = importlib.import_module(f"{package}.{path.stem}")
        stated = getattr(module, "THEOREMS", ())
        if stated:
            found.append(Chapter(path.name, inspect.cleandoc(module.__doc__ or ""), stated))
    return tuple(found)


def load() -> tuple[Theorem, ...]:
    """Load every theorem, in the order of their files."""
    return tuple(theorem for chapter in chapters() for theorem in chapter.theorems)


def stream(
    names: Collection[str] | None = None,
    *,
    scale: Scale = "full",
    with_cvc5: bool = True,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> Iterator[Row]:
    """Yield a row for each theorem and solver as it finishes; ``names`` selects by id."""
    theorems = [theorem for theorem in load() if names is None or theorem.id in names]
    missing = set(names or ()) - {theorem.id for theorem in theorems}
    if missing:
        raise KeyError(f"no such theorem: {', '.join(sorted(missing))}")
    for theorem in theorems:
        yield from judge(theorem, scale, with_cvc5, timeout_seconds)


def run(
    names: Collection[str] | None = None,
    *,
    scale: Scale = "full",
    with_cvc5: bool = True,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
) -> list[Row]:
    """Run the theorems and return all rows; ``stream`` gives them one by one."""
    return list(stream(names, scale=scale, with_cvc5=with_cvc5, timeout_seconds=timeout_seconds))


def judge(theorem: Theorem, scale: Scale, with_cvc5: bool, timeout_seconds: float) -> Iterator[Row]:
    """Yield the rows of one theorem: z3's, the enumeration's if it has one, cvc5's."""
    checks = tuple(theorem.checks(scale))
    scripts = [check.smt2(theorem.id) for check in checks]
    first = [decide(script, timeout_seconds) for script in scripts]
    yield _row(theorem, z3_name(), checks, first)
    if theorem.recheck is not None:
        started = time.perf_counter()
        holds = theorem.recheck(scale)
        seconds = time.perf_counter() - started
        detail = "" if holds else "trying every case gives another answer"
        result: Result = "proved" if holds else "refuted"
        yield Row(theorem.id, theorem.theory, ENUMERATION, seconds, result, 1, detail)
    if not with_cvc5:
        return
    if not second_opinion.available():
        yield Row(theorem.id, theorem.theory, "cvc5", 0.0, "unavailable", 0, second_opinion.MISSING)
        return
    second = [second_opinion.decide(script, timeout_seconds) for script in scripts]
    row = _row(theorem, second_opinion.solver_name(), checks, second)
    against = [
        f"{check.name}: z3 says {one.answer}, cvc5 says {two.answer}"
        for check, one, two in zip(checks, first, second, strict=True)
        if second_opinion.contradicts(one.answer, two.answer)
    ]
    if against:
        row = Row(
            row.theorem,
            row.theory,
            row.solver,
            row.seconds,
            "disagreement",
            row.checks,
            "; ".join(against),
        )
    yield row


def exit_status(rows: Iterable[Row]) -> int:
    """Return 1 if anything is refuted or disputed, else 3 if anything is undecided, else 0."""
    results = {row.result for row in rows}
    if results & {"refuted", "disagreement"}:
        return 1
    return 3 if "undecided" in results else 0


def export(target: Path, scale: Scale = "full") -> list[Path]:
    """Write each query as ``<theorem>.<check>.smt2`` into the directory; return the files."""
    target.mkdir(parents=True, exist_ok=True)
    written = []
    for theorem in load():
        for check in theorem.checks(scale):
            path = target / f"{theorem.id}.{check.name}.smt2"
            path.write_text(check.smt2(theorem.id), encoding="utf-8")
            written.append(path)
    return written


def _row(
    theorem: Theorem, solver: str, checks: tuple[Check, ...], decisions: list[Decision]
) -> Row:
    """Sum up: one wrong answer refutes, one missing answer leaves the theorem undecided."""
    result: Result = "proved"
    details = []
    for check, decision in zip(checks, decisions, strict=True):
        if decision.answer == check.expected:
            continue
        if decision.answer == "unknown":
            details.append(f"{check.name}: {decision.reason}")
            result = "undecided" if result == "proved" else result
        else:
            details.append(f"{check.name}: {decision.answer} where {check.expected} is needed")
            result = "refuted"
    seconds = sum(decision.seconds for decision in decisions)
    detail = "; ".join(details)
    return Row(theorem.id, theorem.theory, solver, seconds, result, len(checks), detail)
