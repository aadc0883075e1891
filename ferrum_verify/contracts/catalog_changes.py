"""What changes between two catalogs: the device, operations, providers and engines.

Providers are matched by operation and provider id; of two with one id the engine takes the
first, and so does this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.contracts import rules
from ferrum_verify.contracts.changed_lists import list_change
from ferrum_verify.contracts.operation_changes import operation_changes
from ferrum_verify.contracts.provider_changes import ProviderPair, provider_changes
from ferrum_verify.contracts.selectability import selectability_changes
from ferrum_verify.findings import pointer
from ferrum_verify.plan.resource_rows import describe_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import CapabilityCatalog, EngineProvider, Provider
    from ferrum_verify.findings import Finding


class Indexed(NamedTuple):
    """A provider, and where it stands among those of its operation."""

    position: int
    provider: Provider


def providers_by_id(catalog: CapabilityCatalog, operation_id: str) -> dict[str, Indexed]:
    """The providers of an operation by id, in the catalog's order."""
    found: dict[str, Indexed] = {}
    for index, provider in enumerate(catalog.providers.get(operation_id, ())):
        found.setdefault(provider.provider_id, Indexed(index, provider))
    return found


def provider_pairs(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[ProviderPair]:
    """The providers that both catalogs have; HEAD stands at the pointer ``place``."""
    for operation_id in base.providers:
        after = providers_by_id(head, operation_id)
        for provider_id, before in providers_by_id(base, operation_id).items():
            if (now := after.get(provider_id)) is not None:
                where = pointer(place, "providers", operation_id, now.position)
                yield ProviderPair(operation_id, before.provider, now.provider, where)


def catalog_changes(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[Finding]:
    """Findings of every change; HEAD stands at the pointer ``place`` of its document."""
    yield from _device_changes(base, head, pointer(place, "device"))
    changed_operations = set()
    for operation_id, before in base.operations.items():
        after = head.operations.get(operation_id)
        if after is None:
            continue
        findings = list(
            operation_changes(before, after, pointer(place, "operations", operation_id))
        )
        if findings:
            changed_operations.add(operation_id)
        yield from findings
    yield from _presence_changes(base, head, place)
    for pair in provider_pairs(base, head, place):
        findings = list(provider_changes(pair))
        findings += selectability_changes(pair, base, head)
        if not findings:
            findings = list(_identity_change(pair, pair.operation_id in changed_operations))
        yield from findings
    yield from _engine_changes(base, head, place)


def _device_changes(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[Finding]:
    before, after = base.device, head.device
    if before.id != after.id:
        yield rules.DEVICE_CHANGED.finding(
            f"HEAD is a catalog of device {after.id}, and BASE one of {before.id}.",
            pointer(place, "id"),
            expected=before.id,
            actual=after.id,
        )
    name = f"Device {after.id}"
    if before.total_memory_bytes != after.total_memory_bytes:
        shrinks = after.total_memory_bytes < before.total_memory_bytes
        yield (rules.MEMORY_REDUCED if shrinks else rules.MEMORY_EXTENDED).finding(
            f"{name} has {after.total_memory_bytes:,} bytes of memory instead of "
            f"{before.total_memory_bytes:,}.",
            pointer(place, "total_memory_bytes"),
            expected=before.total_memory_bytes,
            actual=after.total_memory_bytes,
        )
    yield from list_change(
        name,
        "has",
        "capabilities",
        before.capabilities,
        after.capabilities,
        place=pointer(place, "capabilities"),
        lost_and_gained=(rules.CAPABILITY_REMOVED, rules.CAPABILITY_ADDED),
    )
    yield from list_change(
        name,
        "offers",
        "storage profiles",
        before.dynamic_storage_profiles,
        after.dynamic_storage_profiles,
        place=pointer(place, "dynamic_storage_profiles"),
        lost_and_gained=(rules.PROFILE_DROPPED, rules.PROFILE_ADDED),
        describe=describe_profile,
    )
    fields = {
        "class": (before.class_, after.class_),
        "ordinal": (before.ordinal, after.ordinal),
        "runtime_implementation_fingerprint": (
            before.runtime_implementation_fingerprint,
            after.runtime_implementation_fingerprint,
        ),
    }
    yield from _identity_finding(name, fields, place)


def _presence_changes(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[Finding]:
    ids = dict.fromkeys([*base.operations, *base.providers, *head.operations, *head.providers])
    for operation_id in ids:
        before, after = providers_by_id(base, operation_id), providers_by_id(head, operation_id)
        where = pointer(place, "providers")
        if operation_id in head.providers:
            where = pointer(where, operation_id)
        if operation_id in base.operations and operation_id not in head.operations:
            providers = f" with its providers {', '.join(before)}" if before else ""
            yield rules.PROVIDER_REMOVED.finding(
                f"HEAD does not have the operation {operation_id} any more{providers}.",
                pointer(place, "operations"),
            )
            continue
        if operation_id in head.operations and operation_id not in base.operations:
            providers = f" with its providers {', '.join(after)}" if after else ""
            yield rules.PROVIDER_ADDED.finding(
                f"HEAD has the operation {operation_id}{providers}, which is new.",
                pointer(place, "operations", operation_id),
            )
            continue
        left = ", ".join(after)
        for provider_id in before:
            if provider_id not in after:
                rest = f"HEAD still has {left}" if left else "HEAD has no other"
                yield rules.PROVIDER_REMOVED.finding(
                    f"The provider {provider_id} of {operation_id} is gone; {rest}.",
                    where,
                )
        for provider_id, now in after.items():
            if provider_id not in before:
                yield rules.PROVIDER_ADDED.finding(
                    f"The provider {provider_id} of {operation_id} is new.",
                    pointer(where, now.position),
                )


def _identity_change(pair: ProviderPair, operation_changed: bool) -> Iterator[Finding]:
    base, head = pair.base, pair.head
    fields = {
        name: (getattr(base, name), getattr(head, name))
        for name in (
            "version",
            "operation_fingerprint",
            "provider_implementation_fingerprint",
            "resource_estimator_id",
            "resource_estimator_version",
            "resource_estimator_implementation_fingerprint",
        )
    }
    if operation_changed:
        del fields["operation_fingerprint"]  # it follows from the operation's own change
    yield from _identity_finding(f"Provider {pair.name}", fields, pair.place)


def _engine_changes(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[Finding]:
    before, after = base.engine_providers, head.engine_providers
    where = pointer(place, "engine_providers")
    for provider_id, engine in before.items():
        if provider_id not in after:
            yield rules.PROVIDER_REMOVED.finding(
                f"The engine provider {provider_id} is gone.", where
            )
        else:
            yield from _engine_change(
                engine, after[provider_id], pointer(where, provider_id), base, head
            )
    for provider_id in after:
        if provider_id not in before:
            yield rules.PROVIDER_ADDED.finding(
                f"The engine provider {provider_id} is new.", pointer(where, provider_id)
            )


def _engine_change(
    before: EngineProvider,
    after: EngineProvider,
    place: str,
    base: CapabilityCatalog,
    head: CapabilityCatalog,
) -> Iterator[Finding]:
    name = f"Engine provider {after.provider_id}"
    yield from list_change(
        name,
        "has",
        "capabilities",
        before.capabilities,
        after.capabilities,
        place=pointer(place, "capabilities"),
        lost_and_gained=(rules.CAPABILITY_REMOVED, rules.CAPABILITY_ADDED),
    )
    was_at_home, is_at_home = (
        before.device_id == base.device.id,
        after.device_id == head.device.id,
    )
    # That the device itself is another has its own finding.
    if before.device_id != after.device_id and was_at_home != is_at_home:
        rule = rules.UNSELECTABLE_NOW if was_at_home else rules.SELECTABLE_NOW
        yield rule.finding(
            f"{name} is for device {after.device_id} and was for {before.device_id}.",
            pointer(place, "device_id"),
            expected=before.device_id,
            actual=after.device_id,
        )
    fields = {
        name: (getattr(before, name), getattr(after, name))
        for name in ("contract_version", "implementation_fingerprint")
    }
    yield from _identity_finding(name, fields, place)


def _identity_finding(
    owner: str, fields: dict[str, tuple[object, object]], place: str
) -> Iterator[Finding]:
    changed = [name for name, (before, after) in fields.items() if before != after]
    if changed:
        verb = "differs" if len(changed) == 1 else "differ"
        yield rules.IDENTITY_CHANGED.finding(
            f"{owner} is another build: only its {', '.join(changed)} {verb}.",
            pointer(place, changed[0]),
        )
