"""Keys and values in blocks: which states may lie so, and which bytes a checkpoint copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.documents.checkpoint import PagedKeyValue
from ferrum_verify.documents.primitives import ELEMENT_BYTES, U64_MAX
from ferrum_verify.documents.storage import FixedBlockArena, PagedRegions
from ferrum_verify.findings.wording import plural

if TYPE_CHECKING:
    from ferrum_verify.documents.checkpoint import StateLayout
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.documents.tensor import Tensor

_ELEMENT = "f16"
_ELEMENT_BYTES = ELEMENT_BYTES[_ELEMENT]


class Rectangle(NamedTuple):
    """``rows`` stretches of ``width`` bytes, from byte ``start`` on, ``pitch`` bytes apart."""

    start: int
    rows: int
    width: int
    pitch: int

    @property
    def end(self) -> int:
        """The byte behind the last stretch."""
        return self.start + (self.rows - 1) * self.pitch + self.width


def resolved_layout(
    declared: StateLayout, tensor: Tensor, size: int, profile: StorageProfile
) -> StateLayout | tuple[str, ...]:
    """How a state really lies where a provider declares a layout, or why it cannot.

    ``size`` are the tensor's bytes. Only blocks of keys and values are looked at: those that do
    not fill their pages evenly are plain token-major prefixes. A reason completes the sentence
    "in node X, …".
    """
    if not isinstance(declared, PagedKeyValue):
        return declared
    if reasons := tuple(_refusals(declared, tensor, size, profile)):
        return reasons
    page, dim = profile.block_bytes or 0, tensor.dimensions[2]
    block = size * declared.tokens_per_block
    fills = dim % declared.key_pack_elements == 0 and block <= page and page % block == 0
    return declared if fills else "token_major_prefix"


def _refusals(
    declared: PagedKeyValue, tensor: Tensor, size: int, profile: StorageProfile
) -> list[str]:
    reasons = []
    dimensions = tensor.dimensions
    if len(dimensions) != 3 or dimensions[0] != 2 or 0 in dimensions:
        shape = " x ".join(map(str, dimensions)) or "one element"
        reasons.append(f"blocks hold keys and values of some heads, and its tensor is {shape}")
    if tensor.element_type != _ELEMENT:
        reasons.append(
            f"blocks of keys and values are of {_ELEMENT}, and its tensor of {tensor.element_type}"
        )
    match profile.allocator, profile.view:
        case FixedBlockArena(block_bytes=held), PagedRegions(block_bytes=seen) if held == seen:
            pass
        case _:
            reasons.append("blocks of keys and values lie in pages, and its storage has none")
    block = size * declared.tokens_per_block
    if block > U64_MAX:
        reasons.append(
            f"a block of {plural(declared.tokens_per_block, 'token')} has {block:,} bytes, more "
            "than u64 holds"
        )
    return reasons


def copied(
    layout: PagedKeyValue, tensor: Tensor, size: int, start: int, tokens: int
) -> list[Rectangle]:
    """The bytes that are copied of a state after ``tokens`` of them, each at least once.

    Whole blocks are one range; of the last one, if it is not full, the keys and the values of
    the tokens that are there. ``size`` are the tensor's bytes, ``start`` is where the state
    begins.
    """
    heads, dim = tensor.dimensions[1:]
    per_block, pack = layout.tokens_per_block, layout.key_pack_elements
    block = size * per_block
    whole, rest = divmod(tokens, per_block)
    filled = whole * block
    ranges = [Rectangle(start, 1, filled, filled)] if filled else []
    if rest:
        tail = start + filled
        stretch = _ELEMENT_BYTES * pack
        ranges += [
            Rectangle(tail, heads * dim // pack, rest * stretch, per_block * stretch),
            Rectangle(
                tail + block // 2,
                heads * dim,
                rest * _ELEMENT_BYTES,
                per_block * _ELEMENT_BYTES,
            ),
        ]
    return ranges
