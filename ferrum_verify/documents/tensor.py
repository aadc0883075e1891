"""Tensors and the layouts of their bytes."""

from typing import Annotated, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from ferrum_verify.documents.primitives import (
    U32,
    U64,
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
