"""Storage profiles: which allocator backs a resource, and how the kernel sees its bytes."""

from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import Discriminator, Field, Tag, WrapValidator

from ferrum_verify.documents.primitives import (
    U64,
    Fingerprint,
    Variant,
    WireModel,
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

    @property
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


LINEAR_CONTIGUOUS = StorageProfile(allocator="linear_arena", view="contiguous")


_KNOWN: dict[tuple[object, ...], StorageContract] = {}
_MOST_KNOWN = 4096


def _block_of(value: Any, tag: str) -> Any:
    """The block in bytes of a well-formed variant with data; None for anything else."""
    inner = value.get(tag) if isinstance(value, dict) and len(value) == 1 else None
    if not isinstance(inner, dict) or len(inner) != 1:
        return None
    block = inner.get("block_bytes")
    return block if type(block) is int else None


def _shared(value: Any, handler: Any) -> StorageContract:
    # A plan's thousand rows have a handful of storages between them. Each is read once and
    # then shared, which it can be as it never changes; whatever looks unusual is read anew.
    try:
        profile = value["profile"]
        allocator, view = profile["allocator"], profile["view"]
        key = (
            value["logical_layout_fingerprint"],
            allocator
            if type(allocator) is str
            else (_block_of(allocator, "fixed_block_arena"), "block"),
            view if type(view) is str else (_block_of(view, "paged_regions"), "page"),
        )
        usual = len(value) == 2 and len(profile) == 2 and type(key[0]) is str
        known = _KNOWN.get(key) if usual else None
    except (TypeError, KeyError):
        return cast("StorageContract", handler(value))
    if known is None:
        known = handler(value)
        if (
            usual
            and len(_KNOWN) < _MOST_KNOWN
            and key[1] != (None, "block")
            and key[2] != (None, "page")
        ):
            _KNOWN[key] = known
    return known


Storage = Annotated[StorageContract, WrapValidator(_shared)]
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
