"""``review``: what a branch changes, before it is merged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource

from ferrum_verify.cli.output import OUTPUT_OPTION, checked_target, complain, emit
from ferrum_verify.cli.presenting import presentation_options, publish
from ferrum_verify.counterexamples import Execution
from ferrum_verify.findings.wording import printable
from ferrum_verify.integrations.baseline import BaselineError
from ferrum_verify.integrations.config import SettingsError
from ferrum_verify.integrations.gate import gate_of
from ferrum_verify.integrations.git_changes import GitError, branch_at
from ferrum_verify.integrations.review import review as review_branch
from ferrum_verify.report.formats import render
from ferrum_verify.report.markdown import escaped

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.integrations.git_changes import Branch
    from ferrum_verify.integrations.review import Review


PLANS = ("plans/**/*.json",)
CATALOGS = ("catalogs/**/*.json",)


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
    default=PLANS,
    show_default=True,
    help="Files of plans, as a git pattern from the top. May be given several times.",
)
@click.option(
    "--catalogs",
    metavar="PATTERN",
    multiple=True,
    default=CATALOGS,
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
@presentation_options
@_also("sarif")
@_also("markdown")
@click.option(
    "--config", metavar="FILE", type=click.Path(),
    help="Take settings from FILE, as it is at COMMIT, instead of the nearest pyproject.toml with "
    "a table [tool.ferrum-verify] there.",
)  # fmt: skip
@click.option(
    "--baseline", metavar="FILE", type=click.Path(),
    help="Hide the findings that FILE knows, as it is at COMMIT; fail where one is new or gone.",
)  # fmt: skip
@OUTPUT_OPTION
@click.pass_context
def review(
    context: click.Context,
    *,
    base: str,
    plans: tuple[str, ...],
    catalogs: tuple[str, ...],
    execution: Execution,
    prove: bool,
    sarif: Path | None,
    markdown: Path | None,
    config: str | None,
    baseline: str | None,
    output: Path | None,
) -> int:
    """Audit the plans that the checked-out branch changes, and compare the catalogs it changes.

    What counts as changed is what differs from the merge base with COMMIT, in tracked files.
    Plans that were compiled under a changed catalog are re-judged, changed or not. Settings and
    baseline are those of COMMIT: what the branch changes in them is reported, and counts once it
    is merged. A baseline hides what it knows of the plans that it names.

    Where no pattern that is given for plans, or none for catalogs, names a tracked file, the exit
    status is 2.
    """
    try:
        branch = branch_at(Path(), base)
        gate = gate_of(branch, config, baseline)
        # What is typed wins over the settings.
        if context.get_parameter_source("execution") is not ParameterSource.DEFAULT:
            gate = replace(gate, settings=replace(gate.settings, execution=execution))
        if context.get_parameter_source("prove") is not ParameterSource.DEFAULT:
            gate = replace(gate, settings=replace(gate.settings, prove=prove))
        remarks = _unmatched(branch, plans, catalogs)
        done = review_branch(branch, plans, catalogs, gate)
        done = replace(done, remarks=(*remarks, *done.remarks))
    except (GitError, SettingsError, BaselineError) as error:
        raise click.UsageError(str(error)) from None
    if sarif is not None:
        emit(render(done.report, "sarif"), sarif)
    if markdown is not None:
        emit(_markdown(done), markdown)
    if done.report.documents:
        return publish(done.report, output, done.remarks, done.exit_status)
    for remark in (NOTHING, *done.remarks):
        complain(remark)
    return done.exit_status


def _unmatched(
    branch: Branch, plans: tuple[str, ...], catalogs: tuple[str, ...]
) -> tuple[str, ...]:
    """What there is to say of patterns that name no tracked file: a typo is not a green gate."""
    both = ((plans, PLANS), (catalogs, CATALOGS))
    # A repository may well have plans, and no catalogs at the place that is usual.
    own = [patterns for patterns, usual in both if patterns != usual]
    named = [branch.unmatched(patterns) for patterns in own or [(*plans, *catalogs)]]
    said = (
        f"No tracked file, neither here nor at {branch.short_base}, matches "
        f"{' or '.join(printable(each) for some in named for each in some)}"
    )
    if own and any(len(some) == len(own[place]) for place, some in enumerate(named)):
        raise click.UsageError(
            f"{said}, so nothing of it would ever be reviewed; patterns count from the top of the "
            "repository."
        )
    is_told = any(named) if own else len(named[0]) == len(plans) + len(catalogs)
    return (f"{said}.",) if is_told else ()


NOTHING = "No plan and no catalog is changed."


def _markdown(done: Review) -> str:
    if done.report.documents:
        text = render(done.report, "markdown")
    else:
        text = f"### ferrum-verify\n\n{NOTHING}\n"
    return text + "".join(f"\n> {escaped(remark)}\n" for remark in done.remarks)
