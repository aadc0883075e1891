"""Hiding findings: they leave the list, not the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.findings.ordering import of_places
from ferrum_verify.report.hidden import Hidden

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.findings import Finding
    from ferrum_verify.report.hidden import HiddenBy
    from ferrum_verify.report.model import DocumentReport, Report


def hide(
    report: Report, by: HiddenBy, reason: Callable[[DocumentReport, Finding], str | None]
) -> tuple[Report, list[Finding]]:
    """The report with the findings hidden that ``reason`` has one for, and those findings.

    The verdicts stay. What is unreadable stays as it is: without the reason nobody could tell
    why nothing was checked.
    """
    documents: list[DocumentReport] = []
    left_out: list[Finding] = []
    for document in report.documents:
        if document.verdict == "unreadable":
            documents.append(document)
            continue
        kept: list[int] = []
        hidden: list[Hidden] = []
        for index, finding in enumerate(document.findings):
            if (why := reason(document, finding)) is None:
                kept.append(index)
            else:
                hidden.append(Hidden(replace(finding, cause=None), by, why))
        left_out += [each.finding for each in hidden]
        documents.append(
            replace(
                document,
                findings=of_places(document.findings, kept),
                hidden=(*document.hidden, *hidden),
            )
            if hidden
            else document
        )
    return replace(report, documents=tuple(documents)), left_out
