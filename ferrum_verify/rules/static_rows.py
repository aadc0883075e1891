"""What every static row promises by itself, derived or not yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.memory_plan import Binding, Persistent, Scratch
from ferrum_verify.documents.storage import LINEAR_CONTIGUOUS, profile_fault
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings import Example, Finding, Rule
from ferrum_verify.findings.wording import in_series
from ferrum_verify.plan.canonical import OPAQUE_LAYOUT_FINGERPRINT
from ferrum_verify.plan.sizes import is_power_of_two, quantize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.memory_plan import StaticAllocation
    from ferrum_verify.documents.problem import ProblemAllocation

VALIDATE = "seed 000, `MemoryPlan::validate`"
DUPLICATE = Rule(
    id="static.duplicate",
    summary="A static resource has one row.",
    why="Two rows of one resource reserve its bytes twice and leave open which of the two a "
    "node gets.",
    fix="Remove the repeated row, or give it a resource id of its own.",
    source=VALIDATE,
    example=Example(
        "problem",
        {"/static_allocations/1/resource_id": "weight/embed"},
        also=("graph.unknown-resource",),
    ),
)
ZERO_BYTES = Rule(
    id="static.zero-bytes",
    summary="A static row reserves at least one byte.",
    why="A buffer of no bytes has no address that a kernel could be given.",
    fix="Give `per_instance_bytes` the size of the weight or workspace.",
    source=VALIDATE,
    example=Example("problem", {"/static_allocations/0/per_instance_bytes": 0}),
)
ALIGNMENT = Rule(
    id="static.alignment",
    summary="A static row's alignment is a power of two.",
    why="Addresses are rounded with masks; under any other alignment they come out wrong.",
    fix="Use a power of two, such as 256.",
    source="seed 000, `quantize_storage_bytes`",
    example=Example("problem", {"/static_allocations/0/alignment_bytes": 3}),
)
ILLEGAL_PROFILE = Rule(
    id="static.illegal-profile",
    summary="A static row's storage is a legal pair of allocator and view.",
    why="No allocator of the engine can serve the other pairs.",
    fix="Use a linear arena seen contiguously, or a fixed-block arena with a power-of-two block.",
    source="docs/format.md, «Sizes» (storage profiles)",
    example=Example(
        "problem",
        {"/static_allocations/2/storage/profile/view": {"paged_regions": {"block_bytes": 4096}}},
    ),
)
OVERFLOW = Rule(
    id="static.total-overflow",
    summary="Static sizes and their sum fit u64.",
    why="A sum that wraps looks small: the plan would be admitted and fail while loading.",
    fix="Reduce the static rows; no device holds 2^64 bytes.",
    source="seed 000, `from_core_with_completion_retention`",
    judgment="safety",
    example=Example("problem", {"/static_allocations/0/per_instance_bytes": 18446744073709551615}),
)


def check_rows(
    rows: Sequence[StaticAllocation | ProblemAllocation], location: str
) -> Iterator[Finding]:
    """What every static row promises by itself, derived or not yet."""
    seen: set[str] = set()
    for index, row in enumerate(rows):
        at = f"{location}/{index}"
        name = f"static resource `{row.resource_id}`"
        if row.resource_id in seen:
            yield DUPLICATE.finding(f"{name} has a second row", f"{at}/resource_id")
        seen.add(row.resource_id)
        if row.per_instance_bytes == 0:
            yield ZERO_BYTES.finding(f"{name} reserves 0 bytes", f"{at}/per_instance_bytes")
        profile = row.storage.profile
        if not is_power_of_two(row.alignment_bytes):
            yield ALIGNMENT.finding(
                f"{name} is aligned to {row.alignment_bytes:,}, which is no power of two",
                f"{at}/alignment_bytes",
            )
        elif fault := profile_fault(profile):
            yield ILLEGAL_PROFILE.finding(f"{name} is stored in {fault}", f"{at}/storage/profile")
        else:
            try:
                quantize(row.per_instance_bytes, row.alignment_bytes, profile)
            except SizeError as error:
                yield OVERFLOW.finding(f"the size of {name} {error}", f"{at}/per_instance_bytes")
        yield from _check_kind(row, name, at)


KIND = Rule(
    id="static.kind",
    summary="A static row is a value or a persistent workspace.",
    why="Scratch and binding bytes live for one invocation and must come from a pool.",
    fix="Make the row a dynamic descriptor of invocation lifetime.",
    source=VALIDATE,
    example=Example(
        "problem", {"/static_allocations/0/kind": {"scratch": {"node_id": "node/embed"}}}
    ),
)
VALUE_PROFILE = Rule(
    id="static.value-profile",
    summary="A static value is stored in a linear arena and seen contiguously.",
    why="Weights are uploaded as one contiguous copy; a blocked arena would scatter them.",
    fix="Store the value with the linear, contiguous profile.",
    source=VALIDATE,
    example=Example(
        "problem",
        {
            "/static_allocations/0/storage/profile/allocator": {
                "fixed_block_arena": {"block_bytes": 4096}
            }
        },
    ),
)
PERSISTENT = Rule(
    id="static.persistent-contract",
    summary="A static persistent workspace has usage persistent, u8 elements and opaque layout.",
    why="Only the provider knows what its workspace holds; any other contract lets the engine "
    "treat the bytes as a tensor.",
    fix="Set usage `persistent`, element type `u8` and the opaque layout's fingerprint.",
    source=VALIDATE,
    example=Example("problem", {"/static_allocations/2/element_type": "f16"}),
)


INITIALIZATION = Rule(
    id="static.initialization-contract",
    summary="An initialization scratch has usage scratch, u8 elements and opaque layout.",
    why="Only the transforms of the weights know what is in it while they run; any other contract "
    "lets the engine treat the bytes as a tensor.",
    fix="Set usage `scratch`, element type `u8` and the opaque layout's fingerprint.",
    source="docs/format.md, «Plan schema 8.1» (initialization scratch)",
    example=Example(
        "bundle-8.1", {"/plan/payload/memory/static_allocations/6/element_type": "f16"}
    ),
)


def _check_kind(
    row: StaticAllocation | ProblemAllocation, name: str, location: str
) -> Iterator[Finding]:
    profile = row.storage.profile
    match row.kind:
        case "value":
            if profile != LINEAR_CONTIGUOUS and not profile_fault(profile):
                yield VALUE_PROFILE.finding(
                    f"{name} is a value, but not in a linear arena seen contiguously",
                    f"{location}/storage/profile",
                )
        case Persistent(node_id=node):
            if wrong := _workspace_faults(row, "persistent"):
                yield PERSISTENT.finding(
                    f"{name} is the persistent workspace of `{node}`, but has {in_series(wrong)}",
                    location,
                )
        case "initialization_scratch":
            if wrong := _workspace_faults(row, "scratch"):
                yield INITIALIZATION.finding(
                    f"{name} is an initialization scratch, but has {in_series(wrong)}",
                    location,
                )
        case Scratch(node_id=node) | Binding(node_id=node):
            yield KIND.finding(
                f"{name} is the {row.kind.tag} workspace of `{node}`, "
                "which lives for one invocation only",
                f"{location}/kind",
            )


def _workspace_faults(row: StaticAllocation | ProblemAllocation, usage: str) -> list[str]:
    """Where a row is not opaque bytes of the usage."""
    facts = (
        (row.usage != usage, f"usage {row.usage}"),
        (row.element_type != "u8", f"element type {row.element_type}"),
        (
            row.storage.logical_layout_fingerprint != OPAQUE_LAYOUT_FINGERPRINT,
            "a layout that is not opaque",
        ),
    )
    return [text for fails, text in facts if fails]
