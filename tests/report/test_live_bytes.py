"""Live bytes of a batch are those of brute force, and its limits those of the plan's demands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.frontier import capacity_of, need
from ferrum_verify.report.headroom import scheduled_tokens
from ferrum_verify.report.live_bytes import (
    Batch,
    Limits,
    held_bytes,
    limits_of,
    live_bytes,
    sizes_at,
)
from tests.live_bytes import Brute

if TYPE_CHECKING:
    from ferrum_verify.reading.document import Subject

TOP = Path(__file__).parents[2]


def subject_of(problem: dict[str, Any]) -> Subject:
    subject = audit(problem, prove=False).documents[0].subject
    assert subject is not None
    return subject


@pytest.mark.parametrize(
    "problem",
    [models.decoder(2), models.problem("qwen3.5-4b", layers=4), sample("problem")],
    ids=["decoder", "hybrid", "sample"],
)
def test_live_bytes_are_those_of_brute_force(problem: dict[str, Any]) -> None:
    subject = subject_of(problem)
    memory, order = subject.memory, subject.order
    assert memory is not None
    assert order is not None
    document = {"nodes": problem["nodes"], "memory": memory.to_wire()}
    limits = limits_of(subject, memory)
    assert limits is not None
    for batch in (Batch(1, 1, 1, 1), Batch(2, 13, 7, 1), limits.largest):
        brute = Brute(document, batch, subject.kept)
        sizes = sizes_at(memory, batch)
        live = live_bytes(memory, order, subject.kept, sizes)
        for pool, wire in zip(
            memory.dynamic_pools, document["memory"]["dynamic_pools"], strict=True
        ):
            assert held_bytes(pool, sizes) == brute.held(wire)
        assert live == {pool.pool_id: brute.live(pool.pool_id) for pool in memory.dynamic_pools}


def test_what_a_batch_holds_is_what_it_needs() -> None:
    """The pools and the static bytes together are what the capacity frontier counts."""
    problem = models.problem("qwen3.5-4b", layers=4)
    subject = subject_of(problem)
    assert subject.memory is not None
    document = {"nodes": problem["nodes"], "memory": subject.memory.to_wire()}
    brute = Brute(document, (3, 300, 100, 1), subject.kept)
    held = sum(brute.held(pool) for pool in document["memory"]["dynamic_pools"])
    capacity = capacity_of(subject.memory, scheduled_tokens(subject))
    assert held + brute.static == need(capacity, 3, 100)


def test_the_largest_batch_is_where_every_demand_ends() -> None:
    subject = subject_of(models.decoder(2))
    memory = subject.memory
    assert memory is not None
    limits = limits_of(subject, memory)
    assert limits == Limits(sequences=64, tokens=4096, held=4096, pages=32768)
    assert limits.largest == Batch(64, 4096, 64, 32768)
    for beyond in ({"tokens": 4097}, {"held": 4097}, {"pages": 32769}, {"sequences": 65}):
        with pytest.raises(SizeError, match="is not defined at"):
            sizes_at(memory, limits.largest._replace(**beyond))


def test_what_no_demand_counts_has_no_limit() -> None:
    document = json.loads((TOP / "docs/examples/gated.json").read_text(encoding="utf-8"))
    subject = subject_of(document)
    assert subject.memory is not None
    limits = limits_of(subject, subject.memory)
    assert limits is not None
    assert (limits.tokens, limits.held, limits.pages) == (128, None, None)
    assert limits.largest == Batch(limits.sequences, 128, -(-128 // limits.sequences), 1)
