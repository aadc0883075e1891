"""The plan as a trace for Perfetto: its documented JSON, of trace events.

A node is a microsecond wide, and begins at its place in plan order. Each document is some
processes: its nodes; each pool with a track for each slot, extent and claim of a sequence's own,
and a counter of its live bytes at the largest batch; and the static allocations.
"""

from __future__ import annotations

import json
from itertools import count
from typing import TYPE_CHECKING, Any, TypeAlias

from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import pool_name, printable
from ferrum_verify.report.live_bytes import OF_A_SEQUENCE, limits_of, live_bytes, sizes_at
from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ferrum_verify.documents.memory_plan import DynamicPool, MemoryPlan
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.live_bytes import Sizes
    from ferrum_verify.report.model import DocumentReport, Report

Event: TypeAlias = dict[str, Any]
Slice: TypeAlias = tuple[int, int, str, dict[str, Any]]
"""What a track shows: the first and the last node, a name, and what a click on it tells."""


def render(report: Report, _screen: Screen) -> str:
    """The trace of all documents; those with nodes and a memory plan are drawn."""
    events: list[Event] = []
    told = []
    # Perfetto takes a thread whose number is its process's for the main one.
    threads = count(1_000_000)
    for document in report.documents:
        told.append(_told_of(document))
        subject = document.subject
        if subject is None or subject.memory is None or not subject.nodes:
            continue
        sizes, told[-1]["live bytes at"] = _sizes(subject, subject.memory)
        first = 1 + len({event["pid"] for event in events})
        events += _document(document, subject, subject.memory, sizes, first=first, threads=threads)
    return json.dumps(
        {
            "traceEvents": events,
            "displayTimeUnit": "ns",
            "otherData": {
                "tool": f"ferrum-verify {__version__}",
                "execution": report.terms,
                "unit": "one microsecond for each node, in plan order",
                "documents": told,
            },
        },
        separators=(",", ":"),
    )


def _told_of(document: DocumentReport) -> dict[str, Any]:
    """What the audit found of a document, which has no time at which it could stand."""
    return {
        "source": printable(document.source),
        "verdict": document.verdict,
        "findings": [
            {
                "rule": finding.rule,
                "severity": "undecided" if finding.undecided else finding.severity,
                "message": printable(finding.message),
                "location": printable(finding.location),
                **({} if finding.fix is None else {"fix": printable(finding.fix)}),
            }
            for finding in document.findings
        ],
    }


def _sizes(subject: Subject, memory: MemoryPlan) -> tuple[Sizes | None, str]:
    """The sizes at the largest batch, and which one that is; None where one is not defined."""
    limits = limits_of(subject, memory)
    if limits is None:
        return None, "no batch, as none has sizes"
    try:
        return sizes_at(memory, limits.largest), limits.largest.words
    except SizeError as error:
        return None, printable(f"no batch: the size {error}")


def _document(
    document: DocumentReport,
    subject: Subject,
    memory: MemoryPlan,
    sizes: Sizes | None,
    *,
    first: int,
    threads: Iterator[int],
) -> Iterator[Event]:
    """The processes of one document, numbered from ``first`` on."""
    order = subject.order
    assert order is not None
    source = printable(document.source)
    nodes: list[Slice] = [
        (index, index, node.id, {"position": index, "waits for": sorted(node.dependencies)})
        for index, node in enumerate(order.nodes)
    ]
    yield from _process(first, f"{source}: nodes", {"in plan order": nodes}, threads)
    live = {} if sizes is None else live_bytes(memory, order, subject.kept, sizes)
    for number, pool in enumerate(memory.dynamic_pools, start=first + 1):
        key = pool.compatibility
        name = f"{source}: pool {pool_name(pool.pool_id)} {key.usage} {key.element_type}"
        tracks = _tracks(pool, memory, order, subject.kept, sizes)
        yield from _process(number, name, tracks, threads)
        yield from _counter(number, live.get(pool.pool_id, ()))
    if memory.static_allocations:
        statics: dict[str, list[Slice]] = {
            row.resource_id: [(0, len(nodes) - 1, row.resource_id, {"bytes": str(row.size_bytes)})]
            for row in memory.static_allocations
        }
        number = first + 1 + len(memory.dynamic_pools)
        yield from _process(number, f"{source}: static allocations", statics, threads)


def _tracks(
    pool: DynamicPool,
    memory: MemoryPlan,
    order: HappensBefore,
    kept: frozenset[str],
    sizes: Sizes | None,
) -> dict[str, list[Slice]]:
    """The tracks of a pool by name."""
    end = len(order.nodes) - 1
    tracks: dict[str, list[Slice]] = {}
    for index, slot in enumerate(pool.step_resource_slots):
        tracks[f"slot {index}"] = [
            (users[0], end if name in kept else users[-1], name, _told((name,), sizes))
            for name in slot.resource_ids
            if (users := order.users.get(name))
        ]
    rows: list[Slice] = [
        (place, place, ", ".join(row.resource_ids), _told(row.resource_ids, sizes))
        for row in pool.invocation_liveness
        if (place := order.position.get(row.node_id)) is not None
    ]
    if rows:
        in_turn = pool.invocation_liveness_mode == "total_order_reuse"
        tracks["one extent in turn" if in_turn else "side by side"] = rows
    members = set(pool.resource_ids)
    for descriptor in memory.dynamic_descriptors:
        name = descriptor.base_resource_id
        if name in members and descriptor.lifetime in OF_A_SEQUENCE:
            words = f"each {descriptor.lifetime}'s own: {name}"
            tracks[words] = [(0, end, name, _told((name,), sizes))]
    return tracks


def _told(resources: Iterable[str], sizes: Sizes | None) -> dict[str, Any]:
    """Bytes are texts: a trace's numbers are doubles, which round past 2^53."""
    if sizes is None:
        return {}
    return {"bytes": str(sum(sizes[name] for name in resources))}


def _process(
    pid: int, name: str, tracks: Mapping[str, Sequence[Slice]], threads: Iterator[int]
) -> Iterator[Event]:
    yield _named("process_name", pid, 0, {"name": name})
    yield _named("process_sort_index", pid, 0, {"sort_index": pid})
    for track, slices in tracks.items():
        for level, on_level in enumerate(_levels(slices)):
            thread = next(threads)
            words = f"{track} ({level + 1})" if level else track
            yield _named("thread_name", pid, thread, {"name": printable(words)})
            yield _named("thread_sort_index", pid, thread, {"sort_index": thread})
            for first, last, label, told in on_level:
                yield {
                    "ph": "X",
                    "pid": pid,
                    "tid": thread,
                    "ts": first,
                    "dur": last - first + 1,
                    "name": printable(label),
                    "args": told,
                }


def _named(kind: str, pid: int, tid: int, told: dict[str, Any]) -> Event:
    return {"ph": "M", "pid": pid, "tid": tid, "name": kind, "args": told}


def _levels(slices: Sequence[Slice]) -> list[list[Slice]]:
    """The slices on as few tracks as keep those apart that overlap; at least one track."""
    levels: list[list[Slice]] = [[]]
    for each in sorted(slices, key=lambda each: each[:3]):
        for level in levels:
            if not level or level[-1][1] < each[0]:
                level.append(each)
                break
        else:
            levels.append([each])
    return levels


def _counter(pid: int, live: Sequence[int]) -> Iterator[Event]:
    """A counter's value where it changes, and nothing after the last node."""
    before = None
    for index, size in enumerate((*live, 0) if live else ()):
        if size != before:
            yield {
                "ph": "C",
                "pid": pid,
                "ts": index,
                "name": "live",
                "args": {"bytes": size},
            }
        before = size
