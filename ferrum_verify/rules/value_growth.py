"""Value rules of shapes: a row holds what its values and states need at every one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.counterexamples import Shape, ShapeCounterexample
from ferrum_verify.documents.memory_plan import StaticAllocation
from ferrum_verify.documents.tensor import SizeError, tensor_storage_bytes
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.growth import growth_of
from ferrum_verify.plan.holding import (
    Unheld,
    bytes_at_most,
    growing,
    is_defined,
    unheld_tokens,
)
from ferrum_verify.plan.resource_rows import maximal_logical_bytes, terms_of
from ferrum_verify.rules.descriptor_rows import demand_fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ferrum_verify.documents.node import StorageComponent
    from ferrum_verify.documents.program import ProgramState
    from ferrum_verify.documents.terms import Terms
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.growth import Tokens
    from ferrum_verify.plan.resource_rows import ResourceRows, Row
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.rules.value_uses import Definition, Value


class _Fault(NamedTuple):
    """A value that its row does not hold: where first, and what it needs by then."""

    unheld: Unheld
    need: int
    what: str
    place: str
    offset: int


_FORMAT = "docs/format.md, «Values»"
_COMPONENT = "/plan/payload/nodes/0/values/0/storage/components/0"
TOO_SMALL = Rule(
    id="value.row-too-small",
    summary="A row holds its values at every number of tokens that a step may have.",
    why="The kernel writes as many bytes as the tokens of the step give. Past the end of the row "
    "it writes into bytes that the allocator handed to somebody else.",
    fix="Let the row's demand grow with the tokens as the value does, up to "
    "`maximum_scheduled_tokens`, and plan the memory again.",
    source=_FORMAT,
    judgment="safety",
    example=Example("bundle", {f"{_COMPONENT}/offset_bytes": 64}),
)


def check(
    subject: Subject,
    values: Mapping[str, Value],
    rows: ResourceRows,
    projected: Mapping[str, Iterable[Tokens]],
) -> Iterator[Finding]:
    """Findings of all rules of values and states in rows that grow.

    ``projected`` has for each value that grows how many tokens its tensor is for.
    """
    if subject.header is None:
        return
    most = subject.header.maximum_scheduled_tokens
    known: dict[tuple[Terms, int, int], Unheld | None] = {}
    faults: dict[tuple[str, int], list[_Fault]] = {}
    for value_id in (name for name in projected if name in values):
        extents, definition = projected[value_id], values[value_id].accepted
        for component, row, place in judged(definition, rows):
            terms = terms_of(row)
            for tokens in extents:
                growth = growth_of(definition.binding, component, tokens)
                if isinstance(growth, str):
                    yield _open(value_id, component.resource_id, growth, place)
                    continue
                offset, each, at_most = growth
                key = terms, offset, each
                if key not in known:
                    known[key] = unheld_tokens(terms, growing(offset, each), most)
                unheld = known[key]
                if unheld is not None:
                    need = offset + each * unheld.tokens
                    fault = _Fault(unheld, need, f"value `{value_id}`", place, offset)
                    faults.setdefault((component.resource_id, offset), []).append(fault)
                elif at_most > each and unheld_tokens(terms, growing(offset, at_most), most):
                    why = (
                        f"its {component.length_bytes:,} bytes are more than its tensor takes, and "
                        "may be those of more tokens"
                    )
                    yield _open(value_id, component.resource_id, why, place)
    for (resource_id, _), alike in faults.items():
        yield _not_held(TOO_SMALL, resource_id, alike, rows)
    if subject.program is not None:
        for state in subject.program.states:
            if state.value_id in values:
                yield from _check_state(state, values[state.value_id].accepted, rows)


def judged(
    definition: Definition, rows: ResourceRows
) -> Iterator[tuple[StorageComponent, Row, str]]:
    """The components of a value that only growth can carry past the end of their row.

    What is wrong with the binding, with the row by itself or at its largest shape is reported as
    that.
    """
    if definition.malformed is not None:
        return
    for position, component in enumerate(definition.binding.storage.components):
        row = rows.get(component.resource_id)
        if row is None or row.kind != "value":
            continue
        if not isinstance(row, StaticAllocation) and demand_fault(row.demand.terms):
            continue
        limit = maximal_logical_bytes(row)
        if limit is not None and component.offset_bytes + component.length_bytes <= limit:
            yield component, row, f"{definition.place}/storage/components/{position}"


def demand_place(resource_id: str, rows: ResourceRows) -> str:
    """The JSON pointer of what says how many bytes a row has."""
    static = isinstance(rows[resource_id], StaticAllocation)
    return rows.pointer(resource_id, "per_instance_bytes" if static else "demand")


UNDECIDED = Rule(
    id="value.growth-undecided",
    summary="It can be told how many bytes a value takes at each number of tokens.",
    why="Where a plan does not say how a value grows, or how many pages its tokens fill, whether "
    "its row holds it is open.",
    fix="Nothing is wrong as far as this tool can tell. A contiguous value in a row that grows "
    "with the tokens can be judged.",
    source=_FORMAT,
    judgment="safety",
    severity="warning",
    undecided=True,
    example=Example("bundle", {f"{_COMPONENT}/length_bytes": 128}),
)


def _open(value_id: str, resource_id: str, why: str, location: str) -> Finding:
    return UNDECIDED.finding(
        f"Whether `{resource_id}` holds value `{value_id}` at every number of tokens cannot be "
        f"told, since {why}.",
        location,
    )


def _not_held(rule: Rule, resource_id: str, alike: list[_Fault], rows: ResourceRows) -> Finding:
    """The finding of a row for the values at one offset in it: the first that it fails."""
    worst = min(alike, key=lambda each: (not each.unheld.certain, each.unheld.tokens))
    row = rows[resource_id]
    tokens, certain = worst.unheld
    shape = Shape(1, tokens, 1)
    need, limit = worst.need, bytes_at_most(terms_of(row), shape)
    has = f"which has {limit:,} then"
    if not is_defined(terms_of(row), shape):
        has = f"which is defined for at most {tokens - 1:,}"
    said = f"At {plural(tokens, 'token')} {worst.what} needs {need:,} bytes of `{resource_id}`"
    if not certain:
        return UNDECIDED.finding(
            f"{said}, {has} at one sequence and one page; how many it has with more cannot be "
            "told.",
            worst.place,
        )
    others = len(alike) - 1
    more = f", and {plural(others, 'more value')} in it pass it too" if others else ""
    demand = demand_place(resource_id, rows)
    return rule.finding(
        f"{said}, {has}{more}.",
        worst.place if worst.offset else demand,
        expected=need,
        actual=limit,
        counterexample=None if need <= limit else ShapeCounterexample(shape, need, limit, demand),
        about=(resource_id, str(worst.offset)),
    )


STATE_TOO_SMALL = Rule(
    id="value.state-row-too-small",
    summary="A row holds the bytes that the program declares for a state, at every count.",
    why="The engine keeps what the program declares. In a smaller row, a longer sequence writes "
    "its state over somebody else's bytes.",
    fix="Let the row's demand have the `bytes_per_token` of the state up to its `maximum_tokens`, "
    "or the bytes of its tensor where it has one size for each scope.",
    source="docs/format.md, «Execution-plan rules» (against the program)",
    judgment="safety",
    example=Example(
        "bundle", {"/program/states/0/capacity_demand/token_scaled/bytes_per_token": 64}
    ),
)


def _check_state(
    state: ProgramState, definition: Definition, rows: ResourceRows
) -> Iterator[Finding]:
    components = definition.binding.storage.components
    for component, row, place in judged(definition, rows):
        offset, scaled = component.offset_bytes, state.capacity_demand
        if isinstance(scaled, str):
            if definition.binding.tensor != state.tensor:
                continue  # which of the two it has is a fault of its own
            try:
                size = tensor_storage_bytes(state.tensor)
            except SizeError:
                continue
            fixed, each, most = offset + size, 0, 1
        else:
            fixed, each, most = offset, scaled.bytes_per_token, scaled.maximum_tokens
        unheld = unheld_tokens(terms_of(row), growing(fixed, each), most)
        if unheld is None:
            continue
        if len(components) > 1:
            why = f"it lies in {len(components):,} components"
            yield _open(state.value_id, component.resource_id, why, place)
            continue
        need = fixed + each * unheld.tokens
        fault = _Fault(unheld, need, f"state `{state.id}`", place, offset)
        yield _not_held(STATE_TOO_SMALL, component.resource_id, [fault], rows)
