"""The report for people in a terminal: the verdict, why, what there is of tables, the verdict."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.findings.ordering import of_places
from ferrum_verify.findings.wording import plural, printable, sentence
from ferrum_verify.report.against_words import against_blocks
from ferrum_verify.report.alike import told_once
from ferrum_verify.report.counts import claim_counts, tally_text
from ferrum_verify.report.locations import place_texts
from ferrum_verify.report.screen import Sheet
from ferrum_verify.report.text_findings import finding_blocks
from ferrum_verify.report.text_tables import cost, tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from ferrum_verify.findings import Finding
    from ferrum_verify.report.alike import Alike, Told
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.model import DocumentReport, Report, Verdict

SHOWN_AGAIN = 20
"""Documents that fail and are named once more at the end of a long report."""

_STYLES: dict[Verdict, str] = {
    "verified": "bold green",
    "violated": "bold red",
    "undecided": "bold yellow",
    "unreadable": "bold magenta",
}


def render(report: Report, screen: Screen) -> str:
    """The report in words, at most ``screen.width`` columns wide."""
    sheet = Sheet(screen)
    screen = replace(screen, width=sheet.width)
    alone = len(report.documents) == 1
    told = told_once(report.documents, notes=True)
    places = place_texts(report.documents)
    for index, document in enumerate(report.documents):
        if index and (told.own[index] or told.own[index - 1]):
            sheet.add(Text())
        own = of_places(document.findings, told.own[index])
        for block in _document(document, own, report, screen, places[index], alone=alone):
            sheet.add(block)
    for alike in told.alike:
        for block in _alike(alike, report, screen):
            sheet.add(block)
    sheet.add(Text())
    if not alone:
        for block in _failing_again(report, told):
            sheet.add(block)
    sheet.add(_summary(report))
    return sheet.text()


def render_findings(findings: Iterable[Finding], screen: Screen) -> str:
    """Findings alone, as a command shows them that refuses its input."""
    sheet = Sheet(screen)
    for block in finding_blocks(tuple(findings), replace(screen, width=sheet.width, show_all=True)):
        sheet.add(block)
    return sheet.text()


def _summary(report: Report) -> Text:
    verdict = (report.shown_verdict, _STYLES[report.verdict])
    if len(report.documents) == 1:
        document = report.documents[0]
        return Text.assemble(
            verdict, f"  {printable(document.source)}: {tally_text(document.findings)}"
        )
    counts = ", ".join(f"{count} {verdict}" for verdict, count in report.summary.items() if count)
    return Text.assemble(
        verdict, f"  {plural(len(report.documents), 'document')}: {counts or 'nothing was audited'}"
    )


def _alike(alike: Alike, report: Report, screen: Screen) -> Iterator[RenderableType]:
    """A finding that many documents have: once, and then the documents."""
    yield from finding_blocks((alike.finding,), screen)
    sources = ", ".join(printable(report.documents[each].source) for each in alike.documents)
    yield Padding(Text(f"In {plural(len(alike.documents), 'document')}: {sources}"), (0, 0, 0, 4))


def _failing_again(report: Report, told: Told) -> Iterator[RenderableType]:
    """Of many documents those that are not verified, each with what is wrong with it first.

    What was told of many at once is not said again of each.
    """
    failing = [
        (document, own)
        for document, own in zip(report.documents, told.own, strict=True)
        if document.open_verdict != "verified" and (own or not document.findings)
    ]
    if len(failing) == len(report.documents) <= 2:
        return
    for document, own in failing[:SHOWN_AGAIN]:
        yield Text.assemble(
            (document.shown_verdict, _STYLES[document.verdict]),
            f"  {printable(document.source)}: {tally_text(document.findings)}",
            overflow="fold",
        )
        if own:
            first = document.findings[own[0]]
            yield Padding(Text(f"{first.rule}: {sentence(first.message)}"), (0, 0, 0, 4))
    if len(failing) > SHOWN_AGAIN:
        yield Text(f"… and {plural(len(failing) - SHOWN_AGAIN, 'more document')} that fail")
    if failing:
        yield Text()


def _document(
    document: DocumentReport,
    findings: Sequence[Finding],
    report: Report,
    screen: Screen,
    places: Mapping[str, str],
    *,
    alone: bool,
) -> Iterator[RenderableType]:
    kind: str = document.kind or "no known document"
    if document.kind:
        kind += f", {report.terms}" if document.is_run else report.not_judged
    yield Text.assemble(
        (document.shown_verdict, _STYLES[document.verdict]),
        "  ",
        (printable(document.source), "bold"),
        f"  ({kind})",
        overflow="fold",
    )
    if findings or alone:
        yield Text(f"  {_facts(document)}", style="dim")
    yield from finding_blocks(findings, screen, document.subject, places)
    if document.against is not None:
        yield Text()
        yield from against_blocks(document.against)
    if alone and document.subject is not None:
        wanted = screen.tables or document.verdict == "verified"
        yield from tables(document, document.subject) if wanted else cost(document)


def _facts(document: DocumentReport) -> str:
    facts = [tally_text(document.findings)]
    if document.obligations is None:
        if document.kind is not None:
            facts.append("nothing was put to the solver")
    else:
        facts += claim_counts(document.obligations)
    seconds = sum(document.timings.values())
    if seconds:
        facts.append(f"{seconds:.2f} s")
    return "; ".join(facts)
