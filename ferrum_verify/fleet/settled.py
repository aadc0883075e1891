"""What another run would find again, and need not look for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrum_verify.report.model import Report, Verdict


def is_settled(verdict: Verdict, undecided: int) -> bool:
    """Whether no run finds more than so many ``undecided`` claims: they may need but time.

    Nor is it settled what could not be read: whether that is a fault depends on who names it.
    """
    return verdict not in ("undecided", "unreadable") and not undecided


def without_keys_of_hidden(report: Report, whole: Report) -> Report:
    """The report, where no document has a key of which less is told than was found.

    A later run that carries it over may hide other findings, or none.
    """
    documents = tuple(
        shown if shown.findings == found.findings else replace(shown, key=None)
        for shown, found in zip(report.documents, whole.documents, strict=True)
    )
    return replace(report, documents=documents)
