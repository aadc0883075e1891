"""Whether a provider that could be selected still can be, beside what it lost itself."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.contracts.changed_lists import missing_from
from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.examples import OPERATION, changed
from ferrum_verify.findings import Rule
from ferrum_verify.rules.provider_declarations import obstacles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.contracts.providers import ProviderPair
    from ferrum_verify.documents.catalog import CapabilityCatalog, Device, Operation, Provider
    from ferrum_verify.findings import Finding


UNSELECTABLE_NOW = Rule(
    id="contract.no-longer-selectable",
    summary="A provider that can be selected in BASE can be in HEAD.",
    why="It is still listed, but no plan can be built with it, so the plans that have it cannot "
    "be rebuilt.",
    fix="Make the provider meet what the device and the operation require of it.",
    source="docs/format.md, «Provider contracts»",
    example=changed({f"{OPERATION}/provider/minimum_version/minor": 1}),
)


def selectability_changes(
    pair: ProviderPair, base: CapabilityCatalog, head: CapabilityCatalog
) -> Iterator[Finding]:
    """At most one finding: the provider can no longer be selected, or can be again."""
    operation_id = pair.operation_id
    before = list(obstacles(pair.base, base.operations.get(operation_id), base))
    after = list(obstacles(pair.head, head.operations.get(operation_id), head))
    if after and not before and (hindering := new_obstacles(pair, base, head)):
        yield UNSELECTABLE_NOW.finding(
            f"{pair.name} can no longer be selected: {'; '.join(hindering)}.", pair.place
        )
    back = replace(pair, base=pair.head, head=pair.base)
    if before and not after and (hindered := new_obstacles(back, head, base)):
        yield change(
            "selectable-again",
            f"{pair.name} can be selected now; in BASE it could not be: {'; '.join(hindered)}.",
            pair.place,
        )


def new_obstacles(
    pair: ProviderPair, base: CapabilityCatalog, head: CapabilityCatalog
) -> list[str]:
    """What keeps a provider from being selected in HEAD and did not in BASE, as clauses.

    What was taken away from the provider or the device has a finding of its own: it is given
    back first, so that what is left are the other obstacles.
    """
    operation = head.operations.get(pair.operation_id)
    return _beyond_base(pair, base, head, operation, _restored_device(base, head))


def new_plan_obstacles(
    pair: ProviderPair, base: CapabilityCatalog, head: CapabilityCatalog
) -> list[str]:
    """The same for a plan that has the provider.

    Of a plan it is known which capabilities its nodes require, and that is said of each node;
    what the device lost is not.
    """
    operation, was = head.operations.get(pair.operation_id), base.operations.get(pair.operation_id)
    if operation is not None and was is not None:
        required = operation.provider.model_copy(
            update={"required_capabilities": was.provider.required_capabilities}
        )
        operation = operation.model_copy(update={"provider": required})
    device = _restored_device(base, head).model_copy(
        update={"capabilities": head.device.capabilities}
    )
    return _beyond_base(pair, base, head, operation, device)


def _beyond_base(
    pair: ProviderPair,
    base: CapabilityCatalog,
    head: CapabilityCatalog,
    operation: Operation | None,
    device: Device,
) -> list[str]:
    known = set(obstacles(pair.base, base.operations.get(pair.operation_id), base))
    provider = _restored_provider(pair, base, head)
    catalog = head.model_copy(update={"device": device})
    return [each for each in obstacles(provider, operation, catalog) if each not in known]


def _restored_provider(
    pair: ProviderPair, base: CapabilityCatalog, head: CapabilityCatalog
) -> Provider:
    kept = {
        (port.role, port.ordinal): port for port in reversed(pair.base.dynamic_storage_bindings)
    }
    restored = []
    for port in pair.head.dynamic_storage_bindings:
        was = kept.get((port.role, port.ordinal))
        profiles = port.storage.accepted_profiles
        if was is not None:
            profiles += tuple(missing_from(profiles, was.storage.accepted_profiles))
        storage = port.storage.model_copy(update={"accepted_profiles": profiles})
        restored.append(port.model_copy(update={"storage": storage}))
    own, device = pair.head.capabilities, pair.head.device_id
    return pair.head.model_copy(
        update={
            "capabilities": own + tuple(missing_from(own, pair.base.capabilities)),
            "dynamic_storage_bindings": tuple(restored),
            "device_id": base.device.id if device == head.device.id else device,
        }
    )


def _restored_device(base: CapabilityCatalog, head: CapabilityCatalog) -> Device:
    device, was = head.device, base.device
    capabilities, profiles = device.capabilities, device.dynamic_storage_profiles
    return device.model_copy(
        update={
            "id": was.id,
            "capabilities": capabilities + tuple(missing_from(capabilities, was.capabilities)),
            "dynamic_storage_profiles": profiles
            + tuple(missing_from(profiles, was.dynamic_storage_profiles)),
        }
    )
