"""What a comparison claims for all counts and all shapes, put to the solver.

Each answer was found by arithmetic. The solver is asked the same question in its own terms,
linear integers with the quotients named: of spans it sees the providers' own constraints, never
their merge, and of sizes the demands, never the candidate shapes. Both must agree.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import z3

from ferrum_verify.contracts.growth import common_reach
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.plan.sizes import largest_shape
from ferrum_verify.prove.divisibility import LOGIC, Span, permitted, refuses
from ferrum_verify.prove.formulas import FREE, linear, linear_counts
from ferrum_verify.prove.obligation import Obligation, Proved, Refuted, Undecided, Violation
from ferrum_verify.prove.solving import Session
from ferrum_verify.report.model import Obligations
from ferrum_verify.rules.proof import DISAGREEMENT, UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ferrum_verify.counterexamples import Shape
    from ferrum_verify.documents.checkpoint import TokenSpan
    from ferrum_verify.findings import Finding, Rule
    from ferrum_verify.limits import Limits
    from ferrum_verify.plan.sizes import Claim


class Question(NamedTuple):
    """A claim, and the answer that arithmetic gave: None where it holds, else the least values
    that break it."""

    obligation: Obligation
    answer: tuple[int, ...] | None


class Discharged(NamedTuple):
    """How many claims were proved, refuted and left open, and what there is to say of them."""

    counts: Obligations
    findings: list[Finding]


def discharge(questions: Iterable[Question], limits: Limits) -> Discharged:
    """Ask the solver each question; a contradiction of arithmetic is a finding that names both."""
    session = Session(limits)
    counts, findings = Obligations(), []
    for obligation, answer in questions:
        outcome = session.decide(obligation)
        if isinstance(outcome, Undecided):
            counts += Obligations(undecided=1)
            findings.append(
                UNDECIDED.finding(
                    f"The solver could not confirm that {obligation.claim}: {outcome.reason}.",
                    obligation.location,
                )
            )
            continue
        proved = isinstance(outcome, Proved)
        counts += Obligations(proved=1) if proved else Obligations(refuted=1)
        if outcome != (Proved() if answer is None else Refuted(answer)):
            findings.append(
                DISAGREEMENT.finding(
                    f"Of the claim that {obligation.claim}, the solver says {outcome}, and "
                    f"arithmetic {'that it holds' if answer is None else f'{answer}'}; please "
                    "report these catalogs.",
                    obligation.location,
                )
            )
    return Discharged(counts, findings)


def containment(
    claim: str,
    base: Sequence[TokenSpan],
    head: Sequence[TokenSpan],
    answer: int | None,
    rule: Rule,
    place: str,
    limit: int = U64_MAX,
) -> Question:
    """That each count up to ``limit`` that all of ``base`` permit, all of ``head`` permit."""
    permitting = tuple(dict.fromkeys(Span(each.minimum_tokens, each.alignment) for each in base))
    refusing = tuple(dict.fromkeys(Span(each.minimum_tokens, each.alignment) for each in head))

    def violation() -> Violation:
        tokens = z3.Int("tokens")
        division = permitted(tokens, permitting)
        known = (division.quotient, division.multiple)
        broken = z3.Or([refuses(tokens, span, known) for span in refusing])
        given = (tokens >= 1, tokens <= limit, *division.given)
        return Violation((*given, broken), (tokens,))

    return Question(
        Obligation(
            id=rule.id,
            claim=claim,
            names=(),
            logic=LOGIC,
            rule=rule,
            location=place,
            key=("containment", permitting, refusing, limit),
            violation=violation,
            message=lambda _: claim,
        ),
        None if answer is None else (answer,),
    )


def bounded_growth(
    claim: str, base: Claim, head: Claim, at_most: int, limits: Shape, rule: Rule, place: str
) -> Question:
    """That at no shape up to ``limits`` the new claim takes over ``at_most`` bytes more."""

    def violation() -> Violation:
        counts, within = linear_counts("", common_reach(base.terms, head.terms, limits))
        before, given_before = _quantized(base, counts, "base")
        after, given_after = _quantized(head, counts, "head")
        grows = after - before > at_most
        return Violation((*within, *given_before, *given_after, grows))

    return Question(
        Obligation(
            id=rule.id,
            claim=claim,
            names=(),
            logic=LOGIC,
            rule=rule,
            location=place,
            key=("growth", base, head, at_most, limits),
            violation=violation,
            message=lambda _: claim,
        ),
        None,
    )


def bounded_size(
    claim: str, workspace: Claim, at_most: int, fits: bool, rule: Rule, place: str
) -> Question:
    """That at no shape of its demand a workspace takes over ``at_most`` bytes."""

    def violation() -> Violation:
        counts, within = linear_counts("", largest_shape(workspace.terms, FREE))
        size, given = _quantized(workspace, counts, "size")
        return Violation((*within, *given, size > at_most))

    return Question(
        Obligation(
            id=rule.id,
            claim=claim,
            names=(),
            logic=LOGIC,
            rule=rule,
            location=place,
            key=("size", workspace, at_most),
            violation=violation,
            message=lambda _: claim,
        ),
        None if fits else (),
    )


def _quantized(
    claim: Claim, counts: Sequence[z3.ArithRef], name: str
) -> tuple[z3.ArithRef, list[z3.BoolRef]]:
    """The quantized bytes, and what defines them: the least multiple that holds the demand."""
    logical = linear(claim.terms, counts)
    blocks, granule = z3.Int(f"{name}_blocks"), claim.granule
    size = granule * blocks
    return size, [size >= logical, size < logical + granule]
