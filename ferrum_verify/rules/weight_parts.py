"""Value rules of weights: the parts that a weight says it has are the parts that are stored.

Only dense encodings, and dense and composite layouts, are known; of others nothing is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.documents.memory_plan import StaticAllocation
from ferrum_verify.documents.primitives import ELEMENT_BYTES, U64_MAX, variant_tag
from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.findings.wording import marked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ferrum_verify.documents.node import StorageComponent, ValueBinding, WeightBinding
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.rules.value_uses import Value

_FORMAT = "docs/format.md, «Weights»"
_WEIGHT = "/plan/payload/nodes/0/values/1/weight"


class _Bound(NamedTuple):
    """A weight as the first node that has it binds it."""

    weight: WeightBinding
    node_id: str
    place: str


_MAXIMUM_COMPARED = 512
"""Parts of one weight up to which each is compared with each: a loader splits into far fewer."""

PARTS = Rule(
    id="value.weight-parts",
    summary="A weight's layout, its components and its storage describe the same parts.",
    why="The loader fills the parts as the layout says and the kernel reads them as they are "
    "stored: where the two differ, the matrix is another one than was trained.",
    fix="Let the layout name each of the weight's components once, inside the matrix, and let "
    "each have a storage component of its id, element type and size.",
    source=_FORMAT,
    judgment="safety",
    example=Example(
        "bundle", {f"{_WEIGHT}/physical_layout/dense/component_id": "weight.embedding.absent"}
    ),
)
FORMAT = Rule(
    id="value.weight-format",
    summary="A weight is bound in the plan's format, and alike in all nodes.",
    why="The weights are loaded once, in the plan's format; a node that expects another reads "
    "them wrong.",
    fix="Give every weight the plan's `weight_format`, and every node the same binding of it.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle", {f"{_WEIGHT}/format_id": "weight-format.other"}),
)


def check(
    subject: Subject, values: Mapping[str, Value], rows: ResourceRows | None
) -> Iterator[Finding]:
    """Findings of the weights of a plan whose values are ``values``."""
    judged: dict[str, _Bound] = {}
    for index, node in enumerate(subject.plan_nodes or ()):
        for position, binding in enumerate(node.values):
            weight = binding.weight
            if weight is None:
                continue
            place = f"{subject.places.nodes}/{index}/values/{position}/weight"
            if (before := judged.get(binding.value_id)) is not None:
                if before.weight != weight:
                    yield FORMAT.finding(
                        f"Node `{node.id}` binds weight `{weight.weight_id}` otherwise than node "
                        f"`{before.node_id}` does.",
                        place,
                    )
                continue
            judged[binding.value_id] = _Bound(weight, node.id, place)
            if values[binding.value_id].accepted.malformed is not None:
                continue  # the storage is at fault
            faults = [*_layout_faults(weight, binding), *_storage_faults(weight, binding, rows)]
            if faults:
                yield PARTS.finding(
                    f"Weight `{weight.weight_id}` of node `{node.id}` is stored in other parts "
                    f"than it says: {'; '.join(faults)}.",
                    place,
                )
    if subject.header is not None:
        stated = pointer(subject.places.payload, "weight_format")
        yield from _check_format(list(judged.values()), subject.header.weight_format, stated)


def _check_format(bound: list[_Bound], stated: str, location: str) -> Iterator[Finding]:
    others = [each for each in bound if each.weight.format_id != stated]
    formats = {each.weight.format_id for each in others}
    if len(others) == len(bound) > 1 == len(formats):
        yield FORMAT.finding(
            f"The plan's weights are in `{stated}`, but all of its {len(bound):,} weights are "
            f"bound in `{next(iter(formats))}`.",
            location,
            expected=next(iter(formats)),
            actual=stated,
        )
        return
    for each in others:
        yield FORMAT.finding(
            f"Node `{each.node_id}` binds weight `{each.weight.weight_id}` in "
            f"`{each.weight.format_id}`, but the plan's weights are in `{stated}`.",
            f"{each.place}/format_id",
            expected=stated,
            actual=each.weight.format_id,
        )


def _layout_faults(weight: WeightBinding, binding: ValueBinding) -> Iterator[str]:
    ids = [component.component_id for component in weight.components]
    if len(set(ids)) != len(ids):
        yield "two of its components have one id"
        return
    layout: Any = weight.physical_layout
    tag = variant_tag(layout)
    if tag == "dense":
        named = [layout["dense"]["component_id"]]
    elif tag == "composite":
        parts = layout["composite"]["parts"]
        if any(variant_tag(part["layout"]) != "dense" for part in parts):
            return
        named = [part["layout"]["dense"]["component_id"] for part in parts]
        yield from _block_faults(parts, weight, binding.tensor.dimensions)
    else:
        return
    if unknown := sorted(set(named) - set(ids)):
        yield f"its layout names {', '.join(marked(unknown))}, which is none of its components"
    elif unread := sorted(set(ids) - set(named)):
        yield f"its layout leaves out {', '.join(marked(unread))}"
    elif len(set(named)) != len(named):
        yield "its layout names a component twice"


def _block_faults(
    parts: list[dict[str, Any]], weight: WeightBinding, dimensions: tuple[int, ...]
) -> Iterator[str]:
    components = {each.component_id: each for each in weight.components}
    covered = 0
    for index, part in enumerate(parts):
        offsets, extents = part["logical_offsets"], part["extents"]
        if not len(offsets) == len(extents) == len(dimensions):
            yield f"part {index} is no block of rank {len(dimensions)}"
            return
        if any(o + e > d for o, e, d in zip(offsets, extents, dimensions, strict=True)):
            yield f"part {index} reaches past the matrix"
            return
        covered += _elements(extents)
        component = components.get(part["layout"]["dense"]["component_id"])
        if component is None:
            continue
        held, wanted = _elements(component.physical_dimensions), _elements(extents)
        if held != wanted:
            yield (
                f"part {index} has {_count(wanted)} elements and `{component.component_id}` "
                f"{_count(held)}"
            )
            return
    if covered != _elements(dimensions):
        yield f"its parts have {_count(covered)} of {_count(_elements(dimensions))} elements"
    elif len(parts) <= _MAXIMUM_COMPARED:
        met = min(_overlapping(parts, len(dimensions)), default=None)
        if met is not None:
            yield f"its parts {met[0]} and {met[1]} overlap"


def _overlapping(parts: list[dict[str, Any]], rank: int) -> Iterator[tuple[int, int]]:
    """Parts that have an element in common, swept along the axis that they are split most on."""
    places = range(len(parts))
    starts = [[part["logical_offsets"][axis] for part in parts] for axis in range(rank)]
    axis = max(range(rank), key=lambda each: len(set(starts[each])), default=None)
    if axis is None:
        yield from ((0, other) for other in places[1:2])
        return
    ascending = sorted(places, key=starts[axis].__getitem__)
    for at, left in enumerate(ascending):
        end = starts[axis][left] + parts[left]["extents"][axis]
        for right in ascending[at + 1 :]:
            if starts[axis][right] >= end:
                break
            if _meet(parts[left], parts[right]):
                yield min(left, right), max(left, right)


def _meet(one: dict[str, Any], other: dict[str, Any]) -> bool:
    blocks = zip(
        one["logical_offsets"],
        one["extents"],
        other["logical_offsets"],
        other["extents"],
        strict=True,
    )
    return all(max(a, b) < min(a + m, b + n) for a, m, b, n in blocks)


def _storage_faults(
    weight: WeightBinding, binding: ValueBinding, rows: ResourceRows | None
) -> Iterator[str]:
    stored = {each.component_id: each for each in binding.storage.components}
    if stored.keys() == {None} and len(weight.components) == 1:
        stored = {weight.components[0].component_id: stored[None]}
    known = {component.component_id for component in weight.components}
    if foreign := sorted(str(each) for each in stored.keys() - known):
        yield f"its storage has {', '.join(marked(foreign))}, which is none of its components"
    for component in weight.components:
        held = stored.get(component.component_id)
        if held is None:
            if not foreign:
                yield f"`{component.component_id}` is not stored"
            continue
        encoding: Any = component.encoding
        if variant_tag(encoding) != "dense" or _is_outside(held, rows):
            continue
        element = encoding["dense"]["element_type"]
        needed = _elements(component.physical_dimensions) * ELEMENT_BYTES[element]
        if held.element_type != element:
            yield f"`{component.component_id}` is {element} and stored as {held.element_type}"
        elif held.length_bytes != needed:
            yield (
                f"`{component.component_id}` takes {_count(needed)} bytes and its storage has "
                f"{held.length_bytes:,}"
            )


def _elements(dimensions: Iterable[int]) -> int:
    """How many elements there are; one more than u64 holds where there are more than that.

    A tensor of so many is malformed, and the product of a million dimensions takes minutes.
    """
    total = 1
    for dimension in dimensions:
        total = min(total * dimension, U64_MAX + 1)
    return total


def _count(number: int) -> str:
    return f"{number:,}" if number <= U64_MAX else "more than u64 holds"


def _is_outside(component: StorageComponent, rows: ResourceRows | None) -> bool:
    """Whether a component does not fit its row, as the rules of values and their rows say."""
    row = None if rows is None else rows.get(component.resource_id)
    if not isinstance(row, StaticAllocation):
        return row is not None
    end = component.offset_bytes + component.length_bytes
    return row.element_type != component.element_type or end > row.per_instance_bytes
