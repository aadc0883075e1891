"""``import``: a plan of another planner as a buffer plan, to be audited."""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cli.output import OUTPUT_OPTION, emit
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import printable
from ferrum_verify.importers.unreadable import ForeignPlanError
from ferrum_verify.reading.load import read_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

MAXIMUM_FOREIGN_BYTES = 1 << 28
"""Bytes of one file, decompressed. Of an ExecuTorch program what follows them are weights."""

_FORMATS = {"executorch": "executorch", "tvm-relax": "tvm_relax", "xla": "xla"}
_DUMPED = re.compile(
    r"(.*after_optimizations)(-buffer-assignment|-buffer-assignment-values)?\.txt(\.gz)?"
)


@click.command("import")
@click.argument("form", metavar="FORMAT", type=click.Choice(list(_FORMATS)))
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@OUTPUT_OPTION
def importing(*, form: str, files: tuple[str, ...], output: Path | None) -> int:
    """Write the memory plan of another planner as a buffer plan.

    FORMAT is executorch (a .pte file), tvm-relax (the text of a planned module) or xla (a dump
    folder of one module, or its texts: the module after optimizations, and its buffer
    assignment with values). What is not understood stands in the plan as a note.
    """
    importer = import_module(f"ferrum_verify.importers.{_FORMATS[form]}")
    named = _dumped(Path(files[0])) if _is_folder(files) and form == "xla" else list(files)
    most, whole = MAXIMUM_FOREIGN_BYTES, form != "executorch"
    try:
        plan = importer.imported([(each, read_bytes(each, most, whole=whole)) for each in named])
    except (DocumentError, ForeignPlanError) as error:
        where = printable(named[0]) if len(named) == 1 else f"{printable(named[0])} and the others"
        raise click.ClickException(f"{where} cannot be imported. {error}") from None
    emit(text_of(plan), output)
    return 0


def text_of(plan: dict[str, Any]) -> str:
    """A buffer plan as JSON, a buffer or node a line."""
    parts = []
    for key, value in plan.items():
        if isinstance(value, list):
            lines = ",\n".join(f"  {json.dumps(each)}" for each in value)
            parts.append(f"{json.dumps(key)}: [\n{lines}\n]")
        else:
            parts.append(f"{json.dumps(key)}: {json.dumps(value)}")
    return "{" + ",\n ".join(parts) + "}\n"


def _is_folder(files: Sequence[str]) -> bool:
    try:
        return len(files) == 1 and Path(files[0]).is_dir()
    except (OSError, ValueError):
        return False


def _dumped(folder: Path) -> list[str]:
    """The texts of the one module that a dump folder has whole."""
    modules: dict[str, list[str]] = {}
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        said = f"cannot be read: {error.strerror}"
        raise click.ClickException(f"The folder {printable(str(folder))} {said}.") from None
    for path in paths:
        if match := _DUMPED.fullmatch(path.name):
            modules.setdefault(match[1], []).append(str(path))
    whole = {name: texts for name, texts in modules.items() if len(texts) > 1}
    if len(whole) == 1:
        return next(iter(whole.values()))
    names = ", ".join(map(printable, list(whole)[:5]))
    said = (
        f"has several modules ({names}, ...); name the texts of one"
        if whole
        else ("has no *after_optimizations.txt with its buffer assignment beside it")
    )
    raise click.ClickException(f"The folder {printable(str(folder))} {said}.")
