"""The questions that ``contracts check`` and ``contracts compare`` put to the solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.contracts.checkpoint_changes import changed_spans
from ferrum_verify.contracts.claims import bounded_growth, bounded_size, containment, discharge
from ferrum_verify.contracts.growth import largest_growth
from ferrum_verify.contracts.plan_checkpoint import BOUNDARY_LOST
from ferrum_verify.contracts.plan_memory import MEMORY_GREW, changed_claims, limits_of
from ferrum_verify.contracts.providers import provider_pairs
from ferrum_verify.contracts.spans import smallest_refused
from ferrum_verify.contracts.workspace_limits import (
    WORKSPACE_EXCEEDS,
    ceilings_of,
    claim_of,
    fits,
    workspaces_of,
)
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.tensor import SizeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.contracts.claims import Discharged, Question
    from ferrum_verify.contracts.plan_changes import PlanChanges
    from ferrum_verify.contracts.plan_checkpoint import Support
    from ferrum_verify.contracts.sources import CatalogSource, PlanSource
    from ferrum_verify.contracts.workspace_limits import Ceilings
    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.limits import Limits


def prove_catalog(old: CatalogSource, new: CatalogSource, limits: Limits) -> Discharged:
    """That each changed span permits what it permitted, or the smallest count that it refuses."""
    return discharge(_span_questions(old, new), limits)


def prove_plan(
    plan: PlanSource,
    rebuilt: PlanSource | None,
    judged: PlanChanges,
    limits: Limits,
) -> Discharged:
    """The same of the plan's boundaries, and that no shape takes more memory than is said."""
    questions: list[Question] = []
    if judged.before is not None and judged.after is not None:
        questions += _boundary_questions(judged.before, judged.after, plan.subject.places.nodes)
    if rebuilt is not None:
        questions += _growth_questions(plan, rebuilt)
    return discharge(questions, limits)


def prove_workspaces(
    plan: PlanSource | None,
    policy: RuntimePolicy | None,
    usable: Sequence[StorageProfile],
    limits: Limits,
) -> Discharged:
    """That each workspace of a plan fits the usable bytes at every shape, or that it does not."""
    if plan is None:
        return discharge((), limits)
    return discharge(_workspace_questions(plan, ceilings_of(plan, policy), usable), limits)


def _workspace_questions(
    plan: PlanSource, ceilings: Ceilings, usable: Sequence[StorageProfile]
) -> Iterator[Question]:
    limit = ceilings.usable_bytes
    for workspace in workspaces_of(plan):
        claim = claim_of(workspace, ceilings, usable)
        if claim is None or (fitting := fits(claim, limit)) is None:
            continue
        yield bounded_size(
            f"{workspace.name} takes at no shape over {limit:,} bytes",
            claim,
            limit,
            fits=fitting,
            rule=WORKSPACE_EXCEEDS,
            place=workspace.place,
        )


def _span_questions(old: CatalogSource, new: CatalogSource) -> Iterator[Question]:
    for pair in provider_pairs(old.catalog, new.catalog, new.place):
        for span in changed_spans(pair):
            yield containment(
                f"{span.owner} permits in HEAD each {span.side} that it permits in BASE",
                [span.base],
                [span.head],
                smallest_refused(span.base, span.head),
                rule=span.narrowed,
                place=span.place,
            )


def _boundary_questions(before: Support, after: Support, place: str) -> Iterator[Question]:
    if before.layout is None or after.layout is None:
        return
    base, head = before.layout, after.layout
    for side, limit in (("prefix", before.held_tokens), ("suffix", U64_MAX)):
        was = [getattr(each.contract.boundaries, side) for each in base.providers]
        now = [getattr(each.contract.boundaries, side) for each in head.providers]
        if was != now:
            yield containment(
                f"all providers of the plan permit in HEAD each {side} that all permit in BASE",
                was,
                now,
                # The layout's own spans are the merged ones.
                smallest_refused(
                    getattr(base.boundaries, side), getattr(head.boundaries, side), limit
                ),
                rule=BOUNDARY_LOST,
                place=place,
                limit=limit,
            )


def _growth_questions(plan: PlanSource, rebuilt: PlanSource) -> Iterator[Question]:
    limits = limits_of(plan)
    for claim in changed_claims(plan, rebuilt):
        if claim.base is None:
            continue  # all of it is growth, which its own size shows
        try:
            growth = largest_growth(claim.base, claim.head, limits)
        except SizeError:
            continue
        yield bounded_growth(
            f"{claim.name} takes at no shape over {growth.at_most:,} bytes more than before",
            claim.base,
            claim.head,
            growth.at_most,
            limits,
            rule=MEMORY_GREW,
            place=claim.place,
        )
