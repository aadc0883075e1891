"""What changes between two catalogs: the device, operations, providers and engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.contracts.build_changes import identity_change
from ferrum_verify.contracts.changed_lists import (
    CAPABILITIES,
    OFFERED_PROFILES,
    list_change,
    missing_from,
)
from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.examples import ATTENTION, changed
from ferrum_verify.contracts.materializer_changes import materializer_changes
from ferrum_verify.contracts.names import code
from ferrum_verify.contracts.operation_changes import operation_changes
from ferrum_verify.contracts.provider_changes import provider_changes
from ferrum_verify.contracts.providers import provider_pairs, providers_by_id
from ferrum_verify.contracts.selectability import UNSELECTABLE_NOW, selectability_changes
from ferrum_verify.findings import DELETE, Rule, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.findings import Finding

_SOURCE = "docs/format.md, «Provider contracts»"
_BUILD = (
    "version",
    "operation_fingerprint",
    "provider_implementation_fingerprint",
    "resource_estimator_id",
    "resource_estimator_version",
    "resource_estimator_implementation_fingerprint",
)
"""What names the build of a provider and promises nothing."""


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
        where = pointer(place, "operations", operation_id)
        for finding in operation_changes(before, after, where):
            changed_operations.add(operation_id)
            yield finding
    yield from _presence_changes(base, head, place)
    for pair in provider_pairs(base, head, place):
        findings = list(provider_changes(pair))
        findings += selectability_changes(pair, base, head)
        if not findings:
            # Another fingerprint of the operation follows from the operation's own change.
            follows = pair.operation_id in changed_operations
            fields = [name for name in _BUILD if not follows or name != "operation_fingerprint"]
            findings += identity_change(pair.name, fields, pair.base, pair.head, pair.place)
        yield from findings
    yield from _engine_changes(base, head, pointer(place, "engine_providers"))
    yield from materializer_changes(base, head, place)


DEVICE_CHANGED = Rule(
    id="contract.device-changed",
    summary="HEAD is a catalog of the device that BASE is of.",
    why="A plan belongs to one device; none of BASE's plans runs on another.",
    fix="Compare two catalogs of one device.",
    source=_SOURCE,
    example=changed({"/device/id": "device.sample.1"}),
)
MEMORY_REDUCED = Rule(
    id="contract.device-memory-reduced",
    summary="The device has at least as much memory in HEAD as in BASE.",
    why="A policy that grants more than the device has admits requests that run out of memory.",
    fix="Check each policy against the new size, and rebuild the plans.",
    source=_SOURCE,
    example=changed({"/device/total_memory_bytes": 4194303}),
)


def _device_changes(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[Finding]:
    before, after = base.device, head.device
    if before.id != after.id:
        yield DEVICE_CHANGED.finding(
            f"HEAD is a catalog of device {code(after.id)}, and BASE one of {code(before.id)}.",
            pointer(place, "id"),
            expected=before.id,
            actual=after.id,
        )
    name = f"device {code(after.id)}"
    was, now = before.total_memory_bytes, after.total_memory_bytes
    if was != now:
        yield change(
            MEMORY_REDUCED if now < was else "device-memory-extended",
            f"{name} has {now:,} bytes of memory instead of {was:,}.",
            pointer(place, "total_memory_bytes"),
            expected=was,
            actual=now,
        )
    for kind, field in (
        (CAPABILITIES, "capabilities"),
        (OFFERED_PROFILES, "dynamic_storage_profiles"),
    ):
        yield from list_change(
            name, kind, getattr(before, field), getattr(after, field), pointer(place, field)
        )
    build = ("class_", "ordinal", "runtime_implementation_fingerprint")
    yield from identity_change(name, build, before, after, place)


PROVIDER_REMOVED = Rule(
    id="contract.provider-removed",
    summary="HEAD has each operation that BASE has, and each of its providers.",
    why="Each plan that selected it names a kernel that is no longer there, and the engine "
    "refuses to load it.",
    fix="Keep the provider until no plan selects it, or rebuild those plans on another one.",
    source=_SOURCE,
    example=changed({ATTENTION: DELETE}),
)


def _presence_changes(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[Finding]:
    """Operations and providers that only one of the catalogs has; an operation takes its own."""
    ids = dict.fromkeys([*base.operations, *base.providers, *head.operations, *head.providers])
    for operation_id in ids:
        before, after = providers_by_id(base, operation_id), providers_by_id(head, operation_id)
        name = f"operation {code(operation_id)}"
        where = pointer(place, "providers")
        if operation_id in head.providers:
            where = pointer(where, operation_id)
        if operation_id in base.operations and operation_id not in head.operations:
            yield PROVIDER_REMOVED.finding(
                f"HEAD does not have the {name} any more{_along(before)}.",
                pointer(place, "operations"),
                about=(operation_id, "operation"),
            )
        elif operation_id in head.operations and operation_id not in base.operations:
            yield change(
                "provider-added",
                f"HEAD has the {name}{_along(after)}, which is new.",
                pointer(place, "operations", operation_id),
            )
        else:
            left = ", ".join(map(code, after))
            rest = f"; HEAD still has {left}" if left else "; HEAD has no other"
            for provider_id in missing_from(after, before):
                yield PROVIDER_REMOVED.finding(
                    f"the provider {code(provider_id)} of {code(operation_id)} is gone{rest}.",
                    where,
                    about=(provider_id, operation_id),
                    fix=None if left else "Keep the provider until no plan selects it.",
                )
            for provider_id in missing_from(before, after):
                yield change(
                    "provider-added",
                    f"the provider {code(provider_id)} of {code(operation_id)} is new.",
                    pointer(where, after[provider_id].position),
                )


def _along(providers: Mapping[str, object]) -> str:
    return f" with its providers {', '.join(map(code, providers))}" if providers else ""


def _engine_changes(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[Finding]:
    before, after = base.engine_providers, head.engine_providers
    for engine_id, was in before.items():
        name = f"engine provider {code(engine_id)}"
        if engine_id not in after:
            yield PROVIDER_REMOVED.finding(
                f"the {name} is gone.", place, about=(engine_id, "engine")
            )
            continue
        now, where = after[engine_id], pointer(place, engine_id)
        yield from list_change(
            name, CAPABILITIES, was.capabilities, now.capabilities, pointer(where, "capabilities")
        )
        was_at_home = was.device_id == base.device.id
        # That the device itself is another has its own finding.
        if was.device_id != now.device_id and was_at_home != (now.device_id == head.device.id):
            yield change(
                UNSELECTABLE_NOW if was_at_home else "selectable-again",
                f"{name} is for device {code(now.device_id)} and was for {code(was.device_id)}.",
                pointer(where, "device_id"),
                expected=was.device_id,
                actual=now.device_id,
            )
        build = ("contract_version", "implementation_fingerprint")
        yield from identity_change(name, build, was, now, where)
    for engine_id in missing_from(before, after):
        yield change(
            "provider-added",
            f"the engine provider {code(engine_id)} is new.",
            pointer(place, engine_id),
        )
