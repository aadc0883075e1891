"""A catalog as the engine writes it: its own key, and input capture left out where unsupported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify import audit, derive_sequence_checkpoint
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.findings.errors import DocumentError
from tests.contracts.catalogs import attention, contract_of
from tests.vectors import cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Json = dict[str, Any]

OLDER, NEWER = "checkpoint_capability", "checkpoint"


def providers(catalog: Json) -> Iterator[Json]:
    for offered in catalog["providers"].values():
        yield from offered


def without_capture(catalog: Json) -> Json:
    """The catalog in the older form, with every provider's capture unsupported."""
    for provider in providers(catalog):
        if isinstance(provider.get(OLDER), dict):
            provider[OLDER]["completed_boundary"]["completed_input_capture"] = "unsupported"
    return catalog


def in_engine_form(catalog: Json) -> Json:
    """The same declarations as the engine writes them."""
    for provider in providers(catalog):
        contract = provider.pop(OLDER, "unsupported")
        if isinstance(contract, dict):
            stated = contract["completed_boundary"]
            if stated["completed_input_capture"] == "unsupported":
                del stated["completed_input_capture"]
        provider[NEWER] = contract
    return catalog


def written(path: Path, document: Json) -> str:
    path.write_text(json.dumps(document), encoding="utf-8")
    return str(path)


def told(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> tuple[int, Any]:
    """Exit status and findings of a command, with what the form alone decides taken out."""
    status = run([*arguments, "--format", "json"])
    text = capsys.readouterr().out.replace(f"/{OLDER}/", f"/{NEWER}/")
    report = json.loads(text.replace(f'/{OLDER}"', f'/{NEWER}"'))
    return status, [document["findings"] for document in report["documents"]]


def two_forms(edit: Any = None) -> tuple[Json, Json]:
    older, newer = without_capture(sample("catalog")), without_capture(sample("catalog"))
    for catalog in (older, newer):
        if edit is not None:
            edit(catalog)
    return older, in_engine_form(newer)


@pytest.mark.parametrize("supported", [True, False], ids=["captures", "does-not-capture"])
def test_checkpoint_derives_the_same_layout_of_both_forms(
    supported: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bundle = sample("bundle")
    if not supported:
        without_capture(bundle["catalog"])
    older = derive_sequence_checkpoint(bundle)
    assert older.layout is not None
    expected = older.to_wire()
    in_engine_form(bundle["catalog"])
    if not supported:
        assert expected["layout"].pop("completed_input_capture") == "unsupported"
        for provider in expected["layout"]["providers"]:
            assert provider["contract"].pop("completed_input_capture") == "unsupported"
    assert derive_sequence_checkpoint(bundle).to_wire() == expected
    assert run(["checkpoint", written(tmp_path / "bundle.json", bundle)]) == 0
    assert json.loads(capsys.readouterr().out) == expected


def test_one_contract_that_spells_it_out_makes_the_layout_spell_it_out() -> None:
    bundle = sample("bundle")
    in_engine_form(without_capture(bundle["catalog"]))
    contract = attention(bundle["catalog"])[NEWER]["completed_boundary"]
    contract["completed_input_capture"] = "unsupported"
    layout = derive_sequence_checkpoint(bundle).to_wire()["layout"]
    assert layout["completed_input_capture"] == "unsupported"
    spelled = [
        "completed_input_capture" in provider["contract"] for provider in layout["providers"]
    ]
    assert any(spelled)
    assert not all(spelled)


def test_audit_sees_the_checkpoints_of_the_engines_own_catalog() -> None:
    bundle = sample("bundle")
    plain = [finding.rule for finding in audit(bundle, prove=False).findings]
    in_engine_form(bundle["catalog"])
    fingerprint = "integrity.catalog-fingerprint"
    engine = [finding.rule for finding in audit(bundle, prove=False).findings]
    assert [rule for rule in engine if rule != fingerprint] == plain
    attention(bundle["catalog"])[NEWER] = "unsupported"
    reasons = {finding.rule for finding in audit(bundle, prove=False).findings}
    assert "checkpoint.provider-undeclared" in reasons - set(plain)


def port_without_storage(catalog: Json) -> None:
    contract_of(catalog)["state_ports"][0]["storage_profile"] = {
        "allocator": "linear_arena",
        "view": "contiguous",
    }


def test_contracts_check_judges_both_forms_alike(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older, newer = two_forms(port_without_storage)
    answers = [
        told(capsys, ["contracts", "check", written(tmp_path / "catalog.json", catalog)])
        for catalog in (older, newer)
    ]
    assert answers[0] == answers[1]
    assert answers[1][0] == 1
    pointers = [finding["location"] for finding in answers[1][1][0]]
    assert any(f"/{NEWER}/completed_boundary/state_ports/0" in each for each in pointers)


def narrowed(catalog: Json) -> None:
    contract_of(catalog)["boundaries"]["prefix"]["alignment"] = 64


def test_compare_sees_a_narrowed_contract_in_every_pair_of_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bases, heads = two_forms(), two_forms(narrowed)
    answers = []
    for base in bases:
        for head in heads:
            paths = [
                written(tmp_path / f"{name}.json", each)
                for name, each in (("base", base), ("head", head))
            ]
            answers.append(told(capsys, ["contracts", "compare", *paths]))
    assert all(answer == answers[0] for answer in answers)
    assert answers[0][0] == 1
    rules = {finding["rule"] for document in answers[0][1] for finding in document}
    assert "contract.prefix-narrowed" in rules


@pytest.mark.parametrize("kind", ["catalog", "bundle"])
def test_both_keys_at_once_are_one_finding(kind: str) -> None:
    document = sample(kind)
    catalog = document if kind == "catalog" else document["catalog"]
    attention(catalog)[NEWER] = attention(catalog)[OLDER]
    report = audit(document, prove=False)
    assert report.verdict == "violated"
    twice = [each for each in report.findings if each.rule == "wire.checkpoint-twice"]
    assert [each.location.rpartition("/providers/")[2] for each in twice] == [
        "operation.attention/1"
    ]
    if kind == "bundle":
        with pytest.raises(DocumentError) as refusal:
            derive_sequence_checkpoint(document)
        assert [each.rule for each in refusal.value.findings] == ["wire.checkpoint-twice"]


def test_a_vector_in_engine_form_keeps_its_answer_under_the_engines_key() -> None:
    supported = [
        case for case in cases("gaps-sequence-checkpoints") if case["expect"].get("supported")
    ]
    assert len(supported) == 40
    for case in supported:
        bundle = json.loads(json.dumps(case["bundle"]))
        for provider in providers(bundle["catalog"]):
            if OLDER in provider:
                provider[NEWER] = provider.pop(OLDER)
        assert derive_sequence_checkpoint(bundle).to_wire() == {"layout": case["expect"]["layout"]}
