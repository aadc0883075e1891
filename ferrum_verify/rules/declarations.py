"""Contract rules of a catalog alone: do its declarations agree with each other?

Nothing here needs a plan. A provider that can never be selected is a note: a catalog may list
what this device or this version of an operation cannot use, and the plan says why it rejected
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.storage import profile_fault
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.plan.sizes import is_power_of_two
from ferrum_verify.rules.estimates import ILLEGAL_PROFILE
from ferrum_verify.rules.provider_declarations import (
    MISPLACED,
    check_provider,
    offers,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import (
        CapabilityCatalog,
        Operation,
    )
    from ferrum_verify.findings import Finding

_FORMAT = "docs/format.md, «Provider contracts»"
UNKNOWN_OPERATION = Rule(
    id="contract.provided-operation-unknown",
    summary="A catalog lists providers of operations that it has.",
    why="Without the operation's contract nobody knows what the provider promises.",
    fix="Add the operation to the catalog, or drop its providers.",
    source=_FORMAT,
    example=Example("catalog", {"/providers/operation.absent": []}),
)
DUPLICATE_PROVIDER = Rule(
    id="contract.duplicate-provider",
    summary="A catalog lists a provider once for an operation.",
    why="The engine takes the first it finds; the second's declarations are never read, so a "
    "change to them has no effect.",
    fix="Keep one of the two.",
    source=_FORMAT,
    example=Example(
        "catalog",
        {"/providers/operation.attention/0/provider_id": "provider.attention.reference"},
    ),
)


def check(catalog: CapabilityCatalog, location: str) -> Iterator[Finding]:
    """Findings of a catalog's own declarations; it stands at the pointer ``place``."""
    for index, profile in enumerate(catalog.device.dynamic_storage_profiles):
        if (fault := profile_fault(profile)) is not None:
            yield ILLEGAL_PROFILE.finding(
                f"Device `{catalog.device.id}` offers {fault}.",
                pointer(location, "device", "dynamic_storage_profiles", index),
                actual=profile.to_wire(),
            )
    for operation_id, operation in catalog.operations.items():
        yield from _check_operation(
            operation_id, operation, pointer(location, "operations", operation_id)
        )
    offered = offers(catalog)
    for operation_id, providers in catalog.providers.items():
        where = pointer(location, "providers", operation_id)
        known = catalog.operations.get(operation_id)
        if known is None:
            yield UNKNOWN_OPERATION.finding(
                f"The catalog lists {len(providers)} providers of `{operation_id}`, which is "
                "none of its operations.",
                where,
            )
        seen: set[str] = set()
        for index, provider in enumerate(providers):
            if provider.provider_id in seen:
                yield DUPLICATE_PROVIDER.finding(
                    f"Provider `{provider.provider_id}` stands twice among those of "
                    f"`{operation_id}`.",
                    f"{where}/{index}/provider_id",
                )
            seen.add(provider.provider_id)
            yield from check_provider(operation_id, provider, known, offered, f"{where}/{index}")
    for provider_id, engine in catalog.engine_providers.items():
        if engine.provider_id != provider_id:
            yield _misplaced(
                "Engine provider",
                engine.provider_id,
                provider_id,
                pointer(location, "engine_providers", provider_id, "provider_id"),
            )


OPERATION_ALIGNMENT = Rule(
    id="contract.operation-alignment",
    summary="An operation's minimum value alignment is a power of two.",
    why="No allocator can place values at such an alignment.",
    fix="Ask for a power of two.",
    source=_FORMAT,
    example=Example(
        "catalog", {"/operations/operation.embed/resources/minimum_value_alignment_bytes": 24}
    ),
)
ALIAS_TARGET = Rule(
    id="contract.alias-target",
    summary="An operation's output aliases an input that the operation has.",
    why="An output that must take the bytes of an input that is not there has no bytes at all.",
    fix="Name an input of the operation.",
    source="docs/format.md, «Values» (alias policy)",
    example=Example(
        "catalog",
        {"/operations/operation.residual/outputs/0/alias": {"must_alias": {"tensor_index": 5}}},
    ),
)


def _check_operation(operation_id: str, operation: Operation, location: str) -> Iterator[Finding]:
    if operation.id != operation_id:
        yield _misplaced("Operation", operation.id, operation_id, f"{location}/id")
    alignment = operation.resources.minimum_value_alignment_bytes
    if not is_power_of_two(alignment):
        yield OPERATION_ALIGNMENT.finding(
            f"Operation `{operation_id}` wants values aligned to at least {alignment:,} bytes, "
            "which is no power of two.",
            f"{location}/resources/minimum_value_alignment_bytes",
            actual=alignment,
        )
    for ordinal, output in enumerate(operation.outputs):
        policy = output.alias
        if not isinstance(policy, str) and policy.tensor_index >= len(operation.inputs):
            yield ALIAS_TARGET.finding(
                f"Output {ordinal} of operation `{operation_id}` aliases input "
                f"{policy.tensor_index}, but the operation has {len(operation.inputs)} inputs.",
                f"{location}/outputs/{ordinal}/alias",
            )


def _misplaced(what: str, own: str, key: str, location: str) -> Finding:
    return MISPLACED.finding(
        f"{what} `{own}` stands under the id `{key}`.", location, expected=key, actual=own
    )
