"""The rules in words: the list of all, and the page of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.catalogue import homes
from ferrum_verify.findings.wording import printable, sentence
from ferrum_verify.report.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.findings import Example, Rule
    from ferrum_verify.report.formats import Screen


def rule_list(rules: Sequence[Rule], screen: Screen) -> str:
    """Each rule: its id, how a breach is judged, and what is checked."""
    sheet = Sheet(screen)
    for rule in rules:
        judged = (_judged_as(rule), "dim")
        sheet.add(Text.assemble((rule.id, "bold"), "  ", judged, overflow="fold"))
        sheet.add(Padding(Text(rule.summary), (0, 0, 0, 2)))
    return sheet.text()


def rule_page(rule: Rule, screen: Screen) -> str:
    """All that a rule says of itself, and its example with the message that it gives."""
    sheet = Sheet(screen)
    sheet.add(Text.assemble((rule.id, "bold"), "  ", (_judged_as(rule), "dim")))
    for heading, body in (
        ("What", rule.summary),
        ("Why", rule.why),
        ("How to fix it", rule.fix),
        ("Where the rule comes from", rule.source),
        ("Where it stands in the source", homes()[rule.id]),
    ):
        sheet.add(Text())
        sheet.add(Text(heading, style="bold underline"))
        sheet.add(Padding(Text(body), (0, 0, 0, 2)))
    if rule.example is not None:
        sheet.add(Text())
        sheet.add(Text("Example", style="bold underline"))
        for line in _example_lines(rule, rule.example):
            text = printable(line.lstrip(" "))
            indent = 2 + len(line) - len(line.lstrip(" "))
            sheet.add(Padding(Text(text, overflow="fold"), (0, 0, 0, indent)))
    return sheet.text()


def _judged_as(rule: Rule) -> str:
    return f"{rule.judgment}, {'undecided' if rule.undecided else rule.severity}"


def _example_lines(rule: Rule, example: Example) -> Iterator[str]:
    from ferrum_verify.catalogue.illustrations import illustrate  # noqa: PLC0415  (it runs an audit)

    shown = illustrate(rule)
    if shown is None:
        return
    yield (
        f"In the sample `{example.sample}.json`:"
        if shown.edits
        else (f"The sample `{example.sample}.json`, as it is.")
    )
    yield from (f"  {edit}" for edit in shown.edits)
    yield from (f"  {line}" for line in shown.change)
    yield f"`ferrum-verify {shown.command}` then gives:"
    yield from (f"  {sentence(finding.message)}" for finding in shown.findings)
