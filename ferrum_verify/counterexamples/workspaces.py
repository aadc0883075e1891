"""Workspace estimates and rebuilt rows for checking: what ``contracts`` speaks of, in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples.sizes import UndefinedError, mask, taken

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.counterexamples.document import Document


def usable_bytes(document: Document) -> tuple[int, str]:
    """The bytes that a workspace may take, by the policy or by the plan, and where they stand."""
    policy, memory = document.value.get("policy"), document.memory
    if policy is None:
        place = f"{document.memory_place}/usable_capacity_bytes"
        return memory["usable_capacity_bytes"], place
    granted = policy["memory"]["capacity_bytes"] - policy["memory"]["reserve_bytes"]
    return max(0, granted), "/policy/memory/capacity_bytes"


def workspaces(document: Document, shape: Mapping[str, int]) -> Iterator[int]:
    """The bytes of each estimate at a shape that the policy, or the plan, allows."""
    if "catalog" not in document.value:
        return
    policy = document.value.get("policy")
    profiles = document.catalog()["device"]["dynamic_storage_profiles"]
    if policy is None:
        sequences = document.memory["maximum_active_sequences"]
        tokens = document.payload["maximum_scheduled_tokens"]
    else:
        sequences = policy["memory"]["maximum_active_sequences"]
        tokens = policy["admission"]["maximum_scheduled_tokens"]
        order = policy["memory"]["dynamic_storage_profile_order"]
        profiles = [profile for profile in order if profile in profiles]
    for node in document.nodes:
        for part in ("scratch", "binding", "persistent"):
            estimate = node["provider_resources"][part]
            if estimate is None:
                continue
            accepted = estimate["storage"]["accepted_profiles"]
            chosen = [profile for profile in profiles if profile in accepted]
            ((form, terms),) = estimate["size_formula"].items()
            if "bytes_per_sequence" in terms:
                terms = terms | {"maximum_sequences": sequences}
            if "bytes_per_token" in terms:
                terms = terms | {"maximum_tokens": tokens}
            row: dict[str, Any] = {"demand": {form: terms}}
            row["alignment_bytes"] = estimate["alignment_bytes"]
            for profile in chosen[:1]:
                row["storage"] = {"profile": profile}
                yield from _sizes(row, shape)


def growth(
    plan: Document, rebuilt: Document, shape: Mapping[str, int]
) -> Iterator[tuple[int, int, str]]:
    """The bytes of each row before and after, and the row's place in the plan of before.

    A row that was not there took nothing, and its place is that of all rows.
    """
    table = "/dynamic_descriptors"
    places = {name: f"{table}/{index}" for index, name in enumerate(plan.descriptors)}
    for name, row in rebuilt.descriptors.items():
        for after in _sizes(row, shape):
            if name not in places:
                yield 0, after, table
            else:
                for before in _sizes(plan.descriptors[name], shape):
                    yield before, after, places[name]


def _sizes(row: Mapping[str, Any], shape: Mapping[str, int]) -> list[int]:
    """What a row takes at a shape, rounded as an allocator does; nothing where it has no size."""
    try:
        return [taken(row, shape, mask)]
    except UndefinedError:
        return []
