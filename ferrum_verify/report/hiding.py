"""Hiding findings: what a report is without some of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.report.model import Report, verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ferrum_verify.findings import Finding
    from ferrum_verify.report.model import DocumentReport


def hide(
    report: Report, hidden: Callable[[DocumentReport, Finding], bool]
) -> tuple[Report, list[Finding]]:
    """The report without the findings that ``hidden`` holds of, and those findings.

    Verdicts are those of the findings that are left. What is unreadable stays as it is: without
    the reason nobody could tell why nothing was checked.
    """
    documents: list[DocumentReport] = []
    left_out: list[Finding] = []
    for document in report.documents:
        if document.verdict == "unreadable":
            documents.append(document)
            continue
        kept: list[Finding] = []
        for finding in document.findings:
            (left_out if hidden(document, finding) else kept).append(finding)
        documents.append(_with_findings(document, kept))
    return replace(report, documents=tuple(documents)), left_out


def _with_findings(document: DocumentReport, kept: Sequence[Finding]) -> DocumentReport:
    if len(kept) == len(document.findings):
        return document
    # The claims that stayed open are counted too, unless the findings that tell of them are hidden.
    told = any(finding.undecided for finding in document.findings)
    claims = None if told else document.obligations
    return replace(document, findings=tuple(kept), verdict=verdict_of(kept, claims))
