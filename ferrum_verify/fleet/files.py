"""Files of a run: in which order they are taken up, and which part of them a machine has."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def shard_of(paths: Sequence[str], index: int, count: int) -> list[str]:
    """The files of shard ``index`` of ``count``, from 1 on.

    Shards are runs of files that follow each other, of about as many bytes each, so that reports
    of all shards one after the other have the order of a whole run.
    """
    # An empty file still has to be opened.
    ends = [*itertools.accumulate(1 + size_of(path) for path in paths)]
    whole = ends[-1] if ends else 0
    return [
        path
        for path, end, start in zip(paths, ends, (0, *ends), strict=False)
        if (start + end) * count // (2 * whole) == index - 1
    ]


def largest_first(paths: Sequence[str]) -> list[int]:
    """The places of files, the largest first: the last ones to end are then the short ones."""
    sizes = [size_of(path) for path in paths]
    return sorted(range(len(paths)), key=lambda place: -sizes[place])


def size_of(path: str) -> int:
    """The bytes of a file, 0 where that cannot be told."""
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0
