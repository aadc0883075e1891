"""Edits of the samples, by which each rule of contracts shows what breaks it."""

from __future__ import annotations

from typing import Any

from ferrum_verify.findings import Example

ATTENTION = "/providers/operation.attention/1"
CONTRACT = f"{ATTENTION}/checkpoint_capability/completed_boundary"
PREFIX = f"{CONTRACT}/boundaries/prefix"
OPERATION = "/operations/operation.attention"
ESTIMATE = "/plan/payload/nodes/2/provider_resources"
ROWS = "/plan/payload/memory/dynamic_descriptors"
ZERO = "0" * 64
LINEAR = {"allocator": "linear_arena", "view": "contiguous"}
PAGED = {
    "allocator": {"fixed_block_arena": {"block_bytes": 256}},
    "view": {"paged_regions": {"block_bytes": 256}},
}
NEW_POLICY = {"/policy/version/minor": 1, "/plan/payload/policy_version/minor": 1}
"""A plan under another policy is another plan, and not what the first one became."""


def checked(edits: dict[str, Any]) -> Example:
    """The sample bundle, edited: its catalog is held to its program, policy and plan."""
    return Example("bundle", edits, command="contracts check")


def changed(edits: dict[str, Any]) -> Example:
    """The sample catalog is BASE, and the edited one HEAD."""
    return Example("catalog", edits, command="contracts compare")


def with_plan(edits: dict[str, Any], *also: str, reverse: bool = False) -> Example:
    """The catalog of the sample bundle is BASE, that of the edited one HEAD.

    The plan as it was is judged, and the edited plan is what it became when it was rebuilt. With
    ``reverse`` the edited bundle is the earlier one.
    """
    return Example("bundle", edits, also=also, command="contracts compare", reverse=reverse)
