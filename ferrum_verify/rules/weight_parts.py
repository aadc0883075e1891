"""Value rules of weights: what a weight says of itself is legal, and alike in all nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.documents.memory_plan import StaticAllocation
from ferrum_verify.documents.weight_parts import weight_faults
from ferrum_verify.findings import Example, Rule, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.documents.node import ValueBinding
    from ferrum_verify.documents.weight import WeightBinding
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


PARTS = Rule(
    id="value.weight-parts",
    summary="A weight's layout, its components and its storage describe the same parts.",
    why="The loader fills the parts as the layout says and the kernel reads them as they are "
    "stored: where the two differ, the matrix is another one than was trained.",
    fix="Let the layout name each of the weight's components once, in its role and inside the "
    "matrix, and let each have a storage component of its id, element type and size.",
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
WRITTEN = Rule(
    id="value.weight-written",
    summary="No node writes a weight.",
    why="Weights are loaded once and read in every step: what one step writes there, all later "
    "ones compute with.",
    fix="Let the node read the weight only; what it is to update is a state.",
    source=_FORMAT,
    severity="warning",
    judgment="safety",
    example=Example(
        "bundle",
        {"/plan/payload/nodes/0/values/1/access": "read_write"},
        also=("contract.port-differs",),
    ),
)


def check(
    subject: Subject, values: Mapping[str, Value], rows: ResourceRows | None
) -> Iterator[Finding]:
    """Findings of the weights of a plan whose values are ``values``."""
    judged: dict[str, _Bound] = {}
    for index, node in enumerate(subject.plan_nodes or ()):
        for position, binding in enumerate(node.values):
            weight = binding.weight
            if weight is None or binding.usage != "weights":
                continue
            bound = f"{subject.places.nodes}/{index}/values/{position}"
            if binding.access != "read":
                yield WRITTEN.finding(
                    f"Node `{node.id}` writes weight `{weight.weight_id}`, which every later "
                    "step reads.",
                    f"{bound}/access",
                    expected="read",
                    actual=binding.access,
                )
            place = f"{bound}/weight"
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
            if faults := list(weight_faults(binding, misfits(binding, rows))):
                yield PARTS.finding(
                    f"Weight `{weight.weight_id}` of node `{node.id}` is malformed: "
                    f"{'; '.join(faults)}.",
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


def misfits(binding: ValueBinding, rows: ResourceRows | None) -> set[str]:
    """The components that do not fit their rows, as the rules of values and their rows say."""
    return {
        str(component.component_id)
        for component in binding.storage.components
        if rows is not None
        and isinstance(row := rows.get(component.resource_id), StaticAllocation)
        and (
            row.element_type != component.element_type
            or component.offset_bytes + component.length_bytes > row.per_instance_bytes
        )
    }
