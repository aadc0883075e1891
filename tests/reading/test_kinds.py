"""The kind of a document is told from its fields, some of which may be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.reading.kinds import FORMS, PAYLOAD, Form, detect, model_of, resemblance
from ferrum_verify.reading.parse import UNKNOWN_KIND, subject_of
from tests.vectors import cases, fragment_of

if TYPE_CHECKING:
    from ferrum_verify.reading.document import Kind


@pytest.mark.parametrize("form", [*FORMS.values(), PAYLOAD], ids=lambda form: form.model)
def test_fields_are_those_of_the_model(form: Form) -> None:
    fields = model_of(form).model_fields.items()
    names = {field.alias or name: field.is_required() for name, field in fields}
    assert form.required == {name for name, required in names.items() if required}
    assert form.optional == {name for name, required in names.items() if not required}


def test_kinds_of_the_reference_documents() -> None:
    for case in cases("memory-plans"):
        if "problem" in case:
            assert detect(case["problem"]) == "problem"
        else:
            assert detect(case["memory"]) == "memory-plan"
            assert detect(fragment_of(case)) == "fragment"
    for case in cases("execution-plans"):
        bundle = case["bundle"]
        assert detect(bundle) == "bundle"
        assert detect(bundle["plan"]) == "execution-plan"
        for name in ("program", "catalog", "policy"):
            assert detect(bundle[name]) == name


def test_a_field_too_many_or_too_few_changes_no_kind() -> None:
    intact = next(case for case in cases("memory-plans") if case.get("mutation") == "intact")
    documents: list[tuple[Kind, dict[str, Any]]] = [
        ("memory-plan", intact["memory"]),
        ("fragment", fragment_of(intact)),
    ]
    documents += [("bundle", case["bundle"]) for case in cases("execution-plans")[:1]]
    for kind, document in documents:
        for foreign in ("surprise", "plan", "payload", "nodes", "fingerprint"):
            if foreign not in document:
                assert detect(document | {foreign: {}}) == kind
        if kind == "memory-plan":
            for missing in document:
                rest = {key: value for key, value in document.items() if key != missing}
                assert detect(rest) == kind


@pytest.mark.parametrize("value", [None, 1, "plan", [], [{}], {}, {"a": 1}, {"family_id": "x"}])
def test_no_kind(value: Any) -> None:
    assert detect(value) is None
    assert resemblance(value) == ""


def test_what_a_value_looks_like() -> None:
    plan = cases("execution-plans")[0]["bundle"]["plan"]
    assert detect(plan["payload"]) is None
    assert "payload of an execution plan" in resemblance(plan["payload"])
    assert "kind execution-plan" in resemblance({"result": plan})


def test_what_names_a_plan_is_not_the_plan() -> None:
    plan = cases("execution-plans")[0]["bundle"]["plan"]
    payload = plan["payload"]
    named = {"plan_id": payload["plan_id"], "plan_hash": plan["plan_hash"]}
    manifest = named | {
        "program_fingerprint": payload["program_fingerprint"],
        "retained_completion_values": payload["retained_completion_values"],
    }
    row = {"event": "step", "time": 1.5, "id": payload["plan_id"]}
    for value in (named, manifest, row, {"plan_hash": plan["plan_hash"]}):
        assert detect(value) is None
        subject, findings = subject_of(value)
        assert subject is None
        (finding,) = findings
        assert finding.rule == UNKNOWN_KIND.id
        assert "names a plan by its id or hash and does not hold it" in finding.message
    # A plan whose payload was lost, or stands under another name, is told as such.
    assert detect({"payload": None, "plan_hash": plan["plan_hash"]}) == "execution-plan"
    assert detect(plan | {"note": payload["plan_id"]}) == "execution-plan"
    assert detect({"payloads": payload, "plan_hash": plan["plan_hash"]}) == "execution-plan"
    assert "payload of an execution plan" in resemblance(payload)
