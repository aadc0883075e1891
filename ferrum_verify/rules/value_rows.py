"""Value rules of rows: how values fit the resource that they lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import bytes_words, in_series, plural
from ferrum_verify.plan.canonical import CONTIGUOUS_LAYOUT_FINGERPRINT, layout_fingerprint
from ferrum_verify.plan.resource_rows import maximal_logical_bytes, minimal_bytes

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from ferrum_verify.documents.node import StorageComponent
    from ferrum_verify.documents.tensor import TensorLayout
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows, Row
    from ferrum_verify.rules.value_uses import Definition, Value

_FORMAT = "docs/format.md, «Values»"
_FINGERPRINTS = "docs/format.md, «Canonical fingerprints» (`logical_layout_fingerprint`)"
_NORM_ROW = "/plan/payload/memory/static_allocations/4"

EXCEEDS = Rule(
    id="value.exceeds-resource",
    summary="A value ends within the bytes of its resource.",
    why="The allocator hands the bytes behind a resource to somebody else: a kernel that writes "
    "the value writes into theirs.",
    fix="Place the value inside its resource, or make the resource's demand cover it.",
    source=f"{_FORMAT}; seed 004, `derive_sequence_checkpoint` (a component's end)",
    judgment="safety",
    example=Example(
        "bundle",
        {"/plan/payload/nodes/0/values/1/storage/components/0/length_bytes": 1 << 20},
    ),
)
OUTGROWS = Rule(
    id="value.beyond-smallest-shape",
    summary="A value that no work projects fits its resource at the smallest shape too.",
    why="A batch of few tokens gets a small resource. If the value is used in full then, it lies "
    "in bytes that the allocator may have handed to somebody else; how many of its bytes are used "
    "then, no work says.",
    fix="If the value is used in full at small shapes too, let the resource's demand have a fixed "
    "part that covers it. Otherwise nothing is wrong.",
    source=f"{_FORMAT}; seed 000, `evaluate_request_bytes_for_shape`",
    judgment="safety",
    severity="note",
    example=Example(
        "bundle",
        {"/plan/payload/nodes/2/values/1/storage/components/0/length_bytes": 8192},
    ),
)


def check(
    values: Mapping[str, Value], rows: ResourceRows, projected: Container[str]
) -> Iterator[Finding]:
    """Findings of all rules of values in their rows; ``projected`` are those that grow."""
    limits: dict[str, int | None] = {}
    # For each resource the layouts of the values in it; None where one of them is malformed.
    layouts: dict[str, list[TensorLayout] | None] = {}
    for value in values.values():
        definition = value.accepted
        if definition.malformed is not None:
            layouts |= dict.fromkeys(_resources(definition))
            continue
        for position, component in enumerate(definition.binding.storage.components):
            resource_id = component.resource_id
            if resource_id not in limits:
                row = rows.get(resource_id)
                if row is None:
                    continue  # the graph rules miss it
                limits[resource_id] = maximal_logical_bytes(row)
                layouts.setdefault(resource_id, [])
                yield from _check_row(definition, component, row, rows)
            if (bound := layouts[resource_id]) is not None:
                bound.append(definition.binding.tensor.layout)
            if component.offset_bytes:
                place = f"{definition.place}/storage/components/{position}"
                yield from _check_offset(value.value_id, component, rows[resource_id], place)
            limit = limits[resource_id]
            end = component.offset_bytes + component.length_bytes
            if limit is not None and end > limit:
                yield EXCEEDS.finding(
                    f"Value `{value.value_id}` takes {bytes_words(component.offset_bytes, end)} "
                    f"of `{resource_id}`, which has at most {plural(limit, 'byte')}.",
                    f"{definition.place}/storage/components/{position}",
                    expected=limit,
                    actual=end,
                )
            # What work projects is held to every shape, in ``value_growth``.
            least = None if value.value_id in projected else minimal_bytes(rows[resource_id])
            if limit is not None and least is not None and least < end <= limit:
                yield OUTGROWS.finding(
                    f"Value `{value.value_id}` takes {bytes_words(component.offset_bytes, end)} "
                    f"of `{resource_id}`, which has {least:,} bytes at its smallest shape.",
                    f"{definition.place}/storage/components/{position}",
                    expected=least,
                    actual=end,
                )
    known = {name: bound for name, bound in layouts.items() if name in limits}
    yield from _check_layouts(known, rows)


def _resources(definition: Definition) -> list[str]:
    return [component.resource_id for component in definition.binding.storage.components]


MISALIGNED = Rule(
    id="value.misaligned-offset",
    summary="A value lies at an offset that keeps its row's alignment.",
    why="Kernels load vectors from aligned addresses; at an offset between two of them they "
    "fault, or read the wrong bytes.",
    fix="Move the value to a multiple of its row's `alignment_bytes`.",
    source=_FORMAT,
    judgment="safety",
    example=Example(
        "bundle",
        {"/plan/payload/nodes/0/values/0/storage/components/0/offset_bytes": 16},
        also=("value.row-too-small",),
    ),
)


def _check_offset(
    value_id: str, component: StorageComponent, row: Row, location: str
) -> Iterator[Finding]:
    offset, unit = component.offset_bytes, row.alignment_bytes
    if unit and offset % unit:
        yield MISALIGNED.finding(
            f"Value `{value_id}` lies at byte {offset:,} of `{component.resource_id}`, which is no "
            f"multiple of the {unit:,} bytes that `{component.resource_id}` is aligned to.",
            f"{location}/offset_bytes",
            actual=offset,
        )


ROW_DIFFERS = Rule(
    id="value.resource-differs",
    summary="A value lies in a value row of the binding's usage and element type.",
    why="Usage and element type decide which pool backs a resource, and its kind who owns it: a "
    "value in a workspace is overwritten by the node that the workspace belongs to.",
    fix="Put the value into a value row of its own usage and element type.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle", {f"{_NORM_ROW}/usage": "transfer"}),
)


def _check_row(
    definition: Definition, component: StorageComponent, row: Row, rows: ResourceRows
) -> Iterator[Finding]:
    """Compare a row with the first value in it: one wrong row is one fault."""
    binding, kind = definition.binding, row.kind
    differences = []
    if not isinstance(kind, str):
        differences.append(f"is the {kind.tag} workspace of node `{kind.node_id}`")
    if row.usage != binding.usage and isinstance(kind, str):
        differences.append(f"has usage {row.usage}, not {binding.usage}")
    if row.element_type != component.element_type and isinstance(kind, str):
        differences.append(f"holds {row.element_type}, not {component.element_type}")
    if differences:
        yield ROW_DIFFERS.finding(
            f"Value `{binding.value_id}` lies in `{component.resource_id}`, which "
            f"{in_series(differences)}.",
            rows.pointer(component.resource_id),
        )


LAYOUT = Rule(
    id="value.layout-fingerprint",
    summary="A row's layout fingerprint is that of the tensors in it.",
    why="The fingerprint decides which resources may share a pool. Under a wrong one, bytes of "
    "one layout are reused as another.",
    fix="Hash the sorted distinct layout classes of the row's tensors, and derive the pools again.",
    source=_FINGERPRINTS,
    example=Example("bundle", {f"{_NORM_ROW}/storage/logical_layout_fingerprint": "0" * 64}),
)


def _check_layouts(
    layouts: Mapping[str, list[TensorLayout] | None], rows: ResourceRows
) -> Iterator[Finding]:
    for resource_id, bound in layouts.items():
        row = rows[resource_id]
        if row.kind != "value" or bound is None:
            continue
        exotic = [layout for layout in bound if not isinstance(layout, str)]
        expected = layout_fingerprint(bound) if exotic else CONTIGUOUS_LAYOUT_FINGERPRINT
        layout = row.storage.logical_layout_fingerprint
        if layout != expected:
            tags = sorted({each if isinstance(each, str) else each.tag for each in bound})
            yield LAYOUT.finding(
                f"The tensors in `{resource_id}` are {in_series(tags)}, but its layout "
                "fingerprint is not that of such tensors.",
                rows.pointer(resource_id, "storage", "logical_layout_fingerprint"),
                expected=expected,
                actual=layout,
            )
