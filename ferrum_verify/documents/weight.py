"""Weights: their stored components, and the layout that says what each of them holds."""

from __future__ import annotations

from math import prod
from typing import Annotated, ClassVar, Literal, TypeAlias

from pydantic import Discriminator, Field, Tag

from ferrum_verify.documents.attributes import Rational
from ferrum_verify.documents.primitives import (
    ELEMENT_BYTES,
    U8,
    U32,
    U64,
    ElementType,
    Identity,
    Variant,
    Version,
    WireModel,
    variant_tag,
)

Extents: TypeAlias = Annotated[tuple[U64, ...], Field(strict=False)]
Axes: TypeAlias = Annotated[tuple[U32, ...], Field(strict=False)]

WeightRole = Literal[
    "values",
    "packed_values",
    "scales",
    "zero_points",
    "indices",
    "permutation",
    "codebook",
    "metadata",
]


class Dense(Variant):
    """Elements one after the other, each in full."""

    tag: ClassVar[str] = "dense"
    element_type: ElementType


class DenseAffine(Variant):
    """Elements in full that stand for values scaled and shifted."""

    tag: ClassVar[str] = "dense_affine"
    element_type: ElementType
    scale: Rational
    bias: Rational


class Quantized(Variant):
    """Codes of a few bits, which groups of elements scale."""

    tag: ClassVar[str] = "quantized"
    format_id: Identity
    bits_per_weight: U8
    group_size: U32
    packing: Literal["linear", "interleaved", "tiled"]
    scale_type: ElementType
    zero_point_type: ElementType | None


class BlockQuantized(Variant):
    """Blocks of bytes, each with so many elements and all that decodes them."""

    tag: ClassVar[str] = "block_quantized"
    format_id: Identity
    logical_values_per_block: U32
    bytes_per_block: U32


Encoding = Annotated[
    Annotated[Dense, Tag("dense")]
    | Annotated[DenseAffine, Tag("dense_affine")]
    | Annotated[Quantized, Tag("quantized")]
    | Annotated[BlockQuantized, Tag("block_quantized")],
    Discriminator(variant_tag),
]


class WeightComponent(WireModel):
    """One stored part of a weight."""

    component_id: Identity
    role: WeightRole
    physical_dimensions: Extents
    encoding: Encoding

    @property
    def elements(self) -> int:
        """The physical elements; of a block encoding, the blocks."""
        return prod(self.physical_dimensions)

    @property
    def dense_type(self) -> str | None:
        """The element type where elements are stored in full, else None."""
        encoding = self.encoding
        return encoding.element_type if isinstance(encoding, Dense | DenseAffine) else None

    @property
    def bytes(self) -> int:
        """The bytes that are stored; may pass u64."""
        match self.encoding:
            case Dense(element_type=element) | DenseAffine(element_type=element):
                return ELEMENT_BYTES[element] * self.elements
            case BlockQuantized(bytes_per_block=each):
                return each * self.elements
            case _:
                return self.elements


class PaddedTo(Variant):
    """Filled up with zeros to these dimensions."""

    tag: ClassVar[str] = "zero_fill"
    padded_dimensions: Extents


WeightPadding = Annotated[
    Annotated[Literal["exact"], Tag("exact")] | Annotated[PaddedTo, Tag("zero_fill")],
    Discriminator(variant_tag),
]


class ContiguousStorage(Variant):
    """Elements in row-major order."""

    tag: ClassVar[str] = "contiguous"
    padding: WeightPadding


class StridedStorage(Variant):
    """Elements at strides along each axis."""

    tag: ClassVar[str] = "strided"
    strides_in_elements: Extents
    padding: WeightPadding


class TiledStorage(Variant):
    """Tiles at strides, in an order of axes."""

    tag: ClassVar[str] = "tiled"
    tile_shape: Extents
    axis_order: Axes
    tile_strides_in_elements: Extents
    padding: WeightPadding


PhysicalStorage = Annotated[
    Annotated[ContiguousStorage, Tag("contiguous")]
    | Annotated[StridedStorage, Tag("strided")]
    | Annotated[TiledStorage, Tag("tiled")],
    Discriminator(variant_tag),
]


class ComponentBinding(WireModel):
    """A component, and how its elements lie in it."""

    component_id: Identity
    storage: PhysicalStorage


class AxisComponent(WireModel):
    """A component with one element for each index of an axis."""

    component: ComponentBinding
    axis: U32


class DenseLayout(Variant):
    """All of a shape in one component, row by row."""

    tag: ClassVar[str] = "dense"
    component_id: Identity


class StoredLayout(Variant):
    """All of a shape in one component, stored in its own way."""

    tag: ClassVar[str] = "stored"
    component: ComponentBinding


class CompositePart(WireModel):
    """A block of a shape: where it begins, how far it goes, and what holds it."""

    layout: PhysicalLayout
    logical_offsets: Extents
    extents: Extents


class CompositeLayout(Variant):
    """A shape in blocks, each with a layout of its own."""

    tag: ClassVar[str] = "composite"
    parts: Annotated[tuple[CompositePart, ...], Field(strict=False)]


class QuantizedLayout(Variant):
    """A shape in codes, and what decodes them for each group of an axis."""

    tag: ClassVar[str] = "quantized"
    packed_values: ComponentBinding
    packed_dimensions: Extents
    scales: ComponentBinding
    zero_points: ComponentBinding | None
    axis_indices: AxisComponent | None
    permutation: AxisComponent | None
    codebook: ComponentBinding | None
    group_axis: U32
    group_padding: WeightPadding


class BlockQuantizedLayout(Variant):
    """A shape in blocks of codes along an axis."""

    tag: ClassVar[str] = "block_quantized"
    blocks: ComponentBinding
    block_axis: U32
    block_padding: WeightPadding


class AxisReshapePermutation(Variant):
    """A shape with a stretch of one axis stored in another order."""

    tag: ClassVar[str] = "axis_reshape_permutation"
    values: PhysicalLayout
    axis: U32
    logical_offset: U64
    extent: U64
    reshape: Extents
    stored_axis_order: Axes


class IndexedLayout(Variant):
    """A shape whose indices along one axis are looked up among stored ones."""

    tag: ClassVar[str] = "indexed"
    indices: AxisComponent
    values: PhysicalLayout
    source_axis_extent: U64


class ExpertStack(Variant):
    """A shape as one layout for each index of an axis."""

    tag: ClassVar[str] = "expert_stack"
    experts: Annotated[tuple[PhysicalLayout, ...], Field(strict=False)]
    expert_axis: U32


PhysicalLayout = Annotated[
    Annotated[DenseLayout, Tag("dense")]
    | Annotated[StoredLayout, Tag("stored")]
    | Annotated[CompositeLayout, Tag("composite")]
    | Annotated[QuantizedLayout, Tag("quantized")]
    | Annotated[BlockQuantizedLayout, Tag("block_quantized")]
    | Annotated[AxisReshapePermutation, Tag("axis_reshape_permutation")]
    | Annotated[IndexedLayout, Tag("indexed")]
    | Annotated[ExpertStack, Tag("expert_stack")],
    Discriminator(variant_tag),
]


class WeightBinding(WireModel):
    """Which weight a value is, and how it is stored."""

    weight_id: Identity
    format_id: Identity
    layout_id: Identity
    schema_version: Version
    physical_layout: PhysicalLayout
    components: Annotated[tuple[WeightComponent, ...], Field(strict=False)]
