"""Tensors and the layouts of their bytes."""

from collections.abc import Iterator
from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from ferrum_verify.documents.primitives import (
    ELEMENT_BYTES,
    U32,
    U64,
    U64_MAX,
    ElementType,
    Variant,
    WireModel,
    variant_tag,
)


class Strided(Variant):
    """Elements at a stride in bytes along each axis."""

    tag: ClassVar[str] = "strided"
    byte_strides: Annotated[tuple[U64, ...], Field(strict=False)]


class ZeroFill(Variant):
    """Blocks are filled up with zeroes to the physical dimensions."""

    tag: ClassVar[str] = "zero_fill"
    physical_dimensions: Annotated[tuple[U64, ...], Field(strict=False)]


Padding = Annotated[
    Annotated[Literal["exact"], Tag("exact")] | Annotated[ZeroFill, Tag("zero_fill")],
    Discriminator(variant_tag),
]


class Blocked(Variant):
    """Elements in blocks, in the given order of axes."""

    tag: ClassVar[str] = "blocked"
    block: Annotated[tuple[U64, ...], Field(strict=False)]
    axis_order: Annotated[tuple[U32, ...], Field(strict=False)]
    padding: Padding


TensorLayout = Annotated[
    Annotated[Literal["contiguous"], Tag("contiguous")]
    | Annotated[Strided, Tag("strided")]
    | Annotated[Blocked, Tag("blocked")],
    Discriminator(variant_tag),
]


class Tensor(WireModel):
    """Dimensions, element type and layout."""

    dimensions: Annotated[tuple[U64, ...], Field(strict=False)]
    element_type: ElementType
    layout: TensorLayout


class SizeError(ValueError):
    """The engine refuses this size."""


def tensor_storage_bytes(tensor: Tensor) -> int:
    """The fewest bytes that hold the tensor in its own layout."""
    match tensor.layout:
        case "contiguous":
            return tensor_bytes(tensor)
        case Strided(byte_strides=strides):
            reach = sum(
                (dimension - 1) * stride
                for dimension, stride in zip(tensor.dimensions, strides, strict=False)
            )
            return _fits(ELEMENT_BYTES[tensor.element_type] + reach)
        case Blocked(padding=ZeroFill(physical_dimensions=dimensions)):
            return _dense_bytes(dimensions, tensor.element_type)
        case _:
            return tensor_bytes(tensor)


def tensor_faults(tensor: Tensor) -> Iterator[str]:
    """What is wrong with a tensor; each fault completes the sentence "value X is malformed: …".

    The rules are docs/format.md, «Values» (tensors).
    """
    dimensions, rank = tensor.dimensions, len(tensor.dimensions)
    if not all(dimensions):
        yield f"its tensor has a dimension of 0 in {list(dimensions)}"
    try:
        tensor_bytes(tensor)
        if isinstance(tensor.layout, Strided) and len(tensor.layout.byte_strides) == rank:
            tensor_storage_bytes(tensor)
    except SizeError as error:
        yield f"the size of its tensor {error}"
    match tensor.layout:
        case Strided(byte_strides=strides):
            if len(strides) != rank or not all(strides):
                yield f"its tensor of {rank} dimensions has the strides {list(strides)}"
        case Blocked(block=block, axis_order=order):
            if len(block) != rank or not all(block):
                yield f"its tensor of {rank} dimensions has the blocks {list(block)}"
            elif sorted(order) != list(range(rank)):
                yield f"its tensor of {rank} dimensions has the axis order {list(order)}"
            elif all(dimensions):
                yield from _padding_faults(dimensions, tensor.layout)


def _padding_faults(dimensions: tuple[int, ...], layout: Blocked) -> Iterator[str]:
    rounded = [-(-d // b) * b for d, b in zip(dimensions, layout.block, strict=True)]
    grows = rounded != list(dimensions)
    if not isinstance(layout.padding, ZeroFill):
        if grows:
            yield f"blocks of {list(layout.block)} do not divide its tensor of {list(dimensions)}"
        return
    expected = [rounded[axis] for axis in layout.axis_order]
    stated = list(layout.padding.physical_dimensions)
    if stated != expected:
        yield f"its tensor is filled up to {stated}, where its blocks need {expected}"
    elif not grows:
        yield f"its tensor of {list(dimensions)} is filled up, and its blocks need no filling"
    elif any(extent > U64_MAX for extent in expected):
        yield f"its tensor is filled up to {stated}, which passes u64"


def tensor_bytes(tensor: Tensor) -> int:
    """The bytes of the tensor's elements, whatever its layout."""
    return _dense_bytes(tensor.dimensions, tensor.element_type)


def _dense_bytes(dimensions: tuple[int, ...], element_type: str) -> int:
    total = ELEMENT_BYTES[element_type]
    for dimension in dimensions:
        total = _fits(total * dimension)
    return total


def _fits(value: int) -> int:
    if not 0 <= value <= U64_MAX:
        raise SizeError("passes u64")
    return value
