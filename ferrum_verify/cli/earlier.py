"""The earlier plan that ``audit --against`` compares with."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import click

from ferrum_verify.auditing.audit import audit_document
from ferrum_verify.findings.wording import printable
from ferrum_verify.reading.load import read_documents
from ferrum_verify.report.plan_differences import compared

if TYPE_CHECKING:
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.model import DocumentReport


class Earlier(NamedTuple):
    """A plan to compare with, and where it was read from."""

    source: str
    subject: Subject


def earlier_plan(path: str) -> Earlier:
    """The one plan of a file, as it stands: its own verdict is not asked for."""
    documents = list(read_documents(path))
    if len(documents) > 1:
        raise click.ClickException(
            f"{printable(path)} holds {len(documents):,} documents; --against takes one plan."
        )
    report = audit_document(documents[0], prove=False)
    if report.subject is None or report.subject.memory is None:
        subject = report.subject
        told = subject is None or subject.kind != "buffer-plan"
        why = f": {report.findings[0].message}" if told and report.findings else ""
        raise click.ClickException(
            f"{printable(path)} has no memory plan to compare with{printable(why)}"
        )
    return Earlier(report.source, report.subject)


def beside_earlier(report: DocumentReport, earlier: Earlier) -> DocumentReport:
    """The report of a document with what differs from the earlier plan, where it has a plan."""
    subject = report.subject
    if subject is None or subject.memory is None:
        return report
    return replace(report, against=compared(subject, earlier.subject, earlier.source))
