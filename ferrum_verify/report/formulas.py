"""Where the number of a counterexample comes from: the formula behind it, with its terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.documents.pointer import steps_of
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.documents.terms import COUNTS, Linear
from ferrum_verify.findings.wording import plural, printable
from ferrum_verify.plan.sizes import align_up, demand_bytes, request_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ferrum_verify.counterexamples import Shape, ShapeCounterexample
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.documents.terms import Count
    from ferrum_verify.reading.document import Subject

MOST_TERMS = 4


class _Term(NamedTuple):
    bytes: int
    words: str


def formula_lines(found: ShapeCounterexample, subject: Subject | None) -> list[str]:
    """The terms that the bytes are the sum of, largest first; nothing where they are not told.

    They are read off the plan by where the limit stands, and told only if their sum is the number.
    """
    if subject is None or subject.memory is None or found.limit_from is None:
        return []
    place = found.limit_from.removeprefix(subject.places.memory)
    try:
        terms = list(_terms(steps_of(place), subject.memory, found.shape))
    except (SizeError, LookupError, ValueError):
        return []
    if not terms or sum(term.bytes for term in terms) != found.bytes:
        return []
    terms.sort(key=lambda term: -term.bytes)
    shown = terms[:MOST_TERMS]
    lines = [f"{'=' if not index else '+'} {t.bytes:,}  {t.words}" for index, t in enumerate(shown)]
    if rest := terms[MOST_TERMS:]:
        lines.append(f"+ {sum(term.bytes for term in rest):,}  {plural(len(rest), 'smaller term')}")
    return lines


def counts_of(resources: Iterable[str], memory: MemoryPlan | None) -> frozenset[Count]:
    """The counts of a shape that the bytes of some resources depend on; all of what is unknown."""
    if memory is None:
        return frozenset(COUNTS)
    rows = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    static = {row.resource_id for row in memory.static_allocations}
    found: set[Count] = set()
    for name in resources:
        if name in static:
            continue
        terms = rows[name].demand.terms if name in rows else None
        found |= set(terms.counts) if isinstance(terms, Linear) else set(COUNTS)
    return frozenset(found)


def _terms(steps: Sequence[str], memory: MemoryPlan, shape: Shape) -> Iterator[_Term]:
    pools = {pool.pool_id: pool for pool in memory.dynamic_pools}
    match steps:
        case ["reusable_execution", "buckets", bucket, "pool_budgets", budget, kind]:
            assert memory.reusable_execution is not None
            resolved = memory.reusable_execution.buckets[int(bucket)]
            pool = pools[resolved.pool_budgets[int(budget)].pool_id]
            part = _step_terms if kind == "step_bytes" else _invocation_terms
            yield from part(pool, memory, shape)
        case ["dynamic_descriptors", index]:
            row = memory.dynamic_descriptors[int(index)]
            yield _of_row(row, shape)
        case ["dynamic_pools", index, "minimum_invocation_peak_bytes"]:
            yield from _invocation_terms(memory.dynamic_pools[int(index)], memory, shape)
        case ["usable_capacity_bytes" | "policy_capacity_bytes"]:
            static = sum(row.size_bytes for row in memory.static_allocations)
            yield _Term(static, "static allocations")
            for row in memory.dynamic_descriptors:
                if row.lifetime in ("request", "sequence"):
                    yield _of_row(row, shape)
            for pool in memory.dynamic_pools:
                yield from _step_terms(pool, memory, shape)
                yield from _invocation_terms(pool, memory, shape)


def _step_terms(pool: DynamicPool, memory: MemoryPlan, shape: Shape) -> Iterator[_Term]:
    """Each slot is as large as its largest member."""
    rows = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    for index, slot in enumerate(pool.step_resource_slots):
        if slot.resource_ids:
            largest = max(slot.resource_ids, key=lambda name: request_bytes(rows[name], shape))
            term = _of_row(rows[largest], shape)
            yield _Term(term.bytes, f"slot {index}: {term.words}")


def _invocation_terms(pool: DynamicPool, memory: MemoryPlan, shape: Shape) -> Iterator[_Term]:
    rows = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    each = [
        [_of_row(rows[name], shape) for name in live.resource_ids]
        for live in pool.invocation_liveness
    ]
    if pool.invocation_liveness_mode == "total_order_reuse":
        each = [max(each, key=lambda terms: sum(term.bytes for term in terms), default=[])]
    for terms in each:
        yield from terms


def _of_row(row: DynamicDescriptor, shape: Shape) -> _Term:
    """A resource's bytes: "`act`: 32 tokens × 8,192, rounded up to 256"."""
    terms = row.demand.terms
    words = []
    if isinstance(terms, Linear):
        if terms.fixed or not terms.parts:
            words.append(f"{terms.fixed:,}")
        for part in terms.parts:
            count = int(getattr(shape, part.counted))
            noun = part.counted if count != 1 else part.counted[:-1]
            words.append(f"{count:,} {noun} × {part.each:,}")
    else:
        words.append("the bucket that covers the shape")
    logical, total = demand_bytes(terms, shape), request_bytes(row, shape)
    text = " + ".join(words)
    if align_up(logical, row.alignment_bytes) != logical:
        text += f", rounded up to {row.alignment_bytes:,}"
    if total != align_up(logical, row.alignment_bytes):
        text += f", in blocks of {row.storage.profile.block_bytes or 0:,}"
    return _Term(total, f"{printable(row.base_resource_id)}: {text}")
