"""Merging: what becomes of each outcome beside what the concrete checks found, case by case."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.auditing import proofs as auditing
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples import Shape, ShapeCounterexample
from ferrum_verify.limits import Limits
from ferrum_verify.prove import second_opinion
from ferrum_verify.prove.export import SecondOpinion
from ferrum_verify.prove.obligation import (
    Obligation,
    Proved,
    Refuted,
    Undecided,
    Vacuous,
    formula,
)
from ferrum_verify.prove.prover import Proof, Verdict, prove
from ferrum_verify.prove.proving import Proving
from ferrum_verify.prove.slots import outlives_none
from ferrum_verify.prove.theorem import Decision
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.rules.accesses import OVERWRITTEN, RACE, RESOURCE_RACE
from ferrum_verify.rules.capacity import EXCEEDS
from ferrum_verify.rules.liveness import PEAK, ROWS_OVERLAP
from ferrum_verify.rules.slot import SHARED_WHILE_LIVE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.findings import Finding, Rule
    from ferrum_verify.prove.obligation import Claims, Outcome

AT = "/memory/pools/0"
SHOWN = ShapeCounterexample(Shape(1, 1, 1), 2, 1, AT)
OTHER = ShapeCounterexample(Shape(1, 2, 1), 2, 1, AT)
DISAGREEMENT = "integrity.proof-disagreement"
UNDECIDED = "integrity.proof-undecided"
VACUOUS = "integrity.proof-vacuous"


def verdict(
    outcome: Outcome,
    rule: Rule = SHARED_WHILE_LIVE,
    names: tuple[str, ...] = ("a", "b"),
    location: str = AT,
    found: Any = None,
    **fields: Any,
) -> Verdict:
    claim = Obligation(
        id="id",
        claim=f"the claim of {' and '.join(names)}",
        names=names,
        rule=rule,
        location=location,
        formula=formula(outlives_none, True),
        message="it is refuted",
        **fields,
    )
    return Verdict(claim, outcome, found)


def concrete(
    rule: Rule = SHARED_WHILE_LIVE,
    about: tuple[str, ...] = ("a", "b"),
    location: str = AT,
    **fields: Any,
) -> Finding:
    return replace(rule.finding("it is found", location, about=about), **fields)


def merged(
    findings: Sequence[Finding], *verdicts: Verdict, judged: bool = True, **proof: bool
) -> tuple[Finding, ...]:
    return auditing._merge(
        findings, Proof(verdicts=list(verdicts), **proof), judged=lambda _: judged
    )


def rules_of(findings: Sequence[Finding]) -> list[str]:
    return [finding.rule for finding in findings]


def test_a_counterexample_goes_to_the_finding_of_the_same_rule_and_names() -> None:
    findings = [concrete(about=("a", "c")), concrete(PEAK), concrete()]
    result = merged(findings, verdict(Refuted(), found=SHOWN))
    assert result == (*findings[:2], replace(findings[2], counterexample=SHOWN))


def test_of_findings_about_the_same_names_the_first_gets_it() -> None:
    first, second = concrete(location=f"{AT}/0"), concrete(location=f"{AT}/1")
    result = merged([first, second], verdict(Refuted(), found=SHOWN))
    assert result == (replace(first, counterexample=SHOWN), second)


def test_a_finding_keeps_the_counterexample_that_it_has() -> None:
    own = concrete(counterexample=OTHER)
    assert merged([own], verdict(Refuted(), found=SHOWN)) == (own,)


def test_a_finding_without_names_is_found_by_its_place() -> None:
    fields: dict[str, Any] = {"rule": EXCEEDS, "names": (), "found": SHOWN}
    here = concrete(EXCEEDS, (), f"{AT}/usable")
    elsewhere = concrete(EXCEEDS, (), f"{AT}1")
    claim = verdict(Refuted(), **fields)
    assert merged([elsewhere, here], claim) == (elsewhere, replace(here, counterexample=SHOWN))
    assert len(merged([elsewhere], claim)) == 2
    at_once = verdict(Refuted(), location=f"{AT}/usable", **fields)
    assert len(merged([here], at_once)) == 1


def test_a_claim_of_many_names_joins_no_finding_that_is_about_others_too() -> None:
    claim = verdict(Refuted(), PEAK, names=tuple("abcde"), found=SHOWN)
    others, some = concrete(PEAK, ("a", "z")), concrete(PEAK, ("a", "e"))
    assert merged([others, some], claim) == (others, replace(some, counterexample=SHOWN))
    assert len(merged([others], claim)) == 2


def test_a_refuted_claim_beside_errors_of_other_rules_is_a_finding_of_its_own() -> None:
    """It has no rule of its grain among them: it must not be swallowed."""
    for judged in (True, False):
        other = concrete(EXCEEDS, (), "/memory")
        claim = verdict(Refuted(), PEAK, names=("pool",), found=SHOWN)
        _, told = merged([other], claim, judged=judged)
        assert (told.rule, told.location, told.about) == (PEAK.id, AT, ("pool",))
        assert (told.message, told.judgment) == ("It is refuted.", "safety")
        assert (told.severity, told.counterexample) == ("error", SHOWN)


def test_a_refuted_claim_of_any_rule_concerns_safety() -> None:
    layout = replace(PEAK, judgment="conformance")
    _, told = merged([concrete(EXCEEDS, ())], verdict(Refuted(), layout, names=("pool",)))
    assert told.judgment == "safety"


@pytest.mark.parametrize("judged", [True, False])
def test_a_refuted_claim_of_a_clean_plan_contradicts_the_checks(judged: bool) -> None:
    warning = concrete(EXCEEDS, (), severity="warning")
    for findings in ([], [warning]):
        result = merged(findings, verdict(Refuted(), PEAK, found=SHOWN), judged=judged)
        assert rules_of(result) == [*rules_of(findings), DISAGREEMENT]
        told = result[-1]
        assert "The solver refuted the claim “the claim of a and b”" in told.message
        assert PEAK.id in told.message
        assert (told.location, told.about, told.counterexample) == (AT, ("a", "b"), SHOWN)


def test_a_refuted_pair_of_a_judged_plan_contradicts_the_checks_of_pairs() -> None:
    errors = [concrete(EXCEEDS, ())]
    for rule in (SHARED_WHILE_LIVE, ROWS_OVERLAP, OVERWRITTEN, RACE, RESOURCE_RACE):
        claim = verdict(Refuted(), rule)
        assert rules_of(merged(errors, claim, judged=True)) == [EXCEEDS.id, DISAGREEMENT]
        # Where not every pair was judged, the concrete path may have missed this one.
        assert rules_of(merged(errors, claim, judged=False)) == [EXCEEDS.id, rule.id]


def test_every_refuted_claim_is_merged_and_not_the_first_alone() -> None:
    findings = [concrete(), concrete(about=("a", "c"))]
    claims = [verdict(Refuted(), names=names, found=SHOWN) for names in (("a", "b"), ("a", "c"))]
    result = merged(findings, *claims)
    assert [each.counterexample for each in result] == [SHOWN, SHOWN]


def test_refuted_claims_of_one_fault_are_one_finding() -> None:
    claims = [verdict(Refuted(), PEAK, names=("pool",), found=SHOWN) for _ in range(2)]
    result = merged([concrete(EXCEEDS, (), "/memory")], *claims)
    assert rules_of(result) == [EXCEEDS.id, PEAK.id]


def test_a_proved_pair_that_a_check_refutes_is_a_contradiction() -> None:
    proved = verdict(Proved())
    assert rules_of(merged([concrete()], proved)) == [SHARED_WHILE_LIVE.id, DISAGREEMENT]
    told = merged([concrete()], proved)[-1]
    assert "The solver proved the claim" in told.message
    assert "It is found" in told.message
    # In whatever order the two stand.
    assert len(merged([concrete(about=("b", "a"))], proved)) == 2
    # Of another pair, of another rule, or of a plan that was not judged, it is none.
    assert len(merged([concrete(about=("a", "c"))], proved)) == 1
    assert len(merged([concrete(ROWS_OVERLAP)], proved)) == 1
    assert len(merged([concrete()], proved, judged=False)) == 1
    # A rule of another grain than the claim's proves nothing against it.
    assert len(merged([concrete(PEAK)], verdict(Proved(), PEAK))) == 1


def test_vacuous_claims_of_the_same_names_are_one_note() -> None:
    claims = [verdict(Vacuous(), PEAK, names=names) for names in (("a",), ("a",), ("b",))]
    result = merged([], *claims)
    assert rules_of(result) == [VACUOUS, VACUOUS]
    assert [each.about for each in result] == [("a",), ("b",)]
    assert result[0].message.count("“") == 2


def test_open_claims_are_one_finding_for_each_reason() -> None:
    claims = [verdict(Undecided(why), PEAK, names=(why,)) for why in ("x", "y", "x")]
    result = merged([], *claims)
    assert rules_of(result) == [UNDECIDED, UNDECIDED]
    assert result[0].message.startswith("2 claims undecided")
    assert result[1].message.startswith("1 claim undecided")
    assert all(each.undecided for each in result)


def test_a_run_that_ended_early_is_said_to() -> None:
    assert rules_of(merged([], interrupted=True)) == [UNDECIDED]
    assert rules_of(merged([], expired=True)) == [UNDECIDED]
    assert merged([]) == ()


def test_lemmas_are_no_claims() -> None:
    for outcome in (Refuted(), Vacuous(), Undecided("why")):
        assert merged([], verdict(outcome, lemma=True)) == ()


def one_of_each() -> list[Verdict]:
    """A different number of each outcome, so that no two can be mistaken for each other."""
    outcomes = [Proved()] * 4 + [Refuted()] * 3 + [Undecided("why")] * 2 + [Vacuous()]
    return [verdict(outcome, PEAK) for outcome in (*outcomes,)]


def proved_with(
    monkeypatch: pytest.MonkeyPatch, verdicts: list[Verdict], **proving: Any
) -> auditing.ProofReport:
    subject, _ = subject_of(sample("fragment"))
    assert subject is not None
    proof = Proof(verdicts=verdicts, formulas=7, interrupted=True)
    monkeypatch.setattr(auditing, "prove", lambda *_: proof)
    report = auditing.prove_subject(
        subject, {}, [], "fenced", Proving(**proving), ordered=True, judged=lambda _: True
    )
    assert report is not None
    return report


def test_each_outcome_is_counted_as_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    lemma = verdict(Proved(), lemma=True)
    report = proved_with(monkeypatch, [*one_of_each(), lemma])
    counted = report.obligations
    assert (counted.proved, counted.refuted, counted.undecided, counted.vacuous) == (4, 3, 2, 1)
    assert (counted.formulas, report.interrupted) == (7, True)


def test_a_second_opinion_is_told_where_it_contradicts_or_is_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    claim = verdict(Proved()).obligation
    opinions = [
        SecondOpinion(claim, Decision("unsat", 0.0), False),
        SecondOpinion(claim, Decision("sat", 0.0), True),
        SecondOpinion(claim, Decision("unknown", 0.0, "gave up"), False),
    ]
    monkeypatch.setattr(second_opinion, "available", lambda: True)
    monkeypatch.setattr(auditing, "second_opinions", lambda *_: iter(opinions))
    report = proved_with(monkeypatch, [], second_opinion=True)
    # The first says that the run was interrupted.
    assert rules_of(report.findings)[1:] == [DISAGREEMENT, UNDECIDED]
    assert "1 of 3 formulas" in report.findings[-1].message
    assert rules_of(proved_with(monkeypatch, []).findings) == [UNDECIDED]


def source(*verdicts: Verdict) -> Claims:
    for each in verdicts:
        yield each.obligation


def test_a_counterexample_that_is_refused_leaves_the_claim_open() -> None:
    claim = verdict(Proved(), witness=lambda _: SHOWN)  # the formula itself is refuted
    for accepted in (True, False):
        proof = prove([source(claim)], Limits(), lambda _: accepted)  # noqa: B023
        (told,) = proof.verdicts
        assert type(told.outcome) is (Refuted if accepted else Undecided)
        assert told.counterexample == (SHOWN if accepted else None)


def test_every_source_is_asked_to_its_end() -> None:
    claim = verdict(Proved())
    proof = prove([source(claim, claim), source(claim)], Limits(), lambda _: True)
    assert len(proof.verdicts) == 3
    assert (proof.formulas, proof.expired, proof.interrupted) == (1, False, False)


def test_a_run_without_time_left_ends_and_says_so() -> None:
    claim = verdict(Proved())
    proof = prove([source(claim, claim)], Limits(document_seconds=0), lambda _: True)
    assert (len(proof.verdicts), proof.expired, proof.interrupted) == (1, True, False)


def test_the_gate_of_the_proofs_is_the_independent_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``prove`` is handed refuses a counterexample that the document does not bear out."""
    asked: list[bool] = []

    def prove_nothing(_sources: Any, _limits: Any, accepts: Any, *_: Any) -> Proof:
        peak = "/memory/dynamic_pools/3/minimum_invocation_peak_bytes"
        unit = Shape(1, 1, 1)
        asked.append(accepts(ShapeCounterexample(unit, 2048, 2047, peak)))
        fragment["memory"]["dynamic_pools"][3]["minimum_invocation_peak_bytes"] = 2047
        asked.append(accepts(ShapeCounterexample(unit, 2048, 2047, peak)))
        return Proof()

    fragment = sample("fragment")
    subject, _ = subject_of(fragment)
    assert subject is not None
    monkeypatch.setattr(auditing, "prove", prove_nothing)
    auditing.prove_subject(
        subject, fragment, [], "fenced", Proving(), ordered=True, judged=lambda _: True
    )
    assert asked == [False, True]


NAMES = st.frozensets(st.sampled_from("abcdef"), max_size=6)
PLACES = st.sampled_from(["", "/a", "/a/b", "/ab", "/a/b/c"])
RULES = st.sampled_from([SHARED_WHILE_LIVE, PEAK])


@given(st.lists(st.tuples(RULES, NAMES, PLACES), max_size=8), RULES, NAMES, NAMES, PLACES)
def test_the_first_finding_of_the_same_fault(
    told: list[tuple[Rule, frozenset[str], str]],
    rule: Rule,
    names: frozenset[str],
    others: frozenset[str],
    place: str,
) -> None:
    findings = [each.finding("it is", at, about=tuple(about)) for each, about, at in told]
    claim = verdict(
        Refuted(), rule, tuple(names), place, told_by=((ROWS_OVERLAP, ()), (PEAK, tuple(others)))
    ).obligation
    meant = {ROWS_OVERLAP.id: frozenset(), rule.id: names} | {PEAK.id: others}
    same = (
        index
        for index, each in enumerate(findings)
        if each.rule in meant
        and (
            set(each.about) <= meant[each.rule]
            if each.about
            else f"{each.location}/".startswith(f"{place}/")
        )
    )
    assert auditing._Known(findings).same_fault(claim) == next(same, None)
