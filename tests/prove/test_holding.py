"""The claims that rows hold what grows in them, with the concrete rules switched off."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify import check_counterexample
from ferrum_verify.limits import Limits
from ferrum_verify.prove.holding import holding_claims
from ferrum_verify.prove.obligation import Proved, Refuted
from ferrum_verify.prove.prover import Proof, prove
from ferrum_verify.reading.parse import subject_of
from tests.definition.drafts import TOKENS, chain, nodes_of, rows_of, states_in_a_row
from tests.definition.plan_nodes import place_of
from tests.definition.planning import settle, stamp
from tests.rules.edited import MEMORY, NODES, edited

ROWS = f"{MEMORY}/dynamic_descriptors"


def proof_of(edits: dict[str, Any]) -> Proof:
    return proof_about(edited(edits))


def proof_about(document: Any) -> Proof:
    subject, _ = subject_of(document)
    assert subject is not None
    assert subject.memory is not None
    return prove(
        iter([holding_claims(subject, subject.memory)]),
        Limits(),
        lambda found: check_counterexample(document, found),
    )


def test_every_claim_about_the_sample_is_proved() -> None:
    proof = proof_of({})
    claims = list(proof.claims)
    assert len(list(proof.of(Proved))) == len(claims) > 3


@pytest.mark.parametrize(
    ("demand", "tokens"),
    [
        ({"fixed": {"bytes": 40}}, 11),
        ({"tokens": {"bytes_per_token": 4, "maximum_tokens": 255}}, 256),
        ({"pages": {"bytes_per_page": 8, "maximum_pages": 2}}, 3),
    ],
)
def test_a_row_that_is_too_small_is_refuted_by_the_smallest_shape(demand: Any, tokens: int) -> None:
    rows = edited({})["plan"]["payload"]["memory"]["dynamic_descriptors"]
    names = [row["base_resource_id"] for row in rows]
    place = f"{ROWS}/{names.index('resource.tokens')}/demand"
    (verdict,) = proof_of({place: demand}).of(Refuted)
    assert verdict.obligation.rule.id == "value.row-too-small"
    assert verdict.counterexample is not None
    wire = verdict.counterexample.to_wire()
    assert wire["shape"] == {"sequences": 1, "tokens": tokens, "pages": 1}
    assert (wire["bytes"], wire["limit_from"]) == (4 * tokens, place)


def test_a_value_at_an_offset_is_refuted() -> None:
    offset = f"{NODES}/0/values/0/storage/components/0/offset_bytes"
    (verdict,) = proof_of({offset: 64}).of(Refuted)
    assert verdict.counterexample is not None
    assert verdict.counterexample.to_wire()["bytes"] == 68


def test_a_state_is_refuted() -> None:
    scaled = "/program/states/0/capacity_demand/token_scaled/maximum_tokens"
    (verdict,) = proof_of({scaled: 300}).of(Refuted)
    assert verdict.obligation.rule.id == "value.state-row-too-small"
    assert verdict.counterexample is not None
    assert verdict.counterexample.to_wire()["shape"]["tokens"] == 257


def test_nothing_is_claimed_where_the_rule_leaves_it_open() -> None:
    rows = edited({})["plan"]["payload"]["memory"]["dynamic_descriptors"]
    names = [row["base_resource_id"] for row in rows]
    place = f"{ROWS}/{names.index('resource.tokens')}/demand"
    proof = proof_of({place: {"pages": {"bytes_per_page": 64, "maximum_pages": 16}}})
    assert not proof.of(Refuted)
    assert all("resource.tokens" not in each.obligation.names for each in proof.claims)


@pytest.mark.parametrize(("size", "shape"), [(1024, None), (1000, (1, 251, 1))])
def test_a_demand_of_buckets_is_asked_at_the_shapes_that_they_cover(size: int, shape: Any) -> None:
    rows = edited({})["plan"]["payload"]["memory"]["dynamic_descriptors"]
    names = [row["base_resource_id"] for row in rows]
    most = {"maximum_sequences": 2, "maximum_pages": 4}
    buckets = [
        {**most, "maximum_tokens": tokens, "bytes": taken}
        for tokens, taken in ((64, 256), (256, size))
    ]
    demand = {"bounded_shape_buckets": {"buckets": buckets}}
    proof = proof_of({f"{ROWS}/{names.index('resource.tokens')}/demand": demand})
    assert any(each.obligation.names[0] == "resource.tokens" for each in proof.claims)
    assert [each.outcome for each in proof.of(Refuted)] == ([Refuted(shape)] if shape else [])


def test_past_its_demand_a_row_of_enough_bytes_is_refuted_without_a_shape() -> None:
    """What it had at the last shape would do at the next, where the demand says nothing."""
    rows = edited({})["plan"]["payload"]["memory"]["dynamic_descriptors"]
    names = [row["base_resource_id"] for row in rows]
    demand = {"tokens": {"bytes_per_token": 64, "maximum_tokens": 255}}
    proof = proof_of({f"{ROWS}/{names.index('resource.tokens')}/demand": demand})
    (verdict,) = proof.of(Refuted)
    assert verdict.obligation.names[0] == "resource.tokens"
    assert verdict.counterexample is None


@pytest.mark.parametrize(("more", "broken"), [(0, []), (-1, ["value.state-row-too-small"])])
def test_a_state_behind_another_needs_what_lies_before_it(more: int, broken: list[str]) -> None:
    document = states_in_a_row(TOKENS)
    rows_of(document)["r/state"]["demand"]["affine"]["fixed_bytes"] += more
    proof = proof_about(settle(document))
    assert sum("r/state" in each.obligation.names for each in proof.claims) == 2
    assert [each.obligation.rule.id for each in proof.of(Refuted)] == broken


def claimed(document: Any) -> set[str]:
    return {name for each in proof_about(document).claims for name in each.obligation.names}


def test_nothing_is_claimed_of_a_value_in_the_midst_of_another() -> None:
    """It is told as one in the wrong place, whatever that breaks."""
    document = settle(chain())
    for each in nodes_of(document)[1:]:
        for binding in each["values"]:
            if binding["value_id"] == "second":
                place_of(binding).update({"resource_id": "r/first", "offset_bytes": 8})
    stamp(document)
    claims = [each.obligation.claim for each in proof_about(document).claims]
    assert claims
    assert not any("`second`" in claim for claim in claims)
