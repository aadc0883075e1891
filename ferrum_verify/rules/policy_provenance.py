"""Contract rules of a plan against its runtime policy: does it keep to what was granted?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.rules.resource_rows import describe_profile

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.reusable import (
        Capacity,
        PolicyReusableExecution,
        ReusableExecution,
    )
    from ferrum_verify.findings import Finding
    from ferrum_verify.subject import Subject

_FORMAT = "execution-plan format, «Execution-plan rules»; the policy of a bundle"

VERSION = Rule(
    id="contract.policy-version",
    summary="The plan was compiled under another version of the policy.",
    why="The other version may grant less than the plan takes.",
    fix="Compile the plan under the policy at hand.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/payload/policy_version/minor": 9}),
)
LIMIT = Rule(
    id="contract.policy-limit",
    summary="The plan has another capacity or ceiling than the policy grants.",
    why="Admission lets in as much as the policy says. A plan with other limits runs out of "
    "memory under load, or leaves unused what it was granted.",
    fix="Plan the memory with the policy's own numbers.",
    source=_FORMAT,
    example=Example("bundle", {"/policy/admission/maximum_scheduled_tokens": 16}),
)
REUSABLE = Rule(
    id="contract.policy-reusable-execution",
    summary="The plan's reusable execution is not the policy's.",
    why="The engine captures programs for the plan's buckets and lanes. What the policy asks for "
    "and the plan has not runs uncaptured; what it has beyond that holds memory for nothing.",
    fix="Derive the plan's reusable execution from the policy's lanes, buckets and programs.",
    source=f"{_FORMAT}; seed 000, `derive_reusable_execution`",
    example=Example("bundle", {"/policy/reusable_execution": None}),
)
PROFILE = Rule(
    id="contract.policy-profile",
    summary="A dynamic resource is stored in a way that the policy does not allow.",
    why="The policy's list says which allocators may run, and is how an operator turns one off.",
    fix="Store the resource in one of the profiles of `dynamic_storage_profile_order`.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {
            "/policy/memory/dynamic_storage_profile_order": [
                {"allocator": "linear_arena", "view": "contiguous"}
            ]
        },
    ),
)


def check(subject: Subject, policy: RuntimePolicy) -> Iterator[Finding]:
    """Findings of all rules of a plan against its policy."""
    header, memory = subject.header, subject.memory
    limits = []
    if header is not None:
        if header.policy_version != policy.version:
            yield VERSION.finding(
                f"The plan was compiled under version {header.policy_version.major}."
                f"{header.policy_version.minor} of policy {policy.policy_id}, but this is "
                f"{policy.version.major}.{policy.version.minor}.",
                pointer(subject.places.payload, "policy_version"),
                expected=policy.version.to_wire(),
                actual=header.policy_version.to_wire(),
            )
        if header.maximum_scheduled_tokens != 0:  # 0 is a fault of its own
            limits.append(
                (
                    "scheduled tokens",
                    pointer(subject.places.payload, "maximum_scheduled_tokens"),
                    header.maximum_scheduled_tokens,
                    policy.admission.maximum_scheduled_tokens,
                )
            )
    if memory is not None:
        granted, place = policy.memory, subject.places.memory
        limits += [
            (
                "capacity bytes",
                pointer(place, "policy_capacity_bytes"),
                memory.policy_capacity_bytes,
                granted.capacity_bytes,
            ),
            (
                "reserve bytes",
                pointer(place, "reserve_bytes"),
                memory.reserve_bytes,
                granted.reserve_bytes,
            ),
            (
                "active sequences",
                pointer(place, "maximum_active_sequences"),
                memory.maximum_active_sequences,
                granted.maximum_active_sequences,
            ),
        ]
    for what, where, actual, expected in limits:
        if actual != expected:
            yield LIMIT.finding(
                f"The plan has {actual:,} {what}, but policy {policy.policy_id} grants "
                f"{expected:,}.",
                where,
                expected=expected,
                actual=actual,
            )
    if memory is not None:
        yield from _check_profiles(subject, policy)
        differences = list(_differences(memory.reusable_execution, policy.reusable_execution))
        if differences:
            yield REUSABLE.finding(
                f"The plan's reusable execution is not that of policy {policy.policy_id}: "
                f"{'; '.join(differences)}.",
                pointer(subject.places.memory, "reusable_execution"),
            )


def _differences(
    plan: ReusableExecution | None, policy: PolicyReusableExecution | None
) -> Iterator[str]:
    if plan is None or policy is None:
        if plan is not None:
            yield "the policy has none"
        if policy is not None:
            yield "the plan has none"
        return
    if plan.maximum_reusable_lanes != policy.maximum_reusable_lanes:
        yield (
            f"the plan has {plan.maximum_reusable_lanes:,} lanes and the policy "
            f"{policy.maximum_reusable_lanes:,}"
        )
    planned = {(each.bucket.class_id, _key(each.bucket.capacity)) for each in plan.buckets}
    granted = {(each.class_id, _key(each.capacity)) for each in policy.buckets}
    for class_id, key in sorted(planned - granted):
        yield f"the policy has no bucket {class_id} of {_words(key)}"
    for class_id, key in sorted(granted - planned):
        yield f"the plan has no bucket {class_id} of {_words(key)}"
    if plan.program_policy != policy.program_policy:
        yield "the two have other program policies"


def _key(capacity: Capacity) -> tuple[int, int, int]:
    return capacity.maximum_sequences, capacity.maximum_tokens, capacity.maximum_pages


def _words(key: tuple[int, int, int]) -> str:
    return f"{key[0]:,} sequences, {key[1]:,} tokens and {key[2]:,} pages"


def _check_profiles(subject: Subject, policy: RuntimePolicy) -> Iterator[Finding]:
    assert subject.memory is not None
    allowed = {profile.blocks for profile in policy.memory.dynamic_storage_profile_order}
    for index, row in enumerate(subject.memory.dynamic_descriptors):
        if row.storage.profile.blocks not in allowed:
            yield PROFILE.finding(
                f"The dynamic resource {row.base_resource_id} is stored as "
                f"{describe_profile(row.storage.profile)}, which policy {policy.policy_id} does "
                "not allow.",
                pointer(subject.places.memory, "dynamic_descriptors", index, "storage", "profile"),
                actual=row.storage.profile.to_wire(),
            )
