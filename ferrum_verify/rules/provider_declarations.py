"""Contract rules of one provider's declarations, and of whether it can be selected at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.documents.checkpoint import ProviderContract
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import marked
from ferrum_verify.plan.resource_rows import describe_profile
from ferrum_verify.rules.estimates import check_accepted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import (
        CapabilityCatalog,
        Operation,
        PortStorage,
        Provider,
    )
    from ferrum_verify.documents.checkpoint import StatePort
    from ferrum_verify.documents.primitives import Role
    from ferrum_verify.findings import Finding


_FORMAT = "docs/format.md, «Provider contracts»"
_PROVIDERS = "docs/format.md, «Provider contracts»"
_FIRST = "/providers/operation.embed/0"


class DeviceOffers(NamedTuple):
    """What a catalog's device offers, ready to be compared with many providers."""

    device_id: str
    capabilities: frozenset[str]
    profiles: frozenset[tuple[int, int]]


def offers(catalog: CapabilityCatalog) -> DeviceOffers:
    """What the catalog's device offers."""
    device = catalog.device
    return DeviceOffers(
        device.id,
        frozenset(device.capabilities),
        frozenset(profile.blocks for profile in device.dynamic_storage_profiles),
    )


MISPLACED = Rule(
    id="contract.misplaced-declaration",
    summary="An operation or provider of a catalog stands under its own id.",
    why="The engine looks declarations up by key: it would run one operation under another's "
    "contract.",
    fix="File each declaration under its own id.",
    source=_FORMAT,
    example=Example("catalog", {f"{_FIRST}/operation_id": "operation.head"}),
)
DUPLICATE_PORT = Rule(
    id="contract.duplicate-port",
    summary="A provider declares once which storage it accepts at a port.",
    why="The engine takes the first declaration it finds, so the second is never honoured.",
    fix="Merge the two into one list of accepted profiles.",
    source=_PROVIDERS,
    example=Example("catalog", {f"{_FIRST}/dynamic_storage_bindings/1/ordinal": 0}),
)
UNSELECTABLE = Rule(
    id="contract.unselectable-provider",
    summary="A provider can be selected on the catalog's device.",
    why="A provider that is built and shipped but never chosen is usually one whose declaration "
    "has a mistake; plans silently run on another.",
    fix="Correct the declaration, or drop the provider from this device's catalog.",
    source=_FORMAT,
    severity="note",
    example=Example("catalog", {f"{_FIRST}/device_id": "device.other.0"}),
)


def check_provider(
    operation_id: str,
    provider: Provider,
    operation: Operation | None,
    offered: DeviceOffers,
    location: str,
) -> Iterator[Finding]:
    """Findings of one provider's declarations, for the operation that the catalog lists it at."""
    name = f"Provider `{provider.provider_id}`"
    if provider.operation_id != operation_id:
        yield MISPLACED.finding(
            f"{name} provides `{provider.operation_id}`, but stands among those of "
            f"`{operation_id}`.",
            f"{location}/operation_id",
            expected=operation_id,
            actual=provider.operation_id,
        )
        operation = None
    seen: set[tuple[Role, int]] = set()
    for index, port in enumerate(provider.dynamic_storage_bindings):
        where = f"{location}/dynamic_storage_bindings/{index}"
        if (port.role, port.ordinal) in seen:
            yield DUPLICATE_PORT.finding(
                f"{name} declares twice which storage it accepts at {port.role} {port.ordinal} of "
                f"`{operation_id}`.",
                where,
            )
        seen.add((port.role, port.ordinal))
        if operation is not None and not _has_port(operation, port.role, port.ordinal):
            yield _unknown_port(f"{name} declares storage", port, operation, where)
        yield from check_accepted(
            port.storage,
            f"{name}, at {port.role} {port.ordinal} of `{operation_id}`,",
            f"{where}/storage/accepted_profiles",
        )
    if isinstance(provider.capability, ProviderContract):
        yield from _check_state_ports(provider, provider.capability, operation, location)
    if reasons := list(_obstacles(provider, operation, offered)):
        yield UNSELECTABLE.finding(
            f"{name} of `{operation_id}` can never be selected on device `{offered.device_id}`: "
            f"{'; '.join(reasons)}.",
            location,
        )


STATE_PORT = Rule(
    id="contract.state-port-storage",
    summary="A provider promises checkpoints of a state in storage that it accepts there.",
    why="The promise can never be kept: the state is never stored in that way, and every plan "
    "that selects the provider loses its checkpoints.",
    fix="Make the storage profile of the state port one that the provider accepts at the port.",
    source="seed 004, `derive_sequence_checkpoint` (`InvalidStatePort`)",
    example=Example(
        "catalog",
        {
            "/providers/operation.attention/1/checkpoint_capability/completed_boundary"
            "/state_ports/0/storage_profile": {"allocator": "linear_arena", "view": "contiguous"}
        },
    ),
)


def _check_state_ports(
    provider: Provider, contract: ProviderContract, operation: Operation | None, location: str
) -> Iterator[Finding]:
    name = f"Provider `{provider.provider_id}`"
    storages = {
        (port.role, port.ordinal): port.storage
        for port in reversed(provider.dynamic_storage_bindings)
    }
    for index, port in enumerate(contract.state_ports):
        where = f"{location}/{provider.checkpoint_key}/completed_boundary/state_ports/{index}"
        if operation is not None and not _has_port(operation, port.role, port.ordinal):
            yield _unknown_port(f"{name} declares a state", port, operation, where)
            continue
        storage = storages.get((port.role, port.ordinal))
        if storage is None or not storage.accepts(port.storage_profile):
            yield STATE_PORT.finding(
                f"{name} promises checkpoints of a state at {port.role} {port.ordinal} stored as "
                f"{describe_profile(port.storage_profile)}, which it does not accept there.",
                f"{where}/storage_profile",
                actual=port.storage_profile.to_wire(),
            )


def _has_port(operation: Operation, role: Role, ordinal: int) -> bool:
    return ordinal < len(operation.inputs if role == "input" else operation.outputs)


UNKNOWN_PORT = Rule(
    id="contract.unknown-port",
    summary="A provider speaks of inputs and outputs that its operation has.",
    why="What is declared for a port that is never bound protects nothing; most likely the "
    "provider was written for another version of the operation.",
    fix="Declare storage and state for the operation's own ports.",
    source=_PROVIDERS,
    example=Example("catalog", {f"{_FIRST}/dynamic_storage_bindings/1/ordinal": 7}),
)


def _unknown_port(
    claim: str, port: PortStorage | StatePort, operation: Operation, location: str
) -> Finding:
    return UNKNOWN_PORT.finding(
        f"{claim} for {port.role} {port.ordinal} of `{operation.id}`, which has "
        f"{len(operation.inputs)} inputs and {len(operation.outputs)} outputs.",
        location,
    )


def obstacles(
    provider: Provider, operation: Operation | None, catalog: CapabilityCatalog
) -> Iterator[str]:
    """Why a provider can never be selected on the catalog's device, as clauses; none if it can."""
    return _obstacles(provider, operation, offers(catalog))


def _obstacles(
    provider: Provider, operation: Operation | None, offered: DeviceOffers
) -> Iterator[str]:
    if provider.device_id != offered.device_id:
        yield f"it is for device `{provider.device_id}`"
    own = set(provider.capabilities)
    if foreign := sorted(own - offered.capabilities):
        yield f"the device lacks {', '.join(marked(foreign))}"
    if operation is not None:
        if missing := sorted(set(operation.provider.required_capabilities) - own):
            yield f"it lacks {', '.join(marked(missing))}, which the operation requires"
        minimum, version = operation.provider.minimum_version, provider.version
        if (version.major, version.minor) < (minimum.major, minimum.minor):
            yield (
                f"its version is {version.major}.{version.minor}, but the operation requires at "
                f"least {minimum.major}.{minimum.minor}"
            )
    for port in provider.dynamic_storage_bindings:
        accepted = port.storage.accepted_profiles
        if not any(profile.blocks in offered.profiles for profile in accepted):
            yield f"the device offers no storage that it accepts at {port.role} {port.ordinal}"
