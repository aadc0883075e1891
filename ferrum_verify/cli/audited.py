"""The files that ``audit`` is given, and what is told of them beside the report."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import plural, printable
from ferrum_verify.reading.folders import files_under
from ferrum_verify.reading.joining import is_source, read_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ferrum_verify.reading.joining import Part

_SHOWN_OF_A_NAME = 24
"""Characters of a file's name beside the progress bar, on the narrowest terminals too."""


def files_in(paths: Sequence[str]) -> tuple[list[str], dict[str, list[str]]]:
    """The files of all arguments in their order, and those that each folder among them holds.

    A folder that holds none stands for itself.
    """
    files: list[str] = []
    found: dict[str, list[str]] = {}
    for path in paths:
        if os.path.isdir(path):
            found[path] = [str(each) for each in files_under(Path(path))]
        files += found.get(path) or [path]
    return files, found


def sources_of(paths: tuple[str, ...]) -> list[Part]:
    """What --with names, for the plans that are audited."""
    try:
        parts = read_parts(paths)
    except DocumentError as error:
        raise click.ClickException(printable(str(error))) from None
    sources = [part for part in parts if is_source(part.name)]
    if paths and not sources:
        raise click.UsageError("What --with names holds no program, catalog or policy.")
    return sources


def without_plan(alone: list[str]) -> Iterator[str]:
    """What there is to say of documents that hold no plan to audit with the sources."""
    if alone:
        rest = f" and {plural(len(alone) - 1, 'more document')}" if alone[1:] else ""
        yield f"Audited without what --with names, for want of a plan: {alone[0]}{rest}."


def beside_plans(schedules: list[str], used: str | None) -> Iterator[str]:
    """What there is to say of schedules in folders, apart from the one that plans are judged by."""
    others = [each for each in sorted(schedules) if used is None or not _is_same(each, used)]
    if others:
        rest = f" and {plural(len(others) - 1, 'more schedule')}" if others[1:] else ""
        yield (
            f"Not audited, as a schedule is no plan: {printable(others[0])}{rest}. --schedule "
            "judges plans under one."
        )


def _is_same(path: str, other: str) -> bool:
    return os.path.exists(path) and os.path.exists(other) and os.path.samefile(path, other)


@contextmanager
def progress(paths: Sequence[str]) -> Iterator[Callable[[str], None]]:
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
