"""What every dynamic descriptor promises by itself, with or without its derived pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.memory_plan import Persistent
from ferrum_verify.documents.storage import profile_fault
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.documents.terms import Staircase
from ferrum_verify.findings import Example, Finding, Rule
from ferrum_verify.findings.wording import in_series
from ferrum_verify.plan.sizes import (
    Claim,
    describe,
    is_power_of_two,
    maximal_shape,
    request_bytes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.documents.problem import ProblemDescriptor
    from ferrum_verify.documents.terms import Terms

VALIDATE = "seed 000, `MemoryPlan::validate`"
SIZES = "docs/format.md, «Descriptors»"

DUPLICATE = Rule(
    id="descriptor.duplicate",
    summary="A dynamic resource has one descriptor.",
    why="Two descriptors of one resource leave open how many bytes a claim of it takes.",
    fix="Remove the repeated descriptor, or give it a resource id of its own.",
    source=VALIDATE,
    example=Example(
        "problem",
        {"/dynamic_descriptors/1/base_resource_id": "act/attention"},
        also=("graph.unknown-resource",),
    ),
)
ILLEGAL_PROFILE = Rule(
    id="descriptor.illegal-profile",
    summary="A descriptor's storage is a legal pair of allocator and view.",
    why="No allocator of the engine can serve the other pairs.",
    fix="Use a linear arena seen contiguously, or a fixed-block arena with a power-of-two block, "
    "seen contiguously or in pages of the same block.",
    source="docs/format.md, «Sizes» (storage profiles)",
    example=Example(
        "problem", {"/dynamic_descriptors/12/storage/profile/view/paged_regions/block_bytes": 8192}
    ),
)


def check_rows(
    rows: Sequence[DynamicDescriptor | ProblemDescriptor], location: str
) -> Iterator[Finding]:
    """What every descriptor promises by itself, with or without its derived pool."""
    seen: set[str] = set()
    sound: set[tuple[Claim, int]] = set()
    for index, row in enumerate(rows):
        resource = row.base_resource_id
        if resource in seen:
            yield DUPLICATE.finding(
                f"dynamic resource `{resource}` has a second descriptor",
                f"{location}/{index}/base_resource_id",
            )
        seen.add(resource)
        alignment = row.alignment_bytes
        kind = row.kind
        # One test that nearly every row passes, before the many that name what is wrong.
        if not (
            kind == "value"
            and alignment > 0
            and not alignment & (alignment - 1)
            and row.usage != "weights"
            and row.lifetime != "plan"
            and row.initialization == "none"
            and row.theoretical_maximum_instances > 0
        ):
            yield from _check_contract(row, f"{location}/{index}")
        if fault := profile_fault(row.storage.profile):
            yield ILLEGAL_PROFILE.finding(
                f"dynamic resource `{resource}` is stored in {fault}",
                f"{location}/{index}/storage/profile",
            )
            continue
        asked = Claim.of(row), row.theoretical_maximum_instances
        if is_power_of_two(alignment) and asked not in sound:
            faults = list(_check_demand(row, f"{location}/{index}"))
            if not faults:
                sound.add(asked)
            yield from faults


ALIGNMENT = Rule(
    id="descriptor.alignment",
    summary="A descriptor's alignment is a power of two.",
    why="Addresses are rounded with masks; under any other alignment they come out wrong.",
    fix="Use a power of two, such as 256.",
    source=SIZES,
    example=Example("problem", {"/dynamic_descriptors/0/alignment_bytes": 48}),
)
PLAN_LIFETIME = Rule(
    id="descriptor.plan-lifetime",
    summary="A dynamic resource does not live as long as the plan.",
    why="A pool would hold the bytes for ever without counting them as static.",
    fix="Make the resource a static row, or give it a shorter lifetime.",
    source=VALIDATE,
    example=Example("problem", {"/dynamic_descriptors/9/lifetime": "plan"}),
)
ZERO_INSTANCES = Rule(
    id="descriptor.zero-instances",
    summary="A descriptor has at least one theoretical instance.",
    why="Its ceiling would be 0 bytes, and the first claim would pass it.",
    fix="Set `theoretical_maximum_instances` to the number of sequences that may be active.",
    source="seed 000, `validate_active_sequence_ceiling`",
    example=Example("problem", {"/dynamic_descriptors/8/theoretical_maximum_instances": 0}),
)
KIND_CONTRACT = Rule(
    id="descriptor.kind-contract",
    summary="A descriptor's kind agrees with its lifetime, usage and element type.",
    why="Workspaces are opaque bytes with a fixed life; a value never stores weights dynamically. "
    "Any other combination is bytes that nobody frees, or frees too early.",
    fix="Scratch and binding: invocation, usage of the same name, u8. A persistent workspace: "
    "usage `persistent`, u8 too; it may live for a request, a sequence or a step. A value: no "
    "weights.",
    source=SIZES,
    example=Example("problem", {"/dynamic_descriptors/10/element_type": "f16"}),
)
ZERO_INITIALIZATION = Rule(
    id="descriptor.zero-initialization",
    summary="Only a value with usage state and sequence lifetime is zero-initialized.",
    why="The engine clears state when a sequence begins, and nothing else at any time.",
    fix="Set `initialization` to `none`, or make the resource a sequence state.",
    source=SIZES,
    example=Example("problem", {"/dynamic_descriptors/8/initialization": "zero"}),
)


def _check_contract(row: DynamicDescriptor | ProblemDescriptor, location: str) -> Iterator[Finding]:
    name = f"dynamic resource `{row.base_resource_id}`"
    if not is_power_of_two(row.alignment_bytes):
        yield ALIGNMENT.finding(
            f"{name} is aligned to {row.alignment_bytes:,}, which is no power of two",
            f"{location}/alignment_bytes",
        )
    if row.lifetime == "plan":
        yield PLAN_LIFETIME.finding(
            f"{name} has the plan's lifetime, which only static rows have", f"{location}/lifetime"
        )
    if row.theoretical_maximum_instances == 0:
        yield ZERO_INSTANCES.finding(
            f"{name} has 0 theoretical instances", f"{location}/theoretical_maximum_instances"
        )
    if row.kind == "value":
        if row.usage == "weights":
            yield KIND_CONTRACT.finding(
                f"{name} is a value with usage weights, which only static rows have",
                f"{location}/usage",
            )
    else:
        persistent = isinstance(row.kind, Persistent)
        lifetimes = ("request", "sequence", "step") if persistent else ("invocation",)
        wrong = []
        if row.lifetime not in lifetimes and row.lifetime != "plan":
            wrong.append(f"lifetime {row.lifetime}")
        if row.usage != row.kind.tag:
            wrong.append(f"usage {row.usage}")
        if row.element_type != "u8":
            wrong.append(f"element type {row.element_type}")
        if wrong:
            yield KIND_CONTRACT.finding(
                f"{name} is the {row.kind.tag} workspace of `{row.kind.node_id}`, "
                f"but has {in_series(wrong)}",
                location,
            )
    if row.initialization == "zero" and not (
        row.kind == "value" and row.usage == "state" and row.lifetime in ("sequence", "plan")
    ):
        yield ZERO_INITIALIZATION.finding(
            f"{name} is zero-initialized, but it is no sequence state "
            f"(usage {row.usage}, lifetime {row.lifetime})",
            f"{location}/initialization",
        )


ILLEGAL_DEMAND = Rule(
    id="descriptor.illegal-demand",
    summary="A demand's coefficients and maxima are positive, and its buckets ascend.",
    why="A demand that is 0, or that shrinks as the shape grows, makes the maximal shape no "
    "longer the worst one, on which every budget rests.",
    fix="Give each coefficient and maximum a positive value; sort the buckets so that each covers "
    "the one before and needs at least as many bytes.",
    source=SIZES,
    example=Example(
        "problem", {"/dynamic_descriptors/10/demand/bounded_shape_buckets/buckets/1/bytes": 1024}
    ),
)
SEQUENCE_CEILING = Rule(
    id="descriptor.sequence-ceiling",
    summary="The maximum of an actual_sequences demand is the descriptor's instance count.",
    why="The sequences of a batch share the resource's ceiling; two different maxima make the "
    "ceiling wrong.",
    fix="Set `maximum_sequences` to `theoretical_maximum_instances`.",
    source=SIZES,
    example=Example(
        "problem", {"/dynamic_descriptors/9/demand/actual_sequences/maximum_sequences": 8}
    ),
)
SIZE_OVERFLOW = Rule(
    id="descriptor.size-overflow",
    summary="A descriptor's bytes fit u64 at its smallest and at its maximal shape.",
    why="A size that wraps is small: the claim is granted and the kernel writes past its end.",
    fix="Lower the demand's maxima or its bytes.",
    source=SIZES,
    judgment="safety",
    example=Example(
        "problem", {"/dynamic_descriptors/0/demand/tokens/bytes_per_token": 9223372036854775808}
    ),
)


def _check_demand(row: DynamicDescriptor | ProblemDescriptor, location: str) -> Iterator[Finding]:
    terms = row.demand.terms
    name = f"dynamic resource `{row.base_resource_id}`"
    if fault := demand_fault(terms):
        yield ILLEGAL_DEMAND.finding(f"the demand of {name} {fault}", f"{location}/demand")
        return
    served = terms.only("sequences")
    if served is not None and served.most != row.theoretical_maximum_instances:
        yield SEQUENCE_CEILING.finding(
            f"{name} serves at most {served.most:,} sequences, but has "
            f"{row.theoretical_maximum_instances:,} theoretical instances",
            f"{location}/demand/actual_sequences/maximum_sequences",
            expected=row.theoretical_maximum_instances,
            actual=served.most,
        )
    shape = maximal_shape(terms)
    try:
        # A legal demand is positive and never shrinks, so the largest shape is the only test.
        request_bytes(row, shape)
    except SizeError as error:
        yield SIZE_OVERFLOW.finding(
            f"the size of {name} {error} at its maximal shape ({describe(shape)})",
            f"{location}/demand",
        )


def demand_fault(terms: Terms) -> str | None:
    """What makes a demand illegal, completing "the demand …"; None if it is legal.

    A maximal value that does not fit u64 is a size's affair, not the form's.
    """
    if isinstance(terms, Staircase):
        return _buckets_fault(terms)
    if not terms.parts:
        return None if terms.fixed else "is 0 bytes"
    if len(terms.parts) == 1:
        ((counted, each, most),) = terms.parts
        return None if each and most else f"is {each:,} bytes for each of {most:,} {counted}"
    if not any(part.each for part in terms.parts):
        return "is affine with no bytes for a sequence or a token"
    return None if all(part.most for part in terms.parts) else "is affine with a maximum of 0"


def _buckets_fault(terms: Staircase) -> str | None:
    if not 1 <= len(terms.steps) <= 64:
        return f"has {len(terms.steps):,} shape buckets, not 1 to 64"
    for index, step in enumerate(terms.steps):
        if not all(step):
            return f"has a 0 in shape bucket {index}"
        if not index:
            continue
        last = terms.steps[index - 1]
        shape, before = step[:3], last[:3]
        if shape == before or any(now < then for now, then in zip(shape, before, strict=True)):
            return f"has shape bucket {index}, which does not grow past bucket {index - 1}"
        if step.bytes < last.bytes:
            return (
                f"shrinks from {last.bytes:,} to {step.bytes:,} bytes "
                f"between shape buckets {index - 1} and {index}"
            )
    return None
