"""The providers that a plan selected, and what they promise at completed boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.checkpoint_layout import LayoutProvider, Place, Refusal, Unsupported
from ferrum_verify.documents.checkpoint import ProviderContract
from ferrum_verify.plan.resource_rows import describe_profile

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence, Set

    from ferrum_verify.documents.catalog import CheckpointProvider
    from ferrum_verify.documents.node import PlanNode


def select_providers(
    nodes: Sequence[PlanNode],
    providers: Mapping[str, Sequence[CheckpointProvider]],
    state_values: Set[str],
    faults: list[Unsupported | Refusal],
) -> list[LayoutProvider]:
    """Each node's selected provider, where it has a checkpoint contract, in plan order.

    ``providers`` are the catalog's by operation id, ``state_values`` the values of the
    program's states. Whatever speaks against a node is appended to ``faults`` in the
    engine's order (seed 004, ``derive_sequence_checkpoint``).
    """
    selected = []
    for index, node in enumerate(nodes):
        place = Place("nodes", (index,))
        node_name = ("node_id", node.id)
        if node.provider_resources.persistent is not None:
            faults.append(
                Unsupported(
                    "provider_persistent_workspace",
                    place,
                    (node_name,),
                    "the provider keeps a workspace between invocations, which no state describes",
                )
            )
        offered = providers.get(node.operation_id, ())
        position = next(
            (
                position
                for position, provider in enumerate(offered)
                if provider.provider_id == node.selection.selected_provider
            ),
            None,
        )
        if position is None:
            faults.append(_absent(node, place, bool(offered)))
            continue
        provider = offered[position]
        in_catalog = Place("catalog", ("providers", node.operation_id, position))
        if (
            provider.operation_fingerprint != node.operation_fingerprint
            or provider.provider_implementation_fingerprint
            != node.provider_implementation_fingerprint
        ):
            faults.append(
                Refusal(
                    "provider-identity",
                    place,
                    f"Node `{node.id}` was planned for another build of operation "
                    f"`{node.operation_id}` or of provider `{provider.provider_id}` than the "
                    "catalog holds.",
                )
            )
            continue
        contract = provider.capability
        if not isinstance(contract, ProviderContract):
            faults.append(
                Unsupported(
                    "provider_undeclared",
                    in_catalog,
                    (node_name, ("provider_id", provider.provider_id)),
                    "the provider promises nothing about completed boundaries",
                )
            )
            continue
        if contract.partition_numerics == "operation_oracle" and node.state_effects:
            faults.append(
                Unsupported(
                    "state_oracle_coverage",
                    in_catalog,
                    (node_name,),
                    "the provider's numerics rest on the operation's oracle, which does not cover "
                    "effects on state",
                )
            )
        faults += (
            Unsupported("invalid_state_port", in_catalog, (node_name,), because, consequence)
            for because, consequence in _invalid_ports(node, provider, contract, state_values)
        )
        selected.append(
            LayoutProvider(
                node_id=node.id,
                provider_id=provider.provider_id,
                operation_fingerprint=node.operation_fingerprint,
                implementation_fingerprint=node.provider_implementation_fingerprint,
                contract=contract,
            )
        )
    return selected


def _absent(node: PlanNode, place: Place, others: bool) -> Refusal:
    if others:
        return Refusal(
            "provider-absent",
            place,
            f"The selected provider `{node.selection.selected_provider}` of node `{node.id}` is "
            f"not among the catalog's providers of `{node.operation_id}`.",
        )
    return Refusal(
        "no-providers",
        place,
        f"The catalog has no provider of `{node.operation_id}`, which node `{node.id}` runs.",
    )


def _invalid_ports(
    node: PlanNode,
    provider: CheckpointProvider,
    contract: ProviderContract,
    state_values: Set[str],
) -> Iterator[tuple[str, bool]]:
    """A state port is a binding of a state, in storage that the provider accepts there.

    The flag tells a port that contradicts the provider's or its operation's own declarations,
    whatever the node is.
    """
    for port in contract.state_ports:
        name = f"{port.role} {port.ordinal}"
        binding = next(
            (
                binding
                for binding in node.values
                if binding.role == port.role and binding.ordinal == port.ordinal
            ),
            None,
        )
        storage = provider.dynamic_storage_for(port.role, port.ordinal)
        if binding is None:
            yield f"the provider's state port {name} is no binding of the node", True
        elif binding.value_id not in state_values:
            yield f"the provider's state port {name} is bound to a value that is no state", False
        elif storage is None:
            yield f"the provider has a state port {name} and names no storage for it", True
        elif not storage.accepts(port.storage_profile):
            because = (
                f"the provider's state port {name} is for storage that it does not accept there, "
                f"{describe_profile(port.storage_profile)}"
            )
            yield because, True
