"""The plans of other planners in the fixtures, and what they are read into."""

from __future__ import annotations

import gzip
import json
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ferrum_verify.importers.unreadable import ForeignPlanError

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
FIXTURES = ROOT / "tests" / "fixtures" / "foreign"

_XLA = EXAMPLES / "xla" / "xla-cpu.after_optimizations"
FILES: dict[str, tuple[str, tuple[Path, ...]]] = {
    "executorch-21490": ("executorch", (EXAMPLES / "executorch-21490.pte",)),
    "executorch-block": ("executorch", (FIXTURES / "executorch-block.pte.gz",)),
    "tvm-20190-026": ("tvm_relax", (EXAMPLES / "tvm-20190.txt",)),
    "tvm-20190-027": ("tvm_relax", (FIXTURES / "tvm-20190-027.txt",)),
    "tvm-relax-block": ("tvm_relax", (FIXTURES / "tvm-relax-block.txt",)),
    "xla-cpu": (
        "xla",
        (
            Path(f"{_XLA}.txt.gz"),
            Path(f"{_XLA}-buffer-assignment.txt"),
            Path(f"{_XLA}-buffer-assignment-values.txt.gz"),
        ),
    ),
}
"""Each plan's importer and files."""

PLANS = tuple(FILES)


def contents(name: str) -> list[tuple[str, bytes]]:
    """The files of a plan with their bytes, decompressed."""
    return [(each.name, read(each)) for each in FILES[name][1]]


def imported(name: str, files: list[tuple[str, bytes]]) -> Any:
    """What the importer of a plan makes of these files."""
    module, _ = FILES[name]
    return import_module(f"ferrum_verify.importers.{module}").imported(files)


def plan(name: str) -> Any:
    """The plan as a buffer plan."""
    return imported(name, contents(name))


def refusal(importer: Callable[[list[tuple[str, bytes]]], Any], files: Any) -> str | None:
    """What an importer says where it refuses the files; None where it reads them."""
    try:
        json.dumps(importer(files))
    except ForeignPlanError as error:
        return str(error)
    return None


def read(path: Path) -> bytes:
    """The bytes of a fixture, decompressed."""
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data
