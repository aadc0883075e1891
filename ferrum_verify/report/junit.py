"""The report as JUnit XML: a suite for each document, a case for each finding.

A finding of severity error is a failure, a question that stayed open or a document that could
not be read an error. Warnings and notes are cases that pass and say so in their output. A
document without findings is one case that passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from ferrum_verify.findings.ordering import label_of
from ferrum_verify.findings.wording import compared_values, printable, sentence
from ferrum_verify.report.hidden import HIDDEN_AS, hidden_words
from ferrum_verify.report.locations import file_name, regions_of
from ferrum_verify.report.timeline import counterexample_lines

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.positions import Region
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.hidden import Hidden
    from ferrum_verify.report.model import DocumentReport, Report

_COLUMNS = 80


def render(report: Report, _screen: Screen) -> str:
    """The report as one ``testsuites`` element."""
    root = ET.Element("testsuites", name="ferrum-verify")
    for document, regions in zip(report.documents, regions_of(report.documents), strict=True):
        root.append(_suite(document, regions, report.execution, report.judge))
    seconds = sum(sum(document.timings.values()) for document in report.documents)
    _count(root, seconds)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _suite(
    document: DocumentReport, regions: Mapping[str, Region], execution: str, judge: str
) -> ET.Element:
    suite = ET.Element("testsuite", name=printable(document.source))
    properties = ET.SubElement(suite, "properties")
    for name, value in (
        ("verdict", f"{document.verdict}{hidden_words(document.hidden)}"),
        ("kind", document.kind),
        ("execution", execution),
        ("judge", None if judge == "all" else judge),
    ):
        if value is not None:
            ET.SubElement(properties, "property", name=name, value=value)
    for finding in document.findings:
        suite.append(_case(finding, document, regions.get(finding.location)))
    for hidden in document.hidden:
        suite.append(_hidden(hidden, document))
    told = any(case.find("failure") is not None or case.find("error") is not None for case in suite)
    nothing = not document.findings and not document.hidden
    if nothing or (document.open_verdict != "verified" and not told):
        # Claims that no finding speaks of can be open too: a document is never left unjudged.
        case = ET.SubElement(suite, "testcase", classname=printable(document.source), name="audit")
        if document.open_verdict != "verified":
            text = f"The document is {document.verdict}."
            ET.SubElement(case, "error", type=document.verdict, message=text)
    _count(suite, sum(document.timings.values()))
    return suite


def _case(finding: Finding, document: DocumentReport, region: Region | None) -> ET.Element:
    place = printable(finding.location)
    case = ET.Element(
        "testcase",
        classname=printable(document.source),
        name=f"{finding.rule} {place}".rstrip(),
    )
    path = document.origin(finding.location).path
    if path is not None:
        case.set("file", printable(file_name(path)))
        if region is not None:
            case.set("line", str(region.line))
    label = label_of(finding)
    message = sentence(finding.message)
    if label == "undecided" or document.verdict == "unreadable":
        element, text = ET.SubElement(case, "error"), _details(finding, document)
    elif label == "error":
        element, text = ET.SubElement(case, "failure"), _details(finding, document)
    else:
        element, text = ET.SubElement(case, "system-out"), f"{label}: {_details(finding, document)}"
    if element.tag != "system-out":
        element.set("type", finding.rule)
        element.set("message", message)
    element.text = text
    return case


def _hidden(hidden: Hidden, document: DocumentReport) -> ET.Element:
    finding = hidden.finding
    place = printable(finding.location)
    case = ET.Element(
        "testcase",
        classname=printable(document.source),
        name=f"{finding.rule} {place}".rstrip(),
    )
    why = f"{HIDDEN_AS[hidden.by]}: {printable(hidden.reason)}. {sentence(finding.message)}"
    ET.SubElement(case, "skipped", message=why)
    return case


def _details(finding: Finding, document: DocumentReport) -> str:
    lines = [sentence(finding.message)]
    if finding.cause is not None:
        cause = document.findings[finding.cause]
        lines.append(f"It follows from {cause.rule}: {sentence(cause.message)}")
    lines += [f"{name}: {printable(text)}" for name, text in compared_values(finding)]
    if finding.counterexample is not None:
        lines += [
            "counterexample:",
            *counterexample_lines(finding.counterexample, _COLUMNS, document.subject),
        ]
    if finding.remedy is not None:
        lines.append(f"fix: {sentence(finding.remedy)}")
    return "\n".join(lines)


def _count(element: ET.Element, seconds: float) -> None:
    for name, tag in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        element.set(name, str(len(list(element.iter(tag)))))
    element.set("time", f"{seconds:.3f}")
