"""Audits with proofs: what is merged, what stays open, and what a disagreement looks like."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import Limits, Proving, audit
from ferrum_verify.auditing import proofs as auditing
from ferrum_verify.auditing.audit import judge
from ferrum_verify.auditing.proofs import prove_subject
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples import SpanCounterexample, checking
from ferrum_verify.derive import spans
from ferrum_verify.documents.checkpoint import TokenSpan
from ferrum_verify.prove import prover, second_opinion
from ferrum_verify.prove.obligation import Proved, Refuted, Vacuous
from ferrum_verify.prove.proving import Proving as ProvingRecord
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.report.model import Obligations, verdict_of
from ferrum_verify.rules.proof import VACUOUS
from tests.vectors import cases, fragment_of, scale

if TYPE_CHECKING:
    from ferrum_verify.prove.prover import Proof, Verdict

POOL = "/memory/dynamic_pools/0"
SHARED = {
    f"{POOL}/step_resource_slots/1": {
        "kind": "ordered_single_fence_step_wave",
        "resource_ids": ["act/key", "act/query"],
    },
    f"{POOL}/step_resource_slots/3": {"kind": "dedicated", "resource_ids": ["act/output"]},
}


def edited(edits: dict[str, Any]) -> Any:
    fragment = sample("fragment")
    apply_edits(fragment, edits)
    return fragment


def test_a_counterexample_joins_the_finding_of_the_same_fault() -> None:
    report = audit(edited(SHARED))
    (finding,) = [f for f in report.findings if f.rule == "slot.shared-while-live"]
    assert finding.counterexample is not None
    assert report.obligations.refuted == 1
    assert report.verdict == "violated"


def test_each_concrete_safety_finding_of_the_sample_has_its_counterexample() -> None:
    faults: dict[str, dict[str, Any]] = {
        "slot.retained-shared": {"/retained_completion_resources": ["act/output"]},
        "liveness.peak": {"/memory/dynamic_pools/3/minimum_invocation_peak_bytes": 512},
        "reusable.budget": {"/memory/reusable_execution/buckets/1/pool_budgets/0/step_bytes": 896},
        "pool.reusable-ceiling": {f"{POOL}/reusable_workspace_ceiling_bytes": 0},
    }
    for rule, edits in faults.items():
        findings = [f for f in audit(edited(edits)).findings if f.rule == rule]
        assert len(findings) == 1, rule
        assert findings[0].counterexample is not None, rule


def test_what_was_not_decided_is_said_and_leaves_the_verdict_open() -> None:
    report = audit(sample("fragment"), limits=Limits(document_seconds=0.000001))
    assert report.verdict == "undecided"
    told = [f for f in report.findings if f.rule == "integrity.proof-undecided"]
    assert told
    assert all("--proof-limit" in f.message for f in told)
    assert report.obligations.undecided > 0


def test_claims_about_nothing_are_named_in_notes_and_not_counted_as_proved() -> None:
    row = "/memory/dynamic_descriptors/8"
    nothing = {f"{row}/demand": {"tokens": {"bytes_per_token": 8, "maximum_tokens": 0}}}
    report = audit(edited(nothing))
    notes = [f for f in report.findings if f.rule == "integrity.proof-vacuous"]
    # The row's own three claims, and the one about the ceiling of its pool.
    assert [len(note.message.split("“")) - 1 for note in notes] == [3, 1]
    assert {note.severity for note in notes} == {"note"}
    assert notes[0].about == ("input/tokens",)
    assert "never shrink" in notes[0].message
    assert report.obligations.vacuous == 4
    assert report.obligations.refuted == report.obligations.undecided == 0
    sound = audit(sample("fragment")).obligations
    assert report.obligations.proved < sound.proved
    assert (sound.vacuous, sound.claims) == (0, sound.proved)


def test_a_note_about_nothing_leaves_the_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def empty(verdict: Verdict) -> Verdict:
        return replace(verdict, outcome=Vacuous())

    assert set(_proved_anew(sample("fragment"), empty, monkeypatch)) == {"integrity.proof-vacuous"}
    note = VACUOUS.finding("nothing", "")
    assert verdict_of([note], Obligations(vacuous=1)) == "verified"


def test_a_merge_that_is_wrong_is_shown_by_counts_of_tokens(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The independent check is handed the merge that was derived, which no document states."""
    wrong = TokenSpan(minimum_tokens=1, alignment=2)
    monkeypatch.setattr(spans, "merge_spans", lambda _: wrong)
    told = audit(sample("bundle")).findings
    assert {finding.rule for finding in told} == {"integrity.proof-disagreement"}
    assert all(isinstance(finding.counterexample, SpanCounterexample) for finding in told)


def test_a_document_is_taken_apart_once_for_all_of_the_solvers_counterexamples(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[object] = []
    real = checking.parts_of

    def parts_of(document: Any) -> Any:
        taken.append(document)
        return real(document)

    monkeypatch.setattr(checking, "parts_of", parts_of)
    pools = "/memory/dynamic_pools"
    peaks = {f"{pools}/{index}/minimum_invocation_peak_bytes": 1 for index in (3, 6)}
    document = edited({**SHARED, **peaks})
    report = audit_with(document, ProvingRecord())
    assert report.obligations.refuted >= 3
    assert len([each for each in taken if each == document]) == 1


def _proved_anew(fragment: Any, change: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The rules found when the solver's answers are changed before they are merged."""
    subject, _ = subject_of(fragment)
    assert subject is not None
    _, findings, facts = judge(subject, "fenced")
    assert facts is not None
    real = prover.prove

    def changed(*arguments: Any) -> Proof:
        proof = real(*arguments)
        proof.verdicts = [change(verdict) for verdict in proof.verdicts]
        return proof

    monkeypatch.setattr(auditing, "prove", changed)
    report = prove_subject(
        subject, fragment, findings, "fenced", ProvingRecord(), ordered=True, judged=lambda _: True
    )
    assert report is not None
    return [finding.rule for finding in report.findings]


def test_a_refutation_of_a_clean_plan_is_a_disagreement(monkeypatch: pytest.MonkeyPatch) -> None:
    def refute_slots(verdict: Verdict) -> Verdict:
        wrong = verdict.obligation.rule.id == "slot.shared-while-live"
        return replace(verdict, outcome=Refuted()) if wrong else verdict

    rules = _proved_anew(sample("fragment"), refute_slots, monkeypatch)
    assert set(rules) == {"integrity.proof-disagreement"}


def test_a_proof_of_what_a_check_refutes_is_a_disagreement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def prove_all(verdict: Verdict) -> Verdict:
        return replace(verdict, outcome=Proved())

    rules = _proved_anew(edited(SHARED), prove_all, monkeypatch)
    assert "integrity.proof-disagreement" in rules
    assert "slot.shared-while-live" in rules


def test_both_paths_agree_on_a_sample_of_the_vectors() -> None:
    fragments = [case for case in cases("memory-plans") if case["expect"].get("slots")]
    for case in fragments[::24]:
        for execution in ("fenced", "concurrent"):
            report = audit(fragment_of(case), execution=execution)
            rules = {finding.rule for finding in report.findings}
            assert not {r for r in rules if r.startswith("integrity.proof")}, case["id"]
            if execution == "fenced":
                conformant = case["expect"]["conformant"]
                assert report.verdict == ("verified" if conformant else "violated"), case["id"]


def test_every_hazard_under_concurrent_has_a_schedule() -> None:
    from ferrum_verify import check_counterexample

    hazardous = [
        case
        for case in cases("memory-plans")
        if any(slot["hazards"] for slot in case["expect"].get("slots") or ())
    ]
    assert len(hazardous) > 10
    for case in hazardous[::6]:
        fragment = fragment_of(case)
        report = audit(fragment, execution="concurrent")
        pairs = {pair for slot in report.slots for pair in slot.hazards or ()}
        found = [f for f in report.findings if f.rule == "slot.shared-while-live"]
        assert {f.about for f in found} == pairs
        for finding in found:
            assert finding.counterexample is not None
            assert check_counterexample(fragment, finding.counterexample)


def test_every_obligation_can_be_exported(tmp_path: Any) -> None:
    report = audit_with(sample("fragment"), Proving(smt2=tmp_path / "claims"))
    files = sorted((tmp_path / "claims").glob("*.smt2"))
    assert len(files) >= report.obligations.proved
    for file in files[:40]:
        text = file.read_text(encoding="utf-8")
        assert text.startswith("; ")
        assert "(set-logic " in text
        assert "(check-sat)" in text


def audit_with(document: Any, proving: ProvingRecord) -> Any:
    subject, _ = subject_of(document)
    assert subject is not None
    _, findings, _ = judge(subject, "fenced")
    report = prove_subject(
        subject, document, findings, "fenced", proving, ordered=True, judged=lambda _: True
    )
    assert report is not None
    return report


def test_cvc5_agrees_about_every_claim() -> None:
    pytest.importorskip("cvc5")
    report = audit_with(sample("fragment"), Proving(second_opinion=True))
    assert report.findings == ()
    assert report.obligations.proved > 80


def test_a_contradiction_between_the_solvers_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("cvc5")
    monkeypatch.setattr(second_opinion, "contradicts", lambda *_: True)
    report = audit_with(sample("fragment"), Proving(second_opinion=True))
    assert {finding.rule for finding in report.findings} == {"integrity.proof-disagreement"}


def test_without_cvc5_a_second_opinion_is_said_to_be_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(second_opinion, "available", lambda: False)
    report = audit_with(sample("fragment"), Proving(second_opinion=True))
    (finding,) = report.findings
    assert finding.undecided
    assert "cvc5" in finding.message


def test_a_deep_plan_is_proved_whole() -> None:
    case = scale("decoder-16-parallel")
    fragment = {"nodes": case["problem"]["nodes"], "memory": case["expect"]["memory"]}
    report = audit(fragment)
    assert report.verdict == "verified"
    assert report.obligations.undecided == report.obligations.refuted == 0
    assert report.obligations.proved > 900
