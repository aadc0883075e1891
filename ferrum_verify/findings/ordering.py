"""In which order findings are told: causes first, what follows from them last."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.findings import Finding

Label = Literal["error", "undecided", "warning", "note"]

LABELS: tuple[Label, ...] = ("error", "undecided", "warning", "note")
"""From what must be looked at first to what may be."""


def label_of(finding: Finding) -> Label:
    """A finding's severity; a question that could not be answered is ``undecided``."""
    return "undecided" if finding.undecided else finding.severity


def urgency(finding: Finding) -> int:
    """A sort key: errors first, then open questions, warnings and notes."""
    return LABELS.index(label_of(finding))


def causes_first(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Errors first, of a kind those first that most others follow from, and these others last.

    ``cause`` of each is the place of its cause in the new order.
    """
    follow = Counter(finding.cause for finding in findings if finding.cause is not None)
    order = sorted(
        range(len(findings)),
        key=lambda each: (
            findings[each].cause is not None,
            urgency(findings[each]),
            -follow[each],
        ),
    )
    places = {old: new for new, old in enumerate(order)}
    return tuple(
        replace(finding, cause=places[finding.cause]) if finding.cause is not None else finding
        for finding in (findings[each] for each in order)
    )


def of_places(findings: Sequence[Finding], places: Sequence[int]) -> tuple[Finding, ...]:
    """The findings at ``places``; what follows from one that is not there has no cause."""
    new = {old: index for index, old in enumerate(places)}
    return tuple(
        finding if finding.cause is None else replace(finding, cause=new.get(finding.cause))
        for finding in (findings[index] for index in places)
    )
