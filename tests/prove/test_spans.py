"""The merged constraint against the providers': proved where right, refuted where wrong."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import lcm
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

import models
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.derive.checkpoint import derive_checkpoint
from ferrum_verify.derive.checkpoint_layout import Place, SequenceCheckpoint, Unsupported
from ferrum_verify.derive.spans import NoCommonSpan, merge_spans
from ferrum_verify.documents.bundle import CheckpointBundle
from ferrum_verify.documents.checkpoint import BoundaryConstraint, TokenSpan
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.limits import Limits
from ferrum_verify.prove.divisibility import Span, bezout, contained
from ferrum_verify.prove.obligation import Proved, Refuted, Vacuous
from ferrum_verify.prove.prover import prove
from ferrum_verify.prove.script import smt2
from ferrum_verify.prove.spans import (
    Declared,
    have_no_boundary,
    merge_claims,
    refusal_claim,
    span_claims,
)
from ferrum_verify.reading.document import Places, Subject
from ferrum_verify.rules import checkpoint
from tests.prove import span_bundles as make
from tests.vectors import cases

Pair = tuple[int, int]

TWO = {"embed": (3, 6), "mixer": (10, 4)}
"""Merged: at least 10 tokens, a multiple of 12."""


def answer(document: make.Json, **merged: Pair) -> SequenceCheckpoint:
    """What the concrete path derives, with other merged constraints in it."""
    subject = make.subject(document)
    assert subject.program is not None
    assert subject.plan_nodes is not None
    assert subject.memory is not None
    assert subject.catalog is not None
    derived = derive_checkpoint(
        subject.program,
        subject.plan_nodes,
        subject.memory.dynamic_descriptors,
        subject.catalog.providers,
    ).checkpoint
    assert derived.layout is not None
    spans = {
        side: TokenSpan(minimum_tokens=minimum, alignment=alignment)
        for side, (minimum, alignment) in merged.items()
    }
    now = derived.layout.boundaries
    boundaries = BoundaryConstraint(
        prefix=spans.get("prefix", now.prefix), suffix=spans.get("suffix", now.suffix)
    )
    return SequenceCheckpoint(replace(derived.layout, boundaries=boundaries))


@pytest.mark.parametrize("family", models.families())
def test_every_claim_about_a_model_family_is_proved(family: str) -> None:
    document = models.bundle(family, layers=4, schema="5.0")
    proof = make.proof_of(document)
    assert make.refuted(proof) == []
    names = [verdict.obligation.names[0] for verdict in proof.claims]
    assert names[:4] == ["prefix", "prefix", "suffix", "suffix"]
    assert len(proof.of(Proved)) == 6


def test_every_claim_about_the_sample_is_proved() -> None:
    proof = make.proof_of(sample("bundle"))
    assert make.refuted(proof) == []
    assert len(list(proof.claims)) == 6


def test_the_right_merge_is_proved() -> None:
    assert make.refuted(make.proof_of(make.bundle(TWO, TWO))) == []


def test_documents_without_sources_have_no_claims() -> None:
    document = sample("bundle")
    assert list(make.proof_of({"plan": document["plan"]}).claims) == []
    del document["catalog"]
    assert list(make.proof_of(document).claims) == []


def test_a_selected_provider_that_is_absent_leaves_nothing_to_claim() -> None:
    absent = {"/plan/payload/nodes/0/selection/selected_provider": "provider.other"}
    assert list(make.proof_of(make.bundle(edits=absent)).claims) == []


WRONG = [
    # the product of the alignments, not the least common multiple: too strict
    ((10, 24), 12, "everyone", "merged"),
    ((13, 12), 12, "everyone", "merged"),
    # only the first, only the last, only what both divide by: too lax
    ((10, 6), 18, "merged", "mixer"),
    ((10, 4), 16, "merged", "embed"),
    ((10, 2), 10, "merged", "embed"),
    # a minimum of another provider
    ((3, 6), 6, "merged", "mixer"),
]


@pytest.mark.parametrize("side", ["prefix", "suffix"])
@pytest.mark.parametrize(("merged", "tokens", "permitting", "refusing"), WRONG)
def test_a_wrong_merge_is_refuted_with_the_smallest_count(
    side: str, merged: Pair, tokens: int, permitting: str, refusing: str
) -> None:
    document = make.bundle(TWO, TWO)
    wrong = answer(document, **{side: merged})

    def held(by: str, span: Pair, **names: str) -> dict[str, Any]:
        return {"by": by, side: {"minimum_tokens": span[0], "alignment": span[1]}, **names}

    parties = {
        "everyone": held("every-provider", (10, 12)),
        "merged": held("merge", merged),
        **{
            name: held(
                "provider", TWO[name], provider=f"provider.{name}.reference", node=f"node.{name}"
            )
            for name in ("embed", "mixer")
        },
    }
    words = {
        "everyone": f"every provider's {side}",
        "merged": f"the merged {side} ({merged[0]} or more tokens, by {merged[1]})",
        "embed": f"the {side} of provider provider.embed.reference in node node.embed",
        "mixer": f"the {side} of provider provider.mixer.reference in node node.mixer",
    }
    counterexample = {
        "kind": "span",
        "tokens": tokens,
        "permitted": parties[permitting],
        "refused": parties[refusing],
        "permitted_by": words[permitting],
        "refused_by": words[refusing],
    }
    found = make.refuted(make.proof_of(document, wrong))
    assert found == [("checkpoint.boundary-intersection", counterexample)]
    # A bundle with the layout beside it is held to the layout's own numbers.
    assert wrong.layout is not None
    assert check_counterexample({**document, "checkpoint": wrong.to_wire()}, counterexample)
    right = answer(document).to_wire()
    assert not check_counterexample({**document, "checkpoint": right}, counterexample)


def test_a_merge_that_is_wrong_in_both_ways_is_refuted_twice() -> None:
    document = make.bundle(TWO)
    found = make.refuted(make.proof_of(document, answer(document, prefix=(10, 9))))
    assert [wire["tokens"] for _, wire in found] == [18, 12]
    assert make.messages(make.proof_of(document, answer(document, prefix=(10, 9)))) == [
        "the merged prefix (10 or more tokens, by 9) permits 18 tokens, which a provider refuses",
        "the merged prefix (10 or more tokens, by 9) refuses 12 tokens, which every provider "
        "permits",
    ]


NOWHERE = SequenceCheckpoint(
    None, (Unsupported("boundary_intersection", Place("nodes"), (), "there is none"),)
)


def test_a_wrong_refusal_is_refuted_with_the_shortest_prompt() -> None:
    document = make.bundle(TWO, {"head": (2, 5)})
    ((rule, wire),) = make.refuted(make.proof_of(document, NOWHERE))
    assert rule == "checkpoint.boundary-intersection"
    assert wire == {
        "kind": "span",
        "processed": 0,
        "boundary": 12,
        "prompt": 17,
        "permitted": {
            "by": "every-provider",
            "prefix": {"minimum_tokens": 10, "alignment": 12},
            "suffix": {"minimum_tokens": 2, "alignment": 5},
        },
        "refused": {"by": "merge", "maximum_tokens": 0},
        "permitted_by": "every provider",
        "refused_by": "the merge, which found no boundary",
    }
    assert check_counterexample({**document, "checkpoint": NOWHERE.to_wire()}, wire)
    assert not check_counterexample({**document, "checkpoint": answer(document).to_wire()}, wire)


@pytest.mark.parametrize(
    ("prefixes", "suffixes"),
    [
        ({"embed": (1, 1 << 63), "mixer": (1, 3)}, {}),
        ({"embed": (1, 1 << 62)}, {"head": (3 << 62, 1)}),
        ({"embed": (U64_MAX - 3, 1), "mixer": (1, 2**33)}, {}),
    ],
)
def test_a_right_refusal_is_proved(prefixes: dict[str, Pair], suffixes: dict[str, Pair]) -> None:
    document = make.bundle(prefixes, suffixes)
    subject = make.subject(document)
    assert [finding.rule for finding in checkpoint.check(subject)] == [
        "checkpoint.boundary-intersection"
    ]
    proof = make.proof_of(document)
    assert make.refuted(proof) == []
    (verdict,) = proof.claims
    assert verdict.obligation.formula.encode is have_no_boundary


def test_a_refusal_just_below_the_limit_is_refuted() -> None:
    document = make.bundle({"embed": (1, 1 << 63)}, {"head": ((1 << 63) - 1, 1)})
    ((_, wire),) = make.refuted(make.proof_of(document, NOWHERE))
    assert (wire["boundary"], wire["prompt"]) == (1 << 63, U64_MAX)


def test_claims_are_self_contained_scripts() -> None:
    claims = span_claims(make.subject(make.bundle(TWO)))
    script = smt2(next(claims))
    assert "(set-logic QF_LIA)" in script
    assert "12" in script


def partial(bundle: make.Json) -> Subject | None:
    """The parts of a bundle that the derivation reads, or None where a document is malformed."""
    try:
        document = CheckpointBundle.model_validate(bundle)
    except ValidationError:
        return None
    parts: dict[str, Any] = {
        "plan_nodes": document.plan.payload.nodes,
        "memory": document.plan.payload.memory,
        "program": document.program,
        "catalog": document.catalog,
    }
    return Subject(kind="bundle", places=Places(catalog="/catalog"), raw={}, **parts)


def test_the_reference_engines_answers_are_agreed_with() -> None:
    seen: Counter[str] = Counter()
    for case in cases("sequence-checkpoints"):
        subject = partial(case["bundle"])
        if subject is None:
            continue
        proof = make.discharge(span_claims(subject), case["bundle"])
        made: dict[object, list[object]] = {}
        for verdict in proof.claims:
            encode = verdict.obligation.formula.encode
            made.setdefault(encode, []).append(type(verdict.outcome))
        wrong = {rule for rule, _ in make.refuted(proof)}
        reasons = [
            next(iter(reason)) if isinstance(reason, dict) else reason
            for reason in case["expect"].get("reasons", [])
        ]
        if "supported" not in case["expect"]:  # the derivation returns an error
            assert made == {}
        elif case["expect"]["supported"]:
            seen["supported"] += 1
            assert made[contained] == [Proved] * 4
            assert wrong <= {"checkpoint.never-reachable"}
        else:
            assert contained not in made
            assert (have_no_boundary in made) == ("boundary_intersection" in reasons)
            assert wrong <= {"value.overlap"}
        seen.update(wrong)
    assert seen["supported"] > 100
    assert seen["value.overlap"] > 1
    assert seen["checkpoint.never-reachable"] > 1


def decide(spans: list[Pair], merged: Pair) -> list[int | None]:
    """The smallest count that is wrongly permitted, and that is wrongly refused."""
    declared = [
        Declared(f"node.{index}", f"provider.{index}", Span(*span), Span(*span))
        for index, span in enumerate(spans)
    ]
    candidate = TokenSpan(minimum_tokens=merged[0], alignment=merged[1])
    proof = prove([merge_claims(declared, "prefix", candidate, "")], Limits(), lambda _: True)
    smallest: list[int | None] = []
    for verdict in proof.verdicts:
        assert isinstance(verdict.outcome, Proved | Refuted | Vacuous)
        values = verdict.outcome.values if isinstance(verdict.outcome, Refuted) else (None,)
        smallest.append(values[0])
    return smallest


def legal(count: int, span: Pair) -> bool:
    return count >= span[0] and count % span[1] == 0


small = st.tuples(st.integers(1, 30), st.integers(1, 12))


@settings(max_examples=30, deadline=None)
@given(st.lists(small, min_size=1, max_size=4), st.tuples(st.integers(1, 30), st.integers(1, 60)))
@example([(1, 6), (1, 4)], (1, 24))
@example([(1, 2), (1, 3)], (1, 3))
def test_any_candidate_against_brute_force(spans: list[Pair], merged: Pair) -> None:
    period = lcm(merged[1], *(alignment for _, alignment in spans))
    counts = range(1, 30 + 2 * period)
    lax = (n for n in counts if legal(n, merged) and not all(legal(n, span) for span in spans))
    strict = (n for n in counts if not legal(n, merged) and all(legal(n, span) for span in spans))
    assert decide(spans, merged) == [next(lax, None), next(strict, None)]


HUGE = [1 << 60, 3 << 60, 5 << 60, 1 << 61, 1 << 63, (1 << 60) + 7, 2**64 - 59]
huge = st.tuples(
    st.sampled_from([1, 2, 1 << 60, (1 << 60) + 1, 1 << 63]), st.sampled_from([*HUGE, 1])
)


@settings(max_examples=25, deadline=None)
@given(st.lists(huge, min_size=1, max_size=3), huge)
@example([(1, 1 << 63)], (1, 1 << 62))
@example([(2**64 - 59, 1)], (2**64 - 58, 1))
def test_candidates_near_the_largest_count(spans: list[Pair], merged: Pair) -> None:
    # Where either constraint changes its mind: at a multiple, or at a minimum.
    wanted = [*spans, merged]
    turns = {1, *(minimum for minimum, _ in wanted)}
    for _, alignment in wanted:
        if alignment > 1:
            turns |= {alignment * times for times in range(1, 17)}
    counts = sorted(n + step for n in turns for step in (0, 1) if n + step <= U64_MAX)
    if merged[1] == 1 and all(alignment == 1 for _, alignment in spans):
        counts = sorted({*counts, *range(1, 4)})
    try:
        merged_span = TokenSpan(minimum_tokens=merged[0], alignment=merged[1])
    except ValueError:
        return
    lax = (n for n in counts if legal(n, merged) and not all(legal(n, span) for span in spans))
    strict = (n for n in counts if not legal(n, merged) and all(legal(n, span) for span in spans))
    found = decide(spans, (merged_span.minimum_tokens, merged_span.alignment))
    assert found == [next(lax, None), next(strict, None)]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.one_of(small, huge), min_size=1, max_size=4))
def test_the_concrete_merge_is_always_right(spans: list[Pair]) -> None:
    declared = [TokenSpan.model_construct(minimum_tokens=m, alignment=a) for m, a in spans]
    try:
        merged = merge_spans(declared)
    except NoCommonSpan:
        one_side = [Declared("node", "provider", Span(*span), Span(1, 1)) for span in spans]
        claim = refusal_claim(one_side, "")

        def source() -> Any:
            yield claim

        proof = prove([source()], Limits(), lambda _: True)
        assert len(proof.of(Proved)) == 1
        return
    assert decide(spans, (merged.minimum_tokens, merged.alignment)) == [None, None]


def test_many_alignments_are_merged_in_one_query_each() -> None:
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47]
    spans = [(index + 1, prime) for index, prime in enumerate(primes)]
    assert decide(spans, (15, lcm(*primes))) == [None, None]
    assert decide(spans, (15, lcm(*primes) // 47)) == [lcm(*primes) // 47, None]


@given(st.integers(1, 2**64), st.integers(1, 2**64))
def test_coefficients_give_the_greatest_common_divisor(left: int, right: int) -> None:
    common, mine, other = bezout(left, right)
    assert mine * left + other * right == common
    assert left % common == right % common == 0
