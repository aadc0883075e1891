"""What a program does with each operation, and which providers of it some plan may select."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrum_verify.contracts.names import codes
from ferrum_verify.rules.provider_declarations import obstacles

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.catalog import CapabilityCatalog, Provider
    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.program import ModelProgram, ProgramNode, ProgramState
    from ferrum_verify.documents.storage import StorageProfile

Port = tuple[str, int]


@dataclass(slots=True)
class OperationUse:
    """What the program does with one operation: its nodes, and the states that they bind."""

    nodes: list[ProgramNode] = field(default_factory=list)
    states: dict[Port, list[ProgramState]] = field(default_factory=dict)

    def names(self) -> str:
        """The nodes in words."""
        return codes(node.id for node in self.nodes)


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
