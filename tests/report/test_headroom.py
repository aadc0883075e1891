"""Headroom in the text report: the largest batches, and why one more is refused."""

from __future__ import annotations

from typing import Any

import pytest

import models
from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.plan.frontier import capacity_of, fits
from ferrum_verify.report.formats import Screen, render
from ferrum_verify.report.headroom import headroom


def test_both_ends_of_the_frontier() -> None:
    (document,) = audit(models.problem("llama-3.1-8b", 2), prove=False).documents
    assert document.subject is not None
    memory = document.subject.memory
    assert memory is not None
    longest, most = headroom(document.subject, memory, document.findings)
    capacity = capacity_of(memory)
    assert longest.sequences == 1
    assert most.sequences == memory.maximum_active_sequences
    for end in (longest, most):
        assert fits(capacity, end.sequences, end.tokens)
        assert not fits(capacity, end.sequences, end.tokens + 1)
    assert not fits(capacity, most.sequences + 1, 1)


def test_it_is_shown_with_what_refuses_one_more() -> None:
    text = " ".join(
        render(audit(models.bundle("llama-3.1-8b", 2, schema="5.0"), prove=False), "text").split()
    )
    assert "Headroom: the largest batches within 71.0 GiB" in text
    assert (
        "1 sequence of 4,096 tokens: 3.15 GiB. One token more is refused: 4,096 tokens of all "
        "sequences are the most in one step." in text
    )
    assert "64 sequences of 64 tokens: 3.18 GiB. One token more for each is refused:" in text


@pytest.mark.parametrize(
    ("edits", "shown"),
    [
        ({}, True),
        ({"/memory/reserve_bytes": 1}, True),
        ({"/memory/static_bytes": 1}, False),
        ({"/memory/dynamic_descriptors/0/alignment_bytes": 3}, False),
    ],
)
def test_it_is_left_out_where_the_sizes_are_in_doubt(edits: dict[str, Any], shown: bool) -> None:
    document = sample("fragment")
    apply_edits(document, edits)
    text = render(audit(document, prove=False), "text", Screen(tables=True))
    assert ("Headroom" in text) is shown
