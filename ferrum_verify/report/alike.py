"""The same finding in many documents: told once, with the documents that it is of.

A change of a catalog says one thing of every plan that it hurts, and what a verifier has to say
of a schema it says of every plan of that schema.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.findings import Finding
    from ferrum_verify.report.model import DocumentReport


class _Said(NamedTuple):
    """What makes two findings the same to who reads them."""

    rule: str
    severity: str
    message: str
    fix: str | None


@dataclass(frozen=True, slots=True)
class Alike:
    """A finding of several documents, and the places of these among all."""

    finding: Finding
    documents: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Told:
    """What is told of several documents at once, and which findings are left to tell of each."""

    alike: tuple[Alike, ...]
    own: tuple[tuple[int, ...], ...]


def told_once(documents: Sequence[DocumentReport], *, notes: bool = False) -> Told:
    """What is said of several plans under one change; with ``notes`` also notes of any documents.

    What follows from another finding, or has others that follow from it, stays with its document.
    """
    met: dict[_Said, dict[int, int]] = {}
    for number, document in enumerate(documents):
        of_a_plan = document.comparison is not None and document.kind != "catalog"
        causes = {finding.cause for finding in document.findings}
        for index, finding in enumerate(document.findings):
            if finding.cause is not None or index in causes:
                continue
            if of_a_plan or (notes and finding.severity == "note" and not finding.undecided):
                met.setdefault(_said(finding), {}).setdefault(number, index)
    alike = {said: places for said, places in met.items() if len(places) > 1}
    taken = {(number, index) for places in alike.values() for number, index in places.items()}
    return Told(
        tuple(
            Alike(documents[number].findings[index], tuple(places))
            for places in alike.values()
            for number, index in (next(iter(places.items())),)
        ),
        tuple(
            tuple(index for index in range(len(document.findings)) if (number, index) not in taken)
            for number, document in enumerate(documents)
        ),
    )


def _said(finding: Finding) -> _Said:
    return _Said(finding.rule, finding.severity, finding.message, finding.fix)
