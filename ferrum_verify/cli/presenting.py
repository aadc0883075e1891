"""Options of how a report is written, the same for every command that makes one."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cli.output import complain, emit, screen_of
from ferrum_verify.report.counts import statistics
from ferrum_verify.report.formats import FORMATS, render

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ferrum_verify.report.model import Report

USAGE_ERROR = 2
_PRESENTATION = "ferrum_verify.presentation"
FORMATS_EPILOG = "Formats: " + "; ".join(
    f"{name} ({each.summary})" for name, each in FORMATS.items()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Presentation:
    """How a report is written."""

    format: str = "text"
    show_all: bool = False
    tables: bool = False
    quiet: bool = False
    statistics: bool = False
    exit_zero: bool = False


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    how = replace(_presentation(context), **{str(parameter.name): value})
    if how.statistics and how.format != "text":
        raise click.UsageError("--statistics counts in text: it does not go with --format.")
    context.meta[_PRESENTATION] = how


def _presentation(context: click.Context) -> Presentation:
    presentation: Presentation = context.meta.get(_PRESENTATION, Presentation())
    return presentation


def shows_documents() -> bool:
    """Whether the format that is asked for shows more of a document than the report says."""
    return FORMATS[_presentation(click.get_current_context()).format].shows_documents


_OPTIONS: tuple[Callable[[Any], Any], ...] = (
    click.option(
        "--format",
        type=click.Choice(list(FORMATS)),
        default="text",
        show_default=True,
        expose_value=False,
        callback=_keep,
        help="What the report is written as.",
    ),
    click.option(
        "--all",
        "show_all",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="Show every finding in text and concise, those too that follow from another.",
    ),
    click.option(
        "--tables",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="Show pools, headroom and slots in text even where a plan is not verified.",
    ),
    click.option(
        "--statistics",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="Show how many findings each rule has, instead of the report.",
    ),
    click.option(
        "--quiet",
        "-q",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="Print nothing where the exit status is 0, and no remarks.",
    ),
    click.option(
        "--exit-zero",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="Exit with 0 whatever is found; with 2 where something cannot be read.",
    ),
)


def presentation_options(command: Any) -> Any:
    """Give a command the options of how its report is written, in this order of its help."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def publish(report: Report, output: Path | None, remarks: Sequence[str], status: int) -> int:
    """Write a report as the options of the running command ask for it; the exit status then.

    ``status`` is what it would be without them, and ``remarks`` are what people are told beside
    the report.
    """
    how = _presentation(click.get_current_context())
    screen = replace(screen_of(sys.stdout, output), show_all=how.show_all, tables=how.tables)
    if output is not None or not how.quiet or status:
        text = statistics(report) if how.statistics else render(report, how.format, screen)
        emit(text, output)
    for remark in () if how.quiet else remarks:
        complain(remark)
    return 0 if how.exit_zero and status != USAGE_ERROR else status
