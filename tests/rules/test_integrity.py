"""Integrity rules: hashes, ids and fingerprints, and the one spelling of a set."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.plan.canonical import canonical_bytes
from ferrum_verify.plan.number_notation import (
    differing_fingerprint,
    differing_ordered_fingerprint,
    engine_float,
)
from tests.rules.edited import NODES, broken, edited, faults, rules

PAYLOAD = "/plan/payload"
ZERO = "0" * 64


def test_an_edited_payload_is_one_fault() -> None:
    document = sample("bundle")
    document["plan"]["payload"]["quantization_formats"] = ["quantization.other"]
    [finding] = faults(document)
    assert finding.rule == "integrity.plan-hash"
    assert "its `plan_id` repeats" in finding.message
    assert finding.expected != finding.actual == document["plan"]["plan_hash"]


def test_hash_and_id_that_are_both_wrong_are_two_faults() -> None:
    found = broken({"/plan/plan_hash": ZERO, f"{PAYLOAD}/plan_id": f"plan/sha256/{'1' * 64}"})
    assert found == [
        ("integrity.plan-hash", "/plan/plan_hash"),
        ("integrity.plan-id", f"{PAYLOAD}/plan_id"),
    ]


@pytest.mark.parametrize("prefix", ["", "plan/", "plan/sha1/"])
def test_the_id_has_its_prefix(prefix: str) -> None:
    plan_hash = sample("bundle")["plan"]["plan_hash"]
    assert rules({f"{PAYLOAD}/plan_id": f"{prefix}{plan_hash}"}) == {"integrity.plan-id"}


def test_key_order_and_white_space_do_not_count_for_the_plan() -> None:
    document = sample("bundle")
    document["plan"] = json.loads(canonical_bytes(document["plan"]))
    assert faults(document) == []


def test_sorted_sources_are_noted() -> None:
    document = json.loads(canonical_bytes(sample("bundle")))
    report = audit(document, prove=False)
    assert report.verdict == "verified"
    assert [(f.rule, f.severity, f.location) for f in report.findings] == [
        ("integrity.keys-sorted", "note", "/program"),
        ("integrity.keys-sorted", "note", "/catalog"),
    ]


def test_a_sorted_catalog_alone_is_noted() -> None:
    document = json.loads(canonical_bytes(sample("catalog")))
    [finding] = audit(document, prove=False).findings
    assert (finding.rule, finding.severity) == ("integrity.keys-sorted", "note")
    assert "its operations' fingerprints" in finding.message


@pytest.mark.parametrize("part", ["program", "catalog"])
def test_a_source_that_is_only_partly_sorted_is_another_one(part: str) -> None:
    document = sample("bundle")
    document[part] = dict(sorted(document[part].items(), reverse=True))
    assert [finding.rule for finding in faults(document)] == [f"integrity.{part}-fingerprint"]


def test_an_edited_policy_is_one_fault() -> None:
    document = sample("bundle")
    document["policy"]["scheduling"] = "last_ready"
    [finding] = faults(document)
    assert (finding.rule, finding.location) == ("integrity.policy-edited", "/policy/fingerprint")


def test_another_policy_is_told_from_an_edited_one() -> None:
    document = sample("bundle")
    document["policy"]["scheduling"] = "last_ready"
    restamp(document, keep=[f"{PAYLOAD}/policy_fingerprint"])
    assert [finding.rule for finding in faults(document)] == ["integrity.policy-fingerprint"]


def test_an_edited_operation_is_told_at_its_providers() -> None:
    """Nodes that have what the provider has follow it."""
    document = sample("bundle")
    document["catalog"]["operations"]["operation.embed"]["profile_phase"] = "prefill"
    claims = ["/catalog/providers/operation.embed/0/operation_fingerprint"]
    claims += [f"{NODES}/0/operation_fingerprint"]
    restamp(document, keep=claims)
    assert [(f.rule, f.location) for f in faults(document)] == [
        ("integrity.operation-fingerprint", claims[0])
    ]


def test_an_edited_catalog_is_one_fault() -> None:
    document = sample("bundle")
    document["catalog"]["operations"]["operation.embed"]["profile_phase"] = "prefill"
    assert [finding.rule for finding in faults(document)] == ["integrity.catalog-fingerprint"]


def test_an_edited_operation_of_a_catalog_alone() -> None:
    document = sample("catalog")
    document["operations"]["operation.embed"]["profile_phase"] = "prefill"
    [finding] = faults(document)
    assert finding.rule == "integrity.operation-fingerprint"
    assert finding.location == "/providers/operation.embed/0/operation_fingerprint"


def test_required_capabilities_ascend() -> None:
    capabilities = f"{NODES}/2/required_capabilities"
    assert broken({capabilities: ["capability.paging", "capability.compute"]}) == [
        ("integrity.not-canonical", f"{capabilities}/1")
    ]


def test_accepted_profiles_stand_once() -> None:
    profile = {"allocator": "linear_arena", "view": "contiguous"}
    accepted = f"{NODES}/2/provider_resources/scratch/storage/accepted_profiles"
    assert rules({accepted: [profile, profile]}) == {"contract.accepted-profiles"}


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (1e-05, "0.00001"),
        (1e-06, "1e-6"),
        (1.5e-07, "1.5e-7"),
        (-0.00123, "-0.00123"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (12.5, "12.5"),
        (100.0, "100.0"),
        (1e15, "1000000000000000.0"),
        (1e16, "1e16"),
        (123456789012345680.0, "1.2345678901234568e17"),
        (5e-324, "5e-324"),
        (1.7976931348623157e308, "1.7976931348623157e308"),
    ],
)
def test_floats_as_the_engine_writes_them(number: float, text: str) -> None:
    assert engine_float(number) == text
    assert float(text) == number


def test_a_float_may_be_spelled_either_way() -> None:
    from hashlib import sha256

    value: dict[str, Any] = {"b": [1e-05, {}, [], None], "a": {"é": True}}
    sorted_text = '{"a":{"é":true},"b":[0.00001,{},[],null]}'
    ordered_text = '{"b":[0.00001,{},[],null],"a":{"é":true}}'
    stated = sha256(sorted_text.encode()).hexdigest()
    assert differing_fingerprint(stated, value) is None
    assert differing_fingerprint(ZERO, value) not in (None, stated)
    stated = sha256(ordered_text.encode()).hexdigest()
    assert differing_ordered_fingerprint(stated, value) is None
    assert differing_ordered_fingerprint(ZERO, value) not in (None, stated)


def test_restamping_a_sound_bundle_changes_nothing() -> None:
    for name in ("bundle", "workspaces", "catalog"):
        document = sample(name)
        restamp(document)
        assert document == sample(name)


@pytest.mark.parametrize(
    "document", [None, [], {}, {"plan": None}, {"plan": {"payload": 3}}, {"payload": {}}]
)
def test_restamping_passes_over_what_is_not_there(document: Any) -> None:
    restamp(document)


def test_the_samples_with_persistent_workspaces_are_sound() -> None:
    report = audit(edited({}, sample="workspaces"), prove=False)
    assert report.verdict == "verified"
    assert {finding.rule for finding in report.findings} == {
        "checkpoint.provider-persistent-workspace"
    }
