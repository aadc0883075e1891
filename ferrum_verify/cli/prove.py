"""``prove``: the universal theorems that the fast path rests on."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ferrum_verify.cli import INTERRUPTED
from ferrum_verify.cli.output import OUTPUT_OPTION, complain, emit

if TYPE_CHECKING:
    from ferrum_verify.prove.theorems import Row

_LINE = "{:<34} {:<11} {:>7}  {:<8} {}"


@click.command
@click.argument("theorems", metavar="[THEOREM]...", nargs=-1)
@click.option("--no-cvc5", is_flag=True, help="Do not ask cvc5 for a second opinion.")
@click.option(
    "--timeout",
    metavar="SECONDS",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="The limit of one query; what takes longer is undecided.",
)
@click.option(
    "--smt2",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write every query to DIR as SMT-LIB 2 instead of running it.",
)
@click.option(
    "--format", "format_name", type=click.Choice(["text", "json"]), default="text",
    show_default=True, help="Lines as they are decided, or all of them as data.",
)  # fmt: skip
@OUTPUT_OPTION
def prove(
    *,
    theorems: tuple[str, ...],
    no_cvc5: bool,
    timeout: float,
    smt2: Path | None,
    format_name: str,
    output: Path | None,
) -> int:
    """Run the theorems in proofs/, all of them or those that are named.

    Exit status: 1 if a theorem is refuted or the solvers disagree, else 3 if one is undecided,
    else 0.
    """
    # The solver is loaded where proofs run, not for --help.
    from ferrum_verify.prove import theorems as runner  # noqa: PLC0415

    if smt2 is not None:
        try:
            written = runner.export(smt2)
        except OSError as error:
            raise click.UsageError(f"{smt2} cannot be written: {error.strerror}.") from None
        emit(f"{len(written):,} queries were written to {smt2}.\n", output)
        return 0
    known = {theorem.id for theorem in runner.load()}
    unknown = [name for name in theorems if name not in known]
    if unknown:
        raise click.UsageError(
            f"There is no theorem {unknown[0]}; there are {', '.join(sorted(known))}."
        )
    rows: list[Row] = []
    interrupted = False
    live = format_name == "text" and output is None
    if live:
        emit(_heading(), None)
    try:
        for row in runner.stream(theorems or None, with_cvc5=not no_cvc5, timeout_seconds=timeout):
            rows.append(row)
            if live:
                emit(_line(row), None)
    except KeyboardInterrupt:
        interrupted = True
    if format_name == "json":
        emit(json.dumps([asdict(row) for row in rows], indent=2) + "\n", output)
    elif not live:
        emit(_heading() + "".join(map(_line, rows)), output)
    if interrupted:
        complain(f"Interrupted after {len(rows):,} results.")
        return INTERRUPTED
    return runner.exit_status(rows)


def _heading() -> str:
    return _LINE.format("theorem", "solver", "seconds", "result", "theory") + "\n"


def _line(row: Row) -> str:
    line = _LINE.format(row.theorem, row.solver, f"{row.seconds:.2f}", row.result, row.theory)
    return f"{line}\n" if not row.detail else f"{line}\n    {row.detail}\n"
