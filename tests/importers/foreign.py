"""The plans of other planners in the fixtures, and what they are read into."""

from __future__ import annotations

import gzip
from importlib import import_module
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "fixtures" / "foreign"

_XLA = "xla-cpu.after_optimizations"
FILES: dict[str, tuple[str, tuple[str, ...]]] = {
    "executorch-21490": ("executorch", ("executorch-21490.pte",)),
    "executorch-block": ("executorch", ("executorch-block.pte.gz",)),
    "tvm-20190-026": ("tvm_relax", ("tvm-20190-026.txt",)),
    "tvm-20190-027": ("tvm_relax", ("tvm-20190-027.txt",)),
    "tvm-relax-block": ("tvm_relax", ("tvm-relax-block.txt",)),
    "xla-cpu": (
        "xla",
        (
            f"{_XLA}.txt.gz",
            f"{_XLA}-buffer-assignment.txt",
            f"{_XLA}-buffer-assignment-values.txt.gz",
        ),
    ),
}
"""Each plan's importer and files."""

PLANS = tuple(FILES)


def contents(name: str) -> list[tuple[str, bytes]]:
    """The files of a plan with their bytes, decompressed."""
    return [(each, _read(FOLDER / each)) for each in FILES[name][1]]


def imported(name: str, files: list[tuple[str, bytes]]) -> Any:
    """What the importer of a plan makes of these files."""
    module, _ = FILES[name]
    return import_module(f"ferrum_verify.importers.{module}").imported(files)


def plan(name: str) -> Any:
    """The plan as a buffer plan."""
    return imported(name, contents(name))


def _read(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data
