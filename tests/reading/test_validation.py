"""Large documents are judged like small ones, and no flood of faults is collected."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify import DocumentError, audit, derive_sequence_checkpoint
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.findings import DELETE
from ferrum_verify.reading import validation
from ferrum_verify.reading.parse import MAXIMUM_NODES, subject_of

FAULTS: dict[str, dict[str, Any]] = {
    "fragment": {
        "/nodes/0/id": "two words",
        "/nodes/1/resources": 7,
        "/nodes/2/dependencies": DELETE,
        "/memory/dynamic_descriptors/0/usage": "sideways",
        "/memory/dynamic_descriptors/1/alignment_bytes": -1,
        "/memory/dynamic_pools/0/pool_id": None,
        "/memory/static_allocations/0/comment": 1,
        "/memory/reserve_bytes": "8192",
        "/surprise": 1,
    },
    "problem": {
        "/nodes/0/id": 5,
        "/dynamic_descriptors/0/demand": {"fixed": {}},
        "/static_allocations/0/usage": DELETE,
        "/reserve_bytes": 1.5,
    },
    "bundle": {
        "/plan/payload/nodes/0/work": "hard",
        "/plan/payload/nodes/1/selection": None,
        "/plan/payload/memory/dynamic_descriptors/0/lifetime": "brief",
        "/plan/payload/plan_id": "a b",
        "/plan/plan_hash": "0",
        "/program/family_id": "",
        "/catalog/device": 3,
    },
}


def size(value: Any) -> int:
    members = value.values() if isinstance(value, dict) else value
    return 1 + (sum(map(size, members)) if isinstance(value, (dict, list)) else 0)


def facts(document: Any) -> set[tuple[str, str, str]]:
    _, findings = subject_of(document)
    assert len(findings) == len({(each.location, each.message) for each in findings})
    return {(each.rule, each.location, each.message) for each in findings}


@pytest.mark.parametrize("name", FAULTS)
def test_all_faults_of_a_large_document_are_told(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = sample(name)
    apply_edits(document, FAULTS[name])
    small = facts(document)
    assert len(small) == len(FAULTS[name])
    # Just below its size: the whole is large then, and none of its parts.
    monkeypatch.setattr(validation, "LARGE", size(document) - 20)
    assert validation.is_large(document)
    assert facts(document) == small


@pytest.mark.parametrize("name", ["fragment", "problem", "bundle", "program", "catalog", "policy"])
def test_a_sound_large_document_is_read_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    small, _ = subject_of(sample(name))
    monkeypatch.setattr(validation, "LARGE", 1)
    large, findings = subject_of(sample(name))
    assert findings == []
    assert large == small


def test_what_is_large_by_itself_ends_at_its_first_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    document = sample("bundle")
    document["plan"]["payload"]["nodes"][0]["values"] = [{"value_id": "v"}] * 100
    _, findings = subject_of(document)
    assert len(findings) > 100
    monkeypatch.setattr(validation, "LARGE", 50)
    _, findings = subject_of(document)
    values = "/plan/payload/nodes/0/values"
    assert findings
    assert {finding.location for finding in findings} == {f"{values}/0"}


def test_a_flood_of_faulty_rows_is_one_finding() -> None:
    document = sample("fragment")
    document["nodes"] = [{}] * 100_000
    report = audit(document, prove=False)
    assert report.verdict == "violated"
    assert [finding.rule for finding in report.findings] == ["wire.too-many-faults"]
    bundle = sample("bundle")
    bundle["plan"]["payload"]["nodes"] = [{}] * 100_000
    with pytest.raises(DocumentError) as caught:
        derive_sequence_checkpoint(bundle)
    assert [finding.rule for finding in caught.value.findings] == ["wire.too-many-faults"]


@pytest.mark.parametrize("name", ["fragment", "problem", "bundle"])
def test_nodes_past_the_limit_are_not_read(name: str) -> None:
    document = sample(name)
    payload = document["plan"]["payload"] if name == "bundle" else document
    payload["nodes"] = [{}] * MAXIMUM_NODES
    assert "wire.limit" not in {rule for rule, _, _ in facts(document)}
    payload["nodes"].append({})
    subject, findings = subject_of(document)
    assert subject is None
    place = "/plan/payload/nodes" if name == "bundle" else "/nodes"
    assert [(finding.rule, finding.location) for finding in findings] == [("wire.limit", place)]
    assert "262,145 nodes" in findings[0].message
