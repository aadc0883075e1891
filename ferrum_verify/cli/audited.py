"""The documents that ``audit`` is given: read, and put together with their sources."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import plural, printable
from ferrum_verify.reading.joining import completed, is_source, read_parts
from ferrum_verify.reading.load import read_documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferrum_verify.reading.joining import Part
    from ferrum_verify.reading.load import LoadedDocument


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


def completed_documents(
    paths: tuple[str, ...], sources: list[Part], alone: list[str]
) -> Iterator[LoadedDocument]:
    """The documents of all files, their plans with the sources; ``alone`` are those without one."""
    for path in paths:
        for loaded in read_documents(path, folders=True):
            whole = completed(loaded, sources)
            if sources and whole is loaded:
                alone.append(loaded.source)
            yield whole


def without_plan(alone: list[str]) -> Iterator[str]:
    """What there is to say of documents that hold no plan to audit with the sources."""
    if alone:
        rest = f" and {plural(len(alone) - 1, 'more document')}" if alone[1:] else ""
        yield f"Audited without what --with names, for want of a plan: {alone[0]}{rest}."


@contextmanager
def progress(paths: tuple[str, ...]) -> Iterator[Callable[[], None]]:
    """A progress bar over many documents, on a terminal that is not a pipe or a log."""
    files_of_lines = any(
        path.lower().endswith((".jsonl", ".jsonl.gz")) or os.path.isdir(path) for path in paths
    )
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
