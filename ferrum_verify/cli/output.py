"""Where output goes: standard output, or a file that is never seen half-written."""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from ferrum_verify.report.formats import Run, Screen

if TYPE_CHECKING:
    from collections.abc import Callable

OUTPUT_OPTION: Callable[[Any], Any] = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(),
    callback=lambda _context, _parameter, value: checked_target(value),
    help="Write to FILE instead of standard output.",
)


def checked_target(name: str | None) -> Path | None:
    """The output file, after a look whether it could be written at all; ``-`` is no file."""
    if name is None or name == "-":
        return None
    if not name or "\0" in name:
        raise click.UsageError("The output path is empty or holds a null byte.")
    path = Path(os.path.realpath(name))
    try:
        path.lstat()
    except FileNotFoundError:
        pass
    except OSError as error:
        raise click.UsageError(f"The output cannot have that name: {error.strerror}.") from None
    if path.is_dir():
        raise click.UsageError(f"The output {name} is a directory.")
    if not path.parent.is_dir():
        raise click.UsageError(f"The output {name} lies in a directory that does not exist.")
    held = path if path.exists() and not path.is_file() else path.parent
    if not os.access(held, os.W_OK):
        raise click.UsageError(f"The output {name} may not be written.")
    return path


def emit(text: str, target: Path | None) -> None:
    """Write the text to the file, or to standard output where there is none."""
    try:
        if target is None:
            if sys.stdout is None:  # closed before this process began
                raise OSError(errno.EBADF, "it is closed")
            _write_stream(text, sys.stdout)
        else:
            _write_file(text, target)
    except OSError as error:
        where = target or "the standard output"
        raise click.ClickException(
            f"The output cannot be written to {where}: {error.strerror or error}."
        ) from None


def complain(text: str) -> None:
    """Write a line to standard error; there is nobody to tell if that fails."""
    try:
        _write_stream(text if text.endswith("\n") else f"{text}\n", sys.stderr)
    except OSError:
        return


def screen_of(stream: TextIO | None, target: Path | None = None) -> Screen:
    """How text on the stream is shown: colour on a terminal or where forced, none in a file."""
    width = max(40, min(shutil.get_terminal_size().columns, 120))
    context = click.get_current_context(silent=True)
    command = None if context is None else context.obj
    run = Run(command, datetime.now(UTC)) if isinstance(command, str) else None
    if target is not None or stream is None:
        return Screen(width=width, run=run)
    forced = os.environ.get("FORCE_COLOR", "") not in ("", "0")
    able = forced or (stream.isatty() and os.environ.get("TERM") != "dumb")
    color = able and not os.environ.get("NO_COLOR")
    return Screen(color=color, width=width, encoding=stream.encoding or "utf-8", run=run)


def _write_stream(text: str, stream: TextIO | None) -> None:
    if stream is None:
        return
    # A name may hold characters that the terminal's encoding has no bytes for.
    encoding = stream.encoding or "utf-8"
    data = text.encode(encoding, "backslashreplace")
    try:
        stream.flush()
        stream.buffer.write(data)
        stream.buffer.flush()
    except BrokenPipeError:
        _silence(stream)
    except OSError:
        _silence(stream)
        raise


def _silence(stream: TextIO) -> None:
    # Python flushes once more when it exits, and would complain then.
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _write_file(text: str, path: Path) -> None:
    data = text.encode("utf-8", "backslashreplace")
    if path.exists() and not path.is_file():
        path.write_bytes(data)  # a device or a pipe cannot be replaced
        return
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask()
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            os.fchmod(stream.fileno(), mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
