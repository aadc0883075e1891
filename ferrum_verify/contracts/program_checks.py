"""A catalog against a program: is each operation served, and can its states be captured?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.contracts.examples import ATTENTION, checked
from ferrum_verify.contracts.names import code, codes
from ferrum_verify.contracts.program_uses import operation_uses, selectable
from ferrum_verify.contracts.state_ports import port_findings, unserved_states
from ferrum_verify.documents.checkpoint import ProviderContract, StateSemantics
from ferrum_verify.findings import Rule, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.contracts.program_uses import OperationUse
    from ferrum_verify.documents.catalog import CapabilityCatalog, Operation, TensorContract
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.documents.tensor import Tensor
    from ferrum_verify.findings import Finding

_SOURCE = "docs/format.md, «Provider contracts»"


OPERATION_UNSERVED = Rule(
    id="contract.operation-unserved",
    summary="The catalog has each operation that the program runs, in its version, and a provider "
    "that can run it.",
    why="Without one no plan of the program can be built on this device.",
    fix="Add the operation or a provider, or make the policy allow storage that one accepts.",
    source=_SOURCE,
    example=checked({"/catalog/providers/operation.embed": []}),
)
CHECKPOINT_UNDECLARED = Rule(
    id="contract.checkpoint-undeclared",
    summary="Where the program's states can be captured, each provider of its operations has a "
    "checkpoint contract.",
    why="One silent provider leaves the whole plan without checkpoints.",
    fix="Declare `checkpoint` for the provider.",
    source=f"{_SOURCE}; seed 004, `derive_sequence_checkpoint`",
    severity="note",
    example=checked({f"/catalog{ATTENTION}/checkpoint_capability": "unsupported"}),
)


def program_findings(
    catalog: CapabilityCatalog,
    program: ModelProgram,
    usable: Sequence[StorageProfile],
    place: str,
) -> Iterator[Finding]:
    """Findings of the catalog at ``place`` that the program brings to light."""
    captured = any(isinstance(state.checkpoint, StateSemantics) for state in program.states)
    for operation_id, use in operation_uses(program).items():
        operation = catalog.operations.get(operation_id)
        if operation is None:
            yield OPERATION_UNSERVED.finding(
                f"The program runs {code(operation_id)} in {use.names()}, and the catalog has "
                "no such operation.",
                pointer(place, "operations"),
            )
            continue
        where = pointer(place, "operations", operation_id)
        yield from _version(operation, use, where)
        yield from _ports(operation, use, program, where)
        served = selectable(catalog, operation_id, usable)
        if not served:
            yield OPERATION_UNSERVED.finding(
                f"The program runs {code(operation_id)} in {use.names()}, and the catalog has no "
                "provider of it that can be selected.",
                pointer(place, "providers", operation_id)
                if operation_id in catalog.providers
                else pointer(place, "providers"),
            )
        for position, provider in served:
            at = pointer(place, "providers", operation_id, position)
            contract = provider.capability
            if isinstance(contract, ProviderContract):
                yield from port_findings(provider, contract, use, at)
                yield from unserved_states(provider, contract, use, usable, at)
            elif captured:
                yield CHECKPOINT_UNDECLARED.finding(
                    f"Provider {code(provider.provider_id)} of {code(operation_id)} has no "
                    f"checkpoint contract, so a plan that selects it for {use.names()} has no "
                    "checkpoints.",
                    at,
                )


def _version(operation: Operation, use: OperationUse, place: str) -> Iterator[Finding]:
    version = operation.version
    unmet = [
        node
        for node in use.nodes
        if node.required_version.major != version.major
        or node.required_version.minor > version.minor
    ]
    if unmet:
        wanted = unmet[0].required_version
        yield OPERATION_UNSERVED.finding(
            f"The program wants version {wanted.major}.{wanted.minor} of {code(operation.id)} in "
            f"{codes(node.id for node in unmet)}, and the catalog has "
            f"{version.major}.{version.minor}.",
            pointer(place, "version"),
        )


PROGRAM_PORTS = Rule(
    id="contract.program-ports",
    summary="A node of the program binds the inputs, outputs and tensors that its operation takes.",
    why="No plan can bind others, whatever provider is selected.",
    fix="Correct the program, or add an operation of that contract.",
    source=_SOURCE,
    example=checked({"/catalog/operations/operation.embed/inputs/1/element_types": ["f16"]}),
)


def _ports(
    operation: Operation, use: OperationUse, program: ModelProgram, place: str
) -> Iterator[Finding]:
    tensors = {state.value_id: state.tensor for state in program.states}
    tensors |= {weight.value_id: weight.tensor for weight in program.weights}
    wrong: dict[str, list[str]] = {}
    for node in use.nodes:
        for role, values, contracts in (
            ("input", node.inputs, operation.inputs),
            ("output", node.outputs, operation.outputs),
        ):
            if len(values) != len(contracts):
                clause = f"{len(values)} {role}s instead of {len(contracts)}"
                wrong.setdefault(clause, []).append(node.id)
                continue
            for ordinal, (value_id, contract) in enumerate(zip(values, contracts, strict=True)):
                if value_id in tensors:
                    for clause in _refusals(tensors[value_id], contract):
                        wrong.setdefault(f"{clause} at {role} {ordinal}", []).append(node.id)
    for clause, nodes in wrong.items():
        yield PROGRAM_PORTS.finding(
            f"The program binds {clause} of {code(operation.id)} in {codes(nodes)}.", place
        )


def _refusals(tensor: Tensor, contract: TensorContract) -> Iterator[str]:
    if tensor.element_type not in contract.element_types:
        known = ", ".join(map(code, contract.element_types))
        yield f"{code(tensor.element_type)}, which is none of {known},"
    if len(tensor.dimensions) != len(contract.dimensions):
        yield f"a tensor of rank {len(tensor.dimensions)} instead of {len(contract.dimensions)}"
        return
    for axis, (extent, wanted) in enumerate(
        zip(tensor.dimensions, contract.dimensions, strict=True)
    ):
        # Symbolic dimensions are the operation's own affair.
        exact = wanted.get("exact") if isinstance(wanted, dict) else None
        if isinstance(exact, int) and exact != extent:
            yield f"an axis {axis} of {extent:,} instead of {exact:,}"
