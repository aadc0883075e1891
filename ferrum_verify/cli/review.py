"""``review``: what a branch changes, before it is merged."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click

from ferrum_verify.cli.output import OUTPUT_OPTION, checked_target, complain, emit, screen_of
from ferrum_verify.cli.settings import BASELINE_OPTION, CONFIG_OPTION, settings_in_force
from ferrum_verify.counterexamples import Execution
from ferrum_verify.integrations.baseline import BaselineError
from ferrum_verify.integrations.git_changes import GitError, branch_at
from ferrum_verify.integrations.review import review as review_branch
from ferrum_verify.report.formats import FORMATS, render
from ferrum_verify.report.markdown import escaped

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.integrations.baseline import Baseline
    from ferrum_verify.integrations.review import Review


def _also(name: str) -> Callable[[Any], Any]:
    return click.option(
        f"--{name}",
        metavar="FILE",
        type=click.Path(),
        callback=lambda _context, _parameter, value: checked_target(value),
        help=f"Write the report to FILE as {name} too.",
    )


@click.command
@click.option(
    "--base", metavar="COMMIT", required=True, help="The branch or commit that will be merged into."
)
@click.option(
    "--plans",
    metavar="PATTERN",
    multiple=True,
    default=("plans/**/*.json",),
    show_default=True,
    help="Files of plans, as a git pattern from the top. May be given several times.",
)
@click.option(
    "--catalogs",
    metavar="PATTERN",
    multiple=True,
    default=("catalogs/**/*.json",),
    show_default=True,
    help="Files of catalogs, likewise.",
)
@click.option(
    "--execution", type=click.Choice(get_args(Execution)), default="fenced", show_default=True,
    help="How nodes run.",
)  # fmt: skip
@click.option(
    "--prove/--no-prove", default=True, show_default=True, help="Use a solver too, or not."
)
@click.option(
    "--format", "format_name", type=click.Choice(list(FORMATS)), default="text",
    show_default=True, help="What the report is written as.",
)  # fmt: skip
@_also("sarif")
@_also("markdown")
@CONFIG_OPTION
@BASELINE_OPTION
@OUTPUT_OPTION
def review(
    *,
    base: str,
    plans: tuple[str, ...],
    catalogs: tuple[str, ...],
    execution: Execution,
    prove: bool,
    format_name: str,
    sarif: Path | None,
    markdown: Path | None,
    baseline: Baseline | None,
    output: Path | None,
) -> int:
    """Audit the plans that the checked-out branch changes, and compare the catalogs it changes.

    What counts as changed is what differs from the merge base with COMMIT, in tracked files.
    Plans that were compiled under a changed catalog are re-judged, changed or not. A baseline
    hides what it knows of the plans that it names.
    """
    settings = replace(settings_in_force(), execution=execution, prove=prove)
    try:
        branch = branch_at(Path(), base)
        done = review_branch(branch, plans, catalogs, settings, baseline)
    except (GitError, BaselineError) as error:
        raise click.UsageError(str(error)) from None
    if sarif is not None:
        emit(render(done.report, "sarif"), sarif)
    if markdown is not None:
        emit(_markdown(done), markdown)
    if done.report.documents:
        emit(render(done.report, format_name, screen_of(sys.stdout, output)), output)
    else:
        complain(NOTHING)
    for remark in done.remarks:
        complain(remark)
    return done.exit_status


NOTHING = "No plan and no catalog is changed."


def _markdown(done: Review) -> str:
    if done.report.documents:
        text = render(done.report, "markdown")
    else:
        text = f"### ferrum-verify\n\n{NOTHING}\n"
    return text + "".join(f"\n> {escaped(remark)}\n" for remark in done.remarks)
