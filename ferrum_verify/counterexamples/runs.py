"""Runs: whether a list of nodes with start and end is one that an execution model admits.

Read from the raw JSON, like everything in this folder.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrum_verify.counterexamples.document import Document
    from ferrum_verify.counterexamples.kinds import Execution

    Times = Mapping[str, tuple[int, int]]
    """Start and end of each node of a run, in ticks."""


def run_of(
    document: Document, listed: Sequence[Mapping[str, Any]], execution: Execution
) -> Times | None:
    """When each listed node starts and ends; None where the model admits no such run.

    A list is closed under dependencies. ``in-order`` and ``fenced`` runs hold every node up to
    the last one listed, since a node that is left out may be what keeps two others apart.
    """
    times = {run["id"]: (run["start"], run["end"]) for run in listed}
    if len(times) != len(listed) or not all(
        type(start) is int and type(end) is int and start < end for start, end in times.values()
    ):
        return None
    names, dependencies = document.names, document.dependencies
    for name, (start, _) in times.items():
        for dependency in dependencies[name]:
            if dependency not in times or times[dependency][1] > start:
                return None
    if execution == "concurrent":
        return times
    if set(names[: len(times)]) != times.keys():
        return None
    order = names[: len(times)]
    if execution == "in-order":
        pairs = itertools.pairwise(order)
        return times if all(times[a][1] <= times[b][0] for a, b in pairs) else None
    return times if _is_fenced(order, times, dependencies) else None


def _is_fenced(
    order: Sequence[str], times: Times, dependencies: Mapping[str, Sequence[str]]
) -> bool:
    """Nodes start in plan order, and after all nodes up to their latest dependency have ended."""
    position = {name: index for index, name in enumerate(order)}
    ended: list[int] = []
    latest_end, latest_start = 0, None
    for name in order:
        start, end = times[name]
        if latest_start is not None and start < latest_start:
            return False
        barrier = max((position[each] for each in dependencies[name]), default=-1)
        if barrier >= 0 and start < ended[barrier]:
            return False
        latest_start, latest_end = start, end if latest_start is None else max(latest_end, end)
        ended.append(latest_end)
    return True
