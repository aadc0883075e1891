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
from tests.rules.edited import MEMORY, NODES, edited

ROWS = f"{MEMORY}/dynamic_descriptors"


def proof_of(edits: dict[str, Any]) -> Proof:
    document = edited(edits)
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
