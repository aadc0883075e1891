"""The report as workflow commands: GitHub shows each finding beside its line of the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings.ordering import label_of, urgency
from ferrum_verify.findings.wording import plural, printable, sentence
from ferrum_verify.report.alike import told_once
from ferrum_verify.report.consequences import consequences_of, follow_words
from ferrum_verify.report.counts import tally_text
from ferrum_verify.report.locations import file_name, regions_of

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding
    from ferrum_verify.findings.ordering import Label
    from ferrum_verify.reading.positions import Region
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.model import DocumentReport, Report

_COMMANDS: dict[Label, str] = {
    "error": "error",
    "undecided": "warning",
    "warning": "warning",
    "note": "notice",
}


def render(report: Report, _screen: Screen) -> str:
    """A workflow command for each finding, causes first, and a line for each document.

    GitHub shows only the first ten commands of a kind in a step; the log has them all.
    """
    located = []
    told = told_once(report.documents)
    all_regions = regions_of(report.documents)
    for number, (document, regions) in enumerate(zip(report.documents, all_regions, strict=True)):
        follows = consequences_of(document.findings)
        for index in told.own[number]:
            finding = document.findings[index]
            following = [document.findings[each] for each in follows.get(index, ())]
            also = sentence(follow_words(following)) if following else ""
            located.append((finding, document, regions.get(finding.location), also))
    for alike in told.alike:
        documents = [report.documents[each] for each in alike.documents]
        region = all_regions[alike.documents[0]].get(alike.finding.location)
        also = f"In {plural(len(documents), 'document')}: {', '.join(d.source for d in documents)}."
        located.append((alike.finding, documents[0], region, also))
    located.sort(key=lambda row: (row[0].cause is not None, urgency(row[0])))
    lines = [_command(*row) for row in located]
    lines += [
        f"{each.shown_verdict} {printable(each.source)}: {tally_text(each.findings)}"
        for each in report.documents
    ]
    if len(report.documents) != 1:
        total = plural(len(report.documents), "document")
        lines.append(f"{report.shown_verdict} {total}: {tally_text(report.findings)}")
    return "\n".join(lines) + "\n"


def _command(
    finding: Finding,
    document: DocumentReport,
    region: Region | None,
    also: str,
) -> str:
    properties: dict[str, str | int] = {}
    path = document.origin(finding.location).path
    if path is not None:
        properties["file"] = printable(file_name(path))
    if region is not None:
        properties |= {"line": region.line, "endLine": region.end_line}
        if region.line == region.end_line:  # columns are shown within one line only
            properties |= {"col": region.column, "endColumn": region.end_column}
    properties["title"] = finding.rule
    label = label_of(finding)
    text = f"{_open_question(label)}{sentence(finding.message)}"
    if also:
        text += f" {printable(also)}"
    if finding.cause is not None:
        text += f" It follows from {document.findings[finding.cause].rule}."
    if region is None and finding.location:
        text += f" (at {printable(finding.location)})"
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_COMMANDS[label]} {listed}::{_data(text)}"


def _open_question(label: Label) -> str:
    return "Open question: " if label == "undecided" else ""


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
