"""A provider's state ports against the states that a program binds there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.contracts.examples import CONTRACT, LINEAR, PAGED, checked
from ferrum_verify.contracts.names import code, codes
from ferrum_verify.documents.checkpoint import (
    ProviderContract,
    StateSemantics,
    holds_prefix,
    layout_name,
    layout_wire,
)
from ferrum_verify.findings import DELETE, Rule, pointer
from ferrum_verify.rules.checkpoint_causes import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.contracts.program_uses import OperationUse
    from ferrum_verify.documents.catalog import Provider
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.findings import Finding

_SOURCE = "docs/format.md, «Provider contracts»; seed 004, `derive_sequence_checkpoint`"
PORT_WITHOUT_STATE = Rule(
    id="contract.state-port-without-state",
    summary="The program binds a state at each state port of a provider.",
    why="The derivation refuses a state port that carries no state, so each plan that selects the "
    "provider has no checkpoints.",
    fix="Declare state ports only where the operation always binds a state.",
    source=_SOURCE,
    severity="warning",
    example=checked(
        {
            f"/catalog{CONTRACT}/state_ports": [
                {
                    "role": "input",
                    "ordinal": ordinal,
                    "storage_profile": profile,
                    "layout": layout,
                }
                for ordinal, profile, layout in (
                    (0, LINEAR, "contiguous_boundary_value"),
                    (1, PAGED, "token_major_prefix"),
                    (2, LINEAR, "contiguous_boundary_value"),
                )
            ]
        }
    ),
)
PORT_LAYOUT = Rule(
    id="contract.state-port-layout",
    summary="A provider lays a state out as what the program says that it holds.",
    why="A value for each position and one value for the whole prefix are copied differently, so "
    "a plan that selects a provider of the other layout has no checkpoints.",
    fix="Use `token_major_prefix` or blocks of keys and values for states of prefix positions, and "
    "`contiguous_boundary_value` for boundary values.",
    source=_SOURCE,
    severity="warning",
    example=checked({f"/catalog{CONTRACT}/state_ports/1/layout": "token_major_prefix"}),
)


def port_findings(
    provider: Provider, contract: ProviderContract, use: OperationUse, place: str
) -> Iterator[Finding]:
    """Findings of state ports that the program gives no state, or one of the other layout."""
    where = pointer(place, provider.checkpoint_key, "completed_boundary", "state_ports")
    name = f"Provider {code(provider.provider_id)}"
    for index, port in enumerate(contract.state_ports):
        bound = use.states.get((port.role, port.ordinal), [])
        if len(bound) < len(use.nodes):
            yield PORT_WITHOUT_STATE.finding(
                f"{name} has a state port at {port.role} {port.ordinal}, "
                f"where the program binds no state in {len(use.nodes) - len(bound)} of the "
                f"{len(use.nodes)} nodes that run {code(provider.operation_id)}.",
                pointer(where, index),
            )
        contradicted = dict.fromkeys(
            f"state {code(state.id)}, which holds {code(state.checkpoint.contents)}"
            for state in bound
            if isinstance(state.checkpoint, StateSemantics)
            and holds_prefix(port.layout) != (state.checkpoint.contents == "prefix_positions")
        )
        if contradicted:
            yield PORT_LAYOUT.finding(
                f"{name} lays out as {code(layout_name(port.layout))}, at {port.role} "
                f"{port.ordinal}, {listed(list(contradicted))}.",
                pointer(where, index, "layout"),
                actual=layout_wire(port.layout),
            )


STATE_UNSERVED = Rule(
    id="contract.state-unserved",
    summary="A provider has a usable state port wherever the nodes that it runs bind a state.",
    why="A plan that selects a provider without one has no checkpoints.",
    fix="Declare a state port of that role and ordinal for storage that the device offers.",
    source=_SOURCE,
    severity="note",
    example=checked({f"/catalog{CONTRACT}/state_ports/1": DELETE}),
)


def unserved_states(
    provider: Provider,
    contract: ProviderContract,
    use: OperationUse,
    usable: Sequence[StorageProfile],
    place: str,
) -> Iterator[Finding]:
    """Findings of states that can be captured, and for which the provider has no port."""
    for (role, ordinal), states in use.states.items():
        captured = [state.id for state in states if isinstance(state.checkpoint, StateSemantics)]
        ports = [
            port for port in contract.state_ports if (port.role, port.ordinal) == (role, ordinal)
        ]
        if captured and not any(port.storage_profile in usable for port in ports):
            has = "no state port there for storage that may be used" if ports else "no state port"
            yield STATE_UNSERVED.finding(
                f"Provider {code(provider.provider_id)} of {code(provider.operation_id)} binds "
                f"{codes(captured)} at {role} {ordinal} and has {has}, so a "
                "plan that selects it has no checkpoints.",
                pointer(place, provider.checkpoint_key, "completed_boundary"),
            )
