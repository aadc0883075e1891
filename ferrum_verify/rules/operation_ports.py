"""Contract rules of a node's ports against the operation that it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule
from ferrum_verify.node_ports import bindings_by_port

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import Operation, TensorContract
    from ferrum_verify.documents.node import PlanNode, ValueBinding
    from ferrum_verify.findings import Finding

_FORMAT = "execution-plan format, «Execution-plan rules»; the catalog of a bundle"

PORTS = Rule(
    id="contract.ports-differ",
    summary="A node does not bind exactly the inputs and outputs of its operation.",
    why="A kernel gets one argument for each port; a missing one is a null pointer, and one too "
    "many shifts the others.",
    fix="Bind each input and output of the operation once.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {
            "/catalog/operations/operation.embed/inputs/-": {
                "dimensions": [{"exact": 1}],
                "element_types": ["f32"],
                "layouts": ["contiguous"],
                "access": "read",
                "alias": "no_alias",
            }
        },
    ),
)
PORT = Rule(
    id="contract.port-differs",
    summary="A node binds a value to a port that accepts another access, alias, element type or "
    "shape.",
    why="The kernel treats the bytes as its contract says: as another type, or writing what the "
    "plan believes is only read.",
    fix="Bind a value that the operation's contract accepts there.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/payload/nodes/0/values/0/access": "read_write"}),
)


def check_node(node: PlanNode, operation: Operation, place: str) -> Iterator[Finding]:
    """Findings of the ports of one node that stands at the pointer ``place``."""
    if len(bindings_by_port(node)) != len(node.values):
        return  # which binding of a port counts is in doubt, as the value rules say
    bound = {(binding.role, binding.ordinal) for binding in node.values}
    inputs, outputs = operation.inputs, operation.outputs
    required = {("input", ordinal) for ordinal in range(len(inputs))}
    required |= {("output", ordinal) for ordinal in range(len(outputs))}
    if bound != required:
        missing = [f"no {role} {ordinal}" for role, ordinal in sorted(required - bound)]
        extra = [f"{role} {ordinal}" for role, ordinal in sorted(bound - required)]
        yield PORTS.finding(
            f"Node {node.id} binds {', '.join([*missing, *extra])}, but {operation.id} has "
            f"{len(inputs)} inputs and {len(outputs)} outputs.",
            f"{place}/values",
        )
    for index, binding in enumerate(node.values):
        contracts = inputs if binding.role == "input" else outputs
        if binding.ordinal >= len(contracts):
            continue
        if differences := list(_differences(binding, contracts[binding.ordinal])):
            yield PORT.finding(
                f"Node {node.id} binds {binding.value_id} to {binding.role} {binding.ordinal} of "
                f"{operation.id}, but {' and '.join(differences)}.",
                f"{place}/values/{index}",
            )


def _differences(binding: ValueBinding, contract: TensorContract) -> Iterator[str]:
    if binding.access != contract.access:
        yield f"the access is {binding.access}, not {contract.access}"
    if binding.alias != contract.alias:
        yield "the alias policy is another"
    tensor = binding.tensor
    if tensor.element_type not in contract.element_types:
        yield f"{tensor.element_type} is none of {', '.join(contract.element_types)}"
    if len(tensor.dimensions) != len(contract.dimensions):
        yield f"the rank is {len(tensor.dimensions)}, not {len(contract.dimensions)}"
        return
    for axis, (dimension, wanted) in enumerate(
        zip(tensor.dimensions, contract.dimensions, strict=True)
    ):
        # Other forms than an exact dimension are not part of the described format.
        exact = wanted.get("exact") if isinstance(wanted, dict) else None
        if isinstance(exact, int) and dimension != exact:
            yield f"axis {axis} is {dimension:,} long, not {exact:,}"
