"""Doing something again whenever a file changes."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ferrum_verify.cli import INTERRUPTED
from ferrum_verify.cli.output import complain
from ferrum_verify.reading.folders import files_under

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_SECONDS = 0.5


def watched(paths: Sequence[str], run: Callable[[], int]) -> int:
    """Run at once, and again whenever a file or one in a folder changes; ends with Ctrl-C.

    Returns the status of the last run that came to its end.
    """
    status = 0
    try:
        while True:
            before = _stamps(paths)
            try:
                status = run()
            except click.ClickException as error:  # a file that is half written, or gone
                complain(f"Error: {error.format_message()}")
                status = error.exit_code
            if status == INTERRUPTED:
                return status
            complain("Waiting for a file to change; Ctrl-C ends it.")
            while _stamps(paths) == before:
                time.sleep(_SECONDS)
    except KeyboardInterrupt:
        return status


def _stamps(paths: Sequence[str]) -> dict[Path, tuple[int, int]]:
    """When each file was last written, and its size; a file that is gone is left out."""
    stamps = {}
    for name in paths:
        for path in files_under(Path(name)) if os.path.isdir(name) else (Path(name),):
            try:
                state = path.stat()
            except OSError:
                continue
            stamps[path] = (state.st_mtime_ns, state.st_size)
    return stamps
