"""Whether what a weight says of itself agrees: its components, its layout and its storage."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.weight import BlockQuantized, Dense, DenseAffine, Quantized
from ferrum_verify.documents.weight_layout import FLOATS, INTEGERS, layout_faults

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from ferrum_verify.documents.node import ValueBinding
    from ferrum_verify.documents.weight import Encoding, WeightBinding, WeightComponent


def weight_faults(binding: ValueBinding, misfits: Container[str] = frozenset()) -> Iterator[str]:
    """What is wrong with the weight of a binding, if it is one.

    Each fault completes the sentence "weight X of node Y is malformed: …". The rules are
    docs/format.md, «Weights». ``misfits`` are components whose storage does not fit its row: that
    is told of the row, and they are not compared with it here.
    """
    weight, tensor = binding.weight, binding.tensor
    if weight is None:
        return
    if weight.schema_version.major == 0:
        yield f"its schema version is 0.{weight.schema_version.minor}"
    if not tensor.dimensions:
        yield "its tensor has no dimensions"
    broken = [*_component_faults(weight), *_format_faults(weight)]
    yield from broken
    if not broken:
        yield from layout_faults(weight, tensor.dimensions, tensor.element_type)
        yield from _storage_faults(weight, binding, misfits)


def _component_faults(weight: WeightBinding) -> Iterator[str]:
    if not weight.components:
        yield "it has no components"
    for left, right in pairwise(component.component_id for component in weight.components):
        if left >= right:
            yield f"its component `{right}` stands after `{left}`"
    for component in weight.components:
        name = f"`{component.component_id}`"
        if not component.physical_dimensions or not all(component.physical_dimensions):
            yield f"{name} has the dimensions {list(component.physical_dimensions)}"
        elif component.bytes > U64_MAX:
            yield f"{name} takes {component.bytes:,} bytes, more than u64 holds"
        yield from (f"{name} {fault}" for fault in _encoding_faults(component.encoding))
        yield from (f"{name} {fault}" for fault in _role_faults(component))


def _encoding_faults(encoding: Encoding) -> Iterator[str]:
    match encoding:
        case DenseAffine(element_type=element):
            if element not in FLOATS:
                yield f"scales and shifts {element}, which is no float"
        case Quantized():
            if not 1 <= encoding.bits_per_weight <= 8:
                yield f"has {encoding.bits_per_weight} bits for each weight, not 1 to 8"
            size = encoding.group_size
            if not size or size & (size - 1):
                yield f"has groups of {size:,}, which is no power of two"
            if encoding.scale_type not in FLOATS:
                yield f"has scales of {encoding.scale_type}, which is no float"
            if encoding.zero_point_type not in (None, *INTEGERS):
                yield f"has zero points of {encoding.zero_point_type}, which is no integer"
        case BlockQuantized():
            if not encoding.logical_values_per_block or not encoding.bytes_per_block:
                yield (
                    f"has blocks of {encoding.bytes_per_block:,} bytes for "
                    f"{encoding.logical_values_per_block:,} values"
                )


def _role_faults(component: WeightComponent) -> Iterator[str]:
    encoding, role = component.encoding, component.role
    is_dense = isinstance(encoding, Dense)
    match role:
        case "scales":
            is_right = is_dense and component.dense_type in FLOATS
        case "zero_points" | "indices" | "permutation":
            is_right = is_dense and component.dense_type in INTEGERS
        case "packed_values":
            is_right = isinstance(encoding, Quantized | BlockQuantized)
        case _:
            is_right = role == "values" or not isinstance(encoding, DenseAffine)
    if not is_right:
        held = component.dense_type or "codes"
        how = encoding.tag.replace("_", " ")
        yield f"is for {role.replace('_', ' ')} and holds {held} in {how} encoding"


def _format_faults(weight: WeightBinding) -> Iterator[str]:
    formats: dict[str, WeightComponent] = {}
    for component in weight.components:
        if isinstance(component.encoding, Quantized | BlockQuantized):
            first = formats.setdefault(component.encoding.format_id, component)
            if first.encoding != component.encoding:
                yield (
                    f"`{first.component_id}` and `{component.component_id}` have different "
                    f"encodings of format `{component.encoding.format_id}`"
                )


def _storage_faults(
    weight: WeightBinding, binding: ValueBinding, misfits: Container[str]
) -> Iterator[str]:
    stored = {each.component_id: each for each in binding.storage.components}
    known = {component.component_id for component in weight.components}
    for name in sorted(str(each) for each in stored.keys() - known - {None}):
        yield f"its storage has `{name}`, which is none of its components"
    if None in stored and len(binding.storage.components) == 1:
        yield "its storage component has no id"
    for component in weight.components:
        held = stored.get(component.component_id)
        if held is None:
            if known & stored.keys() or not stored:
                yield f"`{component.component_id}` is not stored"
            continue
        if component.component_id in misfits:
            continue
        element = component.dense_type or "u8"
        if held.element_type != element:
            yield f"`{component.component_id}` is {element} and stored as {held.element_type}"
        if held.length_bytes != component.bytes:
            yield (
                f"`{component.component_id}` takes {component.bytes:,} bytes and its storage has "
                f"{held.length_bytes:,}"
            )
