"""Shards: parts of one run, for machines that know nothing of each other."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from ferrum_verify.fleet.jobs import size_of

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
