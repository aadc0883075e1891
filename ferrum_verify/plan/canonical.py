"""Canonical JSON and the fingerprints that are hashes of it.

Most of the engine's fingerprints hash JSON whose keys are sorted at every level; the
catalog, program, operation and program-binding ones hash it in the engine's own key order.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.documents.tensor import TensorLayout


def canonical_bytes(value: Any) -> bytes:
    """UTF-8 JSON without white space, keys sorted at every level."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def ordered_bytes(value: Any) -> bytes:
    """UTF-8 JSON without white space, keys in the order in which the value holds them."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def fingerprint(value: Any) -> str:
    """SHA-256 of the canonical JSON, in 64 lowercase hex digits."""
    return hashlib.sha256(canonical_bytes(value)).hexdigest()


def ordered_fingerprint(value: Any) -> str:
    """SHA-256 of the JSON in the value's own key order, in 64 lowercase hex digits."""
    return hashlib.sha256(ordered_bytes(value)).hexdigest()


def keys_are_sorted(value: Any) -> bool:
    """Whether every object in the value has its keys in sorted order.

    True of a document that some tool has re-sorted: its ordered fingerprint is then lost.
    """
    if isinstance(value, dict):
        keys = list(value)
        return keys == sorted(keys) and all(keys_are_sorted(member) for member in value.values())
    if isinstance(value, list):
        return all(keys_are_sorted(member) for member in value)
    return True


OPAQUE_LAYOUT_FINGERPRINT = fingerprint("opaque_bytes_v1")
"""Logical layout of workspace bytes: the provider alone knows what is in them."""

CONTIGUOUS_LAYOUT_FINGERPRINT = fingerprint([fingerprint("contiguous")])
"""Logical layout of a resource to which only contiguous tensors are bound."""


def layout_fingerprint(layouts: Iterable[TensorLayout]) -> str:
    """Logical layout of a resource to which tensors of these layouts are bound.

    Dimensions and element types play no part, and of padding only whether there is any.
    """
    return fingerprint(sorted({fingerprint(_layout_class(layout)) for layout in layouts}))


def _layout_class(layout: TensorLayout) -> Any:
    if isinstance(layout, str):
        return layout
    wire = layout.to_wire()
    blocked = wire.get("blocked")
    if blocked is not None and isinstance(blocked["padding"], dict):
        (blocked["padding"],) = blocked["padding"]
    return wire


def pool_id(
    profile: StorageProfile, usage: str, element_type: str, layout: str, alignment_bytes: int
) -> str:
    """The identity of the backing pool of all descriptors that are compatible in these five.

    Seed 000, ``derive_dynamic_pools_with_reusable``: the hash of the compatibility key.
    """
    return _pool_id(profile.blocks, usage, element_type, layout, alignment_bytes)


@lru_cache(maxsize=4096)
def _pool_id(
    blocks: tuple[int, int], usage: str, element_type: str, layout: str, alignment_bytes: int
) -> str:
    arena, page = blocks
    key = {
        "version": {"major": 1, "minor": 0},
        "profile": {
            "allocator": "linear_arena"
            if arena < 0
            else {"fixed_block_arena": {"block_bytes": arena}},
            "view": "contiguous" if page < 0 else {"paged_regions": {"block_bytes": page}},
        },
        "usage": usage,
        "element_type": element_type,
        "logical_layout_fingerprint": layout,
        "alignment_bytes": alignment_bytes,
    }
    return f"dynamic-pool/sha256/{fingerprint(key)}"


def semantics_fingerprint(major: int, minor: int, *, replayed: bool) -> str:
    """The fingerprint of a provider's execution semantics, over bytes instead of JSON.

    ``replayed`` says whether a replay gives the bits of an eager run.
    """
    version = major.to_bytes(2, "little") + minor.to_bytes(2, "little")
    domain = b"ferrum.runtime-vnext.provider-execution-semantics.v1\0"
    return hashlib.sha256(domain + version + bytes([1, replayed])).hexdigest()


def bucket_id(class_id: str, sequences: int, tokens: int, pages: int) -> str:
    """The identity of a reusable-execution bucket: its class and its capacity."""
    material = {
        "domain": "ferrum.runtime-vnext.reusable-execution-bucket.v1",
        "class_id": class_id,
        "capacity": {
            "maximum_sequences": sequences,
            "maximum_tokens": tokens,
            "maximum_pages": pages,
        },
    }
    return f"reusable-bucket/sha256/{fingerprint(material)}"
