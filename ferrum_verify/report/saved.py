"""A report outside of a terminal: in a file, in a notebook, and as rows of a data frame."""

from __future__ import annotations

import html
import os
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings.ordering import label_of
from ferrum_verify.report import model
from ferrum_verify.report.formats import render

if TYPE_CHECKING:
    from pandas import DataFrame

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


class Report(model.Report):
    """What an audit returns: the records, and what a notebook or a script does with them."""

    __slots__ = ()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report to a file, in the format that its name ends in.

        That is ``.html``, ``.json``, ``.sarif``, ``.md``, ``.xml`` (JUnit) or ``.txt``. Raises
        ValueError for another ending, and OSError where the file cannot be written.
        """
        ending = os.path.splitext(path)[1].lower()
        if ending not in ENDINGS:
            raise ValueError(
                f"{os.fspath(path)!r} ends in none of {', '.join(ENDINGS)}, by which the format "
                "is chosen"
            )
        text = render(self, ENDINGS[ending])
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, whose styles touch nothing else in a notebook."""
        page = html.escape(render(self, "html"), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'

    def to_frame(self) -> DataFrame:
        """The rows as a pandas data frame; raises ImportError where pandas is not installed."""
        from pandas import DataFrame  # noqa: PLC0415 - it is no dependency

        return DataFrame(self.to_rows(), columns=list(_COLUMNS))

    def to_rows(self) -> list[dict[str, Any]]:
        """A row for each finding, of its document's ``source``, what it says and its ``cause``."""
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
            for document in self.documents
            for finding in document.findings
        ]
