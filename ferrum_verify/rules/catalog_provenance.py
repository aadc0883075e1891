"""Contract rules of a plan against its catalog: does it run what the device really has?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.plan.resource_rows import describe_profile
from ferrum_verify.rules import operation_ports, selection_provenance
from ferrum_verify.rules.provider_provenance import (
    accepted_blocks,
    check_provider,
    check_storage,
    version_text,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import CapabilityCatalog, Operation, Provider
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Execution-plan rules» (against the catalog)"
NOT_OFFERED = Rule(
    id="contract.provider-not-offered",
    summary="A node's selected provider is among the operation's providers in the catalog.",
    why="The engine finds no such kernel and refuses the plan.",
    fix="Select one of the providers that the catalog lists for the operation.",
    source=_FORMAT,
    example=Example("bundle", {"/catalog/providers/operation.embed": []}),
)


def check(
    subject: Subject, catalog: CapabilityCatalog, rows: ResourceRows | None
) -> Iterator[Finding]:
    """Findings of all rules of a plan against its catalog."""
    yield from _check_device(subject, catalog)
    if subject.memory is not None:
        yield from _check_profiles(subject, catalog)
    ports = {key: operation_ports.accepted_ports(each) for key, each in catalog.operations.items()}
    providers = _providers(catalog)
    accepted = {key: accepted_blocks(each[0]) for key, each in providers.items()}
    for index, node in enumerate(subject.plan_nodes or ()):
        place = f"{subject.places.nodes}/{index}"
        operation = catalog.operations.get(node.operation_id)
        if operation is None or operation.version != node.operation_version:
            yield _unknown_operation(node, operation, place)
            continue
        yield from operation_ports.check_node(node, ports[node.operation_id], place)
        if node.selection.rejected_providers:
            yield from selection_provenance.check_rejections(node, providers, place)
        if node.provider_resources.provider_id != node.selection.selected_provider:
            continue  # whose contract counts is already in doubt
        yield from _check_requirements(node, operation, place)
        selected = providers.get((node.operation_id, node.selection.selected_provider))
        if selected is None:
            yield NOT_OFFERED.finding(
                f"Node `{node.id}` runs on `{node.selection.selected_provider}`, which the catalog "
                f"does not list for `{node.operation_id}`.",
                f"{place}/selection/selected_provider",
                actual=node.selection.selected_provider,
                fix=None
                if catalog.providers.get(node.operation_id)
                else "Give the catalog a provider of the operation, for which it lists none.",
            )
            continue
        if len(selected) > 1:
            continue  # which of them counts is in doubt
        provider = selected[0]
        yield from check_provider(node, operation, provider, place)
        yield from selection_provenance.check_formats(node, provider, subject.header, place)
        if rows is not None:
            blocks = accepted[node.operation_id, provider.provider_id]
            yield from check_storage(node, blocks, rows, place)


def _providers(catalog: CapabilityCatalog) -> dict[tuple[str, str], list[Provider]]:
    """The catalog's providers by operation and id; of one id there may be several."""
    providers: dict[tuple[str, str], list[Provider]] = {}
    for operation_id, offered in catalog.providers.items():
        for provider in offered:
            providers.setdefault((operation_id, provider.provider_id), []).append(provider)
    return providers


DEVICE = Rule(
    id="contract.device-differs",
    summary="The plan was compiled for the catalog's device, runtime and memory size.",
    why="Kernels, alignment and capacity belong to one device: elsewhere the plan may not load, "
    "or ask for memory that is not there.",
    fix="Compile the plan for the catalog's device.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/payload/device_id": "device.other.0"}),
)


def _check_device(subject: Subject, catalog: CapabilityCatalog) -> Iterator[Finding]:
    device, header, memory = catalog.device, subject.header, subject.memory
    facts: list[tuple[str, str, Any, Any]] = []
    if header is not None:
        payload = subject.places.payload
        facts += [
            ("device", pointer(payload, "device_id"), header.device_id, device.id),
            (
                "device runtime",
                pointer(payload, "device_runtime_implementation_fingerprint"),
                header.device_runtime_implementation_fingerprint,
                device.runtime_implementation_fingerprint,
            ),
        ]
    if memory is not None:
        facts.append(
            (
                "device memory",
                pointer(subject.places.memory, "device_capacity_bytes"),
                memory.device_capacity_bytes,
                device.total_memory_bytes,
            )
        )
    for what, where, actual, expected in facts:
        if actual != expected:
            yield DEVICE.finding(
                f"The plan was compiled for the {what} {_fact(actual)}, but the catalog's is "
                f"{_fact(expected)}.",
                where,
                expected=expected,
                actual=actual,
            )


def _fact(value: str | int) -> str:
    return f"`{value}`" if isinstance(value, str) else f"of {value:,} bytes"


_LINEAR = {"allocator": "linear_arena", "view": "contiguous"}
NOT_ON_DEVICE = Rule(
    id="contract.storage-not-offered",
    summary="A dynamic resource is stored in a way that the device offers.",
    why="The device has no allocator for it, so the first request fails.",
    fix="Use one of the device's dynamic storage profiles.",
    source=_FORMAT,
    example=Example("bundle", {"/catalog/device/dynamic_storage_profiles": [_LINEAR]}),
)


def _check_profiles(subject: Subject, catalog: CapabilityCatalog) -> Iterator[Finding]:
    assert subject.memory is not None
    offered = {profile.blocks for profile in catalog.device.dynamic_storage_profiles}
    for index, row in enumerate(subject.memory.dynamic_descriptors):
        if row.storage.profile.blocks not in offered:
            yield NOT_ON_DEVICE.finding(
                f"The dynamic resource `{row.base_resource_id}` is stored as "
                f"{describe_profile(row.storage.profile)}, which device `{catalog.device.id}` does "
                "not offer.",
                pointer(subject.places.memory, "dynamic_descriptors", index, "storage", "profile"),
                actual=row.storage.profile.to_wire(),
            )


_NODE = "/plan/payload/nodes/2"
UNKNOWN_OPERATION = Rule(
    id="contract.unknown-operation",
    summary="A node runs an operation, in a version, that the catalog has.",
    why="There is no kernel for it on the device.",
    fix="Compile the plan against a catalog that has the operation.",
    source=_FORMAT,
    example=Example("bundle", {f"{_NODE}/operation_version/minor": 7}),
)


def _unknown_operation(node: PlanNode, operation: Operation | None, location: str) -> Finding:
    if operation is None:
        return UNKNOWN_OPERATION.finding(
            f"Node `{node.id}` runs `{node.operation_id}`, which is none of the catalog's "
            "operations.",
            f"{location}/operation_id",
            actual=node.operation_id,
        )
    return UNKNOWN_OPERATION.finding(
        f"Node `{node.id}` runs version {version_text(node.operation_version)} of "
        f"`{node.operation_id}`, but the catalog has {version_text(operation.version)}.",
        f"{location}/operation_version",
        expected=operation.version.to_wire(),
        actual=node.operation_version.to_wire(),
    )


REQUIREMENT = Rule(
    id="contract.workspace-requirement",
    summary="An estimate has the workspaces that the operation requires, and none that it forbids.",
    why="The operation's contract says what its kernels get beside their values. A provider that "
    "asks for other workspaces was written for another contract.",
    fix="Ask the provider for an estimate that keeps to the operation's contract.",
    source=_FORMAT,
    example=Example(
        "bundle", {"/catalog/operations/operation.head/resources/scratch": "forbidden"}
    ),
)
VALUE_ALIGNMENT = Rule(
    id="contract.value-alignment",
    summary="A provider aligns values to no less than its operation requires.",
    why="The kernels of an operation may count on its minimum: they load vectors from aligned "
    "addresses, and fault at a smaller alignment.",
    fix="Have the provider's estimator ask for no less than the operation's minimum.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {"/catalog/operations/operation.embed/resources/minimum_value_alignment_bytes": 128},
    ),
)


def _check_requirements(node: PlanNode, operation: Operation, location: str) -> Iterator[Finding]:
    estimate, contract = node.provider_resources, operation.resources
    for part, workspace, requirement in (
        ("scratch", estimate.scratch, contract.scratch),
        ("binding", estimate.binding, contract.binding),
        ("persistent", estimate.persistent, contract.persistent),
    ):
        if requirement == ("required" if workspace is None else "forbidden"):
            has = "no" if workspace is None else "a"
            yield REQUIREMENT.finding(
                f"The estimate of node `{node.id}` has {has} {part} workspace, which is "
                f"{requirement} by `{operation.id}`.",
                f"{location}/provider_resources/{part}",
            )
    minimum = contract.minimum_value_alignment_bytes
    if estimate.value_alignment_bytes < minimum:
        yield VALUE_ALIGNMENT.finding(
            f"Provider `{estimate.provider_id}` aligns the values of node `{node.id}` to "
            f"{estimate.value_alignment_bytes:,} bytes, but `{operation.id}` requires at least "
            f"{minimum:,}.",
            f"{location}/provider_resources/value_alignment_bytes",
            expected=minimum,
            actual=estimate.value_alignment_bytes,
        )
