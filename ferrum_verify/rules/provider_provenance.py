"""Contract rules of a node against the provider that it runs on: is it the one of the catalog?"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ferrum_verify.documents.memory_plan import StaticAllocation
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import marked
from ferrum_verify.plan.resource_rows import describe_profile
from ferrum_verify.rules.source_integrity import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import Operation, Provider
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.primitives import Version
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows


_FORMAT = "docs/format.md, «Execution-plan rules» (against the catalog)"
_NODE = "/plan/payload/nodes/2"
# The profiles that a provider accepts at each of its ports, by their blocks.
AcceptedBlocks: TypeAlias = dict[tuple[str, int], set[tuple[int, int]]]

IMPLEMENTATION = Rule(
    id="contract.provider-differs",
    summary="A node was compiled for the catalog's build of its provider, and for its estimator.",
    why="Another build may need more workspace, or compute other bits; the plan's promises are "
    "those of the build that it was compiled with.",
    fix="Compile the plan again with the provider at hand.",
    source=_FORMAT,
    example=Example("bundle", {f"{_NODE}/provider_implementation_fingerprint": "0" * 64}),
)
CAPABILITY = Rule(
    id="contract.missing-capability",
    summary="A node's provider has every capability that the node or its operation requires.",
    why="The kernel uses an instruction or feature that is not there.",
    fix="Select a provider that has the capability.",
    source=_FORMAT,
    example=Example("bundle", {f"{_NODE}/required_capabilities": ["capability.absent"]}),
)


def check_provider(
    node: PlanNode, operation: Operation, provider: Provider, location: str
) -> Iterator[Finding]:
    """Whether the node was compiled with this build of its provider, which can do what it must."""
    estimate = node.provider_resources
    facts = (
        (
            "implementation",
            f"{location}/provider_implementation_fingerprint",
            node.provider_implementation_fingerprint,
            provider.provider_implementation_fingerprint,
        ),
        (
            "estimator",
            f"{location}/provider_resources/estimator_id",
            estimate.estimator_id,
            provider.resource_estimator_id,
        ),
        (
            "estimator version",
            f"{location}/provider_resources/estimator_version",
            version_text(estimate.estimator_version),
            version_text(provider.resource_estimator_version),
        ),
        (
            "estimator implementation",
            f"{location}/provider_resources/estimator_implementation_fingerprint",
            estimate.estimator_implementation_fingerprint,
            provider.resource_estimator_implementation_fingerprint,
        ),
    )
    for what, where, actual, expected in facts:
        if actual != expected:
            yield IMPLEMENTATION.finding(
                f"Node `{node.id}` was compiled with the {what} {short(actual)} of "
                f"`{provider.provider_id}`, but the catalog's is {short(expected)}.",
                where,
                expected=expected,
                actual=actual,
            )
    needed = {*node.required_capabilities, *operation.provider.required_capabilities}
    if missing := sorted(needed - set(provider.capabilities)):
        yield CAPABILITY.finding(
            f"Node `{node.id}` requires {', '.join(marked(missing))}, which "
            f"`{provider.provider_id}` lacks.",
            f"{location}/required_capabilities",
        )


def accepted_blocks(provider: Provider) -> AcceptedBlocks:
    """The storage that a provider accepts at each port; its first declaration of a port counts."""
    return {
        (port.role, port.ordinal): {each.blocks for each in port.storage.accepted_profiles}
        for port in reversed(provider.dynamic_storage_bindings)
    }


_PAGED = {
    "allocator": {"fixed_block_arena": {"block_bytes": 256}},
    "view": {"paged_regions": {"block_bytes": 256}},
}
STORAGE = Rule(
    id="contract.storage-not-accepted",
    summary="A value lies in storage that the node's provider accepts at that port.",
    why="A kernel that expects contiguous bytes walks past the end of the first page.",
    fix="Store the value as the provider accepts it, or select another provider.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {
            "/catalog/providers/operation.embed/0/dynamic_storage_bindings/0/storage"
            "/accepted_profiles": [_PAGED]
        },
    ),
)


def check_storage(
    node: PlanNode, accepted: AcceptedBlocks, rows: ResourceRows, location: str
) -> Iterator[Finding]:
    """Whether each of the node's dynamic values is stored as its provider accepts it there."""
    for index, binding in enumerate(node.values):
        blocks = accepted.get((binding.role, binding.ordinal), ())
        for component in binding.storage.components:
            row = rows.get(component.resource_id)
            if row is None or isinstance(row, StaticAllocation):
                continue
            if row.storage.profile.blocks not in blocks:
                yield STORAGE.finding(
                    f"Value `{binding.value_id}` lies in `{component.resource_id}`, stored as "
                    f"{describe_profile(row.storage.profile)}, which "
                    f"`{node.selection.selected_provider}` does not accept at {binding.role} "
                    f"{binding.ordinal} of node `{node.id}`.",
                    f"{location}/values/{index}/storage",
                    actual=row.storage.profile.to_wire(),
                )
                break


def version_text(version: Version) -> str:
    """A version as messages show it: "1.0"."""
    return f"{version.major}.{version.minor}"
