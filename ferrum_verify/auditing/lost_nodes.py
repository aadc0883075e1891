"""Nodes that are named and are not there, put back as far as anything is known of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.judged import Edited
from ferrum_verify.auditing.lost_values import (
    bindings_again,
    bindings_alone,
    in_place,
    own_workspaces,
    resources_of,
    storage_of,
    unused_values,
)
from ferrum_verify.documents.pointer import edited, value_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.auditing.judged import Judged
    from ferrum_verify.documents.program import ProgramNode
    from ferrum_verify.reading.document import Subject


_NAMELESS = "node/lost"


def with_nameless_node(judged: Judged) -> Edited | None:
    """The document with one more node, which nothing names: it writes what nobody writes."""
    return with_lost_nodes(judged, nameless=True)


MOST_LOST = 20
"""Nodes that are put back at once, at most: each is held against all others."""


def with_lost_nodes(judged: Judged, told: str = "", *, nameless: bool = False) -> Edited | None:
    """The document with the nodes that it names, or its program, and that it lacks.

    Where ``told`` names some of them, in backticks, it is those alone.

    Each is like another node of its operation, waits for the writers of what it reads, and stands
    where the program or the checkpoint layout has it, else before the first node that waits for it.
    """
    subject, document = judged.subject, judged.document
    order = subject.order
    if order is None or not order.nodes:
        return None
    known = {node.id for node in order.nodes}
    program = program_nodes(subject)
    stated = node_order(subject)
    named = (*stated, *(name for node in order.nodes for name in node.dependencies))
    lost = [name for name in dict.fromkeys((*named, *_owners(subject))) if name not in known]
    if nameless and not lost and _NAMELESS not in known:
        lost = [_NAMELESS]
    lost = [name for name in lost if f"`{name}`" in told] or lost
    if not 0 < len(lost) <= MOST_LOST:
        return None
    names = [node.id for node in order.nodes]
    wire = list(value_at(document, subject.places.nodes))
    inserted: list[int] = []
    for name in lost:
        again = _again(subject, name, program.get(name), wire, alone=len(lost) == 1)
        if name == _NAMELESS and not _values(again, "output"):
            return None  # nothing but a number says that a node is missing
        place = _place(again, names, wire, stated)
        _awaited(again, wire, before=names[:place])
        wire.insert(place, again)
        names.insert(place, name)
        inserted = [each + (each >= place) for each in inserted] + [place]
    at = subject.places.nodes

    def moved_back(location: str) -> str:
        found = re.fullmatch(rf"{re.escape(at)}/(\d+)(/.*)?", location)
        if found is None:
            return location
        index = int(found[1])
        if index in inserted:
            return f"{at}/-/{found[1]}{found[2] or ''}"
        before = sum(place < index for place in inserted)
        return f"{at}/{index - before}{found[2] or ''}"

    return Edited(edited(document, at, lambda _: wire), moved_back)


def program_nodes(subject: Subject) -> dict[str, ProgramNode]:
    """The nodes of the program by their ids; none without a program."""
    if subject.program is None:
        return {}
    return {node.id: node for block in subject.program.blocks for node in block.nodes}


def _place(again: dict[str, Any], names: list[str], nodes: list[Any], stated: list[str]) -> int:
    name = again["id"]
    if name in stated:
        before = set(stated[: stated.index(name)])
        return max((index + 1 for index, each in enumerate(names) if each in before), default=0)
    written = _values(again, "output")
    later = (
        index
        for index, node in enumerate(nodes)
        if name in node["dependencies"] or not written.isdisjoint(_values(node, "input"))
    )
    return next(later, len(names))


def _values(node: dict[str, Any], role: str) -> set[str]:
    return {each["value_id"] for each in node.get("values", ()) if each["role"] == role}


def node_order(subject: Subject) -> list[str]:
    """The nodes of the program, else of the plan's checkpoint layout, in order; none of neither."""
    if subject.program is not None:
        return list(program_nodes(subject))
    header = subject.header
    if header is None or header.sequence_checkpoint_layout is None:
        return []
    layout = subject.raw["plan"]["payload"]["sequence_checkpoint_layout"]
    return [provider["node_id"] for provider in layout["providers"]]


def _owners(subject: Subject) -> Iterator[str]:
    """The nodes that rows of workspaces and retained values name."""
    if subject.header is not None:
        yield from (each.producer_node_id for each in subject.header.retained_completion_values)
    if subject.memory is not None:
        kinds = [row.kind for row in subject.memory.static_allocations]
        kinds += [row.kind for row in subject.memory.dynamic_descriptors]
        names = (getattr(kind, "node_id", None) for kind in kinds)
        yield from (name for name in names if name is not None)


def _again(
    subject: Subject, name: str, source: ProgramNode | None, nodes: list[Any], *, alone: bool
) -> dict[str, Any]:
    alike = None
    if source is not None:
        alike = next(
            (node for node in nodes if node.get("operation_id") == source.operation_id), None
        )
    like = alike or nodes[0]
    again = {**like, "id": name, "dependencies": []}
    again |= {key: [] for key in ("values", "reads", "writes") if key in like}
    resources = set(own_workspaces(subject, name))
    if "values" in like:
        lies_in = {} if source is None else storage_of(subject, source, nodes)
        resources |= {resource for each in lies_in.values() for resource in each}
        if source is not None and alike is not None:
            again["values"] = bindings_again(source, alike, lies_in)
        else:
            again["values"] = bindings_alone(subject, name, nodes, alone=alone)
            again["exact_aliases"] = in_place(again["values"])
            resources |= set(resources_of(again["values"]))
        if alone and source is None:
            resources |= {resource for resource, _ in unused_values(subject)}
    return again | {"resources": sorted(resources)}


def _awaited(again: dict[str, Any], nodes: list[Any], *, before: list[str]) -> None:
    """Let the node wait for what it reads; who reads what it writes waits for it."""
    name, read, written = again["id"], _values(again, "input"), _values(again, "output")
    waits: set[str] = set()
    is_named = any(name in node["dependencies"] for node in nodes)
    for index, node in enumerate(nodes):
        if not read.isdisjoint(_values(node, "output")):
            waits.add(node["id"])
        if not is_named and not written.isdisjoint(_values(node, "input")):
            # It was forgotten with its dependencies, which its readers took over.
            waits |= set(node["dependencies"])
            nodes[index] = {**node, "dependencies": sorted({*node["dependencies"], name})}
    again["dependencies"] = sorted(waits.intersection(before))
