"""Every machine format holds the same findings as the JSON report."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from ferrum_verify.findings import Finding
from ferrum_verify.report.formats import render
from ferrum_verify.report.model import DocumentReport, Report

if TYPE_CHECKING:
    from collections.abc import Callable


def of_sarif(text: str) -> Counter[str]:
    return Counter(
        result["ruleId"] for run in json.loads(text)["runs"] for result in run["results"]
    )


def of_junit(text: str) -> Counter[str]:
    names = (case.attrib["name"].split()[0] for case in ET.fromstring(text).iter("testcase"))
    return Counter(name for name in names if name != "audit")


def of_github(text: str) -> Counter[str]:
    return Counter(re.findall(r"^::\w+ [^:]*title=([^:,]*)::", text, re.MULTILINE))


def of_markdown(text: str) -> Counter[str]:
    return Counter(re.findall(r"^- \*\*\w+\*\* `([^`]*)`", text, re.MULTILINE))


READERS: dict[str, Callable[[str], Counter[str]]] = {
    "sarif": of_sarif,
    "junit": of_junit,
    "github": of_github,
    "markdown": of_markdown,
}


@pytest.mark.parametrize("name", sorted(READERS))
def test_findings_of_a_format(name: str, report_of_examples: Report) -> None:
    # A comment holds no more than some hundred findings, so Markdown is given each document alone.
    reports = (
        [Report(execution="fenced", documents=(each,)) for each in report_of_examples.documents]
        if name == "markdown"
        else [report_of_examples]
    )
    for each in reports:
        expected = Counter(finding.rule for finding in each.findings)
        assert READERS[name](render(each, name)) == expected


@pytest.mark.parametrize("name", sorted(READERS))
def test_a_format_says_the_message(name: str, report_of_examples: Report) -> None:
    document = next(each for each in report_of_examples.documents if each.findings)
    finding = document.findings[0]
    words = re.findall(r"[A-Za-z]{3,}", finding.message)
    text = render(Report(execution="fenced", documents=(document,)), name)
    for word in words:
        assert word.lower() in text.lower()


@pytest.mark.parametrize("name", sorted(READERS))
def test_nothing_to_report(name: str) -> None:
    sound = DocumentReport(source="a.json", kind="bundle", verdict="verified")
    text = render(Report(execution="fenced", documents=(sound,)), name)
    assert READERS[name](text) == Counter()
    assert "verified" in text.lower()
    render(Report(execution="fenced", documents=()), name)


@pytest.mark.parametrize("name", sorted(READERS))
def test_an_open_question_is_no_error(name: str) -> None:
    question = Finding(
        rule="graph.nodes-missing",
        judgment="conformance",
        severity="warning",
        message="the document has no nodes",
        undecided=True,
    )
    document = DocumentReport(
        source="a.json", kind="memory-plan", verdict="undecided", findings=(question,)
    )
    text = render(Report(execution="fenced", documents=(document,)), name)
    assert READERS[name](text) == Counter({"graph.nodes-missing": 1})
    marks = {
        "sarif": '"kind": "open"',
        "junit": '<error type="graph.nodes-missing"',
        "github": "::warning title=graph.nodes-missing::Open question: The document",
        "markdown": "| `a.json` | **undecided** | 0 | 1 | 0 | 0 |",
    }
    assert marks[name] in text
