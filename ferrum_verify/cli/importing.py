"""``import``: a plan of another planner as a buffer plan, to be audited."""

from __future__ import annotations

import json
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ferrum_verify.cli.output import OUTPUT_OPTION, complain, emit
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import printable
from ferrum_verify.importers.unreadable import ForeignPlanError
from ferrum_verify.reading.load import read_bytes
from ferrum_verify.report.locations import file_name

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

    All three plan for instructions that run one after the other: audit what is written with
    --execution in-order.
    """
    importer = import_module(f"ferrum_verify.importers.{_FORMATS[form]}")
    named = _dumped(files) if form == "xla" else list(files)
    most, whole = MAXIMUM_FOREIGN_BYTES, form != "executorch"
    try:
        plan = importer.imported([(each, read_bytes(each, most, whole=whole)) for each in named])
    except (DocumentError, ForeignPlanError) as error:
        where = printable(named[0]) if len(named) == 1 else f"{printable(named[0])} and the others"
        raise click.ClickException(f"{where} cannot be imported. {error}") from None
    emit(text_of(plan), output)
    written = "-" if output is None else printable(shlex.quote(file_name(output)))
    complain(
        "It was planned for instructions that run one after the other: audit it with "
        f"`ferrum-verify audit {written} --execution in-order`."
    )
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


def _dumped(files: Sequence[str]) -> list[str]:
    """The texts that are wanted among those that XLA dumps: of one module, in a folder or named."""
    listed = _listed(Path(files[0])) if len(files) == 1 else None
    modules: dict[str, list[str]] = {}
    for name in files if listed is None else listed:
        if match := _DUMPED.fullmatch(Path(name).name):
            modules.setdefault(match[1], []).append(name)
    whole = {name: texts for name, texts in modules.items() if len(texts) > 1}
    if len(whole) == 1:
        return next(iter(whole.values()))
    if listed is None and not whole:
        return list(files)
    names = ", ".join(map(printable, list(whole)[:5])) + (", ..." if len(whole) > 5 else "")
    said = "no *after_optimizations.txt with its buffer assignment beside it"
    if whole:
        said = f"several modules ({names}); name the texts of one, such as {list(whole)[-1]}*"
    raise click.ClickException(f"{printable(files[0])} has {said}.")


def _listed(folder: Path) -> list[str] | None:
    """The paths in a folder; None where it is none."""
    try:
        return sorted(map(str, folder.iterdir()))
    except (OSError, ValueError):
        return None  # where anything is wrong with it, reading it says so
