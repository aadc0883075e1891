"""Which pairs of allocator and view the engine has."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ferrum_verify.sizes import is_power_of_two

if TYPE_CHECKING:
    from ferrum_verify.documents.storage import StorageProfile


@lru_cache(maxsize=1024)
def profile_fault(profile: StorageProfile) -> str | None:
    """What is wrong with a storage profile, as a noun phrase; None if it is legal.

    Legal are a linear arena seen contiguously, and a fixed-block arena with a power-of-two
    block seen contiguously or in pages of the same block.
    """
    block = profile.block_bytes
    if block is None:
        return (
            None if isinstance(profile.view, str) else "a linear arena seen in pages, which it lacks"
        )
    if not is_power_of_two(block):
        return f"a fixed-block arena of {block:,}-byte blocks, which is no power of two"
    if not isinstance(profile.view, str) and profile.view.block_bytes != block:
        return (
            f"a fixed-block arena of {block:,}-byte blocks seen in pages of "
            f"{profile.view.block_bytes:,} bytes"
        )
    return None
