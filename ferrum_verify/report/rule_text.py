"""The rules in words: the table of all, and the page of one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ferrum_verify.documents.json_text import printable
from ferrum_verify.findings import Delete, Swap
from ferrum_verify.report.sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.findings import Example, Rule
    from ferrum_verify.report.formats import Screen

_EDIT_LIMIT = 160


def rule_table(rules: Sequence[Rule], screen: Screen) -> str:
    """A line for each rule: its id, how it is judged, and what it says."""
    sheet = Sheet(screen)
    table = Table(box=None, padding=(0, 1), header_style="dim", pad_edge=False)
    for column, ratio in (("Rule", 3), ("Judged as", 2), ("What a finding says", 6)):
        table.add_column(column, overflow="fold", ratio=ratio)
    for rule in rules:
        table.add_row(Text(rule.id, style="bold"), _judged_as(rule), Text(rule.summary))
    sheet.add(table)
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
    ):
        sheet.add(Text())
        sheet.add(Text(heading, style="bold underline"))
        sheet.add(Padding(Text(body), (0, 0, 0, 2)))
    if rule.example is not None:
        sheet.add(Text())
        sheet.add(Text("Example", style="bold underline"))
        for line in _example_lines(rule, rule.example):
            sheet.add(Padding(Text(printable(line), overflow="fold"), (0, 0, 0, 2)))
    return sheet.text()


def _judged_as(rule: Rule) -> str:
    return f"{rule.judgment}, {'undecided' if rule.undecided else rule.severity}"


def _example_lines(rule: Rule, example: Example) -> Iterator[str]:
    yield f"In the sample document `{example.sample}`:"
    for pointer, value in example.edits.items():
        yield f"  {_edit(pointer, value)}"
    for message in _messages(rule, example):
        yield f"gives: {message}"


def _edit(pointer: str, value: Any) -> str:
    match value:
        case Delete():
            return f"remove {pointer}"
        case Swap(other=other):
            return f"swap {pointer} and {other}"
    text = json.dumps(value)
    text = text if len(text) <= _EDIT_LIMIT else f"{text[:_EDIT_LIMIT]}…"
    return f"add {text} to {pointer[:-2]}" if pointer.endswith("/-") else f"set {pointer} to {text}"


def _messages(rule: Rule, example: Example) -> list[str]:
    from ferrum_verify.audit import audit  # noqa: PLC0415  (only an example needs an audit)
    from ferrum_verify.examples import broken_document  # noqa: PLC0415

    report = audit(broken_document(example), execution=example.execution, prove=False)
    return [finding.message for finding in report.findings if finding.rule == rule.id][:3]
