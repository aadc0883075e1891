"""What a node that was lost had bound, as far as its program and the memory plan tell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.tensor import tensor_storage_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.execution_plan import RetainedCompletionValue
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
    unused = list(unused_values(subject))
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


def bindings_alone(
    subject: Subject, name: str, nodes: Sequence[Any], *, alone: bool
) -> list[dict[str, Any]]:
    """The values of a lost node without a program, or without its like, as wire JSON.

    It wrote the retained values that name it. Where it is the only one that was lost, it wrote the
    values in Step memory that others read and nobody writes, and read those that nobody reads.
    """
    retained = () if subject.header is None else subject.header.retained_completion_values
    kept = {each.value_id for each in retained}
    values = [_binding_of(each) for each in retained if each.producer_node_id == name]
    if alone:
        bound = [each for node in nodes for each in node["values"]]
        written = {each["value_id"] for each in bound if each["role"] == "output"}
        read = {each["value_id"] for each in bound if each["role"] == "input"}
        steps = _step_activations(subject)
        ours = {each["value_id"]: each for each in bound if steps.issuperset(resources_of([each]))}
        for value, each in ours.items():
            if value not in written and value not in kept:
                values.append({**each, "role": "output", "access": "write", "alias": "no_alias"})
            elif value not in read and value not in kept:
                again = {**each, "role": "input", "access": "read", "alias": "no_alias"}
                values.append({**again, "ordinal": sum(each["role"] == "input" for each in values)})
    return values


def in_place(values: Sequence[Any]) -> list[dict[str, Any]]:
    """The exact aliases of a lost node: what it wrote where it read, as wire JSON."""
    return [
        {
            "output_value_id": after["value_id"],
            "output_ordinal": after["ordinal"],
            "input_value_id": before["value_id"],
            "input_ordinal": before["ordinal"],
            "kind": "may_alias",
        }
        for after in values
        for before in values
        if after["role"] == "output" and before["role"] == "input"
        if after["storage"] == before["storage"]
    ]


def resources_of(bindings: Sequence[Any]) -> list[str]:
    """The resources that bindings, as wire JSON, lie in."""
    return [part["resource_id"] for each in bindings for part in each["storage"]["components"]]


def own_workspaces(subject: Subject, name: str) -> list[str]:
    """The resources whose rows say that they are the named node's workspace."""
    if subject.memory is None:
        return []
    rows = [
        *((row.resource_id, row.kind) for row in subject.memory.static_allocations),
        *((row.base_resource_id, row.kind) for row in subject.memory.dynamic_descriptors),
    ]
    return [resource for resource, kind in rows if getattr(kind, "node_id", None) == name]


def unused_values(subject: Subject) -> Iterator[tuple[str, str]]:
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


def _binding_of(retained: RetainedCompletionValue) -> dict[str, Any]:
    """The output that a retained value says that its producer has, as wire JSON."""
    part = {
        "component_id": None,
        "resource_id": retained.resource_id,
        "offset_bytes": retained.logical_offset_bytes,
        "length_bytes": tensor_storage_bytes(retained.tensor),
        "element_type": retained.tensor.element_type,
    }
    return {
        "value_id": retained.value_id,
        "role": "output",
        "ordinal": retained.output_ordinal,
        "tensor": retained.tensor.to_wire(),
        "access": "write",
        "alias": "no_alias",
        "usage": "activations",
        "weight": None,
        "storage": {"components": [part]},
    }


def _step_activations(subject: Subject) -> set[str]:
    rows = () if subject.memory is None else subject.memory.dynamic_descriptors
    return {
        row.base_resource_id
        for row in rows
        if row.lifetime == "step" and row.usage == "activations" and row.kind == "value"
    }


def _sort_of(value: str, program: ModelProgram) -> str:
    if any(weight.value_id == value for weight in program.weights):
        return "weights"
    return "state" if any(state.value_id == value for state in program.states) else "other"
