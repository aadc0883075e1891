"""Wire faults: each is found, once, at its place; and what can be read past hides nothing."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.findings import DELETE
from ferrum_verify.reading import validation
from ferrum_verify.reading.parse import MAXIMUM_ROWS, subject_of
from tests.vectors import cases, fragment_of

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject


def edited(name: str, edits: dict[str, Any]) -> tuple[Subject, list[Finding]]:
    document = sample(name)
    apply_edits(document, edits)
    untouched = deepcopy(document)
    subject, findings = subject_of(document)
    assert document == untouched
    assert subject is not None
    return subject, findings


def resolves(document: Any, location: str) -> bool:
    value = document
    for step in location.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (KeyError, IndexError, ValueError):
            return False
    return True


MEMORY = [case for case in cases("memory-plans") if "mutation" in case]
PLANS = cases("execution-plans")
DOCUMENTS = [(case, fragment_of(case)) for case in MEMORY]
DOCUMENTS += [(case, case["bundle"]) for case in PLANS]


def test_reference_mutations_of_the_wire_form_are_found() -> None:
    found = 0
    for case, document in DOCUMENTS:
        families = case["expect"]["families"] or []
        subject, findings = subject_of(document)
        assert subject is not None
        if families == ["wire"]:
            assert findings, case["id"]
        if findings:
            assert "wire" in families, (case["id"], findings)
            assert len(findings) == 1, (case["id"], findings)
            assert findings[0].family == "wire"
            assert findings[0].severity == "error"
            assert resolves(document, findings[0].location)
            found += 1
    assert found > 200


def test_sound_documents_have_all_their_parts() -> None:
    for case, document in DOCUMENTS:
        if case["mutation"] != "intact":
            continue
        subject, findings = subject_of(document)
        assert findings == []
        assert subject is not None
        assert subject.memory is not None
        assert subject.nodes is not None
        if "bundle" in case:
            assert subject.plan_nodes == subject.nodes
            assert subject.header is not None
            assert None not in (subject.program, subject.catalog, subject.policy)
            assert subject.raw == document
        else:
            assert subject.retained == set(document["retained_completion_resources"])


@pytest.mark.parametrize("name", ["problem", "fragment", "bundle", "program", "catalog", "policy"])
def test_pointers_to_the_parts(name: str) -> None:
    document = sample(name)
    subject, findings = subject_of(document)
    assert findings == []
    assert subject is not None
    assert subject.kind == name
    if name in ("fragment", "bundle", "problem"):
        assert resolves(document, subject.places.nodes)
    if name in ("fragment", "bundle"):
        assert resolves(document, f"{subject.places.memory}/dynamic_pools/0")
    if name == "bundle":
        for part in ("payload", "retained", "program", "catalog", "policy"):
            assert resolves(document, getattr(subject.places, part)), part
    plan = sample("bundle")["plan"]
    subject, _ = subject_of(plan)
    assert subject is not None
    assert subject.kind == "execution-plan"
    assert resolves(plan, subject.places.nodes)
    assert subject.raw == {"plan": plan}


ONE_READING: list[tuple[str, str, Any, str]] = [
    ("fragment", "/memory/reserve_bytes", "8192", "wire.type"),
    ("fragment", "/memory/reserve_bytes", "008192", "wire.type"),
    ("fragment", "/memory/reserve_bytes", 8192.0, "wire.type"),
    ("fragment", "/memory/theoretical_ceiling_bytes", 1, "wire.u128"),
    ("fragment", "/memory/theoretical_ceiling_bytes", "01", "wire.u128"),
    ("fragment", "/memory/theoretical_ceiling_bytes", "+1", "wire.u128"),
    ("fragment", "/memory/theoretical_ceiling_bytes", 1.0, "wire.u128"),
    ("fragment", "/memory/surprise", 1, "wire.unknown-field"),
    ("fragment", "/memory/dynamic_pools/0/surprise", {}, "wire.unknown-field"),
    ("fragment", "/memory/dynamic_descriptors/0/storage/profile/surprise", 1, "wire.unknown-field"),
    ("fragment", "/surprise", [], "wire.unknown-field"),
    ("bundle", "/surprise", [], "wire.unknown-field"),
    ("bundle", "/plan/payload/surprise", 0, "wire.unknown-field"),
    ("bundle", "/plan/payload/nodes/0/surprise", 0, "wire.unknown-field"),
    ("bundle", "/plan/payload/program_fingerprint", "AB" * 32, "wire.fingerprint"),
    ("bundle", "/plan/plan_hash", "AB" * 32, "wire.fingerprint"),
    ("program", "/surprise", 0, "wire.unknown-field"),
    ("catalog", "/device/total_memory_bytes", "4096", "wire.type"),
]


@pytest.mark.parametrize(("name", "place", "value", "rule"), ONE_READING)
def test_faults_with_one_reading_are_read_past(
    name: str, place: str, value: Any, rule: str
) -> None:
    subject, findings = edited(name, {place: value})
    assert [(finding.rule, finding.location) for finding in findings] == [(rule, place)]
    sound, _ = subject_of(sample(name))
    assert sound is not None
    for part in ("header", "nodes", "plan_nodes", "memory", "program", "catalog", "policy"):
        assert (getattr(subject, part) is None) == (getattr(sound, part) is None), part


def test_reading_past_gives_the_value_that_was_meant() -> None:
    subject, _ = edited(
        "fragment",
        {"/memory/reserve_bytes": "0007", "/memory/theoretical_ceiling_bytes": "+0042"},
    )
    assert subject.memory is not None
    assert subject.memory.reserve_bytes == 7
    assert subject.memory.theoretical_ceiling_bytes == 42


NO_READING: list[tuple[str, Any, str]] = [
    ("/memory/reserve_bytes", -1, "wire.range"),
    ("/memory/reserve_bytes", 2**64, "wire.range"),
    ("/memory/reserve_bytes", 10**4000, "wire.range"),
    ("/memory/maximum_active_sequences", 2**32, "wire.range"),
    ("/memory/reserve_bytes", "99999999999999999999999", "wire.type"),
    ("/memory/reserve_bytes", True, "wire.type"),
    ("/memory/reserve_bytes", None, "wire.type"),
    ("/memory/reserve_bytes", 0.5, "wire.type"),
    ("/memory/reserve_bytes", "1e3", "wire.type"),
    ("/memory/reserve_bytes", "٤", "wire.type"),
    ("/memory/reserve_bytes", [], "wire.type"),
    ("/memory/theoretical_ceiling_bytes", -1, "wire.u128"),
    ("/memory/theoretical_ceiling_bytes", str(2**128), "wire.u128"),
    ("/memory/theoretical_ceiling_bytes", "", "wire.u128"),
    ("/memory/theoretical_ceiling_bytes", None, "wire.u128"),
    ("/memory/theoretical_ceiling_bytes", "²", "wire.u128"),
    ("/memory/static_allocations", {}, "wire.type"),
    ("/memory/static_allocations", "rows", "wire.type"),
    ("/memory/static_allocations/0", 5, "wire.type"),
    ("/memory", None, "wire.type"),
    ("/memory/invocation_liveness_mode", "optimistic", "wire.unknown-variant"),
    ("/memory/invocation_liveness_mode", 7, "wire.unknown-variant"),
    ("/memory/dynamic_descriptors/0/demand", {"bytes": {}}, "wire.unknown-variant"),
    ("/memory/dynamic_descriptors/0/demand", {"fixed": {"bytes": 1}, "x": 1}, "wire.type"),
    ("/memory/dynamic_descriptors/0/demand", "fixed", "wire.type"),
    ("/memory/dynamic_descriptors/0/kind", {"value": {}}, "wire.unknown-variant"),
    ("/memory/dynamic_descriptors/0/base_resource_id", "", "wire.identity"),
    ("/memory/dynamic_descriptors/0/base_resource_id", "a" * 161, "wire.identity"),
    ("/memory/dynamic_descriptors/0/base_resource_id", "a\n", "wire.identity"),
    ("/memory/dynamic_descriptors/0/base_resource_id", "é", "wire.identity"),
    ("/memory/dynamic_descriptors/0/base_resource_id", 5, "wire.type"),
    (
        "/memory/dynamic_descriptors/0/storage/logical_layout_fingerprint",
        "ab" * 31,
        "wire.fingerprint",
    ),
    (
        "/memory/dynamic_descriptors/0/storage/logical_layout_fingerprint",
        "xy" * 32,
        "wire.fingerprint",
    ),
]


@pytest.mark.parametrize(("place", "value", "rule"), NO_READING)
def test_faults_without_a_reading(place: str, value: Any, rule: str) -> None:
    subject, findings = edited("fragment", {place: value})
    assert [finding.rule for finding in findings] == [rule]
    assert findings[0].location.startswith(place)
    assert subject.memory is None
    assert subject.nodes is not None


def test_missing_fields_are_found_at_the_object_that_lacks_them() -> None:
    _, findings = edited(
        "fragment", {"/memory/reserve_bytes": DELETE, "/memory/static_bytes": DELETE}
    )
    assert [finding.location for finding in findings] == ["/memory", "/memory"]
    assert {finding.rule for finding in findings} == {"wire.missing-field"}
    assert "reserve_bytes" in findings[0].message
    assert "static_bytes" in findings[1].message


def test_an_absent_reusable_execution_is_null() -> None:
    subject, findings = edited("fragment", {"/memory/reusable_execution": DELETE})
    assert findings == []
    assert subject.memory is not None
    assert subject.memory.reusable_execution is None


def test_all_faults_at_once_each_once() -> None:
    edits = {
        "/memory/reserve_bytes": "1",
        "/memory/static_bytes": -1,
        "/memory/surprise": 0,
        "/nodes/0/id": "two words",
        "/nodes/1/dependencies": "none",
    }
    _, findings = edited("fragment", edits)
    assert sorted(finding.location for finding in findings) == sorted(edits)


def test_a_fault_in_one_part_leaves_the_others_readable() -> None:
    subject, _ = edited("bundle", {"/plan/payload/weight_format": 5})
    assert subject.header is None
    assert None not in (subject.plan_nodes, subject.memory, subject.catalog)
    subject, _ = edited("bundle", {"/plan/payload/nodes/0/selection/selected_provider": 5})
    assert subject.plan_nodes is None
    assert subject.nodes is not None
    assert len(subject.nodes) == len(sample("bundle")["plan"]["payload"]["nodes"])
    subject, _ = edited("bundle", {"/plan/payload/nodes/0/id": 5})
    assert subject.nodes is None
    assert subject.memory is not None
    subject, _ = edited("bundle", {"/catalog/device": 5})
    assert subject.catalog is None
    assert None not in (subject.plan_nodes, subject.program, subject.policy, subject.header)
    subject, _ = edited("bundle", {"/plan/payload": []})
    assert subject.memory is None
    assert subject.catalog is not None
    subject, _ = edited("problem", {"/reserve_bytes": -1})
    assert subject.problem is None
    assert subject.nodes is not None


def test_order_says_nothing_where_it_is_unknown_what_is_retained() -> None:
    subject, _ = edited("fragment", {"/retained_completion_resources": "all"})
    assert subject.nodes is None
    subject, _ = edited("fragment", {"/retained_completion_resources": ["a b"]})
    assert subject.retained == {"a b"}
    subject, _ = edited("bundle", {"/plan/payload/retained_completion_values": {}})
    assert subject.nodes is None
    assert subject.plan_nodes is None


@pytest.mark.parametrize("field", ["major", "minor"])
def test_another_schema_version_keeps_what_is_unknown(field: str) -> None:
    subject, findings = edited(
        "bundle",
        {
            f"/plan/payload/schema/{field}": 9,
            "/plan/payload/surprise": 1,
            "/plan/payload/memory/surprise": 1,
            "/plan/payload/nodes/0/surprise": 1,
        },
    )
    assert [finding.rule for finding in findings] == ["wire.schema-version"]
    assert findings[0].undecided
    assert None not in (subject.header, subject.plan_nodes, subject.memory)


def test_another_schema_version_does_not_excuse_what_is_understood() -> None:
    subject, findings = edited(
        "bundle",
        {
            "/plan/payload/schema/major": 6,
            "/plan/payload/weight_format": DELETE,
            "/plan/payload/memory/reserve_bytes": -1,
            "/catalog/surprise": 1,
        },
    )
    assert {(finding.rule, finding.location) for finding in findings} == {
        ("wire.schema-version", "/plan/payload/schema"),
        ("wire.range", "/plan/payload/memory/reserve_bytes"),
        ("wire.unknown-field", "/catalog/surprise"),
    }
    assert subject.header is None
    assert subject.plan_nodes is not None


@pytest.mark.parametrize("schema", [None, 5, {"major": 5}, {"major": "5", "minor": 0}])
def test_a_malformed_schema_version_is_a_fault_like_any_other(schema: Any) -> None:
    _, findings = edited("bundle", {"/plan/payload/schema": schema})
    assert [finding.severity for finding in findings] == ["error"]


def test_growth_of_checkpoints_is_left_undecided_in_a_plan_of_5_0() -> None:
    place = "/plan/payload/memory/dynamic_pools/0/checkpoint_growth_ceiling_bytes"
    _, findings = edited("bundle", {place: 0})
    assert findings == []
    _, findings = edited("bundle", {place: 64})
    assert [(finding.rule, finding.location) for finding in findings] == [
        ("wire.newer-field", place)
    ]


@pytest.mark.parametrize("extra", [0, 1])
@pytest.mark.parametrize("kind", ["fragment", "memory-plan", "problem"])
def test_rows_up_to_the_limit(kind: str, extra: int) -> None:
    document = sample("problem" if kind == "problem" else "fragment")
    rows = document if kind == "problem" else document["memory"]
    room = MAXIMUM_ROWS - len(rows["dynamic_descriptors"]) + extra
    rows["static_allocations"] = [0] * room
    subject, findings = subject_of(document["memory"] if kind == "memory-plan" else document)
    if extra:
        assert subject is None
        assert [finding.rule for finding in findings] == ["wire.limit"]
        assert findings[0].location == ("/memory" if kind == "fragment" else "")
    else:
        assert subject is not None
        assert {finding.rule for finding in findings} == {"wire.too-many-faults"}


def test_faults_past_number_are_counted_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(validation, "MAXIMUM_FAULTS", 3)
    edits: dict[str, Any] = {f"/memory/k{index}": 0 for index in range(4)}
    subject, findings = edited("fragment", edits)
    assert [finding.rule for finding in findings] == ["wire.too-many-faults"]
    assert subject.nodes is not None


def test_malformed_declarations() -> None:
    boundaries = "/providers/operation.embed/0/checkpoint_capability/completed_boundary/boundaries"
    for edits, rule in (
        ({f"{boundaries}/prefix/alignment": 0}, "wire.range"),
        (
            {f"{boundaries}/prefix/minimum_tokens": 2**64 - 1, f"{boundaries}/prefix/alignment": 2},
            "wire.span",
        ),
        ({f"{boundaries}/prefix/minimum_tokens": 2**64 - 1}, "wire.span"),
    ):
        _, findings = edited("catalog", edits)
        assert [finding.rule for finding in findings] == [rule]


def test_messages_name_the_field_its_holder_and_the_value() -> None:
    _, findings = edited(
        "fragment", {"/memory/dynamic_descriptors/0/storage/profile/view": "sideways"}
    )
    name = sample("fragment")["memory"]["dynamic_descriptors"][0]["base_resource_id"]
    assert findings[0].message == (
        f'The field `storage.profile.view` of `{name}` is the text "sideways", '
        'where only "contiguous", "paged_regions" are known.'
    )
    _, findings = edited("catalog", {"/operations/two words": {}})
    assert any('is "two words"' in finding.message for finding in findings)
    _, findings = edited("fragment", {"/memory/\x1b[2J": 1})
    assert "\x1b" not in findings[0].message
