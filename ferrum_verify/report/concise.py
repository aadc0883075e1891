"""One line a cause, as editors and terminals make it clickable: ``file:line:column: …``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings.ordering import causes_first, label_of
from ferrum_verify.findings.wording import plural, printable, sentence
from ferrum_verify.report.counts import tally_text
from ferrum_verify.report.locations import place_texts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ferrum_verify.findings import Finding
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.model import DocumentReport, Report


def render(report: Report, screen: Screen) -> str:
    """Every cause, and where all is asked for what follows from it; the verdict in the last line.

    Causes come first in each document.
    """
    lines = []
    left_out = 0
    for document, places in zip(report.documents, place_texts(report.documents), strict=True):
        ordered = causes_first(document.findings)
        for finding in ordered:
            if finding.cause is not None and not screen.show_all:
                left_out += 1
                continue
            line = (
                f"{_place(document, finding, places)}: {label_of(finding)} {finding.rule}: "
                f"{sentence(finding.message)}"
            )
            if finding.cause is not None:
                cause = ordered[finding.cause]
                line += f" (follows from {cause.rule} at {_place(document, cause, places)})"
            lines.append(line)
    total = plural(len(report.documents), "document")
    verdict = f"{report.shown_verdict} {total}{report.not_judged}: {tally_text(report.findings)}"
    if left_out:
        follow = "follows" if left_out == 1 else "follow"
        verdict += f"; {left_out:,} of them {follow} from others: --all shows them"
    return "\n".join([*lines, verdict]) + "\n"


def _place(document: DocumentReport, finding: Finding, places: Mapping[str, str]) -> str:
    place = places.get(finding.location)
    if place is None:
        return printable(f"{document.source}{finding.location and ' '}{finding.location}")
    return place
