"""Nodes that are named and are not there, put back as far as anything is known of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.judged import Edited
from ferrum_verify.documents.pointer import edited, value_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ferrum_verify.auditing.judged import Judged
    from ferrum_verify.reading.document import Subject


def with_lost_nodes(judged: Judged) -> Edited | None:
    """The document with the nodes that its program or a dependency names, and that it lacks.

    Each is like another node of its operation, waits for nothing, and stands where the program
    has it, else before the first node that waits for it. Resources that no node uses are used by
    the one node that was lost, if it has at least as many values that no other node binds.
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
        template = next(
            (
                node
                for node in wire
                if name in program and node.get("operation_id") == program[name].operation_id
            ),
            wire[0],
        )
        unused = _unused(subject) if len(lost) == 1 and _could_use(subject, name, program) else []
        again = {**template, "id": name, "dependencies": [], "resources": unused}
        again |= {key: [] for key in ("values", "reads", "writes") if key in template}
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


def _program_nodes(subject: Subject) -> dict[str, Any]:
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


def _unused(subject: Subject) -> list[str]:
    """The resources of the memory plan that no node lists, ascending."""
    assert subject.order is not None
    if subject.memory is None:
        return []
    listed = subject.order.listed
    rows = (
        *(row.resource_id for row in subject.memory.static_allocations),
        *(row.base_resource_id for row in subject.memory.dynamic_descriptors),
    )
    return sorted(name for name in rows if name not in listed)


def _could_use(subject: Subject, name: str, program: Mapping[str, Any]) -> bool:
    """Whether a lost node has as many values that no other node binds as resources are unused."""
    if name not in program or subject.plan_nodes is None:
        return False
    bound = {binding.value_id for node in subject.plan_nodes for binding in node.values}
    own: Iterable[str] = {*program[name].inputs, *program[name].outputs} - bound
    return len(_unused(subject)) <= len(list(own))
