"""Checkpoint rules of boundaries: are there any that a run of the plan can reach?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.reachability import culprits, reach
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.findings.wording import in_series
from ferrum_verify.rules.checkpoint_causes import (
    listed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.derive.checkpoint_layout import SequenceCheckpointLayout
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject


def prefix_alignment(operation: str) -> str:
    """Where the reference provider of an operation states the alignment of its prefixes."""
    return (
        f"/catalog/providers/{operation}/0/checkpoint_capability/completed_boundary/boundaries/"
        "prefix/alignment"
    )


NEVER_REACHABLE = Rule(
    id="checkpoint.never-reachable",
    summary="The plan's states can hold the tokens of the first legal boundary.",
    why="The plan claims to support checkpoints and can never take one: every prefix is computed "
    "again, and nobody is told.",
    fix="Lower the alignment or the minimum of the providers that the message names, or raise "
    "the states' maximum tokens.",
    source="seed 004, `intersect_boundaries` (against the states' declared capacity)",
    severity="warning",
    example=Example("bundle", {prefix_alignment("operation.mixer"): 1024}),
)
BEYOND_ONE_STEP = Rule(
    id="checkpoint.beyond-one-step",
    summary="The policy schedules in one step the tokens of the first legal boundary.",
    why="A prefix that is computed in several steps is captured only if the engine counts them "
    "as one span; sequences that run one step at a time never meet a boundary.",
    fix="Lower the providers' alignment or minimum, or raise `maximum_scheduled_tokens`.",
    source="seed 004, `intersect_boundaries` (against the policy's `maximum_scheduled_tokens`)",
    severity="note",
    example=Example(
        "bundle",
        {
            prefix_alignment("operation.mixer"): 256,
            "/policy/admission/maximum_scheduled_tokens": 128,
        },
        also=("contract.policy-limit",),
    ),
)


def reach_findings(
    layout: SequenceCheckpointLayout, scheduled: int | None, subject: Subject
) -> Iterator[Finding]:
    """Findings of a layout whose first boundary no run, or no single step, gets to.

    ``scheduled`` are the tokens of one step, where the policy is known.
    """
    found = reach(layout)
    limits, clauses = [], []
    if found.state is not None and found.held_tokens is not None:
        limits.append(found.held_tokens)
        clauses.append(f"state `{found.state.state_id}` holds {found.held_tokens:,} at most")
    if scheduled is not None:
        limits.append(scheduled)
        clauses.append(f"the policy schedules {scheduled:,} in one step")
    exceeded = [limit for limit in limits if found.smallest_boundary > limit]
    if not exceeded:
        return
    guilty = culprits(layout.providers, max(exceeded))
    names = listed([f"`{provider.provider_id}` (node `{provider.node_id}`)" for provider in guilty])
    message = (
        f"The smallest boundary that all providers permit is {found.smallest_boundary:,} tokens, "
        f"because of {names}, but {in_series(clauses)}."
    )
    # Beyond what a state holds no run gets; one step's tokens are certain to bound a span only
    # where nothing else does.
    rule = NEVER_REACHABLE if limits[0] in exceeded else BEYOND_ONE_STEP
    position = next(
        index for index, node in enumerate(subject.plan_nodes or ()) if node.id == guilty[0].node_id
    )
    yield rule.finding(message, pointer(subject.places.nodes, position))
