"""What cannot be judged is one sentence, and never half a report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import DocumentError
from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.contracts import check_contracts, compare_contracts

if TYPE_CHECKING:
    from pathlib import Path

Json = dict[str, Any]


def test_catalogs_that_do_not_parse() -> None:
    good = sample("catalog")
    bad = sample("catalog")
    bad["device"]["ordinal"] = "0"
    for base, head in ((bad, good), (good, bad)):
        with pytest.raises(DocumentError, match=r"/device/ordinal: .*"):
            compare_contracts(base, head)
    with pytest.raises(DocumentError, match="HEAD: "):
        compare_contracts(good, {"nonsense": 1})
    with pytest.raises(DocumentError, match="HEAD is a policy and holds no catalog"):
        compare_contracts(good, sample("policy"))


def test_a_malformed_contract_is_no_catalog() -> None:
    head = sample("catalog")
    contract = head["providers"]["operation.embed"][0]["checkpoint_capability"]
    contract["completed_boundary"]["boundaries"]["prefix"] = {
        "minimum_tokens": 2**64 - 1,
        "alignment": 2**63,
    }
    with pytest.raises(DocumentError, match="boundaries/prefix"):
        compare_contracts(sample("catalog"), head)


def test_plans_of_another_family() -> None:
    ours, theirs = (
        models.bundle(family, layers=4, schema="5.0") for family in models.families()[:2]
    )
    with pytest.raises(DocumentError) as raised:
        compare_contracts(ours["catalog"], ours["catalog"], [theirs])
    text = str(raised.value)
    assert "holds a plan of family" in text
    assert "does not serve it: it has no " in text
    # Of another device, whatever its operations are called.
    moved = sample("bundle")
    moved["plan"]["payload"]["device_id"] = "device.other.0"
    restamp(moved)
    with pytest.raises(DocumentError, match=r"for device device\.other\.0, and BASE"):
        compare_contracts(sample("catalog"), sample("catalog"), [moved])
    mixed = sample("bundle")
    mixed["program"]["family_id"] = "family.other"
    with pytest.raises(DocumentError, match=r"a program of family family\.other"):
        compare_contracts(sample("catalog"), sample("catalog"), [mixed])


def test_plans_that_are_none() -> None:
    catalog = sample("catalog")
    with pytest.raises(DocumentError, match="plan 1 is a fragment and holds no execution plan"):
        compare_contracts(catalog, catalog, [sample("fragment")])
    broken = sample("bundle")
    broken["plan"]["payload"]["nodes"][0]["id"] = 7
    with pytest.raises(DocumentError, match="plan 2: "):
        compare_contracts(catalog, catalog, [sample("bundle"), broken])
    malformed = sample("bundle")
    malformed["plan"]["payload"]["nodes"][0]["values"][0]["storage"]["components"] = []
    with pytest.raises(DocumentError, match="has no storage component"):
        compare_contracts(catalog, catalog, [malformed])


def test_a_plan_of_neither_catalog_is_judged_with_a_warning() -> None:
    plan = sample("bundle")
    plan["plan"]["payload"]["capability_catalog_fingerprint"] = "0" * 64
    report = compare_contracts(sample("catalog"), sample("catalog"), [plan], prove=False)
    warnings = [finding for finding in report.findings if finding.severity == "warning"]
    assert [finding.rule for finding in warnings] == ["contract.plan-of-another-catalog"]
    assert report.verdict == "verified"


def test_programs_and_policies_that_are_none() -> None:
    catalog = sample("catalog")
    with pytest.raises(DocumentError, match="the program is a policy and holds no program"):
        check_contracts(catalog, program=sample("policy"))
    with pytest.raises(DocumentError, match="the policy is a program and holds no policy"):
        check_contracts(catalog, policy=sample("program"))
    policy = sample("policy")
    policy["memory"]["reserve_bytes"] = -1
    with pytest.raises(DocumentError, match="/memory/reserve_bytes"):
        check_contracts(catalog, policy=policy)


def test_a_malformed_catalog_that_is_only_checked_is_a_report() -> None:
    bad = sample("catalog")
    bad["device"]["ordinal"] = "0"
    report = check_contracts(bad)
    assert report.verdict == "violated"
    assert [finding.rule for finding in report.findings] == ["wire.type"]
    contract = sample("catalog")
    provider = contract["providers"]["operation.embed"][0]
    boundaries = provider["checkpoint_capability"]["completed_boundary"]["boundaries"]
    boundaries["prefix"] = {"minimum_tokens": 0, "alignment": 2**64}
    report = check_contracts(contract)
    assert report.verdict == "violated"
    assert len(report.findings) == 2
    assert {finding.family for finding in report.findings} == {"wire"}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name in ("catalog", "program", "policy", "bundle"):
        (tmp_path / f"{name}.json").write_text(json.dumps(sample(name)))
    (tmp_path / "cut.json").write_text('{"device": {')
    (tmp_path / "two.jsonl").write_text(f"{json.dumps(sample('catalog'))}\n" * 2)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["compare", "catalog.json", "cut.json"], "cut.json: The text ends"),
        (["compare", "absent.json", "catalog.json"], "There is no file"),
        (["compare", "catalog.json", "two.jsonl"], "two.jsonl holds 2 documents; one is wanted."),
        (["compare", "catalog.json", "program.json"], "is a program and holds no catalog."),
        (
            ["compare", "catalog.json", "catalog.json", "--plan", "policy.json"],
            "policy.json is a policy and holds no execution plan.",
        ),
        (["check", "cut.json"], "cut.json: The text ends"),
        (["check", "catalog.json", "--program", "absent.json"], "There is no file"),
        (["check", "catalog.json", "--policy", "program.json"], "holds no policy."),
    ],
)
def test_command_line(
    files: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(files)
    status = run(["contracts", *arguments, "--format", "json", "-o", "report.json"])
    captured = capsys.readouterr()
    assert status == 2
    assert captured.out == ""
    assert captured.err.startswith("Error: ")
    assert captured.err.count("\n") == 1
    assert sentence in captured.err
    assert not (files / "report.json").exists()


def test_an_output_that_cannot_be_written(
    files: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(files)
    status = run(["contracts", "check", "catalog.json", "-o", "absent/report.txt"])
    assert status == 2
    assert "does not exist" in capsys.readouterr().err
