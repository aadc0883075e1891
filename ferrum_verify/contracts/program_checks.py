"""A catalog against a program: is each operation served, and can its states be captured?"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrum_verify.contracts import check_rules
from ferrum_verify.documents.checkpoint import ProviderContract, StateSemantics
from ferrum_verify.findings import pointer
from ferrum_verify.rules.checkpoint_causes import listed
from ferrum_verify.rules.provider_declarations import obstacles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.catalog import (
        CapabilityCatalog,
        Operation,
        Provider,
        TensorContract,
    )
    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.program import ModelProgram, ProgramNode, ProgramState
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.documents.tensor import Tensor
    from ferrum_verify.findings import Finding

Port = tuple[str, int]

_LAYOUTS = {
    "prefix_positions": "token_major_prefix",
    "boundary_value": "contiguous_boundary_value",
}
"""How a state port lays out what a state holds (seed 004, ``derive_sequence_checkpoint``)."""


@dataclass(slots=True)
class OperationUse:
    """What the program does with one operation: its nodes, and the states that they bind."""

    nodes: list[ProgramNode] = field(default_factory=list)
    states: dict[Port, list[ProgramState]] = field(default_factory=dict)

    def names(self) -> str:
        """The nodes in words."""
        return listed([node.id for node in self.nodes])


def operation_uses(program: ModelProgram) -> dict[str, OperationUse]:
    """What the program does with each of its operations, in the program's order."""
    states = {state.value_id: state for state in program.states}
    uses: dict[str, OperationUse] = {}
    for block in program.blocks:
        for node in block.nodes:
            use = uses.setdefault(node.operation_id, OperationUse())
            use.nodes.append(node)
            for port, value_id in ports_of(node):
                if (state := states.get(value_id)) is not None:
                    use.states.setdefault(port, []).append(state)
    return uses


def ports_of(node: ProgramNode) -> Iterator[tuple[Port, str]]:
    """The values of a node by role and ordinal."""
    for ordinal, value_id in enumerate(node.inputs):
        yield ("input", ordinal), value_id
    for ordinal, value_id in enumerate(node.outputs):
        yield ("output", ordinal), value_id


def usable_profiles(
    catalog: CapabilityCatalog, policy: RuntimePolicy | None
) -> tuple[StorageProfile, ...]:
    """The storage profiles that the device offers and the policy allows, in order of choice."""
    offered = catalog.device.dynamic_storage_profiles
    if policy is None:
        return offered
    return tuple(
        profile for profile in policy.memory.dynamic_storage_profile_order if profile in offered
    )


def selectable(
    catalog: CapabilityCatalog, operation_id: str, usable: Sequence[StorageProfile]
) -> list[tuple[int, Provider]]:
    """The providers of an operation that some plan may select, with their positions."""
    operation = catalog.operations.get(operation_id)
    return [
        (position, provider)
        for position, provider in enumerate(catalog.providers.get(operation_id, ()))
        if not list(obstacles(provider, operation, catalog))
        and not list(excluded_ports(provider, usable))
    ]


def excluded_ports(provider: Provider, usable: Sequence[StorageProfile]) -> Iterator[Port]:
    """The ports at which a provider accepts none of the usable storage profiles."""
    for port in provider.dynamic_storage_bindings:
        if not any(profile in usable for profile in port.storage.accepted_profiles):
            yield port.role, port.ordinal


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
            yield check_rules.OPERATION_UNSERVED.finding(
                f"The program runs {operation_id} in {use.names()}, and the catalog has no such "
                "operation.",
                pointer(place, "operations"),
            )
            continue
        where = pointer(place, "operations", operation_id)
        yield from _version(operation, use, where)
        yield from _ports(operation, use, program, where)
        served = selectable(catalog, operation_id, usable)
        if not served:
            yield check_rules.OPERATION_UNSERVED.finding(
                f"The program runs {operation_id} in {use.names()}, and the catalog has no "
                "provider of it that can be selected.",
                pointer(place, "providers", operation_id)
                if operation_id in catalog.providers
                else pointer(place, "providers"),
            )
        for position, provider in served:
            at = pointer(place, "providers", operation_id, position)
            contract = provider.checkpoint_capability
            if isinstance(contract, ProviderContract):
                yield from _state_ports(provider, contract, use, at)
                yield from _states(provider, contract, use, usable, at)
            elif captured:
                yield check_rules.CHECKPOINT_UNDECLARED.finding(
                    f"Provider {provider.provider_id} of {operation_id} has no checkpoint "
                    f"contract, so a plan that selects it for {use.names()} has no checkpoints.",
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
        yield check_rules.OPERATION_UNSERVED.finding(
            f"The program wants version {wanted.major}.{wanted.minor} of {operation.id} in "
            f"{listed([node.id for node in unmet])}, and the catalog has "
            f"{version.major}.{version.minor}.",
            pointer(place, "version"),
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
        yield check_rules.PROGRAM_PORTS.finding(
            f"The program binds {clause} of {operation.id} in {listed(nodes)}.", place
        )


def _refusals(tensor: Tensor, contract: TensorContract) -> Iterator[str]:
    if tensor.element_type not in contract.element_types:
        yield f"{tensor.element_type}, which is none of {', '.join(contract.element_types)},"
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


def _state_ports(
    provider: Provider, contract: ProviderContract, use: OperationUse, place: str
) -> Iterator[Finding]:
    where = pointer(place, "checkpoint_capability", "completed_boundary", "state_ports")
    for index, port in enumerate(contract.state_ports):
        bound = use.states.get((port.role, port.ordinal), [])
        if len(bound) < len(use.nodes):
            yield check_rules.PORT_WITHOUT_STATE.finding(
                f"Provider {provider.provider_id} has a state port at {port.role} {port.ordinal}, "
                f"where the program binds no state in {len(use.nodes) - len(bound)} of the "
                f"{len(use.nodes)} nodes that run {provider.operation_id}.",
                pointer(where, index),
            )
        contradicted = dict.fromkeys(
            f"state {state.id}, which holds {state.checkpoint.contents}"
            for state in bound
            if isinstance(state.checkpoint, StateSemantics)
            and _LAYOUTS[state.checkpoint.contents] != port.layout
        )
        if contradicted:
            yield check_rules.PORT_LAYOUT.finding(
                f"Provider {provider.provider_id} lays out as {port.layout}, at {port.role} "
                f"{port.ordinal}, {listed(list(contradicted))}.",
                pointer(where, index, "layout"),
                actual=port.layout,
            )


def _states(
    provider: Provider,
    contract: ProviderContract,
    use: OperationUse,
    usable: Sequence[StorageProfile],
    place: str,
) -> Iterator[Finding]:
    for (role, ordinal), states in use.states.items():
        captured = [state.id for state in states if isinstance(state.checkpoint, StateSemantics)]
        ports = [
            port for port in contract.state_ports if (port.role, port.ordinal) == (role, ordinal)
        ]
        if captured and not any(port.storage_profile in usable for port in ports):
            has = "no state port there for storage that may be used" if ports else "no state port"
            yield check_rules.STATE_UNSERVED.finding(
                f"Provider {provider.provider_id} of {provider.operation_id} binds "
                f"{listed(list(dict.fromkeys(captured)))} at {role} {ordinal} and has {has}, so a "
                "plan that selects it has no checkpoints.",
                pointer(place, "checkpoint_capability", "completed_boundary"),
            )
