"""One line a finding, as editors and terminals make it clickable: ``file:line:column: …``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings.ordering import causes_first, label_of
from ferrum_verify.findings.wording import plural, printable, sentence
from ferrum_verify.report.counts import tally_text
from ferrum_verify.report.locations import place_texts

if TYPE_CHECKING:
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.model import Report


def render(report: Report, _screen: Screen) -> str:
    """Every finding, causes first in each document, and the verdict in the last line."""
    lines = []
    for document, places in zip(report.documents, place_texts(report.documents), strict=True):
        for finding in causes_first(document.findings):
            place = places.get(finding.location)
            if place is None:
                place = printable(f"{document.source}{finding.location and ' '}{finding.location}")
            lines.append(
                f"{place}: {label_of(finding)} {finding.rule}: {sentence(finding.message)}"
            )
    total = plural(len(report.documents), "document")
    lines.append(f"{report.shown_verdict} {total}: {tally_text(report.findings)}")
    return "\n".join(lines) + "\n"
