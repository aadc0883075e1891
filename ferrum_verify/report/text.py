"""The report for people in a terminal: the verdict first, then why, then the tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.findings import Family
from ferrum_verify.findings.wording import (
    byte_count,
    compared_values,
    plural,
    pool_name,
    printable,
    sentence,
    shortened,
)
from ferrum_verify.report.against_words import against_blocks
from ferrum_verify.report.counts import claim_counts
from ferrum_verify.report.headroom import headroom, headroom_beside_lanes
from ferrum_verify.report.pools import pool_summaries
from ferrum_verify.report.screen import Sheet, plain_table
from ferrum_verify.report.slots_table import cost_blocks
from ferrum_verify.report.timeline import counterexample_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType
    from rich.table import Table

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.model import DocumentReport, Report, SlotReport, Verdict

SHOWN_OF_A_RULE = 50
MAXIMUM_ROWS = 40
"""Findings of one rule, and rows of one table, that are shown; the JSON report has them all."""

_STYLES: dict[Verdict, str] = {
    "verified": "bold green",
    "violated": "bold red",
    "undecided": "bold yellow",
    "unreadable": "bold magenta",
}
_LABEL_STYLES = {"error": "red", "warning": "yellow", "note": "cyan", "undecided": "yellow"}
_SEVERITIES = ("error", "warning", "note")
_INDENT = 4


def render(report: Report, screen: Screen) -> str:
    """The report in words, at most ``screen.width`` columns wide."""
    sheet = Sheet(screen)
    alone = len(report.documents) == 1
    for index, document in enumerate(report.documents):
        if index and (document.findings or report.documents[index - 1].findings):
            sheet.add(Text())
        for block in _document(document, report, with_tables=alone, width=sheet.width):
            sheet.add(block)
    if not alone:
        sheet.add(Text())
        sheet.add(_summary(report))
    return sheet.text()


def render_findings(findings: Iterable[Finding], screen: Screen) -> str:
    """Findings alone, grouped by family, as a command shows them that refuses its input."""
    sheet = Sheet(screen)
    for block in _findings(tuple(findings), None, sheet.width):
        sheet.add(block)
    return sheet.text()


def _summary(report: Report) -> Text:
    counts = ", ".join(f"{count} {verdict}" for verdict, count in report.summary.items() if count)
    return Text.assemble(
        (report.verdict.upper(), _STYLES[report.verdict]),
        f"  {plural(len(report.documents), 'document')}: {counts or 'nothing was audited'}",
    )


def _document(
    document: DocumentReport, report: Report, *, with_tables: bool, width: int
) -> Iterator[RenderableType]:
    kind = f"{document.kind}, {report.terms}" if document.kind else "no known document"
    yield Text.assemble(
        (document.verdict.upper(), _STYLES[document.verdict]),
        "  ",
        (printable(document.source), "bold"),
        f"  ({kind})",
        overflow="fold",
    )
    if document.findings or with_tables:
        yield Text(f"  {_facts(document)}", style="dim")
    yield from _findings(document.findings, document.subject, width)
    if document.against is not None:
        yield Text()
        yield from against_blocks(document.against)
    if with_tables and document.subject is not None:
        yield from _tables(document, document.subject)


def _facts(document: DocumentReport) -> str:
    counts = dict.fromkeys(("error", "warning", "note"), 0)
    undecided = 0
    for finding in document.findings:
        if finding.undecided:
            undecided += 1
        else:
            counts[finding.severity] += 1
    facts = [plural(count, name) for name, count in counts.items() if count]
    if undecided:
        facts.append(plural(undecided, "open question"))
    if not facts:
        facts.append("no findings")
    if document.obligations is None:
        if document.kind is not None:
            facts.append("nothing was put to the solver")
    else:
        facts += claim_counts(document.obligations)
    seconds = sum(document.timings.values())
    if seconds:
        facts.append(f"{seconds:.2f} s")
    return "; ".join(facts)


def _findings(
    findings: tuple[Finding, ...], subject: Subject | None, width: int
) -> Iterator[RenderableType]:
    for family in get_args(Family):
        members = [finding for finding in findings if finding.family == family]
        if not members:
            continue
        yield Text()
        yield Text(f"  {family}", style="bold underline")
        members.sort(key=lambda finding: _SEVERITIES.index(finding.severity))
        by_rule: dict[str, list[Finding]] = {}
        for finding in members:
            by_rule.setdefault(finding.rule, []).append(finding)
        for rule, alike in by_rule.items():
            yield from _rule(rule, alike, subject, width)


def _rule(
    rule_id: str, findings: list[Finding], subject: Subject | None, width: int
) -> Iterator[RenderableType]:
    for finding in findings[:SHOWN_OF_A_RULE]:
        label = "undecided" if finding.undecided else finding.severity
        yield Padding(
            Text.assemble(
                (label, _LABEL_STYLES[label]),
                "  ",
                (rule_id, "bold"),
                "  ",
                (printable(finding.location) or "(whole document)", "dim"),
                overflow="fold",
            ),
            (0, 0, 0, _INDENT),
        )
        yield Padding(Text(sentence(finding.message)), (0, 0, 0, _INDENT + 2))
        yield from _details(finding, subject, width)
    hidden = len(findings) - SHOWN_OF_A_RULE
    if hidden > 0:
        yield Padding(
            Text(f"… and {hidden:,} more of {rule_id}; --format json lists them all"),
            (0, 0, 0, _INDENT),
        )
    rule = findings[0].stated_by
    if rule is not None and any(finding.fix is None for finding in findings):
        yield Padding(Text.assemble(("fix: ", "green"), sentence(rule.fix)), (0, 0, 0, _INDENT + 2))


def _details(finding: Finding, subject: Subject | None, width: int) -> Iterator[RenderableType]:
    values = [f"{name} {printable(text)}" for name, text in compared_values(finding)]
    if values:
        yield Padding(Text("; ".join(values), style="dim"), (0, 0, 0, _INDENT + 2))
    if finding.counterexample is not None:
        indent = _INDENT + 4
        uses = {node.id: frozenset(node.resources) for node in (subject and subject.nodes) or ()}
        lines = counterexample_lines(finding.counterexample, width - indent, uses)
        yield Padding(Text("counterexample:", style="bold"), (0, 0, 0, _INDENT + 2))
        for line in lines:
            # A line that is too long goes on where it began.
            text = line.lstrip(" ")
            margin = indent + len(line) - len(text)
            yield Padding(Text(text, overflow="fold"), (0, 0, 0, min(margin, width - 1)))
    if finding.fix is not None:
        yield Padding(
            Text.assemble(("fix: ", "green"), sentence(finding.fix)), (0, 0, 0, _INDENT + 2)
        )


def _tables(document: DocumentReport, subject: Subject) -> Iterator[RenderableType]:
    if subject.memory is not None and subject.memory.dynamic_pools:
        summaries = pool_summaries(subject.memory)
        saved = sum(summary.saved or 0 for summary in summaries)
        table = plain_table("Pool", "Holds", ">Members", ">Slots", ">Resident", ">Saved")
        for pool in summaries[:MAXIMUM_ROWS]:
            least, most = pool.resident
            table.add_row(
                pool_name(pool.pool_id),
                pool.holds,
                f"{pool.members:,}",
                f"{pool.slots:,}",
                f"{byte_count(least)} to {byte_count(most)}",
                "?" if pool.saved is None else byte_count(pool.saved) if pool.saved else "-",
            )
        yield Text()
        yield Text(
            f"  Pools: sharing saves {byte_count(saved)} of a batch at its largest shapes",
            style="bold",
        )
        yield table
        yield from _rest(len(summaries), "pools")
        yield from _headroom(document, subject, subject.memory)
    if document.memory is not None:
        yield Text()
        yield from cost_blocks(document.memory)
    if document.slots:
        yield Text()
        yield Text("  Slots that several resources share", style="bold")
        yield _slot_table(document.slots)
        yield from _rest(len(document.slots), "slots")


def _headroom(
    document: DocumentReport, subject: Subject, memory: MemoryPlan
) -> Iterator[RenderableType]:
    ends = headroom(subject, memory, document.findings)
    if not ends:
        return
    yield Text()
    usable = byte_count(memory.usable_capacity_bytes)
    yield Text(f"  Headroom: the largest batches within {usable}", style="bold")
    for end in ends:
        batch = f"{plural(end.sequences, 'sequence')} of {plural(end.tokens, 'token')}"
        more = "One token more" if end.sequences == 1 else "One token more for each"
        text = f"{batch}: {byte_count(end.bytes or 0)}. {more} is refused: {end.refused_because}."
        yield Padding(Text(printable(text)), (0, 0, 0, _INDENT))
    if memory.reusable_execution is not None:
        lanes = plural(memory.reusable_execution.maximum_reusable_lanes, "reusable lane")
        beside = headroom_beside_lanes(subject, memory, document.findings)
        batches = " or ".join(
            f"{plural(end.sequences, 'sequence')} of {end.tokens:,}" for end in beside
        )
        text = f"Beside all {lanes}: {batches or 'not one token'}."
        yield Padding(Text(text), (0, 0, 0, _INDENT))


def _slot_table(slots: tuple[SlotReport, ...]) -> Table:
    table = plain_table("Pool", "Members", "In-order", "Fenced", "Concurrent")
    unsafe_first = sorted(slots, key=lambda slot: slot.fenced is not False)
    for slot in unsafe_first[:MAXIMUM_ROWS]:
        shown = ", ".join(shortened(name, 24) for name in slot.resource_ids[:2])
        others = len(slot.resource_ids) - 2
        table.add_row(
            pool_name(slot.pool_id),
            f"{shown} and {others:,} more" if others > 0 else shown,
            _safety(slot.in_order),
            _safety(slot.fenced),
            _safety(slot.concurrent, len(slot.hazards or ())),
        )
    return table


def _safety(safe: bool | None, hazards: int = 0) -> Text:
    if safe is None:
        return Text("?", style="yellow")
    if safe:
        return Text("safe", style="green")
    return Text(f"UNSAFE ({plural(hazards, 'pair')})" if hazards else "UNSAFE", style="red")


def _rest(total: int, noun: str) -> Iterator[RenderableType]:
    if total > MAXIMUM_ROWS:
        yield Text(f"  … and {total - MAXIMUM_ROWS:,} more {noun}")
