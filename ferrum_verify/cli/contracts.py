"""``contracts``: a catalog's declarations, and the gate before a change of them is merged."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cli.output import OUTPUT_OPTION, complain, emit, screen_of
from ferrum_verify.cli.proof_limits import (
    OBLIGATION_LIMIT_OPTION,
    PROOF_LIMIT_OPTION,
    limits_in_force,
)
from ferrum_verify.cli.settings import (
    BASELINE_OPTION,
    CONFIG_OPTION,
    WRITE_BASELINE_OPTION,
    settle,
)
from ferrum_verify.contracts import check_contracts, compare_contracts
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import printable
from ferrum_verify.report.formats import FORMATS, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferrum_verify.integrations.baseline import Baseline
    from ferrum_verify.report.model import Report

_FORMATS = "Formats: " + "; ".join(f"{name} ({each.summary})" for name, each in FORMATS.items())

_PLANS: Callable[[Any], Any] = click.option(
    "--plan",
    "plans",
    metavar="DOC",
    multiple=True,
    help="A plan, or better a bundle with its program. May be given several times.",
)
_PROVE: Callable[[Any], Any] = click.option(
    "--prove/--no-prove",
    default=True,
    show_default=True,
    help="Put what is said of all counts and shapes to a solver too, or rely on arithmetic.",
)
_FORMAT: Callable[[Any], Any] = click.option(
    "--format",
    "format_name",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="What the report is written as.",
)
_COMMON = (
    _PLANS,
    _PROVE,
    OBLIGATION_LIMIT_OPTION,
    PROOF_LIMIT_OPTION,
    _FORMAT,
    CONFIG_OPTION,
    BASELINE_OPTION,
    WRITE_BASELINE_OPTION,
    OUTPUT_OPTION,
)


def _common_options(command: Any) -> Any:
    """Give a command the options that both have, in this order of its help."""
    for option in reversed(_COMMON):
        command = option(command)
    return command


@click.group
def contracts() -> None:
    """Check what providers declare, and whether a change of it breaks plans."""


@contracts.command(short_help="Check a catalog's declarations.", epilog=_FORMATS)
@click.argument("catalog")
@click.option("--program", metavar="DOC", help="Hold the catalog to this program.")
@click.option("--policy", metavar="DOC", help="Hold the catalog to this runtime policy.")
@_common_options
def check(
    *,
    catalog: str,
    program: str | None,
    policy: str | None,
    plans: tuple[str, ...],
    prove: bool,
    obligation_limit: float,
    proof_limit: float,
    format_name: str,
    baseline: Baseline | None,
    write_baseline: Path | None,
    output: Path | None,
) -> int:
    """Check the declarations of CATALOG on their own, and against what else is given.

    A catalog in a bundle is held to the bundle's program, policy and workspace estimates.
    """
    limits = limits_in_force(obligation_limit, proof_limit)
    with _one_sentence():
        report = check_contracts(catalog, program, policy, plans, prove=prove, limits=limits)
    return _publish(report, format_name, output, baseline, write_baseline, proved=prove)


@contracts.command(short_help="Compare two catalogs: what breaks?", epilog=_FORMATS)
@click.argument("base")
@click.argument("head")
@_common_options
def compare(
    *,
    base: str,
    head: str,
    plans: tuple[str, ...],
    prove: bool,
    obligation_limit: float,
    proof_limit: float,
    format_name: str,
    baseline: Baseline | None,
    write_baseline: Path | None,
    output: Path | None,
) -> int:
    """Compare catalog BASE with catalog HEAD, and re-judge plans of BASE under HEAD.

    Breaking changes are errors; compatible ones and mere changes of identity are notes. A
    --plan that was compiled under HEAD is taken for what a plan of BASE became, so that the
    memory of the two can be compared.
    """
    limits = limits_in_force(obligation_limit, proof_limit)
    with _one_sentence():
        report = compare_contracts(base, head, plans, prove=prove, limits=limits)
    return _publish(report, format_name, output, baseline, write_baseline, proved=prove)


def _publish(
    report: Report,
    format_name: str,
    output: Path | None,
    baseline: Baseline | None,
    write_baseline: Path | None,
    *,
    proved: bool,
) -> int:
    settled = settle(report, baseline, write_baseline, proved=proved)
    emit(render(settled.report, format_name, screen_of(sys.stdout, output)), output)
    for remark in settled.remarks:
        complain(remark)
    return settled.status


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Say in one sentence why the documents cannot be judged; nothing is written then."""
    try:
        yield
    except DocumentError as error:
        raise click.ClickException(printable(str(error))) from None
