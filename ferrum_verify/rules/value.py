"""Value rules: what a plan's values are, and that no two of them share bytes by accident.

Weights, exact aliases and retained completion values have files of their own; how a value
relates to the row that it lies in is judged in ``value_rows``.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, TypeAlias

from ferrum_verify.counterexamples import ByteRange, OverlapCounterexample
from ferrum_verify.documents.value_storage import port_faults, storage_faults
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import bytes_words, in_series
from ferrum_verify.plan.growth import projected_extents
from ferrum_verify.plan.resource_rows import ResourceRows
from ferrum_verify.plan.sizes import UNIT
from ferrum_verify.rules import (
    aliases,
    retained,
    undefined_rows,
    value_growth,
    value_packing,
    value_rows,
    weight_parts,
)
from ferrum_verify.rules.aliases import AliasClasses
from ferrum_verify.rules.value_uses import Definition, collect, misplaced

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ferrum_verify.documents.node import StorageComponent
    from ferrum_verify.documents.value_storage import Malformed
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.rules.value_uses import Value

_FORMAT = "docs/format.md, «Values»"
_VALUES = "/plan/payload/nodes/0/values"
_Range: TypeAlias = tuple[int, int, Definition]


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of all value rules."""
    nodes = subject.plan_nodes
    if nodes is None:
        return
    values = collect(nodes, subject.places.nodes)
    yield from _check_ports(subject)
    yield from _check_roles(subject)
    needed = values.keys() if subject.program is None else aliases.needed_values(subject)
    for value in values.values():
        yield from _check_value(value, is_needed=value.value_id in needed)
    classes = AliasClasses(nodes)
    overlapping: set[tuple[str, str]] = set()
    lives = value_packing.lives_of(subject)
    for finding in _check_overlaps(values, classes, overlapping):
        # The engine refuses these too, but the one is dead before the other is written.
        in_turn = not value_packing.both_live(lives, finding.about)
        yield replace(finding, judgment="conformance") if in_turn else finding
    yield from aliases.check(subject, values, overlapping)
    rows = None
    if subject.memory is not None:
        rows = ResourceRows(subject.memory, subject.places.memory)
        extents = projected_extents(nodes)
        elsewhere = misplaced(values)
        placed = {name: value for name, value in values.items() if name not in elsewhere}
        yield from value_rows.check(placed, rows, extents)
        grown = list(value_growth.check(subject, placed, rows, extents))
        yield from grown
        too_small = {name for each in grown for name in each.about[:1]}
        yield from value_packing.check(subject, placed, rows, extents, classes=classes, lives=lives)
        yield from undefined_rows.check(subject, subject.memory, too_small)
    yield from weight_parts.check(subject, values, rows)
    yield from retained.check(subject)


DUPLICATE_PORT = Rule(
    id="value.duplicate-port",
    summary="A node binds each input and output once.",
    why="The engine finds a port's binding by role and ordinal: which of the two a kernel gets "
    "depends on who looks.",
    fix="Bind each port once.",
    source=_FORMAT,
    example=Example("bundle", {f"{_VALUES}/1/ordinal": 0}),
)


def _check_ports(subject: Subject) -> Iterator[Finding]:
    for index, node in enumerate(subject.plan_nodes or ()):
        ports = {(binding.role, binding.ordinal) for binding in node.values}
        if len(ports) == len(node.values):
            continue
        seen: set[tuple[str, int]] = set()
        for position, binding in enumerate(node.values):
            port = (binding.role, binding.ordinal)
            if port in seen:
                yield DUPLICATE_PORT.finding(
                    f"Node `{node.id}` binds its {binding.role} {binding.ordinal} twice, the "
                    f"second time to `{binding.value_id}`.",
                    f"{subject.places.nodes}/{index}/values/{position}",
                )
            seen.add(port)


MALFORMED = Rule(
    id="value.malformed",
    summary="The tensor, the storage and the port of a binding are well-formed.",
    why="A kernel reads and writes the whole tensor: where it has no elements, or its components "
    "are too short, empty, astride of elements or past the address space, the kernel touches "
    "bytes of something else.",
    fix="Give the tensor positive dimensions and a layout that fits them, and the value components "
    "of whole elements that hold it; read inputs, write outputs, and describe a weight exactly "
    "where the usage is weights.",
    source="docs/format.md, «Values»",
    judgment="safety",
    example=Example("bundle", {f"{_VALUES}/1/storage/components/0/length_bytes": 1}),
)


def _check_roles(subject: Subject) -> Iterator[Finding]:
    for index, node in enumerate(subject.plan_nodes or ()):
        for position, binding in enumerate(node.values):
            if faults := list(port_faults(binding)):
                yield MALFORMED.finding(
                    f"Value `{binding.value_id}` of node `{node.id}` is malformed: "
                    f"{'; '.join(each.said for each in faults)}.",
                    f"{subject.places.nodes}/{index}/values/{position}",
                    fix=_fix(faults),
                )


def _fix(faults: Iterable[Malformed]) -> str:
    return in_series(dict.fromkeys(each.fix for each in faults))


INCONSISTENT = Rule(
    id="value.inconsistent",
    summary="A value has the same tensor, usage and storage in all nodes.",
    why="The node that writes it and the node that reads it would disagree on where its bytes "
    "are or what they mean.",
    fix="Bind the value alike everywhere.",
    source=_FORMAT,
    judgment="safety",
    example=Example(
        "bundle", {"/plan/payload/nodes/1/values/0/storage/components/0/length_bytes": 64}
    ),
)


def _check_value(value: Value, *, is_needed: bool) -> Iterator[Finding]:
    accepted = value.accepted
    for definition in (accepted, *value.others):
        if definition.malformed is not None:
            yield MALFORMED.finding(
                f"Value `{value.value_id}` of node `{definition.node.id}` is malformed: "
                f"{definition.malformed}.",
                f"{definition.place}/storage/components",
                fix=_fix(storage_faults(definition.binding)),
            )
    for definition in value.others:
        if definition.malformed is not None or accepted.malformed is not None:
            continue  # that a malformed binding differs from a good one is no second fault
        parts = [
            name
            for name in ("tensor", "usage", "storage")
            if getattr(definition.binding, name) != getattr(accepted.binding, name)
        ]
        finding = INCONSISTENT.finding(
            f"Value `{value.value_id}` has another {in_series(parts)} in node "
            f"`{definition.node.id}` than in node `{accepted.node.id}`.",
            f"{definition.place}/{parts[0]}",
        )
        # What nobody reads is refused by the engine too, and no byte of it is missed.
        yield finding if is_needed else replace(finding, judgment="conformance")


def _check_overlaps(
    values: Mapping[str, Value], classes: AliasClasses, reported: set[tuple[str, str]]
) -> Iterator[Finding]:
    """Findings of values that share bytes by accident; ``reported`` takes up each pair of them."""
    alone: dict[str, tuple[StorageComponent, Definition]] = {}
    shared: dict[str, list[_Range]] = {}
    for value in values.values():
        definition = value.accepted
        if definition.malformed is not None:
            continue
        for component in definition.binding.storage.components:
            resource_id = component.resource_id
            if resource_id not in alone:
                alone[resource_id] = (component, definition)
                continue
            if resource_id not in shared:
                shared[resource_id] = [_range(*alone[resource_id])]
            shared[resource_id].append(_range(component, definition))
    for resource_id, taken in shared.items():
        taken.sort(key=lambda each: each[:2])
        yield from _sweep(resource_id, taken, classes, reported)


def _range(component: StorageComponent, definition: Definition) -> _Range:
    return (
        component.offset_bytes,
        component.offset_bytes + component.length_bytes,
        definition,
    )


OVERLAP = Rule(
    id="value.overlap",
    summary="Two values that share bytes of a resource are exact aliases of each other.",
    why="Writing one destroys the other while a later node still reads it.",
    fix="Place the values apart, or declare the exact alias if one may overwrite the other.",
    source=_FORMAT,
    judgment="safety",
    example=Example(
        "bundle",
        {
            "/plan/payload/nodes/3/exact_aliases": [],
            "/plan/payload/nodes/3/values/2/alias": "no_alias",
            "/catalog/operations/operation.residual/outputs/0/alias": "no_alias",
        },
    ),
)


def _sweep(
    resource_id: str, taken: list[_Range], classes: AliasClasses, reported: set[tuple[str, str]]
) -> Iterator[Finding]:
    """Compare each range with two of those that start no later.

    Values may share bytes inside one group and not across. Whatever a range collides with, it
    also collides with the furthest-reaching range of another group; and that is either the
    furthest of all, or the furthest that is of another group than the furthest of all.
    """
    furthest: list[tuple[int, _Range]] = []
    for current in taken:
        start, end, definition = current
        group = classes.group(definition.binding)
        for other_group, (other_start, other_end, other) in furthest:
            if other_group == group:
                continue
            pair = (other.binding.value_id, definition.binding.value_id)
            if other_end > start and pair not in reported:
                reported.add(pair)
                stated = classes.root(pair[0]) == classes.root(pair[1])
                yield OVERLAP.finding(
                    f"Value `{pair[0]}` takes {bytes_words(other_start, other_end)} of "
                    f"`{resource_id}` and value `{pair[1]}` takes {bytes_words(start, end)}, "
                    + (
                        "so they are not the exact aliases that they are said to be."
                        if stated
                        else "and they are no exact aliases."
                    ),
                    f"{definition.place}/storage/components",
                    counterexample=OverlapCounterexample(
                        UNIT,
                        ByteRange(resource_id, other_start, other_end, pair[0]),
                        ByteRange(resource_id, start, end, pair[1]),
                        start,
                    ),
                    about=pair,
                )
            break
        furthest = _furthest_two([*furthest, (group, current)])


def _furthest_two(ranges: list[tuple[int, _Range]]) -> list[tuple[int, _Range]]:
    ranges.sort(key=lambda each: -each[1][1])
    others = (each for each in ranges[1:] if each[0] != ranges[0][0])
    return [ranges[0], *islice(others, 1)]
