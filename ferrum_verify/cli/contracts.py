"""``contracts``: a catalog's declarations, and the gate before a change of them is merged."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cli.output import OUTPUT_OPTION
from ferrum_verify.cli.presenting import FORMATS_EPILOG, presentation_options, publish
from ferrum_verify.cli.proof_limits import (
    MEMORY_LIMIT_OPTION,
    OBLIGATION_LIMIT_OPTION,
    PROOF_LIMIT_OPTION,
    limits_in_force,
)
from ferrum_verify.cli.settings import (
    BASELINE_OPTION,
    CONFIG_OPTION,
    IGNORE_OPTION,
    SELECT_OPTION,
    WRITE_BASELINE_OPTION,
    settle,
)
from ferrum_verify.contracts import check_contracts, compare_contracts
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from ferrum_verify.integrations.baseline import Baseline
    from ferrum_verify.report.model import Report

_PLANS: Callable[[Any], Any] = click.option(
    "--plan",
    "plans",
    metavar="DOC",
    multiple=True,
    help="A plan, or better a bundle with its program, or a folder of them. May be given several "
    "times.",
)
_PROVE: Callable[[Any], Any] = click.option(
    "--prove/--no-prove",
    default=True,
    show_default=True,
    help="Put what is said of all counts and shapes to a solver too, or rely on arithmetic.",
)
_COMMON = (
    _PLANS,
    _PROVE,
    OBLIGATION_LIMIT_OPTION,
    PROOF_LIMIT_OPTION,
    MEMORY_LIMIT_OPTION,
    presentation_options,
    CONFIG_OPTION,
    SELECT_OPTION,
    IGNORE_OPTION,
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


@contracts.command(short_help="Check a catalog's declarations.", epilog=FORMATS_EPILOG)
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
    memory_limit: int,
    baseline: Baseline | None,
    write_baseline: Path | None,
    output: Path | None,
) -> int:
    """Check the declarations of CATALOG on their own, and against what else is given.

    A catalog in a bundle is held to the bundle's program, policy and workspace estimates.
    """
    limits = limits_in_force(obligation_limit, proof_limit, memory_limit)
    with _one_sentence():
        report = check_contracts(catalog, program, policy, plans, prove=prove, limits=limits)
    return _publish(report, output, baseline, write_baseline, proved=prove)


@contracts.command(short_help="Compare two catalogs: what breaks?", epilog=FORMATS_EPILOG)
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
    memory_limit: int,
    baseline: Baseline | None,
    write_baseline: Path | None,
    output: Path | None,
) -> int:
    """Compare catalog BASE with catalog HEAD, and re-judge plans of BASE under HEAD.

    Breaking changes are errors; compatible ones and mere changes of identity are notes. A
    --plan that was compiled under HEAD is taken for what a plan of BASE became, so that the
    memory of the two can be compared.
    """
    limits = limits_in_force(obligation_limit, proof_limit, memory_limit)
    with _one_sentence():
        report = compare_contracts(base, head, plans, prove=prove, limits=limits)
    return _publish(report, output, baseline, write_baseline, proved=prove)


def _publish(
    report: Report,
    output: Path | None,
    baseline: Baseline | None,
    write_baseline: Path | None,
    *,
    proved: bool,
) -> int:
    settled = settle(report, baseline, write_baseline, proved=proved)
    return publish(settled.report, output, settled.remarks, settled.status)


@contextmanager
def _one_sentence() -> Iterator[None]:
    """Say in one sentence why the documents cannot be judged; nothing is written then."""
    try:
        yield
    except DocumentError as error:
        raise click.ClickException(printable(str(error))) from None
