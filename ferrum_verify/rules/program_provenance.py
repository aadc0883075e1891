"""Contract rules of a plan against its program: does it compute what the model says?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.primitives import variant_tag
from ferrum_verify.documents.program import TokenSource
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.findings.wording import in_series, marked
from ferrum_verify.plan.node_ports import bindings_by_port
from ferrum_verify.rules import work as work_rules
from ferrum_verify.rules.state_provenance import check_states, check_weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.documents.node import PlanNode, TokenWork
    from ferrum_verify.documents.primitives import Role
    from ferrum_verify.documents.program import (
        ModelProgram,
        ProgramNode,
        ProgramTokenWork,
    )
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Execution-plan rules» (against the program)"
FAMILY = Rule(
    id="contract.family-differs",
    summary="The plan is for the program's model family.",
    why="The weights that are loaded for the plan are those of another model.",
    fix="Give the program that the plan was compiled from.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/payload/family_id": "family.other"}),
)

_UNPLANNED = {
    "id": "node.unplanned",
    "operation_id": "operation.norm",
    "required_version": {"major": 1, "minor": 0},
    "work": "fixed",
    "inputs": ["value.residual", "value.norm"],
    "outputs": ["value.unplanned"],
    "attributes": {},
}
NODES = Rule(
    id="contract.program-nodes",
    summary="The plan has exactly the program's nodes.",
    why="An operation that the plan leaves out is never computed; one that it adds changes the "
    "result.",
    fix="Compile the plan again from the program.",
    source=_FORMAT,
    example=Example("bundle", {"/program/blocks/1/nodes/-": _UNPLANNED}),
)


def check(subject: Subject, program: ModelProgram, rows: ResourceRows | None) -> Iterator[Finding]:
    """Findings of all rules of a plan against its program."""
    header, nodes = subject.header, subject.plan_nodes
    if header is not None and header.family_id != program.family_id:
        yield FAMILY.finding(
            f"The plan is for family `{header.family_id}`, but the program's is "
            f"`{program.family_id}`.",
            pointer(subject.places.payload, "family_id"),
            expected=program.family_id,
            actual=header.family_id,
        )
    if not nodes:
        return
    planned = {node.id: index for index, node in reversed(list(enumerate(nodes)))}
    known: set[str] = set()
    ambiguous = False
    for block in program.blocks:
        for source in block.nodes:
            if source.id in known:
                ambiguous = True  # which of the two is meant; the rules of names say so
                continue
            known.add(source.id)
            if (index := planned.get(source.id)) is not None:
                yield from _check_node(nodes[index], source, f"{subject.places.nodes}/{index}")
    if known != planned.keys() and not (ambiguous and known < planned.keys()):
        said = []
        if missing := sorted(known - planned.keys()):
            said.append(f"lacks {', '.join(marked(missing))}, which the program has")
        if extra := sorted(planned.keys() - known):
            said.append(f"has {', '.join(marked(extra))}, which the program lacks")
        yield NODES.finding(f"The plan {in_series(said)}.", subject.places.nodes)
    yield from check_states(subject, nodes, program, rows)
    yield from check_weights(subject, nodes, program)


_NODE = "/plan/payload/nodes/2"
NODE = Rule(
    id="contract.program-node-differs",
    summary="A node runs the operation, version, attributes and work that the program says.",
    why="The plan would compute something else than the model, without any error.",
    fix="Compile the plan again from the program.",
    source=_FORMAT,
    example=Example("bundle", {f"{_NODE}/attributes/heads": {"unsigned": 4}}),
)
VALUES = Rule(
    id="contract.program-values-differ",
    summary="A node binds the inputs and outputs that the program says.",
    why="The operation would read or write another value than the model's.",
    fix="Bind the program's inputs and outputs in their order.",
    source=_FORMAT,
    example=Example("bundle", {"/program/blocks/0/nodes/0/inputs/1": "value.norm"}),
)


def _check_node(node: PlanNode, source: ProgramNode, location: str) -> Iterator[Finding]:
    facts = []
    if node.operation_id != source.operation_id:
        facts.append(f"it runs `{node.operation_id}`, not `{source.operation_id}`")
    version, required = node.operation_version, source.required_version
    if version.major != required.major or version.minor < required.minor:
        facts.append(
            f"it runs version {version.major}.{version.minor} of its operation, "
            f"not {required.major}.{required.minor}"
        )
    facts.extend(
        f"its attribute `{name}` is {node.attributes.get(name, 'not there')}, not {value}"
        for name, value in source.attributes.items()
        if name not in node.attributes or node.attributes[name] != value
    )
    if (fact := _other_work(node, source)) is not None:
        facts.append(fact)
    if facts:
        yield NODE.finding(
            f"Node `{node.id}` is not as the program says: {'; '.join(facts)}.", location
        )
    ports = bindings_by_port(node)
    bound = {port: binding.value_id for port, binding in ports.items()}
    stated: dict[tuple[Role, int], str] = {
        ("input", ordinal): value for ordinal, value in enumerate(source.inputs)
    }
    stated |= {("output", ordinal): value for ordinal, value in enumerate(source.outputs)}
    if bound != stated and len(bound) == len(node.values):
        differences = [
            f"{port[0]} {port[1]} is {_bound(bound, port, 'not bound')}, "
            f"not {_bound(stated, port, 'bound at all')}"
            for port in sorted(bound.keys() | stated.keys())
            if bound.get(port) != stated.get(port)
        ]
        yield VALUES.finding(
            f"Node `{node.id}` does not bind the values that the program says: "
            f"{'; '.join(differences)}.",
            f"{location}/values",
        )


def _bound(values: Mapping[tuple[Role, int], str], port: tuple[Role, int], otherwise: str) -> str:
    return f"`{values[port]}`" if port in values else otherwise


def _other_work(node: PlanNode, source: ProgramNode) -> str | None:
    work, stated = node.work, source.work
    if isinstance(work, str) or isinstance(stated, str):
        tag, wanted = variant_tag(work), variant_tag(stated)
        return None if tag == wanted else f"its work is {tag}, not {wanted}"
    axis, origin = work.source, stated.source
    if isinstance(origin, TokenSource):
        same = (axis.value_id, axis.axis) == (origin.value_id, origin.axis)
    else:
        same = axis.key == origin.key
    fact = None
    if not same:
        fact = (
            f"it counts its tokens along axis {axis.axis} of `{axis.value_id}`, not as the program "
            f"does along axis {origin.axis} of `{origin.value_id}`"
        )
    elif "projections" in stated.model_fields_set or not isinstance(origin, TokenSource):
        fact = _other_projections(work, stated)
    # That a projection fits no binding, or is missing altogether, is for the graph rules.
    return None if fact is None or any(work_rules.check_node(node, "")) else fact


def _other_projections(work: TokenWork, stated: ProgramTokenWork) -> str | None:
    planned = [axis.key for axis in work.projections]
    wanted = [axis.key for axis in stated.projections]
    if planned == wanted:
        return None
    extra = [work_rules.axis_in_words(key) for key in planned if key not in wanted]
    lacking = [work_rules.axis_in_words(key) for key in wanted if key not in planned]
    said = []
    if lacking:
        said.append(f"does not narrow {', '.join(lacking)}, as the program does")
    if extra:
        said.append(f"narrows {', '.join(extra)}, unlike the program")
    return f"it {in_series(said)}" if said else "the program projects the same axes unsorted"
