"""How much more memory a plan takes once it is rebuilt on HEAD.

A catalog names estimators and does not hold what they answer, so growth is read off the plan
that was rebuilt: row by row, at the shape where it is worst.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.examples import (
    ATTENTION,
    ESTIMATE,
    NEW_POLICY,
    ROWS,
    ZERO,
    with_plan,
)
from ferrum_verify.contracts.growth import largest_growth, refused_shape
from ferrum_verify.contracts.names import code, codes
from ferrum_verify.contracts.rebuilt import named_estimator
from ferrum_verify.counterexamples import Shape, ShapeCounterexample
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings import Rule, pointer
from ferrum_verify.plan.sizes import Claim, describe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.contracts.growth import Growth
    from ferrum_verify.contracts.sources import PlanSource
    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding


_SOURCE = "docs/format.md, «Workspace estimates»; seed 000, `evaluate_request_bytes_for_shape`"
_ESTIMATOR = f"/catalog{ATTENTION}/resource_estimator_implementation_fingerprint"


@dataclass(frozen=True, slots=True)
class ChangedClaim:
    """Rows of one owner that ask for the same under BASE, and for the same under HEAD.

    ``was`` and ``row`` are the first of them, under BASE where it has one, and under HEAD.
    """

    owner: str
    was: DynamicDescriptor | None
    row: DynamicDescriptor
    resources: tuple[str, ...]
    place: str

    @property
    def base(self) -> Claim | None:
        """What they claim under BASE."""
        return None if self.was is None else Claim.of(self.was)

    @property
    def head(self) -> Claim:
        """What they claim under HEAD."""
        return Claim.of(self.row)

    @property
    def name(self) -> str:
        """What the rows are called in a message."""
        return f"{self.owner} ({codes(self.resources)})"


def limits_of(plan: PlanSource) -> Shape:
    """The most sequences and tokens that a plan has in flight; nothing bounds its pages."""
    return Shape(
        plan.memory.maximum_active_sequences, plan.header.maximum_scheduled_tokens, U64_MAX
    )


def changed_claims(plan: PlanSource, rebuilt: PlanSource) -> list[ChangedClaim]:
    """The dynamic rows that ask for something else in the rebuilt plan, alike ones together."""
    before = {
        row.base_resource_id: (index, row)
        for index, row in enumerate(plan.memory.dynamic_descriptors)
    }
    providers = {node.id: node.selection.selected_provider for node in rebuilt.nodes}
    groups: dict[tuple[str, Claim | None, Claim], list[DynamicDescriptor]] = {}
    for row in rebuilt.memory.dynamic_descriptors:
        known = before.get(row.base_resource_id)
        base, head = None if known is None else Claim.of(known[1]), Claim.of(row)
        if base != head:
            groups.setdefault((_owner(row, providers), base, head), []).append(row)
    table = pointer(plan.subject.places.memory, "dynamic_descriptors")
    changed = []
    for (owner, _, _), rows in groups.items():
        index, was = before.get(rows[0].base_resource_id, (None, None))
        place = table if index is None else pointer(table, index)
        resources = tuple(row.base_resource_id for row in rows)
        changed.append(ChangedClaim(owner, was, rows[0], resources, place))
    return changed


ESTIMATES_UNKNOWN = Rule(
    id="contract.plan-estimates-unknown",
    summary="A plan whose providers have other estimators in HEAD comes with the rebuilt plan.",
    why="An estimator says how much workspace a node takes; a catalog names it and does not hold "
    "its answers.",
    fix="Rebuild the plan on HEAD and give it as a further `--plan`.",
    source=_SOURCE,
    severity="warning",
    undecided=True,
    example=with_plan({_ESTIMATOR: ZERO, **NEW_POLICY}),
)
ESTIMATE_REFUSES = Rule(
    id="contract.plan-estimate-refuses",
    summary="A resource has a size under HEAD at each shape at which it has one under BASE.",
    why="A batch of a shape without a size ran, and is refused.",
    fix="Let the provider's estimate cover the shapes that it covered before.",
    source=_SOURCE,
    example=with_plan(
        {
            "/catalog/providers/operation.head/0/resource_estimator_implementation_fingerprint": (
                ZERO
            ),
            f"{ROWS}/6/demand/bounded_shape_buckets/buckets/1/maximum_tokens": 128,
        }
    ),
)


def memory_changes(
    plan: PlanSource,
    rebuilt: PlanSource | None,
    base_nodes: tuple[PlanNode, ...],
    head_nodes: tuple[PlanNode, ...],
) -> Iterator[Finding]:
    """Findings of the memory that the plan takes under HEAD.

    The nodes are the plan's, as they would stand rebuilt on BASE and on HEAD.
    """
    estimators = [
        after.selection.selected_provider
        for before, after in zip(base_nodes, head_nodes, strict=True)
        if named_estimator(before) != named_estimator(after)
    ]
    place = plan.subject.places.memory
    if rebuilt is None:
        if estimators:
            yield ESTIMATES_UNKNOWN.finding(
                f"HEAD has other estimators for {codes(estimators)}, so how much workspace "
                "the plan takes is not known before it is rebuilt.",
                place,
            )
        return
    grown: list[tuple[int, Finding]] = []
    for claim in changed_claims(plan, rebuilt):
        try:
            growth = largest_growth(claim.base, claim.head, limits_of(plan))
        except SizeError as error:
            yield ESTIMATE_REFUSES.finding(
                f"Under HEAD's estimate, the size of {claim.name} {error}.", claim.place
            )
            continue
        yield from _refused(claim, limits_of(plan))
        if growth.grown > 0:
            grown.append((growth.grown, _growth_finding(claim, growth)))
    grown.sort(key=lambda each: -each[0])
    findings = [finding for _, finding in grown]
    if findings:
        findings[0] = replace(findings[0], message=findings[0].message + _totals(plan, rebuilt))
    yield from findings
    if not grown and estimators:
        yield change(
            "plan-memory-kept",
            f"HEAD has other estimators for {codes(estimators)}, and the rebuilt plan "
            "takes no more memory at any shape.",
            place,
        )
    yield from _exceeded(plan, rebuilt)


def _owner(row: DynamicDescriptor, providers: dict[str, str]) -> str:
    kind = row.kind
    if isinstance(kind, str):
        return f"the {row.usage} value"
    return f"the {kind.tag} workspace of {code(providers.get(kind.node_id, kind.node_id))}"


MEMORY_GREW = Rule(
    id="contract.plan-memory-growth",
    summary="A resource of a plan takes no more memory under HEAD's estimates than under BASE's.",
    why="With more the same policy admits fewer sequences, or none.",
    fix="Lower the estimate, or grant the plan more memory.",
    source=_SOURCE,
    severity="warning",
    example=with_plan(
        {
            _ESTIMATOR: ZERO,
            f"{ESTIMATE}/scratch/size_formula/affine/bytes_per_token": 32,
            f"{ROWS}/2/demand/affine/bytes_per_token": 32,
        },
    ),
)


def _growth_finding(claim: ChangedClaim, growth: Growth) -> Finding:
    bound = ""
    if growth.at_most > growth.grown:
        bound = f", and by no more than {growth.at_most:,} at any shape"
    written: dict[str, Any] = {"actual": claim.row.demand.to_wire()}
    if claim.was is not None:
        written["expected"] = claim.was.demand.to_wire()
    return MEMORY_GREW.finding(
        f"{claim.name} grows by {growth.grown:,} bytes for each claim "
        f"at {describe(growth.shape)}, from {growth.before:,} to {growth.after:,}{bound}.",
        claim.place,
        counterexample=ShapeCounterexample(
            growth.shape, growth.after, growth.before, limit_from=claim.place
        ),
        **written,
    )


def _totals(plan: PlanSource, rebuilt: PlanSource) -> str:
    was, now = (each.memory.minimum_runnable_request_bytes for each in (plan, rebuilt))
    if was == now:
        return ""
    return f" In all, a minimal request takes {now:,} bytes instead of {was:,}."


def _refused(claim: ChangedClaim, limits: Shape) -> Iterator[Finding]:
    if claim.was is None:
        return
    shape = refused_shape(claim.was.demand.terms, claim.row.demand.terms, limits)
    if shape is not None:
        yield ESTIMATE_REFUSES.finding(
            f"At {describe(shape)}, {claim.name} had a size, and under HEAD's estimate has none.",
            claim.place,
            expected=claim.was.demand.to_wire(),
            actual=claim.row.demand.to_wire(),
        )


MEMORY_EXCEEDED = Rule(
    id="contract.plan-memory-exceeded",
    summary="A plan that fits its memory under BASE does so under HEAD.",
    why="A plan that does not cannot be loaded, or loads and can run no request.",
    fix="Lower the estimates, or grant the plan more memory.",
    source="docs/format.md, «Provider contracts»; seed 000, `from_core_with_completion_retention`",
    judgment="safety",
    example=with_plan(
        {"/catalog/device/total_memory_bytes": 65536}, "contract.device-memory-reduced"
    ),
)


def _exceeded(plan: PlanSource, rebuilt: PlanSource) -> Iterator[Finding]:
    before, after = plan.memory, rebuilt.memory
    was, now = (
        memory.static_bytes + memory.minimum_runnable_request_bytes for memory in (before, after)
    )
    if was <= before.usable_capacity_bytes and now > before.usable_capacity_bytes:
        yield MEMORY_EXCEEDED.finding(
            f"Static bytes and a minimal request took {was:,} bytes and take {now:,}, but the plan "
            f"may use {before.usable_capacity_bytes:,}.",
            pointer(plan.subject.places.memory, "usable_capacity_bytes"),
            expected=was,
            actual=now,
        )
