"""The documents of a folder: every file whose name says that it may be one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = (".json", ".json.gz", ".jsonl", ".jsonl.gz")


def files_under(folder: Path) -> Iterator[Path]:
    """The files of documents in a folder and those below it, in the order of their names.

    What begins with a dot is passed over, and so are folders that may not be read.
    """
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            if name.lower().endswith(NAMES) and not name.startswith("."):
                yield Path(place, name)
