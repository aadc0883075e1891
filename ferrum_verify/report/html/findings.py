"""Findings as the page lists them: by family, each with links to the picture and its rule."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from ferrum_verify.counterexamples import (
    AccessCounterexample,
    OverlapCounterexample,
    ScheduleCounterexample,
)
from ferrum_verify.findings import Family, rules_of
from ferrum_verify.findings.wording import printable, sentence, value_text
from ferrum_verify.report.consequences import consequences_of, follow_words
from ferrum_verify.report.html.links import named_place, place_of
from ferrum_verify.report.html.schedules import counterexample_data, counterexample_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.html.links import Place
    from ferrum_verify.report.html.picture import Names

SHOWN_OF_A_RULE = 100
"""Findings of one rule that a document's list shows; the JSON report has them all."""

_SEVERITIES = ("error", "warning", "note")
_QUOTED = re.compile("`([^`]*)`")
_OTHER_WORDS = {"contract.plan-memory-growth": {"words": ["HEAD takes", "BASE took"]}}
"""What the two bars of a limit are called where they are no need and no limit."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """The parts of a document that have a place in its picture."""

    subject: Subject
    memory: MemoryPlan
    names: Names
    with_arenas: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a message: plain words, or a quoted name with its place in the picture."""

    text: str
    quoted: bool = False
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding as the page shows it; ``number`` is its place among those of its document.

    ``fix`` is its own or, where there is none, that of its rule. ``root`` is the number of the
    finding that it follows from, or its own.
    """

    number: int
    rule: str
    label: str
    judgment: str
    message: tuple[Piece, ...]
    location: str
    expected: str | None
    actual: str | None
    fix: tuple[Piece, ...]
    place: Place | None
    follows: str | None
    causes: str | None
    root: int
    counterexample: dict[str, Any] | None
    counterexample_text: str


@dataclass(frozen=True, slots=True)
class RuleGroup:
    """The findings of one rule, and how many more there are than are shown."""

    rule: str
    findings: tuple[FindingView, ...]
    hidden: int


@dataclass(frozen=True, slots=True)
class FamilyGroup:
    """The findings of one family, the worst rule first."""

    family: str
    rules: tuple[RuleGroup, ...]


def grouped(findings: Sequence[Finding], drawn: Drawn | None) -> list[FamilyGroup]:
    """The findings by family and rule: first the families of those that others follow from."""
    consequences = consequences_of(findings)

    def causes_of(number: int) -> str | None:
        following = [findings[each] for each in consequences.get(number, ())]
        return sentence(follow_words(following)) if following else None

    def follows(finding: Finding) -> str | None:
        return None if finding.cause is None else findings[finding.cause].rule

    by_rule: dict[str, dict[str, list[tuple[int, Finding]]]] = {}
    fixes = {rule.id: rule.fix for rule in rules_of(findings)}
    families = get_args(Family)
    ordered = sorted(enumerate(findings), key=lambda each: _SEVERITIES.index(each[1].severity))
    for number, finding in ordered:
        alike = by_rule.setdefault(finding.family, {}).setdefault(finding.rule, [])
        alike.append((number, finding))
    return [
        FamilyGroup(
            family,
            tuple(
                RuleGroup(
                    rule,
                    tuple(
                        _view(
                            number,
                            finding,
                            drawn,
                            fix=finding.fix or fixes.get(rule),
                            follows=follows(finding),
                            causes=causes_of(number),
                        )
                        for number, finding in alike[:SHOWN_OF_A_RULE]
                    ),
                    max(len(alike) - SHOWN_OF_A_RULE, 0),
                )
                for rule, alike in by_rule[family].items()
            ),
        )
        for family in sorted(
            by_rule,
            key=lambda name: (
                not any(
                    number in consequences for rule in by_rule[name].values() for number, _ in rule
                ),
                families.index(name),
            ),
        )
    ]


def _view(
    number: int,
    finding: Finding,
    drawn: Drawn | None,
    *,
    fix: str | None,
    follows: str | None,
    causes: str | None,
) -> FindingView:
    counterexample = finding.counterexample
    expected, actual = _beside_table(finding)
    return FindingView(
        number=number,
        rule=finding.rule,
        label="undecided" if finding.undecided else finding.severity,
        judgment=finding.judgment,
        message=message_pieces(finding.message, drawn),
        location=printable(finding.location),
        expected=_value(expected),
        actual=_value(actual),
        fix=message_pieces(fix, drawn) if fix else (),
        place=_place(finding, drawn),
        follows=follows,
        causes=causes,
        root=number if finding.cause is None else finding.cause,
        counterexample=None
        if counterexample is None
        else {
            **counterexample_data(counterexample, drawn.names if drawn else None),
            **_OTHER_WORDS.get(finding.rule, {}),
        },
        counterexample_text="" if counterexample is None else counterexample_text(counterexample),
    )


def message_pieces(message: str, drawn: Drawn | None) -> tuple[Piece, ...]:
    """The message as a sentence, with the names in backticks that the picture shows as links."""
    pieces = []
    for index, part in enumerate(_QUOTED.split(sentence(message))):
        if index % 2:
            place = named_place(part, drawn.names) if drawn is not None else None
            pieces.append(Piece(part, quoted=True, place=place))
        elif part:
            pieces.append(Piece(part))
    return tuple(pieces)


def _place(finding: Finding, drawn: Drawn | None) -> Place | None:
    if drawn is None:
        return None
    match finding.counterexample:
        case AccessCounterexample(resource=resource):
            place = named_place(resource, drawn.names)
            if place is not None:
                return place
        # The clash is a better place than the slot, which may have hundreds of members.
        case ScheduleCounterexample(right=clash) | OverlapCounterexample(right=clash):
            place = named_place(clash.resource, drawn.names)
            if place is not None:
                return place
    place = place_of(finding.location, drawn.subject, drawn.memory, drawn.names)
    if place is not None and place.view == "bucket" and not drawn.with_arenas:
        return None
    return place


def _beside_table(finding: Finding) -> tuple[Any, Any]:
    """What was expected and found; a plan's checkpoints stand in a table of their own instead."""
    expected, actual = finding.expected, finding.actual
    facts = expected.get("value", expected) if isinstance(expected, dict) else None
    if not isinstance(facts, dict) or "supported" not in facts:
        return expected, actual
    return None, {"aspect": actual["aspect"]} if "aspect" in actual else None


def _value(value: Any) -> str | None:
    return None if value is None else printable(value_text(value))
