"""Contract rules of a node's ports against the operation that it runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.node import alias_words
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import in_series

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import Dimension, Operation, TensorContract
    from ferrum_verify.documents.node import AliasPolicy, PlanNode, ValueBinding
    from ferrum_verify.findings import Finding

_FORMAT = "docs/format.md, «Execution-plan rules» (against the catalog)"


@dataclass(frozen=True, slots=True)
class _AcceptedPort:
    """What an operation accepts at one port, ready to be compared with many nodes."""

    contract: TensorContract
    element_types: frozenset[str]
    exact: tuple[int | None, ...]

    def accepts(self, binding: ValueBinding) -> bool:
        dimensions = binding.tensor.dimensions
        return (
            binding.access == self.contract.access
            and binding.alias == self.contract.alias
            and binding.tensor.element_type in self.element_types
            and len(dimensions) == len(self.exact)
            and all(
                wanted is None or wanted == dimension
                for wanted, dimension in zip(self.exact, dimensions, strict=True)
            )
        )


@dataclass(frozen=True, slots=True)
class AcceptedPorts:
    """The ports of an operation."""

    operation: Operation
    ports: dict[tuple[str, int], _AcceptedPort]


def accepted_ports(operation: Operation) -> AcceptedPorts:
    """What an operation accepts at each of its ports."""
    ports = {
        (role, ordinal): _AcceptedPort(
            contract,
            frozenset(contract.element_types),
            tuple(map(_exact, contract.dimensions)),
        )
        for role, contracts in (("input", operation.inputs), ("output", operation.outputs))
        for ordinal, contract in enumerate(contracts)
    }
    return AcceptedPorts(operation, ports)


def _exact(dimension: Dimension) -> int | None:
    # Other forms than an exact dimension are not part of the described format.
    exact = dimension.get("exact") if isinstance(dimension, dict) else None
    return exact if isinstance(exact, int) else None


PORTS = Rule(
    id="contract.ports-differ",
    summary="A node binds exactly the inputs and outputs of its operation.",
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
    summary="A node binds values to ports that accept their access, alias, element type and shape.",
    why="The kernel treats the bytes as its contract says: as another type, or writing what the "
    "plan believes is only read.",
    fix="Bind a value that the operation's contract accepts there.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/payload/nodes/0/values/0/access": "read_write"}),
)


def check_node(node: PlanNode, accepted: AcceptedPorts, location: str) -> Iterator[Finding]:
    """Findings of the ports of one node that stands at the pointer ``place``."""
    ports, operation = accepted.ports, accepted.operation
    bound = {(binding.role, binding.ordinal) for binding in node.values}
    if len(bound) != len(node.values):
        return  # which binding of a port counts is in doubt, as the value rules say
    if bound != ports.keys():
        missing = [f"no {role} {ordinal}" for role, ordinal in sorted(ports.keys() - bound)]
        extra = [f"{role} {ordinal}" for role, ordinal in sorted(bound - ports.keys())]
        yield PORTS.finding(
            f"Node `{node.id}` binds {', '.join([*missing, *extra])}, but `{operation.id}` has "
            f"{len(operation.inputs)} inputs and {len(operation.outputs)} outputs.",
            f"{location}/values",
        )
    for index, binding in enumerate(node.values):
        port = ports.get((binding.role, binding.ordinal))
        if port is not None and not port.accepts(binding):
            differences = list(_differences(binding, port))
            place, told = f"{location}/values/{index}", dict[str, Any]()
            if binding.access != port.contract.access:
                told = {
                    "expected": {"access": port.contract.access},
                    "actual": {"access": binding.access},
                }
            if len(differences) == 1 and binding.alias != port.contract.alias:
                place = f"{place}/alias"
                told = _aliases(binding.alias, port.contract.alias)
            yield PORT.finding(
                f"Node `{node.id}` binds `{binding.value_id}` to {binding.role} "
                f"{binding.ordinal} of "
                f"`{operation.id}`, but {in_series(differences)}.",
                place,
                **told,
            )


def _aliases(found: AliasPolicy, wanted: AliasPolicy) -> dict[str, Any]:
    wires = [each if isinstance(each, str) else each.to_wire() for each in (wanted, found)]
    fix = "Declare the alias policy of the operation's contract."
    return {"expected": wires[0], "actual": wires[1], "fix": fix}


def _differences(binding: ValueBinding, port: _AcceptedPort) -> Iterator[str]:
    contract, tensor = port.contract, binding.tensor
    if binding.access != contract.access:
        yield f"the access is {binding.access}, not {contract.access}"
    if binding.alias != contract.alias:
        yield (
            f"the alias policy is {alias_words(binding.alias)}, not {alias_words(contract.alias)}"
        )
    if tensor.element_type not in port.element_types:
        yield f"{tensor.element_type} is none of {', '.join(contract.element_types)}"
    if len(tensor.dimensions) != len(port.exact):
        yield f"the rank is {len(tensor.dimensions)}, not {len(port.exact)}"
        return
    for axis, (dimension, wanted) in enumerate(zip(tensor.dimensions, port.exact, strict=True)):
        if wanted is not None and dimension != wanted:
            yield f"axis {axis} is {dimension:,} long, not {wanted:,}"
