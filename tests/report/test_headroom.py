"""Headroom in the text report: the largest batches, and why one more is refused."""

from __future__ import annotations

from typing import Any

import pytest

import models
from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.examples import report_of
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.plan.frontier import capacity_of, fits
from ferrum_verify.report.formats import Screen, render
from ferrum_verify.report.headroom import headroom
from ferrum_verify.rules.slot import NOT_DERIVED


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


IN_DOUBT = "Headroom is not told: the plan's sizes, or what shares them, are in doubt by "
AT_ONCE = "Headroom: the largest batches"


@pytest.mark.parametrize(
    ("edits", "told"),
    [
        ({}, AT_ONCE),
        ({"/memory/reserve_bytes": 1}, AT_ONCE),
        ({"/memory/static_bytes": 1}, f"{IN_DOUBT}static.total-mismatch."),
        (
            {"/memory/static_bytes": 1, "/memory/dynamic_descriptors/0/alignment_bytes": 3},
            f"{IN_DOUBT}descriptor.alignment and 1 more finding.",
        ),
        (
            {"/memory/usable_capacity_bytes": 7000},
            "Headroom is not told: not even 1 sequence of 1 token has room: it needs",
        ),
        ({"/memory/dynamic_pools": None}, "Pools and headroom are not told: the memory plan"),
    ],
)
def test_a_faulty_plan_says_why_it_is_not_told(edits: dict[str, Any], told: str) -> None:
    document = sample("fragment")
    apply_edits(document, edits)
    text = render(audit(document, prove=False), "text", Screen(tables=True))
    assert told in " ".join(text.split())


def test_slots_of_ones_own_making_have_headroom_too() -> None:
    assert NOT_DERIVED.example is not None
    report = report_of(NOT_DERIVED.example)
    assert [finding.rule for finding in report.findings] == [NOT_DERIVED.id]
    assert AT_ONCE in render(report, "text", Screen(tables=True))
