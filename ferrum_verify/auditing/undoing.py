"""Undoing a fault in a copy of its document, as far as it is known how it was before.

A dependency that is wanting is added, slots are those that the engine derives, a row that nobody
names gets the name that everybody uses, a node that is named and is not there stands there again,
and a value is the one that was expected. Only what lies on the way to an edit is copied.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.judged import Edited
from ferrum_verify.auditing.lost_nodes import (
    node_order,
    program_nodes,
    with_lost_nodes,
    with_nameless_node,
)
from ferrum_verify.auditing.lost_values import resources_of
from ferrum_verify.documents.pointer import edited, steps_of, value_at
from ferrum_verify.rules.accesses import OVERWRITTEN, RACE, RESOURCE_RACE
from ferrum_verify.rules.binding import OWNER
from ferrum_verify.rules.checkpoint_stated import DIFFERS
from ferrum_verify.rules.data_flow import READ_BEFORE_WRITE
from ferrum_verify.rules.graph import LATER_DEPENDENCY, UNKNOWN_DEPENDENCY, UNKNOWN_RESOURCE
from ferrum_verify.rules.pool import MEMBERS
from ferrum_verify.rules.program_provenance import NODES, VALUES
from ferrum_verify.rules.retained import UNPRODUCED
from ferrum_verify.rules.reusable import EXECUTABLES
from ferrum_verify.rules.slot import NOT_DERIVED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ferrum_verify.auditing.judged import Judged
    from ferrum_verify.findings import Finding


@dataclass(frozen=True, slots=True)
class Undoing:
    """How the fault of a finding, by its place among all, can be undone; None where it cannot."""

    cause: int
    undo: Callable[[Judged], Edited | None]


def undoings(findings: Sequence[Finding]) -> Iterator[Undoing]:
    """The findings whose fault can be undone, those first that others can follow from.

    Names come before order, as neither order nor sharing can be told without them; order comes
    before slots, which the engine derives from it. Of two nodes without order, those that stand
    next to each other come first.
    """
    by_rule: dict[str, list[int]] = {}
    for index, finding in enumerate(findings):
        by_rule.setdefault(finding.rule, []).append(index)

    def of(*rules: str) -> list[int]:
        return [index for rule in rules for index in by_rule.get(rule, ())]

    layout = [index for index in of(DIFFERS.id) if findings[index].location.endswith("/providers")]
    named_nodes = [
        *of(NODES.id),
        *layout,
        *of(UNPRODUCED.id),
        *of(UNKNOWN_DEPENDENCY.id, OWNER.id)[:2],
    ]
    yield from (Undoing(index, _with_told_nodes(findings[index])) for index in named_nodes)
    # More executables than the nodes need are those of a node that is gone, if that explains more.
    yield from (Undoing(index, with_nameless_node) for index in of(EXECUTABLES.id))
    yield from (Undoing(index, _in_order) for index in [*of(LATER_DEPENDENCY.id)[:1], *layout])
    for index in of(UNKNOWN_RESOURCE.id, MEMBERS.id):
        yield Undoing(index, _renamed_back(findings[index]))
    yield from _as_stated(findings)
    for index in of(READ_BEFORE_WRITE.id):
        reader, writer = findings[index].about[:2]
        yield Undoing(index, _depending(writer, reader))
    for index in of(RESOURCE_RACE.id, RACE.id, OVERWRITTEN.id):
        first, then = findings[index].about[:2]
        yield Undoing(index, _depending(first, then))
    pools: dict[str, int] = {}
    for index, finding in enumerate(findings):
        if finding.family == "slot" and (pool := _pool_of(finding)) is not None:
            best = pools.setdefault(pool, index)
            if finding.rule == NOT_DERIVED.id and findings[best].rule != NOT_DERIVED.id:
                pools[pool] = index
    for pool, index in pools.items():
        yield Undoing(index, _with_derived_slots(pool))
    # A value that was edited spoils the hash; what else follows from it is told with it.
    if any(finding.family == "integrity" for finding in findings):
        for index, finding in enumerate(findings):
            if finding.severity == "error" and finding.family != "integrity":
                yield Undoing(index, _with_expected(finding))


def _with_told_nodes(finding: Finding) -> Callable[[Judged], Edited | None]:
    return lambda judged: with_lost_nodes(judged, finding.message)


def _as_stated(findings: Sequence[Finding]) -> Iterator[Undoing]:
    """What the program, the catalog and the policy say is not the plan's to choose."""
    stated = [index for index, finding in enumerate(findings) if finding.family == "contract"]
    bound = [index for index in stated if findings[index].rule == VALUES.id]
    yield from (Undoing(index, _as_the_program_binds(findings[index])) for index in bound[:1])
    yield from (Undoing(index, _with_expected(findings[index])) for index in stated[:2])


def _in_order(judged: Judged) -> Edited | None:
    """The nodes in the order that the program or the checkpoint layout has, if it has the same."""
    order = judged.subject.order
    names = [] if order is None else [node.id for node in order.nodes]
    stated = node_order(judged.subject)
    if names == stated or sorted(names) != sorted(stated):
        return None
    at = judged.subject.places.nodes
    came_from = [names.index(name) for name in stated]

    def moved_back(location: str) -> str:
        found = re.fullmatch(rf"{re.escape(at)}/(\d+)(/.*)?", location)
        return f"{at}/{came_from[int(found[1])]}{found[2] or ''}" if found else location

    return Edited(
        edited(judged.document, at, lambda nodes: [nodes[each] for each in came_from]), moved_back
    )


def _pool_of(finding: Finding) -> str | None:
    """The pointer of the pool whose slots, as they are written, a finding is about."""
    pool, slots, _ = finding.location.partition("/step_resource_slots")
    return pool if slots and finding.rule != "slot.shared-while-live" else None


def _depending(waited_for: str, waits: str) -> Callable[[Judged], Edited | None]:
    def undo(judged: Judged) -> Edited | None:
        order = judged.subject.order
        if order is None:
            return None
        first, then = order.position.get(waited_for), order.position.get(waits)
        if first is None or then is None or first == then:
            return None
        name, later = (waited_for, then) if first < then else (waits, first)
        place = f"{judged.subject.places.nodes}/{later}/dependencies"
        return Edited(
            edited(judged.document, place, lambda dependencies: sorted({*dependencies, name}))
        )

    return undo


def _with_expected(finding: Finding) -> Callable[[Judged], Edited | None]:
    def expected_in_place_of(value: Any) -> Any:
        both = isinstance(value, dict) and isinstance(finding.expected, dict)
        return {**value, **finding.expected} if both else finding.expected

    def undo(judged: Judged) -> Edited | None:
        if finding.expected is None or not finding.location:
            return None
        try:
            return Edited(edited(judged.document, finding.location, expected_in_place_of))
        except (LookupError, ValueError, TypeError):
            return None  # what was expected is missing there, or of another form

    return undo


def _as_the_program_binds(finding: Finding) -> Callable[[Judged], Edited | None]:
    """A node binds the values that the program says, each where other nodes have it."""

    def undo(judged: Judged) -> Edited | None:
        nodes = judged.subject.places.nodes
        wire = value_at(judged.document, nodes)
        index = int(steps_of(finding.location)[len(steps_of(nodes))])
        source = program_nodes(judged.subject).get(wire[index]["id"])
        if source is None:
            return None
        stated = {"input": source.inputs, "output": source.outputs}
        bound = {each["value_id"]: each for node in wire for each in node["values"]}

        def rebound(binding: dict[str, Any]) -> dict[str, Any]:
            values, ordinal = stated[binding["role"]], binding["ordinal"]
            value = values[ordinal] if ordinal < len(values) else None
            if value is None or value == binding["value_id"] or value not in bound:
                return binding
            own = {key: binding[key] for key in ("role", "ordinal", "access", "alias")}
            return {**bound[value], **own}

        def changed(node: dict[str, Any]) -> dict[str, Any]:
            values = [rebound(each) for each in node["values"]]
            left = {*resources_of(node["values"])} - {*resources_of(values)}
            listed = {*node["resources"], *resources_of(values)} - left
            return {**node, "values": values, "resources": sorted(listed)}

        return Edited(edited(judged.document, f"{nodes}/{index}", changed))

    return undo


def _renamed_back(finding: Finding) -> Callable[[Judged], Edited | None]:
    def undo(judged: Judged) -> Edited | None:
        if finding.fix is None:
            return None  # of several rows and names, nobody can tell which is meant by which
        at = judged.subject.places.memory
        return Edited(edited(judged.document, at, lambda memory: _renamed(memory, finding)))

    return undo


def _renamed(part: Any, finding: Finding) -> Any:
    if isinstance(part, dict):
        return {key: _renamed(value, finding) for key, value in part.items()}
    if isinstance(part, list):
        return [_renamed(each, finding) for each in part]
    return finding.expected if part == finding.actual else part


def _with_derived_slots(pool: str) -> Callable[[Judged], Edited | None]:
    def undo(judged: Judged) -> Edited | None:
        facts = judged.facts
        if facts is None or facts.structure is None:
            return None
        index = int(steps_of(pool)[-1])
        group = next((each for each, (at, _) in facts.pools.items() if at == index), None)
        if group is None:
            return None
        slots = [slot.to_wire() for slot in facts.structure[group].slots]
        return Edited(edited(judged.document, f"{pool}/step_resource_slots", lambda _: slots))

    return undo
