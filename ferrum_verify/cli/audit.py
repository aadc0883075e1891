"""``audit``: plans, fragments, memory plans, bundles and problems."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from ferrum_verify.auditing.audit import schedule_of, whole_report
from ferrum_verify.cli import INTERRUPTED
from ferrum_verify.cli.fleet import Fleet, fleet_options
from ferrum_verify.cli.output import OUTPUT_OPTION, complain, emit, screen_of
from ferrum_verify.cli.proof_limits import (
    OBLIGATION_LIMIT_OPTION,
    PROOF_LIMIT_OPTION,
    limits_in_force,
)
from ferrum_verify.cli.settings import (
    BASELINE_OPTION,
    CONFIG_OPTION,
    EXECUTION_OPTION,
    WRITE_BASELINE_OPTION,
    settle,
)
from ferrum_verify.findings import Judge
from ferrum_verify.findings.errors import DocumentError, FerrumVerifyError
from ferrum_verify.findings.wording import plural, printable
from ferrum_verify.fleet.run import Run
from ferrum_verify.fleet.settled import without_keys_of_hidden
from ferrum_verify.fleet.terms import Terms
from ferrum_verify.reading.joining import is_source, read_parts
from ferrum_verify.report.formats import FORMATS, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.integrations.baseline import Baseline
    from ferrum_verify.reading.joining import Part
    from ferrum_verify.report.model import DocumentReport

_SHOWN_OF_A_NAME = 24
"""Characters of a file's name beside the progress bar, on the narrowest terminals too."""


@click.command(
    epilog="Formats: " + "; ".join(f"{n} ({f.summary})" for n, f in FORMATS.items()),
)
@click.argument("documents", metavar="DOC...", nargs=-1, required=True)
@EXECUTION_OPTION
@click.option(
    "--with",
    "beside",
    metavar="DOC",
    multiple=True,
    help="Audit each plan with the program, catalog or policy in DOC, as a bundle of both. May be "
    "given several times.",
)
@click.option(
    "--judge",
    type=click.Choice(get_args(Judge)),
    default="all",
    show_default=True,
    help="Judge safety alone, whoever planned the slots, or conformance to the engine alone.",
)
@click.option(
    "--schedule",
    metavar="FILE",
    type=click.Path(),
    help="Judge order by the streams, events and steps of FILE instead of an execution model.",
)
@click.option(
    "--prove/--no-prove",
    default=True,
    show_default=True,
    help="Put the plan's claims to a solver too, or run the concrete checks only.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="What the report is written as.",
)
@click.option("--memory", is_flag=True, help="Add what the slots cost, and how little would do.")
@OBLIGATION_LIMIT_OPTION
@PROOF_LIMIT_OPTION
@click.option(
    "--smt2",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write each claim to DIR as an SMT-LIB 2 script of its own.",
)
@click.option(
    "--second-opinion",
    is_flag=True,
    help="Put every claim to cvc5 too, and report where the solvers disagree.",
)
@CONFIG_OPTION
@BASELINE_OPTION
@WRITE_BASELINE_OPTION
@OUTPUT_OPTION
@fleet_options
def audit(
    *,
    documents: tuple[str, ...],
    beside: tuple[str, ...],
    execution: Execution,
    judge: Judge,
    schedule: str | None,
    prove: bool,
    format_name: str,
    memory: bool,
    obligation_limit: float,
    proof_limit: float,
    smt2: Path | None,
    second_opinion: bool,
    baseline: Baseline | None,
    write_baseline: Path | None,
    output: Path | None,
    **fleet_options: Any,
) -> int:
    """Audit documents: is each what the engine would have derived, and is it safe?"""
    _check_that_proofs_run(prove, {"--smt2": smt2 is not None, "--second-opinion": second_opinion})
    if judge != "all" and (baseline is not None or write_baseline is not None):
        raise click.UsageError("A baseline knows all findings, so it goes with --judge all only.")
    by_model = click.get_current_context().get_parameter_source("execution")
    if schedule is not None and by_model is click.core.ParameterSource.COMMANDLINE:
        raise click.UsageError("--schedule takes the place of --execution: give one of the two.")
    if schedule is not None and memory:
        raise click.UsageError("--memory goes with --execution, not with --schedule.")
    if output is not None and output == write_baseline:
        raise click.UsageError("The report and the baseline cannot be written to the same file.")
    fleet = Fleet(**fleet_options)
    fleet.check(memory=memory, smt2=smt2 is not None)
    files = fleet.files(documents)
    terms = Terms(
        execution=execution,
        judge=judge,
        prove=prove,
        limits=limits_in_force(obligation_limit, proof_limit),
        smt2=smt2,
        second_opinion=second_opinion,
        memory=memory,
        sources=tuple(_sources(beside)),
        under=None if schedule is None else schedule_of(schedule),
        cache=fleet.cache_folder,
        doubted=fleet.verify_cache,
        remembering=fleet.remembers(files, prove=prove),
    )
    run = Run(terms, fleet.carrying(), with_subjects=FORMATS[format_name].shows_documents)
    done, interrupted = _done(run, fleet, files)
    whole = replace(
        whole_report(done, execution, terms.under, judge),
        # What was interrupted is no whole shard.
        shard=None if interrupted else fleet.shard,
    )
    settled = settle(whole, baseline, None if interrupted else write_baseline, proved=prove)
    settled = replace(settled, report=without_keys_of_hidden(settled.report, whole))
    if done or not interrupted:
        emit(render(settled.report, format_name, screen_of(sys.stdout, output)), output)
    remarks = (*settled.remarks, *_without_plan(run.alone), *run.told(), *run.contradictions)
    for remark in remarks:
        complain(remark)
    if interrupted:
        complain(f"Interrupted: the report covers {len(done):,} of the documents.")
        return INTERRUPTED
    if not files:
        return 0  # of fewer files than shards one has none
    return settled.status or (1 if run.contradictions else 0)


def _done(run: Run, fleet: Fleet, files: Sequence[str]) -> tuple[list[DocumentReport], bool]:
    """The reports of the files, and whether an interruption left some out."""
    done: list[DocumentReport] = []
    try:
        with _progress(files) as run.advance:
            for report in fleet.reports(run, files):
                done.append(report)
                if report.interrupted:
                    return done, True
    except KeyboardInterrupt:
        return done, True
    except FerrumVerifyError as error:
        raise click.ClickException(str(error)) from None
    except OSError as error:
        if run.terms.smt2 is None:
            raise
        raise click.UsageError(
            f"The claims cannot be written to {error.filename}: {error.strerror}."
        ) from None
    return done, False


def _check_that_proofs_run(prove: bool, asked: dict[str, bool]) -> None:
    options = [name for name, given in asked.items() if given]
    if options and not prove:
        raise click.UsageError(
            f"{' and '.join(options)} {'needs' if len(options) == 1 else 'need'} the proofs, which "
            "--no-prove, or the project's settings, leave out: ask for them with --prove."
        )


def _sources(paths: tuple[str, ...]) -> list[Part]:
    """What --with names, for the plans that are audited."""
    try:
        parts = read_parts(paths)
    except DocumentError as error:
        raise click.ClickException(printable(str(error))) from None
    sources = [part for part in parts if is_source(part.name)]
    if paths and not sources:
        raise click.UsageError("What --with names holds no program, catalog or policy.")
    return sources


def _without_plan(alone: list[str]) -> Iterator[str]:
    if alone:
        rest = f" and {plural(len(alone) - 1, 'more document')}" if alone[1:] else ""
        yield f"Audited without what --with names, for want of a plan: {alone[0]}{rest}."


@contextmanager
def _progress(paths: Sequence[str]) -> Iterator[Callable[[str], None]]:
    """A progress bar over many files, on a terminal that is not a pipe or a log."""
    if len(paths) < 2 or sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    # Four times `python -c pass`, where a whole audit may take 35 and one document has no bar.
    from rich.console import Console  # noqa: PLC0415
    from rich.markup import escape  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=len(paths))

        def advance(path: str) -> None:
            name = escape(printable(Path(path).name[:_SHOWN_OF_A_NAME]))
            progress.update(task, advance=1, description=name)

        yield advance
