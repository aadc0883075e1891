"""The solver's side: it agrees with arithmetic, and where it does not, that is told."""

from __future__ import annotations

from random import Random

import pytest

from ferrum_verify.contracts.checkpoint_changes import PREFIX_NARROWED
from ferrum_verify.contracts.claims import (
    Question,
    bounded_size,
    containment,
    discharge,
)
from ferrum_verify.contracts.spans import smallest_refused
from ferrum_verify.derive.spans import merge_spans
from ferrum_verify.documents.checkpoint import TokenSpan
from ferrum_verify.documents.demand import Tokens
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.storage import LINEAR_CONTIGUOUS
from ferrum_verify.limits import Limits
from ferrum_verify.plan.sizes import Claim
from ferrum_verify.report.model import Obligations


def span(minimum: int, alignment: int) -> TokenSpan:
    return TokenSpan(minimum_tokens=minimum, alignment=alignment)


def question(
    base: list[TokenSpan], head: list[TokenSpan], answer: int | None, limit: int = U64_MAX
) -> Question:
    rule = PREFIX_NARROWED
    return containment(
        "HEAD permits it too", base, head, answer, rule=rule, place="/place", limit=limit
    )


def test_spans_of_all_sizes() -> None:
    random = Random(3)
    questions = []
    for _ in range(60):
        bits = random.choice([4, 10, 20, 40, 62])
        base, head = (
            span(random.randint(1, 2**bits), random.randint(1, 2**bits)) for _ in range(2)
        )
        if random.random() < 0.4:
            head = span(random.randint(1, base.smallest), random.choice([1, base.alignment]))
        questions.append(question([base], [head], smallest_refused(base, head)))
    discharged = discharge(questions, Limits())
    assert discharged.findings == []
    assert discharged.counts.proved > 10
    assert discharged.counts.refuted > 10
    assert discharged.counts.undecided == 0


def test_the_merge_is_not_taken_on_trust() -> None:
    random = Random(5)
    questions = []
    for _ in range(40):
        base, head = (
            [
                span(random.randint(1, 40), random.choice([1, 2, 4, 6, 8, 9, 12, 16]))
                for _ in range(random.randint(1, 4))
            ]
            for _ in range(2)
        )
        limit = random.choice([50, 1_000, U64_MAX])
        answer = smallest_refused(merge_spans(base), merge_spans(head), limit)
        questions.append(question(base, head, answer, limit))
    discharged = discharge(questions, Limits())
    assert discharged.findings == []
    assert discharged.counts.proved > 0
    assert discharged.counts.refuted > 0


@pytest.mark.parametrize(
    ("base", "head", "wrong"),
    [
        (span(1, 16), span(1, 32), None),  # it is refused at 16
        (span(1, 16), span(1, 32), 48),  # and not first at 48
        (span(1, 32), span(1, 16), 32),  # and here not at all
    ],
)
def test_a_contradiction_is_a_finding(base: TokenSpan, head: TokenSpan, wrong: int | None) -> None:
    discharged = discharge([question([base], [head], wrong)], Limits())
    (found,) = discharged.findings
    assert (found.rule, found.severity) == ("integrity.proof-disagreement", "error")
    assert found.location == "/place"


def test_a_span_that_permits_nothing_says_nothing_of_another() -> None:
    # No state of 10 tokens holds 16, so no boundary that was permitted can be lost.
    discharged = discharge([question([span(1, 16)], [span(1, 32)], None, 10)], Limits())
    (found,) = discharged.findings
    assert (found.rule, found.severity) == ("integrity.proof-vacuous", "note")
    assert discharged.counts == Obligations(vacuous=1, formulas=1)


def test_a_solver_without_time_leaves_it_open() -> None:
    limits = Limits(document_seconds=0.0)
    discharged = discharge([question([span(1, 16)], [span(1, 32)], 16)], limits)
    (found,) = discharged.findings
    assert found.rule == "integrity.proof-undecided"
    assert found.undecided
    assert discharged.counts.undecided == 1


def test_sizes() -> None:
    claim = Claim(
        Tokens(bytes_per_token=100, maximum_tokens=50).terms, 64, LINEAR_CONTIGUOUS.blocks
    )

    def ask(limit: int, *, fits: bool) -> Question:
        return bounded_size("it fits", claim, limit, fits=fits, rule=PREFIX_NARROWED, place="")

    # 5,000 bytes at 50 tokens are rounded up to 5,056.
    discharged = discharge([ask(5_056, fits=True), ask(5_055, fits=False)], Limits())
    assert discharged.findings == []
    assert (discharged.counts.proved, discharged.counts.refuted) == (1, 1)
    assert len(discharge([ask(5_055, fits=True), ask(5_056, fits=False)], Limits()).findings) == 2
