"""A report outside of a terminal: in a file, in a notebook, and as rows of a data frame."""

from __future__ import annotations

import html
import os
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings.ordering import label_of
from ferrum_verify.report.formats import render

if TYPE_CHECKING:
    from pandas import DataFrame

    from ferrum_verify.report.model import Report

ENDINGS = {
    ".html": "html",
    ".json": "json",
    ".sarif": "sarif",
    ".md": "markdown",
    ".xml": "junit",
    ".txt": "text",
}
"""The formats that a report is saved in, by how a file's name ends."""

_COLUMNS = (
    "source", "rule", "family", "judgment", "severity", "message", "location", "cause",
)  # fmt: skip


def save(report: Report, path: str | os.PathLike[str]) -> None:
    """Write the report to a file; ValueError for a name that ends in none of ``ENDINGS``."""
    ending = os.path.splitext(path)[1].lower()
    if ending not in ENDINGS:
        raise ValueError(
            f"{os.fspath(path)!r} ends in none of {', '.join(ENDINGS)}, by which the format is "
            "chosen"
        )
    text = render(report, ENDINGS[ending])
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def as_frame_of_a_page(report: Report) -> str:
    """HTML that shows the report's page in a frame of its own, with styles that touch no other."""
    page = html.escape(render(report, "html"), quote=True)
    return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'


def to_frame(report: Report) -> DataFrame:
    """A row for each finding; raises ImportError where pandas is not installed."""
    from pandas import DataFrame  # noqa: PLC0415 - it is no dependency

    return DataFrame(rows(report), columns=list(_COLUMNS))


def rows(report: Report) -> list[dict[str, Any]]:
    """A row for each finding, with the document that it is of."""
    return [
        {
            "source": document.source,
            "rule": finding.rule,
            "family": finding.family,
            "judgment": finding.judgment,
            "severity": label_of(finding),
            "message": finding.message,
            "location": finding.location,
            "cause": finding.cause,
        }
        for document in report.documents
        for finding in document.findings
    ]
