"""What a comparison claims for all counts and all shapes, put to the solver.

Each answer was found by arithmetic. The solver is asked the same question in its own terms,
linear integers with the quotients named: of spans it sees the providers' own constraints, never
their merge, and of sizes the demands, never the candidate shapes. Both must agree.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import z3

from ferrum_verify.contracts.growth import common_reach
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.plan.sizes import largest_shape
from ferrum_verify.prove.divisibility import LOGIC, Span, contained
from ferrum_verify.prove.formulas import FREE, linear, linear_counts
from ferrum_verify.prove.obligation import (
    Obligation,
    Proved,
    Refuted,
    Statement,
    Undecided,
    Vacuous,
    formula,
)
from ferrum_verify.prove.solving import Session
from ferrum_verify.report.model import Obligations
from ferrum_verify.rules.proof import DISAGREEMENT, UNDECIDED, VACUOUS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrum_verify.counterexamples import Shape
    from ferrum_verify.documents.checkpoint import TokenSpan
    from ferrum_verify.findings import Finding, Rule
    from ferrum_verify.limits import Limits
    from ferrum_verify.plan.sizes import Claim
    from ferrum_verify.prove.obligation import Formula, Outcome


class Question(NamedTuple):
    """A claim, and the answer that arithmetic gave: None where it holds, else the least values
    that break it."""

    obligation: Obligation
    answer: tuple[int, ...] | None


class Discharged(NamedTuple):
    """What came of the claims, counted, and what there is to say of them."""

    counts: Obligations
    findings: list[Finding]


def discharge(questions: Iterable[Question], limits: Limits) -> Discharged:
    """Ask the solver each question; a contradiction of arithmetic is a finding that names both."""
    session = Session(limits)
    outcomes: Counter[type[Outcome]] = Counter()
    findings: list[Finding] = []
    for obligation, answer in questions:
        outcome = session.decide(obligation)
        outcomes[type(outcome)] += 1
        if isinstance(outcome, Undecided):
            findings.append(
                UNDECIDED.finding(
                    f"The solver could not confirm that {obligation.claim}: {outcome.reason}.",
                    obligation.location,
                )
            )
        elif isinstance(outcome, Vacuous) and answer is None:
            findings.append(
                VACUOUS.finding(
                    f"That {obligation.claim} says nothing, as nothing meets what it assumes.",
                    obligation.location,
                )
            )
        elif outcome != (Proved() if answer is None else Refuted(answer)):
            findings.append(
                DISAGREEMENT.finding(
                    f"Of the claim that {obligation.claim}, the solver says {outcome}, and "
                    f"arithmetic {'that it holds' if answer is None else f'{answer}'}; please "
                    "report these catalogs.",
                    obligation.location,
                )
            )
    counts = Obligations(
        proved=outcomes[Proved],
        refuted=outcomes[Refuted],
        undecided=outcomes[Undecided],
        vacuous=outcomes[Vacuous],
        formulas=session.formulas,
    )
    return Discharged(counts, findings)


def containment(
    claim: str,
    base: Sequence[TokenSpan],
    head: Sequence[TokenSpan],
    answer: int | None,
    *,
    rule: Rule,
    place: str,
    limit: int = U64_MAX,
) -> Question:
    """That each count up to ``limit`` that all of ``base`` permit, all of ``head`` permit."""
    stated = formula(contained, _spans(base), _spans(head), limit)
    return _question(claim, stated, None if answer is None else (answer,), rule, place)


def bounded_growth(
    claim: str, base: Claim, head: Claim, at_most: int, limits: Shape, *, rule: Rule, place: str
) -> Question:
    """That at no shape up to ``limits`` the new claim takes over ``at_most`` bytes more."""
    return _question(claim, formula(grows_by, base, head, at_most, limits), None, rule, place)


def bounded_size(
    claim: str, workspace: Claim, at_most: int, *, fits: bool, rule: Rule, place: str
) -> Question:
    """That at no shape of its demand a workspace takes over ``at_most`` bytes."""
    stated = formula(stays_within, workspace, at_most)
    return _question(claim, stated, None if fits else (), rule, place)


def grows_by(base: Claim, head: Claim, at_most: int, limits: Shape) -> Statement:
    """At every shape up to the limits ``head`` takes at most so many bytes more than ``base``."""
    counts, within = linear_counts("", common_reach(base.terms, head.terms, limits))
    before, given_before = _quantized(base, counts, "base")
    after, given_after = _quantized(head, counts, "head")
    return Statement(LOGIC, after - before <= at_most, (*within, *given_before, *given_after))


def stays_within(claim: Claim, at_most: int) -> Statement:
    """At every shape of its demand the claim takes at most so many bytes."""
    counts, within = linear_counts("", largest_shape(claim.terms, FREE))
    size, given = _quantized(claim, counts, "size")
    return Statement(LOGIC, size <= at_most, (*within, *given))


def _question(
    claim: str, stated: Formula, answer: tuple[int, ...] | None, rule: Rule, place: str
) -> Question:
    return Question(
        Obligation(id=rule.id, claim=claim, names=(), rule=rule, location=place, formula=stated),
        answer,
    )


def _spans(declared: Sequence[TokenSpan]) -> tuple[Span, ...]:
    return tuple(dict.fromkeys(Span(each.minimum_tokens, each.alignment) for each in declared))


def _quantized(
    claim: Claim, counts: Sequence[z3.ArithRef], name: str
) -> tuple[z3.ArithRef, list[z3.BoolRef]]:
    """The quantized bytes, and what defines them: the least multiple that holds the demand."""
    logical = linear(claim.terms, counts)
    blocks, granule = z3.Int(f"{name}_blocks"), claim.granule
    size = granule * blocks
    return size, [size >= logical, size < logical + granule]
