"""Which pairs of allocator and view the engine has."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from ferrum_verify.sizes import is_power_of_two

if TYPE_CHECKING:
    from ferrum_verify.documents.storage import StorageProfile


def profile_fault(profile: StorageProfile) -> str | None:
    """What is wrong with a storage profile, as a noun phrase; None if it is legal.

    Legal are a linear arena seen contiguously, and a fixed-block arena with a power-of-two
    block seen contiguously or in pages of the same block.
    """
    return _fault(profile.blocks)


@lru_cache(maxsize=1024)
def _fault(blocks: tuple[int, int]) -> str | None:
    block, page = blocks
    if block < 0:
        return None if page < 0 else "a linear arena seen in pages, which it lacks"
    if not is_power_of_two(block):
        return f"a fixed-block arena of {block:,}-byte blocks, which is no power of two"
    if page >= 0 and page != block:
        return f"a fixed-block arena of {block:,}-byte blocks seen in pages of {page:,} bytes"
    return None
