"""Values one behind the other in a row: neither grows into the next."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.counterexamples import ByteRange, OverlapCounterexample, Shape
from ferrum_verify.documents.demand import Fixed
from ferrum_verify.documents.memory_plan import DynamicDescriptor
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import bytes_words, plural
from ferrum_verify.plan.growth import growth_of
from ferrum_verify.rules import value_growth

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ferrum_verify.documents.execution_plan import PlanHeader
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.growth import Tokens
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
    projected: Mapping[str, Iterable[Tokens]],
    *,
    classes: AliasClasses,
    lives: Mapping[str, tuple[int, int]],
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
        starts = [each.start for each in placed]
        groups = [classes.group(each.definition.binding) for each in placed]
        others = _next_of_another(groups)
        for index, one in enumerate(placed):
            at = bisect_left(starts, one.end, lo=index + 1)
            if at < len(placed) and groups[at] == groups[index]:
                at = others[at]
            if at == len(placed):
                continue
            behind = placed[at]
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
                f"At {plural(tokens, 'token')} value `{names[0]}` takes "
                f"{bytes_words(one.start, one.start + one.each * tokens)} of `{resource_id}`, and "
                f"value `{names[1]}` begins at {behind.start:,}"
            )
            if both_live(lives, names):
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


def _next_of_another(groups: Sequence[int]) -> list[int]:
    """For each place the next one of another group, or the end."""
    following = [len(groups)] * len(groups)
    for at in reversed(range(len(groups) - 1)):
        same = groups[at] == groups[at + 1]
        following[at] = following[at + 1] if same else at + 1
    return following


def lives_of(subject: Subject) -> dict[str, tuple[int, int]]:
    """For each value the nodes from the first that writes it to the last that binds it.

    What no node writes is there from the start; a state or weight, or what is read after the step,
    outlives the last node.
    """
    nodes, header = subject.plan_nodes or (), subject.header
    lives: dict[str, tuple[int, int]] = {}
    written: set[str] = set()
    kept = {each.value_id for each in header.retained_completion_values} if header else set()
    for index, node in enumerate(nodes):
        for binding in node.values:
            value = binding.value_id
            begins = lives[value][0] if value in lives else -1
            if binding.role == "output" and value not in written:
                written.add(value)
                begins = index
            parts = binding.storage.components if subject.terminal else ()
            if binding.usage in ("state", "weights") or any(
                p.resource_id in subject.terminal for p in parts
            ):
                kept.add(value)
            lives[value] = begins, len(nodes) if value in kept else index
    return lives


def both_live(lives: Mapping[str, tuple[int, int]], names: Iterable[str]) -> bool:
    """Whether each value is there, in plan order, when or before all are used for the last time.

    A node that writes one over what it still reads hurts itself.
    """
    return max(lives[name][0] for name in names) <= min(lives[name][1] for name in names)


def _rows(
    subject: Subject,
    header: PlanHeader,
    values: Mapping[str, Value],
    projected: Mapping[str, Iterable[Tokens]],
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
            for tokens in projected.get(value_id, ()):
                growth = growth_of(definition.binding, component, tokens)
                each = each if isinstance(growth, str) else max(each, growth.each)
            place = f"{definition.place}/storage/components/{position}"
            placed = _Placed(start, end, each, most, definition, place)
            rows.setdefault(component.resource_id, []).append(placed)
    return rows
