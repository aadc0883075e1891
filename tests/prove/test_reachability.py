"""Boundaries within reach, who keeps them out of it, and agreement with the concrete rules."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from ferrum_verify.counterexamples import Party
from ferrum_verify.counterexamples.checking import check_counterexample
from ferrum_verify.findings import DELETE
from ferrum_verify.limits import Limits
from ferrum_verify.prove.divisibility import Span
from ferrum_verify.prove.obligation import Proved, Refuted
from ferrum_verify.prove.prover import prove
from ferrum_verify.prove.reachability import Limit, reach_claims
from ferrum_verify.rules import checkpoint
from tests.prove import span_bundles as make

Pair = tuple[int, int]
HELD = "state state.cache, which holds 256 tokens"
STEP = "the policy, which schedules {:,} tokens in one step"
SCHEDULED = "/policy/admission/maximum_scheduled_tokens"


def agreed(document: make.Json) -> tuple[str, dict[str, Any], str]:
    """The one refuted claim: its rule, counterexample and message, once the rules agree."""
    proof = make.proof_of(document)
    ((rule, wire),) = make.refuted(proof)
    (message,) = make.messages(proof)
    (verdict,) = proof.of(Refuted)
    (finding,) = checkpoint.check(make.subject(document))
    assert finding.rule == rule
    assert finding.location == verdict.obligation.location
    assert check_counterexample(document, wire)
    assert f"{wire['tokens']:,} tokens" in finding.message
    guilty = message.partition("because of ")[2].partition(", beyond ")[0]
    assert f"because of {guilty}, but" in finding.message
    return rule, wire, message


def test_a_boundary_beyond_what_a_state_holds() -> None:
    rule, wire, message = agreed(make.bundle({"mixer": (2, 1024), "attention": (4, 4)}))
    assert rule == "checkpoint.never-reachable"
    assert wire == {
        "kind": "span",
        "tokens": 1024,
        "permitted": {
            "by": "every-provider",
            "prefix": {"minimum_tokens": 4, "alignment": 1024},
        },
        "refused": {"by": "state", "maximum_tokens": 256, "state": "state.cache"},
        "permitted_by": "every provider's prefix",
        "refused_by": HELD,
    }
    assert message == (
        "the smallest boundary that all providers permit is 1,024 tokens, because of "
        f"`provider.mixer.reference` (node `node.mixer`), beyond {HELD} and "
        f"{STEP.format(256)}"
    )


def test_a_boundary_beyond_one_step() -> None:
    rule, wire, message = agreed(make.bundle({"mixer": (2, 64)}, edits={SCHEDULED: 63}))
    assert rule == "checkpoint.beyond-one-step"
    assert wire["tokens"] == 64
    assert wire["refused_by"] == STEP.format(63)
    assert message.endswith(f"(node `node.mixer`), beyond {STEP.format(63)}")


@pytest.mark.parametrize("prefixes", [{"mixer": (1, 256)}, {"mixer": (256, 1)}])
def test_the_last_token_is_within_reach(prefixes: dict[str, Pair]) -> None:
    document = make.bundle(prefixes, edits={SCHEDULED: 256})
    assert make.refuted(make.proof_of(document)) == []
    assert list(checkpoint.check(make.subject(document))) == []


@pytest.mark.parametrize("prefixes", [{"mixer": (1, 257)}, {"mixer": (257, 1)}])
def test_one_token_more_is_not(prefixes: dict[str, Pair]) -> None:
    assert agreed(make.bundle(prefixes))[1]["tokens"] == 257


def test_two_providers_that_only_together_are_guilty() -> None:
    prefixes = {"embed": (1, 2), "norm": (1, 15), "mixer": (1, 20), "head": (1, 9)}
    document = make.bundle(prefixes, edits={SCHEDULED: 59})
    rule, wire, message = agreed(document)
    assert (rule, wire["tokens"]) == ("checkpoint.beyond-one-step", 180)
    assert "because of `provider.norm.reference` (node `node.norm`) and" in message
    assert "`provider.mixer.reference` (node `node.mixer`), beyond" in message


def test_three_providers_that_only_together_are_guilty() -> None:
    prefixes = {"embed": (1, 7), "norm": (1, 2), "residual": (1, 9), "mixer": (1, 11)}
    message = agreed(make.bundle(prefixes))[2]
    assert "because of `provider.embed.reference` (node `node.embed`), " in message
    for spared in ("norm.", "attention.", "head."):
        assert spared not in message


def test_without_a_growing_state_one_step_is_all_there_is() -> None:
    semantics = {"contents": "boundary_value", "input_dependency": "exact_token_prefix"}
    version = {"contract_version": {"major": 1, "minor": 0}}
    ports = f"{make.SELECTED['attention']}/checkpoint_capability/completed_boundary/state_ports"
    edits = {
        "/program/states/0/checkpoint": {"completed_boundary": {**version, **semantics}},
        "/program/states/0/capacity_demand": "fixed_per_scope",
        f"{ports}/0/layout": "contiguous_boundary_value",
        SCHEDULED: 1023,
    }
    rule, wire, _ = agreed(make.bundle({"mixer": (2, 1024)}, edits=edits))
    assert rule == "checkpoint.never-reachable"
    assert wire["refused_by"] == STEP.format(1023)


def test_without_a_policy_the_plans_own_limit_counts() -> None:
    document = make.bundle({"mixer": (1, 128)}, edits={"/policy": DELETE})
    document["plan"]["payload"]["maximum_scheduled_tokens"] = 100
    rule, wire, _ = agreed(document)
    assert rule == "checkpoint.beyond-one-step"
    assert wire["refused_by"] == STEP.format(100)


def test_a_plan_without_checkpoints_reaches_nothing() -> None:
    document = make.bundle({"mixer": (2, 1024)}, edits={"/program/checkpoint_inputs": DELETE})
    assert list(make.proof_of(document).claims) == []


def test_a_model_family_whose_attention_is_paged_too_coarsely() -> None:
    document = models.bundle("llama-3.1-8b", layers=2, schema="5.0")
    for providers in document["catalog"]["providers"].values():
        for provider in providers:
            contract = provider["checkpoint_capability"]["completed_boundary"]
            if "state_ports" in contract:
                contract["boundaries"]["prefix"]["alignment"] = 10_000
    rule, wire, message = agreed(document)
    assert rule == "checkpoint.never-reachable"
    assert wire["tokens"] == 10_000
    assert "state state/l0000/kv, which holds 8,192 tokens and the policy" in message


def test_a_boundary_near_the_largest_count() -> None:
    alignment = 3 << 62
    document = make.bundle({"norm": (1, 1 << 62), "mixer": (1, 3)})
    assert agreed(document)[1]["tokens"] == alignment


def test_a_smallest_boundary_that_is_not_the_smallest_is_refused() -> None:
    document = make.bundle({"mixer": (2, 1024)})
    _, wire, _ = agreed(document)
    for change in (
        {"tokens": 2048},
        {"tokens": 1000},
        {"refused": {**wire["refused"], "maximum_tokens": 255}},
        {"refused": {**wire["refused"], "state": "state.other"}},
        {"permitted": {"by": "every-provider", "suffix": wire["permitted"]["prefix"]}},
        {"permitted": {**wire["permitted"], "prefix": {"minimum_tokens": 3, "alignment": 1024}}},
        {"permitted": {"by": "merge", "prefix": {"minimum_tokens": 1, "alignment": 1}}},
    ):
        assert not check_counterexample(document, make.told({**wire, **change}))
    # What a reader is told is what was checked.
    for told in (
        {"refused_by": "state state.cache, which holds 255 tokens"},
        {"permitted_by": "every provider's suffix"},
    ):
        assert not check_counterexample(document, {**wire, **told})


small = st.tuples(st.integers(1, 40), st.integers(1, 12))


@settings(max_examples=30, deadline=None)
@given(st.lists(small, min_size=1, max_size=6), st.integers(1, 200))
def test_reach_and_guilt_against_brute_force(spans: list[Pair], limit: int) -> None:
    def permitted(chosen: list[Pair], most: int) -> int | None:
        legal = (
            count
            for count in range(1, most + 1)
            if all(count >= least and count % step == 0 for least, step in chosen)
        )
        return next(legal, None)

    prefixes = [(f"n{index}", f"p{index}", Span(*span)) for index, span in enumerate(spans)]
    subject = make.subject(make.bundle())
    assert subject.program is not None
    program = subject.program.model_copy(update={"states": ()})
    held = Limit(limit, Party("step", maximum_tokens=limit), ("limit",))
    claims = reach_claims(prefixes, program, held, subject.places)
    proof = prove([claims], Limits(), lambda _: True)
    (verdict,) = proof.claims
    within = permitted(spans, limit)
    assert isinstance(verdict.outcome, Refuted if within is None else Proved)
    if isinstance(verdict.outcome, Refuted):
        smallest = permitted(spans, 40 + 27_720)
        assert verdict.outcome.values == (smallest,)
        guilty = [spans[int(name[1:])] for name in verdict.obligation.names[1:]]
        assert permitted(guilty, limit) is None
        for few in range(len(guilty)):
            assert all(permitted(list(part), limit) for part in combinations(guilty, few))
