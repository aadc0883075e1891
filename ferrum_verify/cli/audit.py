"""``audit``: plans, fragments, memory plans, bundles and problems."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from ferrum_verify.auditing.audit import audit_document, schedule_of, whole_report
from ferrum_verify.cli import INTERRUPTED
from ferrum_verify.cli.earlier import beside_earlier, earlier_plan
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
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import plural, printable
from ferrum_verify.limits import Proving
from ferrum_verify.reading.joining import completed, is_source, read_parts
from ferrum_verify.reading.load import read_documents
from ferrum_verify.report.formats import FORMATS, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.integrations.baseline import Baseline
    from ferrum_verify.reading.joining import Part
    from ferrum_verify.reading.load import LoadedDocument
    from ferrum_verify.reading.schedules import LoadedSchedule
    from ferrum_verify.report.model import DocumentReport

_KEPT_SUBJECTS = 100
"""Documents whose parsed form is kept for the report; of more, the findings must do."""


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
@click.option(
    "--against",
    metavar="OTHER",
    type=click.Path(),
    help="Show what differs from the earlier plan in OTHER: what came, went, grew and moved.",
)
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
    against: str | None,
    obligation_limit: float,
    proof_limit: float,
    smt2: Path | None,
    second_opinion: bool,
    baseline: Baseline | None,
    write_baseline: Path | None,
    output: Path | None,
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
    proving = Proving(
        limits=limits_in_force(obligation_limit, proof_limit),
        smt2=smt2,
        second_opinion=second_opinion,
    )
    earlier = None if against is None else earlier_plan(against)
    sources, alone = _sources(beside), list[str]()
    under = None if schedule is None else schedule_of(schedule)
    done: list[DocumentReport] = []
    interrupted = False
    try:
        with _progress(documents) as advance:
            loaded = _completed(documents, sources, alone)
            for report in _reports(
                loaded,
                execution,
                judge,
                memory=memory,
                under=under,
                proving=proving if prove else None,
                advance=advance,
            ):
                if earlier is not None:
                    report = beside_earlier(report, earlier)  # noqa: PLW2901
                keep = len(done) < _KEPT_SUBJECTS
                done.append(report if keep else replace(report, subject=None))
                if report.interrupted:
                    interrupted = True
                    break
    except KeyboardInterrupt:
        interrupted = True
    whole = whole_report(done, execution, under, judge)
    settled = settle(whole, baseline, None if interrupted else write_baseline, proved=prove)
    if done or not interrupted:
        emit(render(settled.report, format_name, screen_of(sys.stdout, output)), output)
    for remark in (*settled.remarks, *_without_plan(alone)):
        complain(remark)
    if interrupted:
        complain(f"Interrupted: the report covers {len(done):,} of the documents.")
        return INTERRUPTED
    return settled.status


def _check_that_proofs_run(prove: bool, asked: dict[str, bool]) -> None:
    options = [name for name, given in asked.items() if given]
    if options and not prove:
        raise click.UsageError(
            f"{' and '.join(options)} {'needs' if len(options) == 1 else 'need'} the proofs, which "
            "--no-prove, or the project's settings, leave out: ask for them with --prove."
        )


def _reports(
    documents: Iterable[LoadedDocument],
    execution: Execution,
    judge: Judge,
    *,
    memory: bool,
    under: LoadedSchedule | None,
    proving: Proving | None,
    advance: Callable[[], None],
) -> Iterator[DocumentReport]:
    for loaded in documents:
        try:
            yield audit_document(
                loaded,
                execution=execution,
                prove=proving is not None,
                limits=None if proving is None else proving.limits,
                smt2=None if proving is None else proving.smt2,
                second_opinion=proving is not None and proving.second_opinion,
                asked_for=judge,
                memory=memory,
                under=under,
            )
        except OSError as error:
            raise click.UsageError(
                f"The claims cannot be written to {error.filename}: {error.strerror}."
            ) from None
        advance()


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


def _completed(
    paths: tuple[str, ...], sources: list[Part], alone: list[str]
) -> Iterator[LoadedDocument]:
    """The documents of all files, their plans with the sources; ``alone`` are those without one."""
    for path in paths:
        for loaded in read_documents(path):
            whole = completed(loaded, sources)
            if sources and whole is loaded:
                alone.append(loaded.source)
            yield whole


def _without_plan(alone: list[str]) -> Iterator[str]:
    if alone:
        rest = f" and {plural(len(alone) - 1, 'more document')}" if alone[1:] else ""
        yield f"Audited without what --with names, for want of a plan: {alone[0]}{rest}."


@contextmanager
def _progress(paths: tuple[str, ...]) -> Iterator[Callable[[], None]]:
    """A progress bar over many documents, on a terminal that is not a pipe or a log."""
    files_of_lines = any(path.lower().endswith((".jsonl", ".jsonl.gz")) for path in paths)
    if not (files_of_lines or len(paths) > 1) or sys.stderr is None or not sys.stderr.isatty():
        yield lambda: None
        return
    # Four times `python -c pass`, where a whole audit may take 35 and one document has no bar.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        # How many documents a file of lines holds is known when it has been read.
        task = progress.add_task("Auditing", total=None if files_of_lines else len(paths))
        yield lambda: progress.advance(task)
