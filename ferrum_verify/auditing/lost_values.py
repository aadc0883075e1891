"""What a node that was lost had bound, as far as its program and the memory plan tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.program import ModelProgram, ProgramNode
    from ferrum_verify.reading.document import Subject


def storage_of(subject: Subject, node: ProgramNode, nodes: Sequence[Any]) -> dict[str, list[str]]:
    """The resources that hold each value of a lost node, as far as that is known.

    ``nodes`` are the nodes that are left, as wire JSON. A value that none of them binds is taken
    to lie in the one resource of its sort that no node uses; of several, nobody can tell.
    """
    assert subject.program is not None
    lies_in = {
        binding["value_id"]: [part["resource_id"] for part in binding["storage"]["components"]]
        for each in nodes
        for binding in each["values"]
    }
    own = (*node.inputs, *node.outputs)
    unbound = [value for value in own if value not in lies_in]
    unused = list(_unused_values(subject))
    for sort in {sort for _, sort in unused}:
        values = [value for value in unbound if _sort_of(value, subject.program) == sort]
        free = [resource for resource, each in unused if each == sort]
        if len(values) == len(free) == 1:
            lies_in[values[0]] = free
    return {value: lies_in[value] for value in own if value in lies_in}


def bindings_again(
    node: ProgramNode, like: Mapping[str, Any], lies_in: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """The lost node's values, each bound as the node ``like`` it binds its own, as wire JSON."""
    values = {"input": node.inputs, "output": node.outputs}
    again = []
    for binding in like["values"]:
        own_values = values[binding["role"]]
        if binding["ordinal"] >= len(own_values):
            continue
        value = own_values[binding["ordinal"]]
        parts = binding["storage"]["components"]
        if len(lies_in.get(value, ())) == len(parts):
            moved = [
                {**part, "resource_id": resource}
                for part, resource in zip(parts, lies_in[value], strict=True)
            ]
            storage = {**binding["storage"], "components": moved}
            again.append({**binding, "value_id": value, "storage": storage})
    return again


def own_workspaces(subject: Subject, name: str) -> list[str]:
    """The resources whose rows say that they are the named node's workspace."""
    if subject.memory is None:
        return []
    rows = [
        *((row.resource_id, row.kind) for row in subject.memory.static_allocations),
        *((row.base_resource_id, row.kind) for row in subject.memory.dynamic_descriptors),
    ]
    return [resource for resource, kind in rows if getattr(kind, "node_id", None) == name]


def _unused_values(subject: Subject) -> Iterator[tuple[str, str]]:
    """The resources of values that no node lists, each with its sort."""
    assert subject.order is not None
    if subject.memory is None:
        return
    listed = subject.order.listed
    for static in subject.memory.static_allocations:
        if static.resource_id not in listed and static.kind == "value":
            yield static.resource_id, "weights"
    for row in subject.memory.dynamic_descriptors:
        if row.base_resource_id not in listed and row.kind == "value":
            yield row.base_resource_id, "state" if row.usage == "state" else "other"


def _sort_of(value: str, program: ModelProgram) -> str:
    if any(weight.value_id == value for weight in program.weights):
        return "weights"
    return "state" if any(state.value_id == value for state in program.states) else "other"
