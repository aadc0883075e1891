"""Values one behind the other in a row: neither grows into the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.growth import growth_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.growth import Tokens
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.rules.aliases import AliasClasses
    from ferrum_verify.rules.value_uses import Definition, Value


class _Placed(NamedTuple):
    """A value's bytes in a row: where they start and end, and how many each token takes."""

    start: int
    end: int
    each: int
    definition: Definition
    place: str


_COMPONENT = "storage/components/0/offset_bytes"
GROWS_INTO = Rule(
    id="value.grows-into",
    summary="A value that lies before another in a row ends before it at every number of tokens.",
    why="A step of more tokens writes the first value over the beginning of the second.",
    fix="Give each of them a row, or put the second behind all bytes that the first may take.",
    source="docs/format.md, «Values»",
    judgment="safety",
    example=Example(
        "bundle",
        {
            "/plan/payload/nodes/4/values/2/storage/components/0/resource_id": "resource.logits",
            "/plan/payload/nodes/5/values/0/storage/components/0/resource_id": "resource.logits",
            f"/plan/payload/nodes/4/values/2/{_COMPONENT}": 128,
            f"/plan/payload/nodes/5/values/0/{_COMPONENT}": 128,
        },
        also=("graph.resources-differ", "value.row-too-small"),
    ),
)


IN_TURN = Rule(
    id="value.grows-in-turn",
    summary="It can be told whether values that grow over each other are live at different times.",
    why="Where the second value is written after the last use of the first, in every run, nothing "
    "is lost. The engine plans no such values, so this tool does not decide it.",
    fix="Give each of them a row, or make the second an exact alias of the first.",
    source="docs/format.md, «Values»",
    judgment="safety",
    severity="warning",
    undecided=True,
    example=Example(
        "bundle",
        {
            "/plan/payload/nodes/5/values/3/storage/components/0/resource_id": "resource.attended",
            f"/plan/payload/nodes/5/values/3/{_COMPONENT}": 128,
        },
        also=("graph.resources-differ", "value.retained-differs", "value.row-too-small"),
    ),
)


def check(
    subject: Subject,
    values: Mapping[str, Value],
    projected: Mapping[str, Iterable[Tokens]],
    classes: AliasClasses,
) -> Iterator[Finding]:
    """Findings of values that grow into others; where they overlap as bound is reported so."""
    if subject.header is None:
        return
    most = subject.header.maximum_scheduled_tokens
    for resource_id, placed in _rows(values, projected).items():
        if len({each.start for each in placed}) < 2:
            continue
        placed.sort(key=lambda each: each[:3])
        for index, one in enumerate(placed):
            group = classes.group(one.definition.binding)
            behind = next(
                (
                    each
                    for each in placed[index + 1 :]
                    if each.start >= one.end and classes.group(each.definition.binding) != group
                ),
                None,
            )
            if behind is None or one.start + one.each * most <= behind.start:
                continue
            tokens = (behind.start - one.start) // one.each + 1
            names = one.definition.binding.value_id, behind.definition.binding.value_id
            said = (
                f"At {plural(tokens, 'token')} value `{names[0]}` takes bytes {one.start:,} to "
                f"{one.start + one.each * tokens:,} of `{resource_id}`, and value `{names[1]}` "
                f"begins at {behind.start:,}"
            )
            if _both_live(*(_life(name, subject.plan_nodes or ()) for name in names)):
                yield GROWS_INTO.finding(f"{said}.", behind.place)
            else:
                yield IN_TURN.finding(f"{said}; whether one is dead by then is open.", behind.place)


def _life(value_id: str, nodes: Sequence[PlanNode]) -> tuple[int, int]:
    """The nodes, in plan order, from the first that writes a value to the last that binds it."""
    uses = [
        (index, binding)
        for index, node in enumerate(nodes)
        for binding in node.values
        if binding.value_id == value_id
    ]
    kept = any(binding.usage == "state" for _, binding in uses)
    # What no node writes is there from the start, and a state outlives the step.
    written = [index for index, binding in uses if binding.role == "output"]
    return min(written, default=-1), len(nodes) if kept else max(index for index, _ in uses)


def _both_live(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """Whether one is written, in plan order, no later than the other is used for the last time.

    A node that writes over what it still reads hurts itself.
    """
    return max(one[0], other[0]) <= min(one[1], other[1])


def _rows(
    values: Mapping[str, Value], projected: Mapping[str, Iterable[Tokens]]
) -> dict[str, list[_Placed]]:
    rows: dict[str, list[_Placed]] = {}
    for value_id, value in values.items():
        definition = value.accepted
        if definition.malformed is not None:
            continue
        for position, component in enumerate(definition.binding.storage.components):
            start, end = component.offset_bytes, component.offset_bytes + component.length_bytes
            each = 0
            for tokens in projected.get(value_id, ()):
                growth = growth_of(definition.binding, component, tokens)
                each = each if isinstance(growth, str) else max(each, growth.each)
            place = f"{definition.place}/storage/components/{position}"
            placed = _Placed(start, end, each, definition, place)
            rows.setdefault(component.resource_id, []).append(placed)
    return rows
