"""Streams: a schedule that launches a plan's nodes on streams, with the events that it needs.

Nodes are launched in plan order. A stream keeps its own nodes in order, so a dependency asks for
an event only where no chain of streams and other dependencies leads to it. What is left are the
edges between streams of the transitive reduction: with them the order is the least that keeps
every dependency, and none of them can be left out, as it then is the one that is lost.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.primitives import IDENTITY_PATTERN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.documents.node import PlanNode

_IDENTITY = re.compile(IDENTITY_PATTERN)
Assignment = tuple[tuple[str, str], ...]
"""Streams and the patterns of the nodes that run on them; of several the first one counts."""


def parse_assignment(text: str) -> Assignment:
    """Read ``copy=node/*/load,compute=*``. Raises ValueError with a sentence."""
    found = []
    for part in text.split(","):
        stream, equals, pattern = (each.strip() for each in part.partition("="))
        if not (stream and equals and pattern):
            raise ValueError(f"{part!r} is no STREAM=PATTERN.")
        if not _IDENTITY.fullmatch(stream):
            raise ValueError(
                f"{stream!r} is no name of a stream: it has 1 to 160 letters, digits and . _ - : / "
                "of ASCII."
            )
        found.append((stream, pattern))
    return tuple(found)


def stream_of(node: str, assignment: Assignment) -> str | None:
    """The stream of a node; None where no pattern matches it."""
    return next((stream for stream, pattern in assignment if fnmatchcase(node, pattern)), None)


def events_between(
    nodes: Sequence[FragmentNode | PlanNode], streams: Sequence[str]
) -> list[list[int]]:
    """For each node those on other streams that its stream has to wait for, by position."""
    position = {node.id: index for index, node in enumerate(nodes)}
    last: dict[str, int] = {}
    before: list[int] = []
    waits: list[list[int]] = []
    for index, node in enumerate(nodes):
        earlier = {position.get(name, index) for name in node.dependencies}
        earlier = {each for each in earlier if each < index}
        if streams[index] in last:
            earlier.add(last[streams[index]])
        covered = reached = 0
        for each in earlier:
            covered |= before[each]
            reached |= before[each] | 1 << each
        before.append(reached)
        last[streams[index]] = index
        waits.append(
            sorted(
                each
                for each in earlier
                if streams[each] != streams[index] and not covered >> each & 1
            )
        )
    return waits


def schedule_on(
    nodes: Sequence[FragmentNode | PlanNode], streams: Sequence[str], in_flight: int | None = None
) -> dict[str, Any]:
    """The schedule document of nodes on streams, one stream for each node."""
    waits = events_between(nodes, streams)
    awaited = sorted({each for needed in waits for each in needed})
    events = {each: f"event/{number}" for number, each in enumerate(awaited)}
    host: list[dict[str, Any]] = []
    for index, node in enumerate(nodes):
        host += [{"wait": events[each], "stream": streams[index]} for each in waits[index]]
        host.append({"launch": node.id, "stream": streams[index]})
        if index in events:
            host.append({"record": events[index], "stream": streams[index]})
    document: dict[str, Any] = {"schema": "ferrum-verify/schedule/v1", "host": host}
    if in_flight is not None:
        document["steps"] = {"in_flight": in_flight}
    return document
