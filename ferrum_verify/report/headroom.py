"""Headroom: how large a batch still has room, where the plan's sizes can be relied on."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.frontier import capacity_of, largest_sequences, largest_tokens
from ferrum_verify.plan.lanes import lane_bytes
from ferrum_verify.rules.liveness import ROWS_OVERLAP
from ferrum_verify.rules.slot import NOT_DERIVED, SHARED_WHILE_LIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.frontier import Capacity, Headroom
    from ferrum_verify.reading.document import Subject

SIZE_FAMILIES = frozenset({"wire", "static", "descriptor", "pool", "slot", "liveness"})
"""The families whose errors leave the sizes of a plan, or what shares them, in doubt."""

_OF_NO_SIZE = frozenset({SHARED_WHILE_LIVE.id, ROWS_OVERLAP.id, NOT_DERIVED.id})
"""Rules of these families that leave every size as it is: slots of one's own making too."""


def sizes_are_sound(findings: Sequence[Finding]) -> bool:
    """Whether no finding leaves the sizes of the plan, or what shares them, in doubt."""
    return not _doubts(findings)


def scheduled_tokens(subject: Subject) -> int | None:
    """The most tokens of one step, where the document says."""
    if subject.header is not None:
        return subject.header.maximum_scheduled_tokens
    if subject.policy is not None:
        return subject.policy.admission.maximum_scheduled_tokens
    return None


def headroom(subject: Subject, memory: MemoryPlan, findings: Sequence[Finding]) -> list[Headroom]:
    """Both ends of the frontier: one sequence as long as it can be, and as many as there can be.

    Of the most sequences, as long as they can be together. Empty where not even one token of one
    sequence has room, or where the plan's sizes are in doubt.
    """
    if not sizes_are_sound(findings):
        return []
    try:
        capacity = capacity_of(memory, scheduled_tokens(subject))
    except SizeError:
        return []
    return _ends(capacity)


def headroom_beside_lanes(
    subject: Subject, memory: MemoryPlan, findings: Sequence[Finding]
) -> list[Headroom]:
    """The same ends where every reusable lane is resident too; the plan must have some."""
    reusable = memory.reusable_execution
    if reusable is None or not headroom(subject, memory, findings):
        return []
    capacity = capacity_of(memory, scheduled_tokens(subject))
    resident = reusable.maximum_reusable_lanes * lane_bytes(memory)
    return _ends(replace(capacity, static_bytes=capacity.static_bytes + resident))


def why_no_headroom(subject: Subject, memory: MemoryPlan, findings: Sequence[Finding]) -> str:
    """Why ``headroom`` is empty, as it follows "Headroom is not told: "."""
    if doubts := _doubts(findings):
        more = f" and {plural(len(doubts) - 1, 'more finding')}" if doubts[1:] else ""
        by = f"{doubts[0].rule}{more}"
        return f"the plan's sizes, or what shares them, are in doubt by {by}"
    try:
        capacity = capacity_of(memory, scheduled_tokens(subject))
    except SizeError as error:
        return f"the size {error}"
    refused = largest_tokens(capacity, 1).refused_because
    return f"not even 1 sequence of 1 token has room: {refused}"


def _doubts(findings: Sequence[Finding]) -> list[Finding]:
    return [
        each
        for each in findings
        if each.severity == "error"
        and each.family in SIZE_FAMILIES
        and each.rule not in _OF_NO_SIZE
    ]


def _ends(capacity: Capacity) -> list[Headroom]:
    most = largest_sequences(capacity, 1).sequences
    return [largest_tokens(capacity, count) for count in dict.fromkeys((1, most)) if most]
