"""Holding: at every shape a row has the bytes that its values, and the program's states, need.

Mirrors ``rules/value_growth.py``. Values that need the same of rows with the same demand, as the
layers of a deep plan do, are one claim. Where the rule leaves a question open, nothing is claimed.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import z3

from ferrum_verify.counterexamples import ShapeCounterexample
from ferrum_verify.documents.program import TokenScaled
from ferrum_verify.documents.terms import COUNTS, Linear
from ferrum_verify.plan.growth import growth_of, projected_extents
from ferrum_verify.plan.holding import bytes_at_most, growing, unheld_tokens
from ferrum_verify.plan.resource_rows import ResourceRows, terms_of
from ferrum_verify.prove.formulas import LINEAR, defined_up_to, linear, linear_covered, shape_of
from ferrum_verify.prove.obligation import Obligation, Statement, formula
from ferrum_verify.rules.value_growth import STATE_TOO_SMALL, TOO_SMALL, demand_place, judged
from ferrum_verify.rules.value_uses import collect, misplaced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.terms import Terms
    from ferrum_verify.prove.obligation import Claims
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.rules.value_uses import Value


class _Asked(NamedTuple):
    """What is asked of a row: its demand, and bytes for each of so many tokens from an offset."""

    of_state: bool
    terms: Terms
    offset: int
    each: int
    most: int


def holding_claims(subject: Subject, memory: MemoryPlan) -> Claims:
    """The claims that rows hold what grows in them; about full plans only."""
    if subject.header is None or subject.plan_nodes is None:
        return
    rows = ResourceRows(memory, subject.places.memory)
    found = collect(subject.plan_nodes, subject.places.nodes)
    elsewhere = misplaced(found)
    values = {name: value for name, value in found.items() if name not in elsewhere}
    alike: dict[_Asked, list[tuple[str, str]]] = {}
    most = subject.header.maximum_scheduled_tokens
    for asked, what, resource_id in (
        *_of_values(subject, values, rows, most),
        *_of_states(subject, values, rows),
    ):
        alike.setdefault(asked, []).append((what, resource_id))
    for asked, held in alike.items():
        unheld = unheld_tokens(asked.terms, growing(asked.offset, asked.each), asked.most)
        if unheld is None or unheld.certain:
            yield _obligation(asked, held, demand_place(held[0][1], rows))


def _of_values(
    subject: Subject, values: dict[str, Value], rows: ResourceRows, most: int
) -> Iterator[tuple[_Asked, str, str]]:
    for value_id, extents in projected_extents(subject.plan_nodes or ()).items():
        if value_id not in values:
            continue
        definition = values[value_id].accepted
        for component, row, _ in judged(definition, rows):
            for tokens in extents:
                growth = growth_of(definition.binding, component, tokens)
                if not isinstance(growth, str):
                    asked = _Asked(False, terms_of(row), growth.offset, growth.each, most)
                    yield asked, f"value `{value_id}`", component.resource_id


def _of_states(
    subject: Subject, values: dict[str, Value], rows: ResourceRows
) -> Iterator[tuple[_Asked, str, str]]:
    for state in () if subject.program is None else subject.program.states:
        scaled = state.capacity_demand
        if state.value_id not in values or not isinstance(scaled, TokenScaled):
            continue
        components = list(judged(values[state.value_id].accepted, rows))
        for component, row, _ in components if len(components) == 1 else ():
            each, most = scaled.bytes_per_token, scaled.maximum_tokens
            asked = _Asked(True, terms_of(row), component.offset_bytes, each, most)
            yield asked, f"state `{state.id}`", component.resource_id


def _obligation(asked: _Asked, held: list[tuple[str, str]], place: str) -> Obligation:
    _, terms, offset, each, most = asked
    (what, resource), others = held[0], len(held) - 1
    more = f", and {others:,} alike" if others else ""

    return Obligation(
        id=f"{place}: holds {what} from {offset} by {each}",
        claim=f"At every shape of up to {most:,} tokens `{resource}` has the {offset:,} bytes and "
        f"{each:,} for each token that {what} needs{more}.",
        names=(*dict.fromkeys(name for _, name in held), str(offset)),
        rule=STATE_TOO_SMALL if asked.of_state else TOO_SMALL,
        location=place,
        formula=formula(row_holds, terms, offset, each, most),
        message=f"`{resource}` has fewer bytes at some shape than {what} needs there{more}",
        witness=partial(_witness, asked, place),
    )


def _witness(asked: _Asked, place: str, counts: tuple[int, ...]) -> Counterexample | None:
    shape = shape_of(counts)
    need = asked.offset + asked.each * shape.tokens
    limit = bytes_at_most(asked.terms, shape)
    # Past what the demand is defined at, the row may have had more bytes before.
    return ShapeCounterexample(shape, need, limit, place) if need > limit else None


def row_holds(terms: Terms, offset: int, each: int, most: int) -> Statement:
    """At every shape of up to ``most`` tokens a row has what grows with them, and has a size."""
    counts = [z3.Int(name) for name in COUNTS]
    sequences, tokens, pages = counts
    given = [count >= 1 for count in counts] + [tokens <= most]
    defined = linear_covered(terms, counts)
    for count, name in (sequences, "sequences"), (pages, "pages"):
        given.append(count <= getattr(defined_up_to(terms), name))
    if isinstance(terms, Linear) and (limit := terms.limit("tokens")) is not None:
        defined = [tokens <= limit]
    goal = z3.And(*defined, offset + each * tokens <= linear(terms, counts))
    return Statement(
        LINEAR,
        goal,
        tuple(given),
        least=tuple(counts),
        example=tuple((count, z3.IntVal(1)) for count in counts),
    )
