"""Whether a component is stored for a shape: contiguous, strided or tiled, padded or exact."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.weight import PaddedTo, StridedStorage, TiledStorage

if TYPE_CHECKING:
    from ferrum_verify.documents.weight import PhysicalStorage, WeightPadding

Shape: TypeAlias = tuple[int, ...]


def stored_fault(storage: PhysicalStorage, physical: Shape, shape: Shape) -> str | None:
    """Why these physical dimensions are not the shape as stored, as a clause; None if they are."""
    if isinstance(storage, TiledStorage):
        places = _grid(storage, shape)
        strides: Shape | None
        strides, base = storage.tile_strides_in_elements, prod(storage.tile_shape)
    else:
        places = _padded(shape, storage.padding)
        strides = storage.strides_in_elements if isinstance(storage, StridedStorage) else None
        base = 1
    if isinstance(places, str):
        return places
    if strides is None:
        return None if physical == places else f"has {list(physical)}, not {list(places)}"
    needed = strided_span(places, strides, base)
    if needed is None:
        return f"has strides at which elements of {list(shape)} lie on each other"
    if prod(physical) != needed:
        return f"has {prod(physical):,} elements, and its strides need {needed:,}"
    return None


def _padded(shape: Shape, padding: WeightPadding) -> Shape | str:
    """The shape as padded, or why the padding is none of it."""
    if not isinstance(padding, PaddedTo):
        return shape
    padded = padding.padded_dimensions
    grows = len(padded) == len(shape) and all(p >= d for p, d in zip(padded, shape, strict=True))
    if grows and padded != shape and prod(padded) <= U64_MAX:
        return padded
    return f"is padded to {list(padded)}, which {list(shape)} does not grow to"


def _grid(storage: TiledStorage, shape: Shape) -> Shape | str:
    """The tiles along each axis, in the order in which they are stored; or what is wrong."""
    tile, order = storage.tile_shape, storage.axis_order
    if len(tile) != len(shape) or not all(tile):
        return f"has tiles of {list(tile)} for {list(shape)}"
    if sorted(order) != list(range(len(shape))):
        return f"has tiles in the order {list(order)} of axes"
    rounded = tuple(round_up(d, t) for d, t in zip(shape, tile, strict=True))
    padding = storage.padding
    stated = padding.padded_dimensions if isinstance(padding, PaddedTo) else shape
    if stated != rounded or isinstance(padding, PaddedTo) == (rounded == shape):
        return f"has tiles of {list(tile)}, which are not padded as {list(shape)} needs"
    return tuple(rounded[axis] // tile[axis] for axis in order)


def strided_span(shape: Shape, strides: Shape, base: int) -> int | None:
    """The elements from the first to the last, where each step of an axis passes a stride.

    ``base`` elements lie at each place. None where strides are missing, or so short that two
    places lie on each other, or where the span passes u64.
    """
    if len(strides) != len(shape) or not all(strides):
        return None
    span = base
    for stride, extent in sorted(zip(strides, shape, strict=True)):
        if extent > 1:
            if stride < span:
                return None
            span += (extent - 1) * stride
    return span if span <= U64_MAX else None


def round_up(extent: int, size: int) -> int:
    """The extent in whole pieces of a size."""
    return -(-extent // size) * size
