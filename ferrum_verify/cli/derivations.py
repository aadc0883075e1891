"""``derive``, ``bindings`` and ``checkpoint``: what the engine derives, as its own JSON."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cli.output import OUTPUT_OPTION, complain, emit, screen_of
from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.deriving.plans import compile_program_bindings, derive_memory_plan
from ferrum_verify.findings.errors import FerrumVerifyError
from ferrum_verify.findings.wording import printable
from ferrum_verify.plan.canonical import canonical_bytes
from ferrum_verify.reading.parse import UNREADABLE
from ferrum_verify.report.text import render_findings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_REFUSED = "\n\nWhat is refused is explained on standard error; the exit status is then 1, or 2 \
where DOC is unreadable or of another kind."


class RefusedError(Exception):
    """The input was refused, and standard error says why; ``status`` is the exit status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@click.command(
    help=f"Print the memory plan that the engine derives from PROBLEM.{_REFUSED}",
)
@click.argument("problem")
@OUTPUT_OPTION
def derive(problem: str, output: Path | None) -> int:
    """Print the memory plan that the engine derives from a planning problem."""
    try:
        with refusals(problem):
            memory = derive_memory_plan(problem)
    except RefusedError as refused:
        return refused.status
    _emit_canonical(memory.to_wire(), output)
    return 0


@click.command(
    help=f"Print the program-binding layouts of a problem or plan, one for each bucket.{_REFUSED}",
)
@click.argument("document", metavar="DOC")
@OUTPUT_OPTION
def bindings(document: str, output: Path | None) -> int:
    """Print the program-binding layouts of a problem or plan."""
    try:
        with refusals(document):
            layouts = compile_program_bindings(document)
    except RefusedError as refused:
        return refused.status
    _emit_canonical([layout.to_wire() for layout in layouts], output)
    return 0


@click.command(
    help="Print the sequence-checkpoint layout of a bundle, or the reasons that it has none. "
    f"Either is an answer, with exit status 0.{_REFUSED}",
)
@click.argument("bundle")
@OUTPUT_OPTION
def checkpoint(bundle: str, output: Path | None) -> int:
    """Print the sequence-checkpoint layout of a bundle, or the reasons that it has none."""
    try:
        with refusals(bundle):
            derived = derive_sequence_checkpoint(bundle)
    except RefusedError as refused:
        return refused.status
    _emit_canonical(derived.to_wire(), output)
    return 0


@contextmanager
def refusals(source: str) -> Iterator[None]:
    """Turn an error of the package into words on standard error, and a ``RefusedError``."""
    try:
        yield
    except FerrumVerifyError as error:
        name = "<stdin>" if source == "-" else printable(source)
        if not error.findings:
            raise click.UsageError(f"{name}: {error}.") from None
        unreadable = any(finding.rule in UNREADABLE for finding in error.findings)
        heading = f"{name} is {'unreadable' if unreadable else 'refused'}:"
        complain(f"{heading}\n{render_findings(error.findings, screen_of(sys.stderr))}")
        raise RefusedError(2 if unreadable else 1) from None


def _emit_canonical(value: Any, output: Path | None) -> None:
    emit(f"{canonical_bytes(value).decode()}\n", output)
