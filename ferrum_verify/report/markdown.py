"""The report as Markdown, for a comment on a pull request: verdict, short table, folded detail."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.findings.ordering import causes_first, label_of, of_places
from ferrum_verify.findings.wording import compared_values, plural, printable, sentence
from ferrum_verify.report.alike import told_once
from ferrum_verify.report.consequences import consequences_of, follow_words
from ferrum_verify.report.counts import formula_count, tally, tally_text
from ferrum_verify.report.hidden import HIDDEN_AS, hidden_words
from ferrum_verify.report.locations import file_name, regions_of
from ferrum_verify.report.timeline import counterexample_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.positions import Region
    from ferrum_verify.report.alike import Alike
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.model import DocumentReport, Report

MAXIMUM_CHARACTERS = 60_000
"""GitHub refuses a comment of more than 65,536 characters; the rest is for who quotes this."""

_MAXIMUM_ROWS = 100
_COLUMNS = 80

# A code span is inert whatever it holds; all else in a message is escaped, so that no document
# can put a heading, an image or a mention into the comment.
_CODE_SPAN = re.compile(r"(`[^`\n]+`)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$])")


def render(report: Report, _screen: Screen) -> str:
    """The report in at most ``MAXIMUM_CHARACTERS``.

    Where that is not enough for all findings, their number is given and the most urgent shown.
    """
    head = "\n".join(_head(report))
    room = MAXIMUM_CHARACTERS - len(head) - _ROOM_FOR_THE_END
    text, hidden = head, len(report.findings)
    told = told_once(report.documents)
    regions = regions_of(report.documents)
    of_many = ""
    for alike in told.alike:
        block = _alike(alike, report, regions)
        if len(of_many) + len(block) > room:
            break
        of_many += block
        hidden -= len(alike.documents)
    room -= len(of_many)
    for number, document in enumerate(report.documents):
        findings = causes_first(of_places(document.findings, told.own[number]))
        if not findings:
            continue
        items = _items(replace(document, findings=findings), regions[number], room)
        if not items:
            break
        block = _fold(document, items)
        text += block
        room -= len(block)
        hidden -= len(items)
        if len(items) < len(findings):
            break
    text += of_many
    if report.hidden and (block := _hidden(report)) and len(block) <= room:
        text += block
    if hidden:
        text += (
            f"\n{plural(hidden, 'finding')} more than a comment can hold: "
            "the JSON and SARIF reports have them all.\n"
        )
    return text


_ROOM_FOR_THE_END = 200


def _head(report: Report) -> Iterator[str]:
    count = plural(len(report.documents), "document")
    yield f"### ferrum-verify: {report.verdict}{hidden_words(report.hidden)}"
    yield ""
    runs = any(document.is_run for document in report.documents)
    told = f" under `{report.execution}` execution" if runs else ""
    yield f"{count} audited{told}{report.not_judged}: {tally_text(report.findings)}."
    yield ""
    proofs = any(document.obligations is not None for document in report.documents)
    yield "| Document | Verdict | Errors | Open | Warnings | Notes |" + (
        " Claims proved |" if proofs else ""
    )
    yield "|:--|:--|--:|--:|--:|--:|" + ("--:|" if proofs else "")
    worst_first = sorted(report.documents, key=lambda each: -_weight(each))
    for document in worst_first[:_MAXIMUM_ROWS]:
        counts = " | ".join(f"{count:,}" for count in tally(document.findings).values())
        source = _code(document.source).replace("|", "\\|")
        row = f"| {source} | **{document.verdict}{hidden_words(document.hidden)}** | {counts} |"
        if proofs:
            row += f" {_proved(document)} |"
        yield row
    hidden = len(report.documents) - _MAXIMUM_ROWS
    if hidden > 0:
        yield ""
        yield f"… and {plural(hidden, 'document')} more, none of them worse."
    yield ""


def _weight(document: DocumentReport) -> int:
    return ("verified", "undecided", "violated", "unreadable").index(document.verdict)


def _proved(document: DocumentReport) -> str:
    claims = document.obligations
    if claims is None:
        return "-"
    return f"{claims.proved:,} of {claims.claims:,}{formula_count(claims)}"


def _fold(document: DocumentReport, items: list[str]) -> str:
    title = f"<code>{html.escape(printable(document.source))}</code>"
    summary = f"<summary>{title}: {tally_text(document.findings)}</summary>"
    return f"\n<details>{summary}\n" + "".join(items) + "\n\n</details>\n"


def _alike(alike: Alike, report: Report, regions: Sequence[Mapping[str, Region]]) -> str:
    """A finding that many plans have: once, and then the plans."""
    documents = [report.documents[number] for number in alike.documents]
    first = documents[0]
    item = _item(
        alike.finding, _line(alike.finding, first, regions[alike.documents[0]]), first.subject
    )
    listed = ", ".join(_code(document.source) for document in documents)
    return f"{item}\n\n  In {plural(len(documents), 'document')}: {listed}\n"


def _hidden(report: Report) -> str:
    """What is left out of the findings, and why."""
    lines = [
        f"- `{each.finding.rule}` in {_code(document.source)}, {HIDDEN_AS[each.by]}: "
        f"{escaped(printable(each.reason))}. {escaped(sentence(each.finding.message))}"
        for document in report.documents
        for each in document.hidden
    ]
    summary = f"<summary>{plural(len(lines), 'hidden finding')}</summary>"
    return f"\n<details>{summary}\n\n" + "\n".join(lines) + "\n\n</details>\n"


def _items(document: DocumentReport, regions: Mapping[str, Region], room: int) -> list[str]:
    """The findings of a document, causes first, as many as there is room for."""
    room -= len(_fold(document, []))
    items: list[str] = []
    follows = consequences_of(document.findings)
    for index, finding in enumerate(document.findings):
        following = [document.findings[each] for each in follows.get(index, ())]
        item = _item(finding, _line(finding, document, regions), document.subject)
        if following:
            item += f"\n  {escaped(follow_words(following))}."
        if finding.cause is not None:
            item += f"\n  Follows from `{document.findings[finding.cause].rule}`."
        room -= len(item)
        if room < 0:
            break
        items.append(item)
    return items


def _line(finding: Finding, document: DocumentReport, regions: Mapping[str, Region]) -> str:
    """Where the finding stands in its file, whose name is told where the document has another."""
    region = regions.get(finding.location)
    path = document.origin(finding.location).path
    line = f", line {region.line}" if region is not None else ""
    return line if path is None or path == document.path else f"{line} of {_code(file_name(path))}"


def _item(finding: Finding, line: str, subject: Subject | None) -> str:
    place = _code(finding.location) if finding.location else "the whole document"
    lines = [f"\n- **{label_of(finding)}** `{finding.rule}` at {place}{line}"]
    lines.append(f"  {escaped(sentence(finding.message))}")
    values = [f"{name} {_code(text)}" for name, text in compared_values(finding)]
    if values:
        lines.append(f"  ({'; '.join(values)})")
    if finding.remedy is not None:
        lines.append(f"  *Fix:* {sentence(finding.remedy)}")
    if finding.counterexample is not None:
        drawn = counterexample_lines(finding.counterexample, _COLUMNS, subject)
        lines += ["", "  ```text", *(f"  {line}" for line in drawn), "  ```"]
    return "\n".join(lines)


def escaped(text: str) -> str:
    """Text of a message, with its code spans, that Markdown cannot take for anything else."""
    parts = _CODE_SPAN.split(text)
    parts[::2] = [_without_mentions(_SPECIAL.sub(r"\\\1", part)) for part in parts[::2]]
    return "".join(parts)


def _code(text: str) -> str:
    """A code span that holds any text."""
    text = printable(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}"


def _without_mentions(text: str) -> str:
    return text.replace("@", "@\u200b")
