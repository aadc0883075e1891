"""What follows from a finding, in a few words instead of one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.findings.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.findings import Finding

_PAIRS = "slot.shared-while-live"
_WORDS = {"integrity.plan-hash": " (as of any edit)"}
"""What is said of a rule whose findings also come of faults that nobody can tell."""


def consequences_of(findings: Sequence[Finding]) -> dict[int, list[int]]:
    """The places of the findings that follow from each, by its own place."""
    follows: dict[int, list[int]] = {}
    for index, finding in enumerate(findings):
        if finding.cause is not None:
            follows.setdefault(finding.cause, []).append(index)
    return follows


def follow_words(findings: Sequence[Finding]) -> str:
    """What follows from a finding: "12 pairs of slot members are live together because of it"."""
    pairs, others = _counted(findings)
    words = []
    if pairs:
        verb = "is" if pairs.number == 1 else "are"
        words.append(f"{pairs.said} {verb} live together because of it, in {pairs.slots}")
    if others:
        number = len(findings) - (pairs.number if pairs else 0)
        verb = "follows" if number == 1 else "follow"
        too = " too" if pairs else ""
        words.append(f"{plural(number, 'finding')} {verb} from it{too}: {', '.join(others)}")
    return "; ".join(words)


def more_words(findings: Sequence[Finding]) -> str:
    """Further findings of a list: "17 more of graph.race"; of clashes, in how many slots."""
    pairs, others = _counted(findings)
    words = [f"{len(findings):,} more of {findings[0].rule}"]
    if pairs and not others:
        words.append(f"in {pairs.slots}")
    return ", ".join(words)


class _Pairs(NamedTuple):
    number: int
    said: str
    slots: str


def _counted(findings: Sequence[Finding]) -> tuple[_Pairs | None, list[str]]:
    """The pairs that are live together, and the other findings by rule."""
    by_rule: dict[str, list[Finding]] = {}
    for finding in findings:
        by_rule.setdefault(finding.rule, []).append(finding)
    alike = by_rule.pop(_PAIRS, [])
    pairs = None
    if alike:
        noun = "pair" if len(alike) == 1 else "pairs"
        slots = plural(len({finding.location for finding in alike}), "slot")
        pairs = _Pairs(len(alike), f"{len(alike):,} {noun} of slot members", slots)
    others = [
        (rule if len(each) == 1 else f"{len(each):,} of {rule}") + _WORDS.get(rule, "")
        for rule, each in by_rule.items()
    ]
    return pairs, others
