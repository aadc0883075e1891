"""JUnit XML: a suite a document, a case a finding, and counts that add up."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.report.formats import render
from ferrum_verify.report.model import DocumentReport, Obligations, Report
from tests.report.broken_plans import report_of_files
from tests.report.findings import document, finding
from tests.report.test_model import COUNTEREXAMPLES

if TYPE_CHECKING:
    from pathlib import Path


def suites_of(*documents: DocumentReport) -> ET.Element:
    text = render(Report(execution="fenced", documents=documents), "junit")
    assert text.startswith('<?xml version="1.0" encoding="utf-8"?>\n')
    return ET.fromstring(text.encode())


def test_what_becomes_of_a_finding() -> None:
    suites = suites_of(
        document(
            finding(location="/nodes/1"),
            finding(severity="warning"),
            finding(severity="note"),
            finding(severity="warning", undecided=True),
            timings={"read": 0.25, "check": 0.5},
        )
    )
    (suite,) = suites
    cases = suite.findall("testcase")
    assert [[child.tag for child in case] for case in cases] == [
        ["failure"],
        ["system-out"],
        ["system-out"],
        ["error"],
    ]
    assert cases[0].attrib == {
        "classname": "a.json",
        "name": "slot.shared-while-live /nodes/1",
    }
    failure = cases[0][0]
    assert failure.attrib == {"type": "slot.shared-while-live", "message": "Two are live."}
    assert catalogue()["slot.shared-while-live"].fix.rstrip(".") in str(failure.text)
    for element in (suites, suite):
        counts = {name: element.get(name) for name in ("tests", "failures", "errors", "skipped")}
        assert counts == {"tests": "4", "failures": "1", "errors": "1", "skipped": "0"}
        assert element.get("time") == "0.750"


def test_a_sound_document_is_a_case_that_passes() -> None:
    (suite,) = suites_of(document(verdict="verified"))
    (case,) = suite.findall("testcase")
    assert case.get("name") == "audit"
    assert len(case) == 0
    assert suite.get("failures") == suite.get("errors") == "0"
    properties = {each.get("name"): each.get("value") for each in suite.iter("property")}
    assert properties == {"verdict": "verified", "kind": "fragment", "execution": "fenced"}


def test_an_undecided_document_never_passes() -> None:
    claims = Obligations(proved=1, undecided=1)
    (suite,) = suites_of(
        document(finding(severity="note"), verdict="undecided", obligations=claims)
    )
    assert suite.get("tests") == "2"
    assert suite.get("errors") == "1"


def test_an_unreadable_document_is_an_error(tmp_path: Path) -> None:
    (suite,) = suites_of(*report_of_files(tmp_path / "lost.json").documents)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "0", "1")


def test_file_and_line(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    faulty = sample("fragment")
    apply_edits(faulty, {"/memory/static_bytes": 1})
    path = tmp_path / "a.json"
    path.write_text(json.dumps(faulty, indent=2))
    (suite,) = suites_of(*report_of_files(path).documents)
    (case,) = suite.findall("testcase")
    assert case.get("file") == "a.json"
    line = path.read_text().splitlines()[int(case.get("line", "0")) - 1]
    assert line.strip() == '"static_bytes": 1,'
    assert "expected: " in str(case[0].text)
    assert "found: 1\n" in str(case[0].text)


def test_counterexamples_are_in_the_text() -> None:
    findings = [finding(counterexample=each) for each in COUNTEREXAMPLES]
    (suite,) = suites_of(document(*findings))
    for failure in suite.iter("failure"):
        assert "counterexample:\n" in str(failure.text)


def test_names_that_xml_cannot_hold() -> None:
    name = "\x00\x1b[31m <a&b> \ud800 \ufffe ]]>"
    (suite,) = suites_of(document(finding(name, location=f"/{name}", actual=name), source=name))
    assert "<a&b>" in str(suite.get("name"))
    assert "\\x1b" in str(suite.get("name"))
