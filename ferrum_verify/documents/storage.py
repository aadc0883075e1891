"""Storage profiles: which allocator backs a resource, and how the kernel sees its bytes."""

from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from ferrum_verify.documents.primitives import (
    U64,
    Fingerprint,
    Variant,
    WireModel,
    shared,
    variant_tag,
)


class FixedBlockArena(Variant):
    """An allocator that hands out whole blocks of ``block_bytes``."""

    tag: ClassVar[str] = "fixed_block_arena"
    block_bytes: U64


class PagedRegions(Variant):
    """A view of scattered pages of ``block_bytes`` each."""

    tag: ClassVar[str] = "paged_regions"
    block_bytes: U64


Allocator = Annotated[
    Annotated[Literal["linear_arena"], Tag("linear_arena")]
    | Annotated[FixedBlockArena, Tag("fixed_block_arena")],
    Discriminator(variant_tag),
]
View = Annotated[
    Annotated[Literal["contiguous"], Tag("contiguous")]
    | Annotated[PagedRegions, Tag("paged_regions")],
    Discriminator(variant_tag),
]


class StorageProfile(WireModel):
    """An allocator with the view on it; only three combinations are legal."""

    allocator: Allocator
    view: View

    @property
    def block_bytes(self) -> int | None:
        """The arena's block in bytes, or None in a linear arena."""
        return None if isinstance(self.allocator, str) else self.allocator.block_bytes

    @cached_property
    def blocks(self) -> tuple[int, int]:
        """The blocks of allocator and view in bytes, -1 where one has none.

        They tell profiles apart, and hash faster than the profile itself.
        """
        allocator, view = self.allocator, self.view
        return (
            -1 if isinstance(allocator, str) else allocator.block_bytes,
            -1 if isinstance(view, str) else view.block_bytes,
        )


class StorageContract(WireModel):
    """A profile, and the fingerprint of the logical layout that is stored in it."""

    profile: StorageProfile
    logical_layout_fingerprint: Fingerprint


class AcceptedStorage(WireModel):
    """The profiles that a provider accepts for one port or workspace."""

    accepted_profiles: Annotated[tuple[StorageProfile, ...], Field(strict=False)]

    def accepts(self, profile: StorageProfile) -> bool:
        """Whether the provider can work with this profile."""
        return profile in self.accepted_profiles


def accepted_fault(accepted: AcceptedStorage) -> str | None:
    """What is wrong with a list of accepted profiles beside each of them; None if nothing is.

    It is not empty, and ascends: a linear arena first, then by block, contiguous before paged.
    The text completes the sentence "… accepts …" (docs/format.md, «Sizes»).
    """
    keys = [profile.blocks for profile in accepted.accepted_profiles]
    if not keys:
        return "no storage profile at all"
    if any(left >= right for left, right in pairwise(keys)):
        return "storage profiles that do not strictly ascend"
    return None


LINEAR_CONTIGUOUS = StorageProfile(allocator="linear_arena", view="contiguous")


Storage = Annotated[StorageContract, shared()]
"""A storage contract as a field of a row: equal ones are one object."""


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
    if block & (block - 1) or not block:
        return f"a fixed-block arena of {block:,}-byte blocks, which is no power of two"
    if page >= 0 and page != block:
        return f"a fixed-block arena of {block:,}-byte blocks seen in pages of {page:,} bytes"
    return None
