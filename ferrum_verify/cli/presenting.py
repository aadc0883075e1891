"""Options of how a report is written, the same for every command that makes one."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cli.output import emit, screen_of
from ferrum_verify.report.formats import FORMATS, render

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferrum_verify.report.model import Report

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


def _keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    context.meta[_PRESENTATION] = replace(_presentation(context), **{str(parameter.name): value})


def _presentation(context: click.Context) -> Presentation:
    presentation: Presentation = context.meta.get(_PRESENTATION, Presentation())
    return presentation


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
        help="Show every finding at length in text, those too that follow from another.",
    ),
    click.option(
        "--tables",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="Show pools, headroom and slots in text even where a plan is not verified.",
    ),
)


def presentation_options(command: Any) -> Any:
    """Give a command the options of how its report is written, in this order of its help."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def publish(report: Report, output: Path | None) -> None:
    """Write a report as the options of the running command ask for it."""
    how = _presentation(click.get_current_context())
    screen = replace(screen_of(sys.stdout, output), show_all=how.show_all, tables=how.tables)
    emit(render(report, how.format, screen), output)
