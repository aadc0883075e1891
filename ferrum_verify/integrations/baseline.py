"""Baselines: the findings that are known already, so that only changes stand out.

A baseline holds, for each document of an audit, its findings as rule, place and message. In a
later audit they are hidden, whatever the numbers in their messages have become; a finding that is
new, or one that is gone, makes the audit fail.
It is written for one execution model, with or without proofs: under anything else its silence
would mean nothing. Of documents that it does not name it knows nothing, and hides nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from ferrum_verify.counterexamples import Runs
from ferrum_verify.findings.errors import DocumentError, FerrumVerifyError
from ferrum_verify.findings.wording import printable
from ferrum_verify.integrations.bounded import read_bounded
from ferrum_verify.reading.json_text import parse_json
from ferrum_verify.report.hiding import hide
from ferrum_verify.rules.graph import ORDER_OPEN
from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ferrum_verify.findings import Finding
    from ferrum_verify.report.model import DocumentReport, Report

BASELINE_SCHEMA = "ferrum-verify/baseline/v1"


_NUMBER = re.compile(r"\w*\d(?:[\w.,]*\w)?")


class BaselineError(FerrumVerifyError):
    """A baseline that cannot be read, or is one of another audit."""


class Known(NamedTuple):
    """A finding as a baseline holds it."""

    rule: str
    location: str
    message: str

    @property
    def unnumbered(self) -> Known:
        """The finding without the numbers of its message, which change while it stays.

        Names, which stand in backticks, keep theirs.
        """
        parts = self.message.split("`")
        parts[::2] = [_NUMBER.sub("#", part) for part in parts[::2]]
        return self._replace(message="`".join(parts))


@dataclass(frozen=True, slots=True)
class Baseline:
    """What is known of some documents, each by its path as seen from the baseline's folder."""

    path: Path
    execution: Runs
    proved: bool
    documents: Mapping[str, Counter[Known]]

    def name(self, document: DocumentReport) -> str:
        """The document as the baseline names it."""
        return _name(document, self.path)

    def covers(self, document: DocumentReport) -> bool:
        """Whether the baseline says what is known of the document."""
        return self.name(document) in self.documents


@dataclass(frozen=True, slots=True)
class Changes:
    """An audit beside its baseline.

    ``report`` holds the new findings only; ``hidden`` counts the known ones, and ``gone`` are
    those that were known of a document and were not found any more. ``unnamed`` are the documents
    that the baseline does not name, as it would: of these only errors make the audit fail.
    """

    report: Report
    hidden: int
    gone: tuple[tuple[DocumentReport, Known], ...]
    unnamed: tuple[str, ...] = ()
    has_new: bool = False

    @property
    def exit_status(self) -> int:
        """The report's status, and 1 where only new or vanished findings make it fail."""
        changed = bool(self.gone) or self.has_new
        return self.report.exit_status or int(changed)


def baseline_text(report: Report, path: Path, *, proved: bool) -> str:
    """The baseline file of a report, to be written to ``path``.

    Raises ``BaselineError`` where a document could not be read: nothing is known of it.
    """
    for document in report.documents:
        if document.verdict == "unreadable":
            raise BaselineError(
                f"{document.source} is unreadable, so it can have no baseline; none was written"
            )
    wire = {
        "schema": BASELINE_SCHEMA,
        "tool": {"name": "ferrum-verify", "version": __version__},
        "execution": report.execution,
        "proved": proved,
        "documents": [
            {
                "source": _name(document, path),
                "findings": [_known(finding)._asdict() for finding in document.findings],
            }
            for document in report.documents
        ],
    }
    return json.dumps(wire, indent=2) + "\n"


def read_baseline(path: Path, read: Callable[[Path], bytes] = read_bounded) -> Baseline:
    """A baseline file, as ``read`` reads it: of a commit, say, instead of the work tree.

    Raises ``BaselineError`` with a sentence where it is none.
    """
    try:
        value = parse_json(read(path))
    except OSError as error:
        raise BaselineError(
            f"The baseline {path} cannot be read: {error.strerror or error}."
        ) from None
    except DocumentError as error:
        raise BaselineError(
            f"The baseline {path} is damaged: {error.findings[0].message}"
        ) from None
    try:
        return _parsed(path, value)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise BaselineError(
            f"{path} is no baseline; `audit --write-baseline FILE` writes one."
        ) from None


def compare(report: Report, baseline: Baseline, *, proved: bool) -> Changes:
    """What changed since the baseline was written.

    Raises ``BaselineError`` where the baseline is one of another audit: it was written for
    another execution model, or proofs were run in one of the two only. Documents that the
    baseline names and the report lacks are left alone, as an audit may be of some files only.
    """
    _check_belongs(report, baseline, proved=proved)
    path = printable(str(baseline.path))
    left: dict[int, dict[Known, list[Known]]] = {}
    for document in report.documents:
        if document.verdict != "unreadable":
            own = left.setdefault(id(document), {})
            for known in baseline.documents.get(baseline.name(document), Counter()).elements():
                own.setdefault(known.unnumbered, []).append(known)

    def reason(document: DocumentReport, finding: Finding) -> str | None:
        if finding.rule == ORDER_OPEN.id:
            return None  # what nobody judged is not known, whatever stood there before
        known = left[id(document)].get(_known(finding).unnumbered)
        if not known:
            return None
        # Of several that differ in numbers alone, the one that says the same goes first.
        same = _known(finding)
        known.remove(same if same in known else known[0])
        return f"known to {path}"

    new, hidden = hide(report, "baseline", reason)
    gone = [
        (document, known)
        for document in report.documents
        for alike in left.get(id(document), {}).values()
        for known in alike
    ]
    named = [each for each in new.documents if baseline.covers(each)]
    unnamed = [
        baseline.name(each)
        for each in new.documents
        if not baseline.covers(each) and each.verdict != "unreadable"
    ]
    has_new = any(each.findings for each in named)
    return Changes(new, len(hidden), tuple(gone), tuple(unnamed), has_new)


def _check_belongs(report: Report, baseline: Baseline, *, proved: bool) -> None:
    if report.execution != baseline.execution:
        raise BaselineError(
            f"The baseline {baseline.path} was written under {baseline.execution} execution, and "
            f"this audit ran under {report.execution}."
        )
    if proved != baseline.proved:
        with_or_without = ("without", "with") if proved else ("with", "without")
        raise BaselineError(
            f"The baseline {baseline.path} was written {with_or_without[0]} proofs, and this "
            f"audit ran {with_or_without[1]} them."
        )


def _parsed(path: Path, value: Any) -> Baseline:
    if value["schema"] != BASELINE_SCHEMA or value["execution"] not in get_args(Runs):
        raise ValueError
    documents: dict[str, Counter[Known]] = {}
    for document in value["documents"]:
        known = [Known(**finding) for finding in document["findings"]]
        if not all(
            isinstance(text, str) for each in (*known, (document["source"],)) for text in each
        ):
            raise ValueError
        documents[document["source"]] = Counter(known)
    return Baseline(path, value["execution"], bool(value["proved"]), documents)


def _known(finding: Finding) -> Known:
    return Known(finding.rule, finding.location, finding.message)


def _name(document: DocumentReport, baseline: Path) -> str:
    """A document's path from the baseline's folder, whatever the working directory is."""
    path = document.path
    if path is None:
        return document.source
    name = printable(Path(os.path.relpath(path, baseline.parent)).as_posix())
    a_document_a_line = path.name.lower().removesuffix(".gz").endswith(".jsonl")
    return f"{name}:{document.line}" if a_document_a_line else name
