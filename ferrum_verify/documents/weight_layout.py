"""Whether a weight's layout is legal: a tree, each of whose parts stands for a shape.

The rules are docs/format.md, «Weights»; each fault completes "weight X of node Y is malformed: …".
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, TypeAlias

from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.weight import (
    AxisComponent,
    AxisReshapePermutation,
    BlockQuantized,
    BlockQuantizedLayout,
    CompositeLayout,
    DenseLayout,
    ExpertStack,
    IndexedLayout,
    PaddedTo,
    Quantized,
    QuantizedLayout,
    StoredLayout,
    WeightComponent,
)
from ferrum_verify.documents.weight_storage import round_up, stored_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.weight import (
        ComponentBinding,
        CompositePart,
        PhysicalLayout,
        WeightBinding,
        WeightPadding,
    )

MAXIMUM_LEVELS = 16
MAXIMUM_TREE_NODES = 4096

FLOATS = frozenset({"f16", "bf16", "f32"})
INTEGERS = frozenset({"u8", "u32", "i8", "i32"})

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    """A component as the layout uses it: in which role, and stored for which shape, if any."""

    component_id: str
    role: str
    binding: ComponentBinding | None = None


def layout_faults(weight: WeightBinding, shape: Shape, element_type: str) -> Iterator[str]:
    """What is wrong with the layout of a weight whose tensor has this shape and element type."""
    levels, nodes = _extent(weight.physical_layout)
    if levels > MAXIMUM_LEVELS or nodes > MAXIMUM_TREE_NODES:
        yield (
            f"its layout has {levels:,} levels and {nodes:,} parts, more than {MAXIMUM_LEVELS} "
            f"or {MAXIMUM_TREE_NODES:,}"
        )
        return
    components = {component.component_id: component for component in weight.components}
    parts = list(_parts(weight.physical_layout))
    named = [part.component_id for part in parts]
    if unknown := sorted(set(named) - components.keys()):
        yield f"its layout names {_list(unknown)}, which is none of its components"
    if unread := sorted(components.keys() - set(named)):
        yield f"its layout leaves out {_list(unread)}"
    if twice := sorted({each for each in named if named.count(each) > 1}):
        yield f"its layout names {_list(twice)} twice"
    astray = False
    for part in parts:
        component = components.get(part.component_id)
        if component is not None and component.role != part.role:
            astray = True
            yield (
                f"its layout takes `{part.component_id}` for {part.role.replace('_', ' ')}, and "
                f"that is {component.role.replace('_', ' ')}"
            )
    if not unknown and not astray:
        yield from _Tree(components, element_type).faults(weight.physical_layout, shape)


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    return ", ".join(f"`{name}`" for name in names[:3]) + more


def _extent(layout: PhysicalLayout) -> tuple[int, int]:
    """The levels and the nodes of a tree; component bindings are nodes of it too."""
    below = [_extent(each) for each in _children(layout)]
    bindings = sum(part.binding is not None for part in _own_parts(layout))
    deepest = max([levels for levels, _ in below] + [1] * bool(bindings), default=0)
    return 1 + deepest, 1 + bindings + sum(nodes for _, nodes in below)


def _children(layout: PhysicalLayout) -> Sequence[PhysicalLayout]:
    match layout:
        case CompositeLayout(parts=parts):
            return [part.layout for part in parts]
        case AxisReshapePermutation(values=values) | IndexedLayout(values=values):
            return [values]
        case ExpertStack(experts=experts):
            return experts
        case _:
            return ()


def _parts(layout: PhysicalLayout) -> Iterator[_Part]:
    yield from _own_parts(layout)
    for child in _children(layout):
        yield from _parts(child)


def _own_parts(layout: PhysicalLayout) -> Iterator[_Part]:
    bound: list[tuple[str, ComponentBinding | AxisComponent | None]] = []
    match layout:
        case DenseLayout(component_id=component_id):
            yield _Part(component_id, "values")
        case StoredLayout(component=component):
            bound = [("values", component)]
        case QuantizedLayout():
            bound = [
                ("packed_values", layout.packed_values),
                ("scales", layout.scales),
                ("zero_points", layout.zero_points),
                ("indices", layout.axis_indices),
                ("permutation", layout.permutation),
                ("codebook", layout.codebook),
            ]
        case BlockQuantizedLayout(blocks=blocks):
            bound = [("packed_values", blocks)]
        case IndexedLayout(indices=indices):
            bound = [("indices", indices)]
    for role, each in bound:
        if each is not None:
            binding = each.component if isinstance(each, AxisComponent) else each
            yield _Part(binding.component_id, role, binding)


@dataclass(frozen=True, slots=True)
class _Tree:
    components: Mapping[str, WeightComponent]
    element_type: str

    def faults(self, layout: PhysicalLayout, shape: Shape) -> Iterator[str]:
        if prod(shape) > U64_MAX:
            yield f"its layout stands for {prod(shape):,} elements, more than 64 bits count"
            return
        match layout:
            case DenseLayout():
                yield from self._dense(layout, shape)
            case StoredLayout(component=binding):
                yield from self._stored(binding, shape, self.element_type)
            case CompositeLayout(parts=parts):
                yield from self._composite(parts, shape)
            case QuantizedLayout():
                yield from self._quantized(layout, shape)
            case BlockQuantizedLayout():
                yield from self._block_quantized(layout, shape)
            case AxisReshapePermutation():
                yield from _reshape_faults(layout, shape)
                yield from self.faults(layout.values, shape)
            case IndexedLayout():
                yield from self._indexed(layout, shape)
            case ExpertStack():
                yield from self._experts(layout, shape)

    def _dense(self, layout: DenseLayout, shape: Shape) -> Iterator[str]:
        component = self.components[layout.component_id]
        yield from self._typed(layout.component_id, self.element_type)
        if component.physical_dimensions != shape:
            yield (
                f"`{layout.component_id}` has the dimensions "
                f"{_shape(component.physical_dimensions)}, not {_shape(shape)}"
            )

    def _indexed(self, layout: IndexedLayout, shape: Shape) -> Iterator[str]:
        axis, extent = layout.indices.axis, layout.source_axis_extent
        yield from self._of_axis(layout.indices, shape)
        if not extent:
            yield "its layout looks up indices among none"
        elif axis < len(shape):
            yield from self.faults(layout.values, _with(shape, axis, extent))

    def _experts(self, layout: ExpertStack, shape: Shape) -> Iterator[str]:
        axis, experts = layout.expert_axis, layout.experts
        if len(shape) < 2 or axis >= len(shape):
            yield f"its experts lie on axis {axis} of {_shape(shape)}"
        elif len(experts) != shape[axis]:
            yield f"its layout has {len(experts):,} experts, not {shape[axis]:,}"
        else:
            one = shape[:axis] + shape[axis + 1 :]
            for expert in experts:
                yield from self.faults(expert, one)

    def _typed(self, component_id: str, *wanted: str | None) -> Iterator[str]:
        found = self.components[component_id].dense_type
        if found not in wanted:
            yield (
                f"`{component_id}` holds {found or 'codes'}, where "
                f"{' or '.join(str(each) for each in wanted)} belongs"
            )

    def _stored(
        self, binding: ComponentBinding, shape: Shape, *wanted: str | None
    ) -> Iterator[str]:
        if wanted:
            yield from self._typed(binding.component_id, *wanted)
        component = self.components[binding.component_id]
        fault = stored_fault(binding.storage, component.physical_dimensions, shape)
        if fault is not None:
            yield f"`{binding.component_id}` {fault}"

    def _of_axis(self, found: AxisComponent, shape: Shape, *wanted: str) -> Iterator[str]:
        if found.axis >= len(shape):
            yield f"`{found.component.component_id}` is for axis {found.axis} of {_shape(shape)}"
        else:
            yield from self._stored(found.component, (shape[found.axis],), *wanted)

    def _composite(self, parts: Sequence[CompositePart], shape: Shape) -> Iterator[str]:
        for index, part in enumerate(parts):
            offsets, extents = part.logical_offsets, part.extents
            if not len(offsets) == len(extents) == len(shape) or not all(extents):
                yield f"part {index} of its layout is no block of {_shape(shape)}"
                return
            if any(o + e > d for o, e, d in zip(offsets, extents, shape, strict=True)):
                yield f"part {index} of its layout reaches past {_shape(shape)}"
                return
        covered = sum(prod(part.extents) for part in parts)
        if not parts or covered != prod(shape):
            yield f"the parts of its layout have {covered:,} of {prod(shape):,} elements"
        elif (pair := _overlapping(parts)) is not None:
            yield f"parts {pair[0]} and {pair[1]} of its layout overlap"
        for part in parts:
            yield from self.faults(part.layout, part.extents)

    def _quantized(self, layout: QuantizedLayout, shape: Shape) -> Iterator[str]:
        packed = layout.packed_values
        encoding = self.components[packed.component_id].encoding
        if self.element_type not in FLOATS:
            yield f"codes of {self.element_type} are stored, which is no float"
        if not isinstance(encoding, Quantized):
            yield f"`{packed.component_id}` is not quantized"
            return
        if layout.axis_indices is not None:
            yield from self._of_axis(layout.axis_indices, shape)
        if layout.permutation is not None:
            yield from self._of_axis(layout.permutation, shape, "u32", "i32")
        if layout.codebook is not None:
            levels = (2**encoding.bits_per_weight,)
            yield from self._stored(layout.codebook, levels, self.element_type)
        if (layout.zero_points is None) != (encoding.zero_point_type is None):
            has = "no zero points" if layout.zero_points is None else "zero points"
            yield f"its layout has {has}, and `{packed.component_id}` says otherwise"
        axis, size = layout.group_axis, encoding.group_size
        grouped = _grouped(shape, axis, size, layout.group_padding)
        if isinstance(grouped, str):
            yield grouped
            return
        needed = -(-encoding.bits_per_weight * prod(grouped) // 8)
        if prod(layout.packed_dimensions) != needed:
            yield (
                f"its codes take {needed:,} bytes, and its packed dimensions are "
                f"{_shape(layout.packed_dimensions)}"
            )
        yield from self._stored(packed, layout.packed_dimensions)
        groups = _with(grouped, axis, grouped[axis] // size)
        yield from self._stored(layout.scales, groups, encoding.scale_type)
        if layout.zero_points is not None:
            yield from self._stored(layout.zero_points, groups, encoding.zero_point_type)

    def _block_quantized(self, layout: BlockQuantizedLayout, shape: Shape) -> Iterator[str]:
        encoding = self.components[layout.blocks.component_id].encoding
        if self.element_type not in FLOATS:
            yield f"codes of {self.element_type} are stored, which is no float"
        if not isinstance(encoding, BlockQuantized):
            yield f"`{layout.blocks.component_id}` is not block-quantized"
            return
        axis, size = layout.block_axis, encoding.logical_values_per_block
        grouped = _grouped(shape, axis, size, layout.block_padding)
        if isinstance(grouped, str):
            yield grouped
        else:
            yield from self._stored(layout.blocks, _with(grouped, axis, grouped[axis] // size))


def _reshape_faults(layout: AxisReshapePermutation, shape: Shape) -> Iterator[str]:
    reshape, order = layout.reshape, layout.stored_axis_order
    if layout.axis >= len(shape):
        yield f"its layout permutes axis {layout.axis} of {_shape(shape)}"
        return
    end = layout.logical_offset + layout.extent
    if not layout.extent or end > shape[layout.axis]:
        yield (
            f"its layout permutes {layout.logical_offset:,} to {end:,} of an axis of "
            f"{shape[layout.axis]:,}"
        )
    if len(reshape) < 2 or prod(reshape) != layout.extent:
        yield f"its layout splits {layout.extent:,} indices into {_shape(reshape)}"
    if sorted(order) != list(range(len(reshape))):
        yield f"{_shape(order)} is no order of the axes of {_shape(reshape)}"
        return
    moved = [axis for axis in order if reshape[axis] > 1]
    if moved == sorted(moved):
        yield "its layout permutes an axis and leaves it as it is"


def _overlapping(parts: Sequence[CompositePart]) -> tuple[int, int] | None:
    """The first two blocks found to overlap, by a sweep over the axis that parts them most."""
    axes = range(len(parts[0].extents))
    axis = max(axes, key=lambda each: len({p.logical_offsets[each] for p in parts}), default=None)
    if axis is None:
        return (0, 1) if len(parts) > 1 else None
    order = sorted(range(len(parts)), key=lambda index: parts[index].logical_offsets[axis])
    open_parts: list[int] = []
    for index in order:
        start = parts[index].logical_offsets[axis]
        open_parts = [
            each
            for each in open_parts
            if parts[each].logical_offsets[axis] + parts[each].extents[axis] > start
        ]
        for other in open_parts:
            if _meet(parts[other], parts[index]):
                return other, index
        open_parts.append(index)
    return None


def _meet(one: CompositePart, other: CompositePart) -> bool:
    blocks = zip(
        one.logical_offsets, one.extents, other.logical_offsets, other.extents, strict=True
    )
    return all(max(a, b) < min(a + m, b + n) for a, m, b, n in blocks)


def _grouped(shape: Shape, axis: int, size: int, padding: WeightPadding) -> Shape | str:
    """The shape in whole groups along an axis, or why there are none."""
    if axis >= len(shape):
        return f"its groups lie on axis {axis} of {_shape(shape)}"
    if not size:
        return "its groups are empty"
    divides = shape[axis] % size == 0
    if isinstance(padding, PaddedTo):
        padded = _with(shape, axis, round_up(shape[axis], size))
        if not divides and padding.padded_dimensions == padded and prod(padded) <= U64_MAX:
            return padded
        return (
            f"{_shape(padding.padded_dimensions)} is not {_shape(shape)} filled up to whole groups "
            f"of {size:,}"
        )
    return shape if divides else f"groups of {size:,} do not divide axis {axis} of {_shape(shape)}"


def _with(shape: Shape, axis: int, extent: int) -> Shape:
    return (*shape[:axis], extent, *shape[axis + 1 :])


def _shape(dimensions: Sequence[int]) -> str:
    return f"[{', '.join(map(str, dimensions))}]"
