"""The sample bundle with edited spans, and what the solver makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.counterexamples.parties import party_words
from ferrum_verify.limits import Limits
from ferrum_verify.prove.obligation import Refuted
from ferrum_verify.prove.prover import Proof, prove
from ferrum_verify.prove.spans import span_claims
from ferrum_verify.reading.parse import subject_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.derive.checkpoint_layout import SequenceCheckpoint
    from ferrum_verify.prove.obligation import Claims
    from ferrum_verify.reading.document import Subject

Json = dict[str, Any]

SELECTED = {
    "embed": "/catalog/providers/operation.embed/0",
    "norm": "/catalog/providers/operation.norm/0",
    "attention": "/catalog/providers/operation.attention/1",
    "residual": "/catalog/providers/operation.residual/0",
    "mixer": "/catalog/providers/operation.mixer/0",
    "head": "/catalog/providers/operation.head/0",
}
"""Where the selected providers of the sample's nodes stand, in plan order."""


def spans_of(name: str) -> str:
    return f"{SELECTED[name]}/checkpoint_capability/completed_boundary/boundaries"


def bundle(
    prefixes: Mapping[str, tuple[int, int]] | None = None,
    suffixes: Mapping[str, tuple[int, int]] | None = None,
    edits: Mapping[str, Any] | None = None,
) -> Json:
    """The sample bundle in which providers have these (minimum, alignment), others any span."""
    document: Json = sample("bundle")
    for side, spans in (("prefix", prefixes), ("suffix", suffixes)):
        if spans is None:
            continue
        for name in SELECTED:
            minimum, alignment = spans.get(name, (1, 1))
            span = {"minimum_tokens": minimum, "alignment": alignment}
            apply_edits(document, {f"{spans_of(name)}/{side}": span})
    apply_edits(document, edits or {})
    return document


def told(wire: Json) -> Json:
    """A span counterexample as it would be told: its two texts say what its data says."""
    texts = {f"{name}_by": party_words(wire[name]) for name in ("permitted", "refused")}
    return {**wire, **texts}


def subject(document: Json) -> Subject:
    found, findings = subject_of(document)
    assert found is not None
    assert [finding.message for finding in findings if finding.severity == "error"] == []
    return found


def discharge(claims: Claims, document: Json) -> Proof:
    """What the solver says, counting only counterexamples that the public checker accepts."""

    def accepts(found: Counterexample) -> bool:
        return check_counterexample(document, found)

    proof = prove([claims], Limits(), accepts)
    assert not proof.interrupted
    return proof


def proof_of(document: Json, answer: SequenceCheckpoint | None = None) -> Proof:
    stated = document if answer is None else {**document, "checkpoint": answer.to_wire()}
    return discharge(span_claims(subject(document), answer), stated)


def refuted(proof: Proof) -> list[tuple[str, Any]]:
    """The rules of the refuted claims with their counterexamples as JSON; all else is proved."""
    verdicts = list(proof.claims)
    undecided = [str(verdict.outcome) for verdict in verdicts if hasattr(verdict.outcome, "reason")]
    assert undecided == []
    return [
        (
            verdict.obligation.rule.id,
            None if verdict.counterexample is None else verdict.counterexample.to_wire(),
        )
        for verdict in verdicts
        if isinstance(verdict.outcome, Refuted)
    ]


def messages(proof: Proof) -> list[str]:
    return [verdict.obligation.says(verdict.counterexample) for verdict in proof.of(Refuted)]
