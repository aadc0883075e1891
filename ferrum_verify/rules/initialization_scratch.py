"""The static row that loading the weights works in: plan schema 8.1."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.plan_schema import SCHEMA_8_1
from ferrum_verify.documents.storage import LINEAR_CONTIGUOUS
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.canonical import fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.execution_weights import ExecutionWeights
    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.documents.memory_plan import StaticAllocation
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.rules.expected import Expected

_FORMAT = "docs/format.md, «Plan schema 8.1» (initialization scratch)"
ALIGNMENT_BYTES = 256
_SCRATCH_NAME = "resource/static-weight-transform-scratch/sha256/"
_SCRATCH_ID = re.compile(f"{_SCRATCH_NAME}[0-9a-f]{{64}}")

SCRATCH = Rule(
    id="static.initialization-scratch",
    summary="A plan has one initialization scratch if its weights are transformed on loading, "
    "and otherwise none.",
    why="The transforms of all weights work in these bytes, one after the other. Without them, or "
    "with too few, loading the model writes past its memory; with no transform they are held for "
    "nothing.",
    fix="Reserve one static row, named by the hash of the transforms, as large as the largest of "
    "them needs.",
    source=_FORMAT,
    judgment="safety",
    example=Example(
        "bundle-8.1",
        {"/plan/payload/memory/static_allocations/6/alignment_bytes": 512},
    ),
)


def check(facts: Expected) -> Iterator[Finding]:
    """Findings of all rules of the initialization scratch; none in plans of another schema.

    Of a memory plan or fragment only its form is judged, and that there is no second one.
    """
    subject = facts.subject
    header = subject.header
    at = f"{subject.places.memory}/static_allocations"
    rows = [
        (f"{at}/{index}", row)
        for index, row in enumerate(facts.memory.static_allocations)
        if row.kind == "initialization_scratch"
    ]
    if not subject.places.payload:
        yield from _check_alone(rows, subject.nodes or ())
        return
    if subject.schema != SCHEMA_8_1 or header is None or header.execution_weights is None:
        return
    weights = header.execution_weights
    if not weights.static_weight_transforms:
        for place, row in rows:
            yield SCRATCH.finding(
                f"`{row.resource_id}` is an initialization scratch, but no weight of the plan is "
                "transformed",
                place,
            )
        return
    if len(rows) != 1:
        yield SCRATCH.finding(
            f"the plan has {plural(len(rows), 'row')} of initialization scratch, but the "
            f"{plural(len(weights.static_weight_transforms), 'transform')} of its weights work in "
            "one",
            rows[1][0] if rows else at,
        )
        return
    ((place, row),) = rows
    raw = subject.raw["plan"]["payload"]["execution_weights"]["static_weight_transforms"]
    resource_id = scratch_id(weights, header.quantization_formats, raw)
    yield from _check_row(row, weights, resource_id, place)


def _check_alone(
    rows: Sequence[tuple[str, StaticAllocation]], nodes: Sequence[FragmentNode | PlanNode]
) -> Iterator[Finding]:
    """What holds of the row whatever the weights are, where they are not at hand."""
    for place, row in rows[1:]:
        yield SCRATCH.finding(
            f"`{row.resource_id}` is a second initialization scratch, but all transforms of a "
            "plan's weights work in one",
            place,
        )
    for place, row in rows:
        if not _SCRATCH_ID.fullmatch(row.resource_id):
            yield SCRATCH.finding(
                f"the initialization scratch `{row.resource_id}` is not named by "
                f"`{_SCRATCH_NAME}` and a hash",
                f"{place}/resource_id",
            )
        if row.alignment_bytes != ALIGNMENT_BYTES:
            yield SCRATCH.finding(
                f"the initialization scratch has `alignment_bytes` {row.alignment_bytes:,}, but "
                f"every one has {ALIGNMENT_BYTES}",
                f"{place}/alignment_bytes",
                expected=ALIGNMENT_BYTES,
                actual=row.alignment_bytes,
            )
        yield from _check_profile(row, place)
        user = next((node.id for node in nodes if row.resource_id in node.resources), None)
        if user is not None:
            yield SCRATCH.finding(
                f"the initialization scratch is listed by node `{user}`, but only the loading of "
                "weights works in it",
                place,
            )


def _check_profile(row: StaticAllocation, location: str) -> Iterator[Finding]:
    if row.storage.profile != LINEAR_CONTIGUOUS:
        yield SCRATCH.finding(
            "the initialization scratch is not in a linear arena seen contiguously",
            f"{location}/storage/profile",
        )


SIZE_UNKNOWN = Rule(
    id="static.initialization-scratch-unknown",
    summary="The bytes that a plan's weight transforms work in can be told.",
    why="Too small a scratch lets the loader write past its memory. Of this transform it is not "
    "known in public how many bytes it takes.",
    fix="Compare the row's size with the engine's own number.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    judgment="safety",
    example=Example(
        "bundle-8.1",
        {
            "/plan/payload/execution_weights/static_weight_transforms/0/kind": "repack_for_mma",
        },
        also=("static.initialization-scratch", "value.weight-transform-unknown"),
    ),
)


def _check_row(
    row: StaticAllocation, weights: ExecutionWeights, resource_id: str, location: str
) -> Iterator[Finding]:
    facts: list[tuple[str, Any, Any]] = [
        ("resource_id", row.resource_id, resource_id),
        ("alignment_bytes", row.alignment_bytes, ALIGNMENT_BYTES),
    ]
    sizes = [each.scratch_bytes for each in weights.static_weight_transforms]
    known = [size for size in sizes if isinstance(size, int)]
    if unknown := sorted(
        {each.kind for each in weights.static_weight_transforms if each.scratch_bytes is None}
    ):
        yield SIZE_UNKNOWN.finding(
            f"how many bytes the weight transform `{unknown[0]}` works in is not known, so neither "
            f"is whether the {row.per_instance_bytes:,} bytes of `{row.resource_id}` are enough",
            f"{location}/per_instance_bytes",
        )
    elif len(known) == len(sizes):
        facts.append(("per_instance_bytes", row.per_instance_bytes, max(known)))
    for field, actual, expected in facts:
        if actual != expected:
            yield SCRATCH.finding(
                f"the initialization scratch has `{field}` {_shown(actual)}, but the weights' "
                f"transforms give {_shown(expected)}",
                f"{location}/{field}",
                expected=expected,
                actual=actual,
            )
    yield from _check_profile(row, location)


def scratch_id(
    weights: ExecutionWeights, quantization_formats: tuple[str, ...], transforms: Any
) -> str:
    """The id of the row: the hash of the weights' form and of all transforms, as written."""
    form = {
        "version": {"major": 1, "minor": 0},
        "weight_format_id": weights.schema_.format_id,
        "weight_layout_id": weights.schema_.layout_id,
        "quantization_format_ids": list(quantization_formats),
    }
    return f"{_SCRATCH_NAME}{fingerprint([form, transforms])}"


def _shown(value: str | int) -> str:
    return f"{value:,}" if isinstance(value, int) else f"`{value}`"
