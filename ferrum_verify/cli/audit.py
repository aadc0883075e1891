"""``audit``: plans, fragments, memory plans, bundles and problems."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from ferrum_verify.cli.audit_once import Asked, audit_once
from ferrum_verify.cli.fleet import Fleet, fleet_options
from ferrum_verify.cli.output import OUTPUT_OPTION
from ferrum_verify.cli.presenting import FORMATS_EPILOG, presentation_options
from ferrum_verify.cli.proof_limits import (
    MEMORY_LIMIT_OPTION,
    OBLIGATION_LIMIT_OPTION,
    PROOF_LIMIT_OPTION,
    limits_in_force,
)
from ferrum_verify.cli.settings import (
    BASELINE_OPTION,
    CONFIG_OPTION,
    EXECUTION_OPTION,
    IGNORE_OPTION,
    SELECT_OPTION,
    WRITE_BASELINE_OPTION,
)
from ferrum_verify.cli.watching import watched
from ferrum_verify.findings import Judge
from ferrum_verify.fleet.terms import Terms

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.integrations.baseline import Baseline


@click.command(epilog=FORMATS_EPILOG)
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
@presentation_options
@click.option("--memory", is_flag=True, help="Add what the slots cost, and how little would do.")
@click.option(
    "--against",
    metavar="OTHER",
    type=click.Path(),
    help="Show what differs from the earlier plan in OTHER: what came, went, moved and changed.",
)
@OBLIGATION_LIMIT_OPTION
@PROOF_LIMIT_OPTION
@MEMORY_LIMIT_OPTION
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
@SELECT_OPTION
@IGNORE_OPTION
@BASELINE_OPTION
@WRITE_BASELINE_OPTION
@click.option("--watch", is_flag=True, help="Audit again whenever a file changes.")
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
    memory: bool,
    against: str | None,
    obligation_limit: float,
    proof_limit: float,
    memory_limit: int,
    smt2: Path | None,
    second_opinion: bool,
    baseline: Baseline | None,
    write_baseline: Path | None,
    watch: bool,
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
    read = (*documents, *beside, schedule, against)
    if output is not None and output.is_file():
        again = [each for each in read if each is not None and Path(each).is_file()]
        if any(output.samefile(each) for each in again):
            raise click.UsageError(f"The report would take the place of {output}, which is read.")
    if watch and "-" in read:
        raise click.UsageError("--watch goes with files: standard input is read once.")
    fleet = Fleet(**fleet_options)
    fleet.check(memory=memory, smt2=smt2 is not None)
    terms = Terms(
        execution=execution,
        judge=judge,
        prove=prove,
        limits=limits_in_force(obligation_limit, proof_limit, memory_limit),
        smt2=smt2,
        second_opinion=second_opinion,
        memory=memory,
        cache=fleet.cache_folder,
        doubted=fleet.verify_cache,
    )
    asked = Asked(
        documents=documents,
        beside=beside,
        schedule=schedule,
        terms=terms,
        against=against,
        fleet=fleet,
        baseline=baseline,
        write_baseline=write_baseline,
        output=output,
    )
    if not watch:
        return audit_once(asked)
    return watched([each for each in read if each is not None], lambda: audit_once(asked))


def _check_that_proofs_run(prove: bool, asked: dict[str, bool]) -> None:
    options = [name for name, given in asked.items() if given]
    if options and not prove:
        raise click.UsageError(
            f"{' and '.join(options)} {'needs' if len(options) == 1 else 'need'} the proofs, which "
            "--no-prove, or the project's settings, leave out: ask for them with --prove."
        )
