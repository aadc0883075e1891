"""Findings in a text report: those that stand for themselves, with what follows from each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.text import Text

from ferrum_verify.findings.ordering import label_of, urgency
from ferrum_verify.findings.wording import compared_values, printable, sentence
from ferrum_verify.report.consequences import consequences_of, follow_words, more_words
from ferrum_verify.report.timeline import counterexample_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import RenderableType

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.formats import Screen

SHOWN_OF_A_RULE = 3
"""Findings of one rule that are shown, unless all are asked for; the JSON report has them all."""

_LABEL_STYLES = {"error": "red", "warning": "yellow", "note": "cyan", "undecided": "yellow"}
_INDENT = 2


def finding_blocks(
    findings: Sequence[Finding],
    screen: Screen,
    subject: Subject | None = None,
    places: Mapping[str, str] | None = None,
) -> Iterator[RenderableType]:
    """The findings that stand for themselves, the most urgent first, those of a rule together.

    ``places`` says of their locations where in which file they are.
    """
    follows = consequences_of(findings)
    alone = [index for index, finding in enumerate(findings) if finding.cause is None]
    by_rule: dict[str, list[int]] = {}
    for index in sorted(alone, key=lambda each: urgency(findings[each])):
        by_rule.setdefault(findings[index].rule, []).append(index)
    for indices in by_rule.values():
        yield Text()
        shown = indices if screen.show_all else _one_of_each_place(indices, findings)
        for index in shown:
            yield from _finding(findings[index], screen, subject, places or {})
            following = [findings[each] for each in follows.get(index, ())]
            if screen.show_all:
                narrower = replace(screen, width=screen.width - 4)
                for each in following:
                    for block in _finding(each, narrower, subject, places or {}):
                        yield Padding(block, (0, 0, 0, 4))
            elif following:
                yield _indented(f"{follow_words(following)}. {_all_shows(len(following))}")
                if findings[index].counterexample is None:
                    yield from _first_shown(following, screen, subject)
        hidden = [findings[each] for each in indices if each not in shown]
        if hidden:
            yield _indented(f"… and {more_words(hidden)}. {_all_shows(len(hidden))}")
        rule = findings[indices[0]].stated_by
        if rule is not None and any(findings[each].fix is None for each in shown):
            yield _indented(sentence(rule.fix), ("fix: ", "green"))


def _one_of_each_place(indices: Sequence[int], findings: Sequence[Finding]) -> list[int]:
    """As many of a rule as are shown: first those of places, such as slots, not yet shown.

    Of one place, and of what is left, those with a counterexample come first.
    """
    ranked = sorted(indices, key=lambda index: findings[index].counterexample is None)
    seen: dict[str, int] = {}
    for index in ranked:
        seen.setdefault(findings[index].location, index)
    first = list(seen.values())
    rest = [index for index in ranked if index not in set(first)]
    return sorted([*first, *rest][:SHOWN_OF_A_RULE])


def _all_shows(number: int) -> str:
    return f"--all shows {'it' if number == 1 else 'them'}."


def _indented(text: str, label: tuple[str, str] | None = None) -> RenderableType:
    whole = Text(text) if label is None else Text.assemble(label, text)
    return Padding(whole, (0, 0, 0, _INDENT + 2))


def _finding(
    finding: Finding, screen: Screen, subject: Subject | None, places: Mapping[str, str]
) -> Iterator[RenderableType]:
    label = label_of(finding)
    head = Text.assemble(
        (label, _LABEL_STYLES[label]), "  ", (finding.rule, "bold"), overflow="fold"
    )
    if place := places.get(finding.location):
        head.append(f"  {place}")
    location = Text(printable(finding.location) or "(whole document)", "dim", overflow="fold")
    if _INDENT + len(head) + 2 + len(location) <= screen.width:
        yield Padding(Text.assemble(head, "  ", location), (0, 0, 0, _INDENT))
    else:
        yield Padding(head, (0, 0, 0, _INDENT))
        yield Padding(location, (0, 0, 0, _INDENT + 2))
    yield _indented(sentence(finding.message))
    values = [f"{name} {printable(text)}" for name, text in compared_values(finding)]
    # What had to be cut says nothing that the message does not say better.
    if values and not all(text.endswith("…") for text in values):
        yield Padding(Text("; ".join(values), style="dim"), (0, 0, 0, _INDENT + 2))
    if finding.counterexample is not None:
        yield from _counterexample(finding.counterexample, screen, subject)
    if finding.fix is not None:
        yield _indented(sentence(finding.fix), ("fix: ", "green"))


def _first_shown(
    following: Sequence[Finding], screen: Screen, subject: Subject | None
) -> Iterator[RenderableType]:
    """What is lost because of a cause that loses nothing itself: one of its counterexamples."""
    shown = next((each.counterexample for each in following if each.counterexample), None)
    if shown is not None:
        yield from _counterexample(shown, screen, subject)


def _counterexample(
    found: Counterexample, screen: Screen, subject: Subject | None
) -> Iterator[RenderableType]:
    indent = _INDENT + 4
    yield Padding(Text("counterexample:", style="bold"), (0, 0, 0, _INDENT + 2))
    for line in counterexample_lines(found, screen.width - indent, subject):
        # A line that is too long goes on where it began.
        text = line.lstrip(" ")
        margin = indent + len(line) - len(text)
        yield Padding(Text(text, overflow="fold"), (0, 0, 0, min(margin, screen.width - 1)))
