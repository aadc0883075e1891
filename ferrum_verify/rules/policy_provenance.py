"""Contract rules of a runtime policy, and of a plan against it: does it keep to its grant?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.reusable import bucket_order
from ferrum_verify.documents.plan_schema import SCHEMA_8_1
from ferrum_verify.documents.reusable import ResolvedBucket
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.plan.resource_rows import describe_profile
from ferrum_verify.rules import reusable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import CheckpointCapacity
    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.reusable import (
        Capacity,
        PolicyReusableExecution,
        ReusableExecution,
    )
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Execution-plan rules» (against the policy)"
VERSION = Rule(
    id="contract.policy-version",
    summary="The plan was compiled under the version of the policy at hand.",
    why="The other version may grant less than the plan takes.",
    fix="Compile the plan under the policy at hand.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/payload/policy_version/minor": 9}),
)
LIMIT = Rule(
    id="contract.policy-limit",
    summary="The plan has the capacities and ceilings that the policy grants.",
    why="Admission lets in as much as the policy says. A plan with other limits runs out of "
    "memory under load, or leaves unused what it was granted.",
    fix="Plan the memory with the policy's own numbers.",
    source=_FORMAT,
    example=Example("bundle", {"/policy/admission/maximum_scheduled_tokens": 16}),
)
REUSABLE = Rule(
    id="contract.policy-reusable-execution",
    summary="The plan's reusable execution is the policy's.",
    why="The engine captures programs for the plan's buckets and lanes. What the policy asks for "
    "and the plan has not runs uncaptured; what it has beyond that holds memory for nothing.",
    fix="Derive the plan's reusable execution from the policy's lanes, buckets and programs.",
    source=f"{_FORMAT}; seed 000, `derive_reusable_execution`",
    example=Example("bundle", {"/policy/reusable_execution": None}),
)


def check(subject: Subject, policy: RuntimePolicy) -> Iterator[Finding]:
    """Findings of all rules of a policy, and of a plan against it."""
    header, memory = subject.header, subject.memory
    yield from _check_order(policy, subject.places.policy)
    illegal = list(_check_reusable(policy.reusable_execution, subject.places.policy))
    if memory is not None and (planned := memory.reusable_execution) is not None:
        # A plan that follows its policy into a fault has it said of the plan.
        known = {(each.rule, each.message) for each in _check_reusable(planned, "")}
        yield from (each for each in illegal if (each.rule, each.message) not in known)
    else:
        yield from illegal
    limits = []
    if header is not None:
        if header.policy_version != policy.version:
            yield VERSION.finding(
                f"The plan was compiled under version {header.policy_version.major}."
                f"{header.policy_version.minor} of policy `{policy.policy_id}`, but this is "
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
        if subject.schema == SCHEMA_8_1:
            limits.append(
                (
                    "bytes for checkpoints",
                    pointer(place, "checkpoint_capacity"),
                    _retained(memory.checkpoint_capacity),
                    _retained(granted.checkpoint_capacity),
                )
            )
    for what, where, actual, expected in limits:
        if actual != expected:
            yield LIMIT.finding(
                f"The plan has {actual:,} {what}, but policy `{policy.policy_id}` grants "
                f"{expected:,}.",
                where,
                expected=expected,
                actual=actual,
            )
    if memory is not None:
        yield from _check_profiles(subject, policy)
        differences = list(_differences(memory.reusable_execution, policy.reusable_execution))
        # Of a policy that no plan could follow, no plan is the copy.
        if differences and not illegal:
            yield REUSABLE.finding(
                f"The plan's reusable execution is not that of policy `{policy.policy_id}`: "
                f"{'; '.join(differences)}.",
                pointer(subject.places.memory, "reusable_execution"),
            )


def _retained(capacity: CheckpointCapacity | None) -> int:
    return 0 if capacity is None else capacity.maximum_retained_bytes


DUPLICATE_PROFILE = Rule(
    id="contract.policy-duplicate-profile",
    summary="A policy names each storage profile once in its order of choice.",
    why="The first of the two decides; an operator who moves or removes the other changes nothing.",
    fix="Name each profile of `dynamic_storage_profile_order` once.",
    source="docs/format.md, «Documents» (runtime policy)",
    example=Example(
        "bundle",
        {
            "/policy/memory/dynamic_storage_profile_order/-": {
                "allocator": "linear_arena",
                "view": "contiguous",
            }
        },
    ),
)


def _check_order(policy: RuntimePolicy, location: str) -> Iterator[Finding]:
    seen = set()
    for index, profile in enumerate(policy.memory.dynamic_storage_profile_order):
        if profile.blocks in seen:
            yield DUPLICATE_PROFILE.finding(
                f"Policy `{policy.policy_id}` names {describe_profile(profile)} twice.",
                pointer(location, "memory", "dynamic_storage_profile_order", index),
                actual=profile.to_wire(),
            )
        seen.add(profile.blocks)


def _check_reusable(
    stated: PolicyReusableExecution | ReusableExecution | None, location: str
) -> Iterator[Finding]:
    """The rules that hold wherever reusable execution is stated, in any order of its buckets."""
    if stated is None:
        return
    at = pointer(location, "reusable_execution")
    specs = [each.bucket if isinstance(each, ResolvedBucket) else each for each in stated.buckets]
    yield from reusable.check_policy(
        stated.maximum_reusable_lanes,
        [
            (specs[index].class_id, specs[index].capacity, f"{at}/buckets/{index}/capacity")
            for index in sorted(range(len(specs)), key=lambda index: bucket_order(specs[index]))
        ],
        stated.program_policy,
        at,
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
        yield f"the policy has no bucket `{class_id}` of {_words(key)}"
    for class_id, key in sorted(granted - planned):
        yield f"the plan has no bucket `{class_id}` of {_words(key)}"
    if plan.program_policy != policy.program_policy:
        yield "the two have other program policies"


def _key(capacity: Capacity) -> tuple[int, int, int]:
    return capacity.maximum_sequences, capacity.maximum_tokens, capacity.maximum_pages


def _words(key: tuple[int, int, int]) -> str:
    return f"{key[0]:,} sequences, {key[1]:,} tokens and {key[2]:,} pages"


PROFILE = Rule(
    id="contract.policy-profile",
    summary="A dynamic resource is stored in a way that the policy allows.",
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


def _check_profiles(subject: Subject, policy: RuntimePolicy) -> Iterator[Finding]:
    assert subject.memory is not None
    allowed = {profile.blocks for profile in policy.memory.dynamic_storage_profile_order}
    for index, row in enumerate(subject.memory.dynamic_descriptors):
        if row.storage.profile.blocks not in allowed:
            yield PROFILE.finding(
                f"The dynamic resource `{row.base_resource_id}` is stored as "
                f"{describe_profile(row.storage.profile)}, which policy `{policy.policy_id}` does "
                "not allow.",
                pointer(subject.places.memory, "dynamic_descriptors", index, "storage", "profile"),
                actual=row.storage.profile.to_wire(),
            )
