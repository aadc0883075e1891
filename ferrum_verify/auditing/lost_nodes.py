"""Nodes that are named and are not there, put back as far as anything is known of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.judged import Edited
from ferrum_verify.auditing.lost_values import bindings_again, own_workspaces, storage_of
from ferrum_verify.documents.pointer import edited, value_at

if TYPE_CHECKING:
    from ferrum_verify.auditing.judged import Judged
    from ferrum_verify.documents.program import ProgramNode
    from ferrum_verify.reading.document import Subject


def with_lost_nodes(judged: Judged) -> Edited | None:
    """The document with the nodes that its program or a dependency names, and that it lacks.

    Each is like another node of its operation, waits for nothing, and stands where the program
    has it, else before the first node that waits for it.
    """
    subject, document = judged.subject, judged.document
    order = subject.order
    if order is None or not order.nodes:
        return None
    known = {node.id for node in order.nodes}
    program = _program_nodes(subject)
    lost = [name for name in program if name not in known]
    lost += dict.fromkeys(
        name
        for node in order.nodes
        for name in node.dependencies
        if name not in known and name not in program
    )
    if not lost:
        return None
    names = [node.id for node in order.nodes]
    wire = list(value_at(document, subject.places.nodes))
    inserted: list[int] = []
    for name in lost:
        place = _place(name, names, subject, list(program))
        again = _again(subject, name, program.get(name), wire)
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


def _program_nodes(subject: Subject) -> dict[str, ProgramNode]:
    if subject.program is None:
        return {}
    return {node.id: node for block in subject.program.blocks for node in block.nodes}


def _place(name: str, names: list[str], subject: Subject, program: list[str]) -> int:
    if name in program:
        before = set(program[: program.index(name)])
        return max((index + 1 for index, each in enumerate(names) if each in before), default=0)
    assert subject.order is not None
    waiting = {node.id for node in subject.order.nodes if name in node.dependencies}
    return next((index for index, each in enumerate(names) if each in waiting), len(names))


def _again(
    subject: Subject, name: str, source: ProgramNode | None, nodes: list[Any]
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
    if source is not None and "values" in like:
        lies_in = storage_of(subject, source, nodes)
        resources |= {resource for each in lies_in.values() for resource in each}
        if alike is not None:
            again["values"] = bindings_again(source, alike, lies_in)
    return again | {"resources": sorted(resources)}
