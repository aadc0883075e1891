"""Floods of findings are cut, and what was cut is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.findings import Finding
from ferrum_verify.findings.capping import capped

if TYPE_CHECKING:
    from collections.abc import Iterator


def finding(rule: str, number: int, **changes: Any) -> Finding:
    given: dict[str, Any] = {"judgment": "safety", "severity": "error"} | changes
    return Finding(
        rule=rule,
        message=f"Number {number}.",
        location=f"/{number}",
        expected=number,
        about=("a",),
        **given,
    )


def test_few_findings_stay_as_they_are() -> None:
    findings = [finding("slot.a", 1), finding("pool.b", 2), finding("slot.a", 3)]
    assert list(capped(findings, most=2)) == findings


def test_the_first_of_each_rule_are_kept_and_the_rest_counted() -> None:
    findings = [finding(rule, number) for number in range(1_500) for rule in ("slot.a", "pool.b")]
    kept = list(capped([*findings, finding("slot.a", 0)], most=2))
    assert kept[:4] == findings[:4]
    assert [(each.rule, each.message) for each in kept[4:]] == [
        (
            "slot.a",
            "The document has 1,499 more findings of slot.a, beyond the first 2; "
            "they are not listed.",
        ),
        (
            "pool.b",
            "The document has 1,498 more findings of pool.b, beyond the first 2; "
            "they are not listed.",
        ),
    ]
    assert kept[4].location == ""
    assert kept[4].expected is None
    assert kept[4].about == ()
    assert (kept[4].judgment, kept[4].severity) == ("safety", "error")


def test_what_is_left_out_is_as_grave_as_its_worst() -> None:
    findings = [
        finding("slot.a", 0, severity="note"),
        finding("slot.a", 1, severity="warning", undecided=True),
        finding("slot.a", 2, severity="warning"),
        finding("slot.a", 3, severity="error"),
        finding("slot.a", 4, severity="note"),
    ]
    assert list(capped(findings, most=1))[-1].severity == "error"
    assert not list(capped(findings[:3], most=1))[-1].undecided
    assert list(capped(findings[:2], most=1))[-1].undecided
    assert "has 1 more finding of" in list(capped(findings[:2], most=1))[-1].message


def test_findings_are_taken_one_by_one() -> None:
    taken = 0

    def endless() -> Iterator[Finding]:
        nonlocal taken
        while True:
            taken += 1
            yield finding("slot.a", taken)

    stream = capped(endless(), most=5)
    assert next(stream).message == "Number 1."
    assert taken == 1
