"""Values one behind the other in a row: neither grows into the next."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.counterexamples import ByteRange, OverlapCounterexample, Shape
from ferrum_verify.documents.demand import Fixed
from ferrum_verify.documents.memory_plan import DynamicDescriptor
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.growth import growth_of
from ferrum_verify.rules import value_growth

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ferrum_verify.documents.execution_plan import PlanHeader
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.rules.aliases import AliasClasses
    from ferrum_verify.rules.value_uses import Definition, Value


class _Placed(NamedTuple):
    """A value's bytes in a row: where they start and end, and how many each token takes.

    Of a step's tokens there are at most ``most``, of a state's those of its sequence.
    """

    start: int
    end: int
    each: int
    most: int
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
    rows: ResourceRows,
    projected: Mapping[str, Iterable[int]],
    classes: AliasClasses,
) -> Iterator[Finding]:
    """Findings of values that grow into others; where they overlap as bound is reported so."""
    if subject.header is None:
        return
    for resource_id, placed in _rows(subject, subject.header, values, projected).items():
        if len({each.start for each in placed}) < 2:
            continue
        row = rows.get(resource_id)
        grows = isinstance(row, DynamicDescriptor) and not isinstance(row.demand, Fixed)
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
            if behind is None:
                continue
            names = one.definition.binding.value_id, behind.definition.binding.value_id
            if grows and subject.program is None and one.definition.binding.usage == "state":
                yield value_growth.UNDECIDED.finding(
                    f"Whether state `{names[0]}` grows into `{names[1]}`, which lies behind it in "
                    f"`{resource_id}`, cannot be told, since the program that declares its bytes "
                    "is not there.",
                    behind.place,
                )
            if one.start + one.each * one.most <= behind.start:
                continue
            tokens = (behind.start - one.start) // one.each + 1
            said = (
                f"At {plural(tokens, 'token')} value `{names[0]}` takes bytes {one.start:,} to "
                f"{one.start + one.each * tokens:,} of `{resource_id}`, and value `{names[1]}` "
                f"begins at {behind.start:,}"
            )
            if both_live(subject, names):
                yield GROWS_INTO.finding(
                    f"{said}.",
                    behind.place,
                    counterexample=OverlapCounterexample(
                        Shape(1, tokens, 1),
                        ByteRange(resource_id, one.start, one.start + one.each * tokens, names[0]),
                        ByteRange(resource_id, behind.start, behind.end, names[1]),
                        behind.start,
                    ),
                )
            else:
                yield IN_TURN.finding(f"{said}; whether one is dead by then is open.", behind.place)


def both_live(subject: Subject, names: Iterable[str]) -> bool:
    """Whether each value is there, in plan order, when or before all are used for the last time.

    A node that writes one over what it still reads hurts itself.
    """
    lives = [_life(subject, name) for name in names]
    return max(first for first, _ in lives) <= min(last for _, last in lives)


def _life(subject: Subject, value_id: str) -> tuple[int, int]:
    """The nodes, in plan order, from the first that writes a value to the last that binds it."""
    nodes = subject.plan_nodes or ()
    retained = () if subject.header is None else subject.header.retained_completion_values
    uses = [
        (index, binding)
        for index, node in enumerate(nodes)
        for binding in node.values
        if binding.value_id == value_id
    ]
    # What no node writes is there from the start; what is kept outlives the step.
    kept = any(each.value_id == value_id for each in retained) or any(
        binding.usage in ("state", "weights") for _, binding in uses
    )
    written = [index for index, binding in uses if binding.role == "output"]
    return min(written, default=-1), len(nodes) if kept else max(index for index, _ in uses)


def _rows(
    subject: Subject,
    header: PlanHeader,
    values: Mapping[str, Value],
    projected: Mapping[str, Iterable[int]],
) -> dict[str, list[_Placed]]:
    states = {
        state.value_id: state.capacity_demand
        for state in (() if subject.program is None else subject.program.states)
    }
    rows: dict[str, list[_Placed]] = {}
    for value_id, value in values.items():
        definition = value.accepted
        if definition.malformed is not None:
            continue
        for position, component in enumerate(definition.binding.storage.components):
            start, end = component.offset_bytes, component.offset_bytes + component.length_bytes
            each, most = 0, header.maximum_scheduled_tokens
            if not isinstance(scaled := states.get(value_id, "fixed_per_scope"), str):
                each, most = scaled.bytes_per_token, scaled.maximum_tokens
            for extent in projected.get(value_id, ()):
                growth = growth_of(definition.binding, component, extent)
                each = each if isinstance(growth, str) else max(each, growth.each)
            place = f"{definition.place}/storage/components/{position}"
            placed = _Placed(start, end, each, most, definition, place)
            rows.setdefault(component.resource_id, []).append(placed)
    return rows
