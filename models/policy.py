"""The runtime policy: memory, admission, and the batch shapes captured for reuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.plan.canonical import bucket_id, fingerprint

from .operations import VERSION
from .storage import Json, ordered_profiles

if TYPE_CHECKING:
    from .deployment import Bucket, Deployment
    from .network import Network

PROMPT_CHUNK_TOKENS = 512
"""Tokens of a captured prefill program."""

PASSES = {"startup_sealed": (2, 1, 1), "on_demand_bounded": (1, 1, 0)}
"""Warm-up, capture and validation passes, by when programs are captured."""


def runtime_policy(
    network: Network, deployment: Deployment, device_bytes: int, schema: str
) -> Json:
    """The policy document; its last field fingerprints the others."""
    document: Json = {
        "policy_id": f"runtime-policy/{network.family}",
        "version": dict(VERSION),
        "scheduling": "first_ready",
        "memory": {
            "capacity_bytes": deployment.policy_bytes(device_bytes),
            "reserve_bytes": deployment.reserve_bytes,
            "maximum_active_sequences": deployment.maximum_active_sequences,
            "dynamic_storage_profile_order": ordered_profiles(
                {value.profile for value in network.values()}
            ),
        },
        "admission": {
            "maximum_queue_depth": 4 * deployment.maximum_active_sequences,
            "maximum_scheduled_tokens": deployment.maximum_scheduled_tokens,
            "sequence_fit_policy": "immediate_only",
            "allow_defer": True,
            "cancellation_check_interval_steps": 1,
        },
    }
    if schema != "5.0":
        document["memory"]["checkpoint_capacity"] = checkpoint_capacity(deployment)
        document["attention_execution"] = "portable"
        document["execution_determinism"] = "bitwise_same_runtime_with_replay"
    document["reusable_execution"] = _reusable(deployment)
    document["fingerprint"] = fingerprint(document)
    return document


def checkpoint_capacity(deployment: Deployment) -> Json:
    """The bytes that captured checkpoints may keep."""
    return {"maximum_retained_bytes": deployment.checkpoint_bytes}


def _reusable(deployment: Deployment) -> Json:
    reusable: Json = {
        "maximum_reusable_lanes": deployment.maximum_reusable_lanes,
        "buckets": [
            {
                "bucket_id": bucket_id(
                    bucket.class_id, bucket.sequences, bucket.tokens, bucket.pages
                ),
                "class_id": bucket.class_id,
                "capacity": _capacity(bucket),
            }
            for bucket in deployment.buckets()
        ],
    }
    programs = _program_policy(deployment)
    if programs is not None:
        reusable["program_policy"] = programs
    return reusable


def reusable_problem_policy(deployment: Deployment) -> Json:
    """The same shapes in a planning problem's flatter form."""
    policy: Json = {
        "maximum_reusable_lanes": deployment.maximum_reusable_lanes,
        "buckets": [
            {"class_id": bucket.class_id, **_capacity(bucket)} for bucket in deployment.buckets()
        ],
    }
    programs = _program_policy(deployment)
    if programs is not None:
        policy["program_policy"] = programs
    return policy


def _capacity(bucket: Bucket) -> Json:
    return {
        "maximum_sequences": bucket.sequences,
        "maximum_tokens": bucket.tokens,
        "maximum_pages": bucket.pages,
    }


def _program_policy(deployment: Deployment) -> Json | None:
    """Which exact shapes are captured, where the buckets alone do not say it.

    Prompt chunks come in chains: one that starts past token 0 builds on the one before it.
    """
    lifetime = deployment.program_lifetime
    if lifetime is None:
        return None
    warmup, capture, validation = PASSES[lifetime]
    prompts = _prefill_programs() if deployment.captures_prompts else []
    return {
        "shape_semantics": "exact",
        "catalog_miss_policy": "eager_fallback",
        "catalog_lifetime": lifetime,
        "warmup_passes": warmup,
        "capture_passes": capture,
        "replay_validation_passes": validation,
        "programs": [*_decode_programs(deployment), *prompts],
    }


def _decode_programs(deployment: Deployment) -> list[Json]:
    return [
        {
            "class_id": bucket.class_id,
            "shape": {
                "topology": "uniform_decode",
                "request_capacity": bucket.sequences,
                "token_capacity": bucket.sequences,
                "query_tokens_per_sequence": 1,
            },
        }
        for bucket in deployment.decode_buckets()
    ]


def _prefill_programs() -> list[Json]:
    return [
        {
            "class_id": "prefill",
            "shape": {
                "topology": "prefill",
                "tokens_processed": processed,
                "token_capacity": PROMPT_CHUNK_TOKENS,
                "total_prompt_tokens": 2 * PROMPT_CHUNK_TOKENS,
            },
        }
        for processed in (0, PROMPT_CHUNK_TOKENS)
    ]
