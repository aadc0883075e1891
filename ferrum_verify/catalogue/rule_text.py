"""The rules in words: the list of all, and the page of one, as text and as Markdown."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.catalogue import homes
from ferrum_verify.catalogue.illustrations import illustrate
from ferrum_verify.findings.wording import printable, sentence
from ferrum_verify.report.screen import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.findings import Rule
    from ferrum_verify.report.formats import Screen


def rule_list(rules: Sequence[Rule], screen: Screen) -> str:
    """Each rule: its id, how a breach is judged, and what is checked."""
    sheet = Sheet(screen)
    for rule in rules:
        judged = (judged_as(rule), "dim")
        sheet.add(Text.assemble((rule.id, "bold"), "  ", judged, overflow="fold"))
        sheet.add(Padding(Text(rule.summary), (0, 0, 0, 2)))
    return sheet.text()


def rule_page(rule: Rule, screen: Screen) -> str:
    """All that a rule says of itself, and its example with the message that it gives."""
    sheet = Sheet(screen)
    sheet.add(Text.assemble((rule.id, "bold"), "  ", (judged_as(rule), "dim")))
    for heading, lines in _sections(rule):
        sheet.add(Text())
        sheet.add(Text(heading, style="bold underline"))
        for line in lines:
            text = line.lstrip(" ")
            sheet.add(Padding(Text(text, overflow="fold"), (0, 0, 0, 2 + len(line) - len(text))))
    return sheet.text()


def markdown_page(rule: Rule) -> str:
    """The same as Markdown; what stands indented in the text is a block of its own."""
    page = [f"# {rule.id}", "", f"*{judged_as(rule)}*"]
    for heading, lines in _sections(rule):
        page += ["", f"## {heading}"]
        for indented, block in groupby(lines, key=lambda line: line.startswith(" ")):
            fence = ["```"] if indented else []
            page += [
                "",
                *fence,
                *(line.strip() if not indented else line[2:] for line in block),
                *fence,
            ]
    return "\n".join(page) + "\n"


def judged_as(rule: Rule) -> str:
    """How a breach of the rule is judged: "safety, error"."""
    return f"{rule.judgment}, {'undecided' if rule.undecided else rule.severity}"


def _sections(rule: Rule) -> Iterator[tuple[str, list[str]]]:
    yield "What", [rule.summary]
    yield "Why", [rule.why]
    yield "How to fix it", [rule.fix]
    yield "Where the rule comes from", [rule.source]
    yield "Where it stands in the source", [homes()[rule.id]]
    if rule.example is not None:
        yield "Example", [printable(line) for line in _example_lines(rule)]


def _example_lines(rule: Rule) -> Iterator[str]:
    example, shown = rule.example, illustrate(rule)
    if example is None or shown is None:
        return
    name = f"`{example.sample}.json`"
    yield f"In the sample {name}:" if shown.edits else f"The sample {name}, as it is."
    yield from (f"  {edit}" for edit in shown.edits)
    yield from (f"  {line}" for line in shown.change)
    yield f"`ferrum-verify {shown.command}` then gives:"
    yield from (f"  {sentence(finding.message)}" for finding in shown.findings)
