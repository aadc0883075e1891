"""What the device has and the policy grants, before any row is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Finding, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.problem import PlanningProblem


VALIDATE = "seed 000, `MemoryPlan::validate`"
ZERO_DEVICE = Rule(
    id="capacity.zero-device",
    summary="The device has memory.",
    why="Nothing can be placed on a device of 0 bytes.",
    fix="Set `device_capacity_bytes` to the device's memory.",
    source=VALIDATE,
    example=Example("problem", {"/device_capacity_bytes": 0}),
)
ZERO_POLICY = Rule(
    id="capacity.zero-policy",
    summary="The policy grants memory.",
    why="A policy of 0 bytes admits nothing.",
    fix="Set `policy_capacity_bytes` to what the plan may take.",
    source=VALIDATE,
    example=Example("problem", {"/policy_capacity_bytes": 0}),
)
POLICY_EXCEEDS_DEVICE = Rule(
    id="capacity.policy-exceeds-device",
    summary="The policy grants no more than the device has.",
    why="The plan would be admitted and the device would run out while it runs.",
    fix="Lower `policy_capacity_bytes` to the device's capacity.",
    source=VALIDATE,
    judgment="safety",
    example=Example("problem", {"/device_capacity_bytes": 1000000}),
)
RESERVE = Rule(
    id="capacity.reserve-swallows-policy",
    summary="The reserve is smaller than the policy's capacity.",
    why="Nothing is left for the plan.",
    fix="Lower `reserve_bytes`.",
    source=VALIDATE,
    example=Example("problem", {"/reserve_bytes": 1048576}),
)
ZERO_SEQUENCES = Rule(
    id="capacity.zero-sequences",
    summary="At least one sequence may be active.",
    why="A plan for 0 sequences can serve no request.",
    fix="Set `maximum_active_sequences` to 1 or more.",
    source="seed 000, `validate_active_sequence_ceiling`",
    example=Example("problem", {"/maximum_active_sequences": 0}),
)


def check_grant(plan: MemoryPlan | PlanningProblem, location: str) -> Iterator[Finding]:
    """What a plan or problem says about device, policy and reserve, before any row."""
    device, policy, reserve = (
        plan.device_capacity_bytes,
        plan.policy_capacity_bytes,
        plan.reserve_bytes,
    )
    if device == 0:
        yield ZERO_DEVICE.finding("the device has 0 bytes", f"{location}/device_capacity_bytes")
    elif policy == 0:
        yield ZERO_POLICY.finding("the policy grants 0 bytes", f"{location}/policy_capacity_bytes")
    elif policy > device:
        yield POLICY_EXCEEDS_DEVICE.finding(
            f"the policy grants {policy:,} bytes, {policy - device:,} more than the device's "
            f"{device:,}",
            f"{location}/policy_capacity_bytes",
        )
    if policy and reserve >= policy:
        yield RESERVE.finding(
            f"the reserve of {reserve:,} bytes leaves nothing of the policy's {policy:,}",
            f"{location}/reserve_bytes",
        )
    if plan.maximum_active_sequences == 0:
        yield ZERO_SEQUENCES.finding(
            "the plan is for 0 active sequences", f"{location}/maximum_active_sequences"
        )
