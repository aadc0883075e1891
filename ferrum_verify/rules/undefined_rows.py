"""Rows of a step at every shape that a step may have: each has a size there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import Shape
from ferrum_verify.documents.terms import Linear, Staircase
from ferrum_verify.findings import Example, Rule
from ferrum_verify.plan.holding import smallest_unheld_shape
from ferrum_verify.plan.sizes import describe
from ferrum_verify.rules.descriptor_rows import demand_fault

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.terms import Terms
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_NOTHING = Linear(0, ())
UNDEFINED = Rule(
    id="value.row-undefined",
    summary="A Step or invocation row of a value has a size at every shape that a step may have.",
    why="Each step claims the row at its own shape. Where its demand says nothing, the claim is "
    "refused in the middle of serving, or the kernel writes into what it was not given.",
    fix="Raise the maxima of the row's demand to `maximum_active_sequences` and "
    "`maximum_scheduled_tokens`, or lower those.",
    source="docs/format.md, «Values»",
    judgment="safety",
    example=Example(
        "bundle",
        {
            "/plan/payload/memory/dynamic_descriptors/8/demand": {
                "affine": {
                    "fixed_bytes": 0,
                    "bytes_per_sequence": 0,
                    "maximum_sequences": 3,
                    "bytes_per_token": 128,
                    "maximum_tokens": 256,
                }
            }
        },
        also=("reusable.shape-outside-demand",),
    ),
)


def check(subject: Subject, memory: MemoryPlan, too_small: Container[str]) -> Iterator[Finding]:
    """Findings of rows that are not defined; those of ``too_small`` are reported as that."""
    if subject.header is None:
        return
    sequences = memory.maximum_active_sequences
    if subject.policy is not None:
        sequences = min(sequences, subject.policy.memory.maximum_active_sequences)
    within = Shape(sequences, subject.header.maximum_scheduled_tokens, 1)
    known: dict[Terms, Shape | None] = {}
    for index, row in enumerate(memory.dynamic_descriptors):
        if row.kind != "value" or row.lifetime not in ("step", "invocation"):
            continue
        terms = row.demand.terms
        if terms not in known:
            # Buckets nest, so a demand is defined where its last one is.
            last = Staircase(terms.steps[-1:]) if isinstance(terms, Staircase) else terms
            known[terms] = (
                None if demand_fault(terms) else smallest_unheld_shape(last, _NOTHING, within)
            )
        shape = known[terms]
        if shape is not None and row.base_resource_id not in too_small:
            yield UNDEFINED.finding(
                f"`{row.base_resource_id}` of lifetime {row.lifetime} has no size at "
                f"{describe(shape)}, which a step may have.",
                f"{subject.places.memory}/dynamic_descriptors/{index}/demand",
            )
