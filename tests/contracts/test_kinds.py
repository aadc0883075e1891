"""Every kind of change, alone and in pairs, in both directions, against brute force."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.contracts import compare_contracts
from ferrum_verify.counterexamples import SpanCounterexample
from ferrum_verify.counterexamples.checking import check_counterexample
from tests.contracts.catalogs import BREAKING, KINDS, Kind, changed, contract_of, kind_of

if TYPE_CHECKING:
    from ferrum_verify.report.model import Report

COUNTS = 10_000
PAIRS = [(one, two) for one, two in combinations(KINDS, 2) if one.part != two.part]


def rules_of(report: Report) -> set[str]:
    return {kind_of(finding) for finding in report.findings}


@cache
def permitted(minimum_tokens: int, alignment: int) -> frozenset[int]:
    """The counts that a constraint permits, found by trying every one."""
    return frozenset(
        tokens
        for tokens in range(1, COUNTS + 1)
        if tokens >= minimum_tokens and tokens % alignment == 0
    )


def brute_force(base: dict[str, Any], head: dict[str, Any], side: str) -> int | None:
    """The first count that BASE permits and HEAD refuses."""
    before, after = (permitted(**contract_of(each)["boundaries"][side]) for each in (base, head))
    return min(before - after, default=None)


def check_against_brute_force(base: dict[str, Any], head: dict[str, Any], report: Report) -> None:
    for side in ("prefix", "suffix"):
        found = [
            finding.counterexample
            for finding in report.findings
            if finding.rule == f"contract.{side}-narrowed"
        ]
        expected = brute_force(base, head, side)
        if expected is None:
            assert found == []
            continue
        (counterexample,) = found
        assert isinstance(counterexample, SpanCounterexample)
        assert counterexample.tokens == expected
        assert check_counterexample({"base": base, "head": head}, counterexample)
        # Whether HEAD permits something new is found in the same way.
        widened = f"contract.{side}-widened" in rules_of(report)
        assert widened == (brute_force(head, base, side) is not None)


def check_verdict(report: Report) -> None:
    breaks = bool(rules_of(report) & BREAKING)
    assert report.exit_status == (1 if breaks else 0)
    for finding in report.findings:
        assert finding.severity == ("error" if finding.rule in BREAKING else "note")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_single(kind: Kind) -> None:
    base, head = changed(), changed(kind)
    forward, backward = compare_contracts(base, head), compare_contracts(head, base)
    assert rules_of(forward) == kind.forward
    assert rules_of(backward) == kind.backward
    for report, documents in ((forward, (base, head)), (backward, (head, base))):
        check_verdict(report)
        check_against_brute_force(*documents, report)
        assert report.obligations.undecided == 0


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0].name} and {pair[1].name}")
def test_pair(pair: tuple[Kind, Kind]) -> None:
    one, two = pair
    base, head = changed(), changed(one, two)
    cases = [
        (base, head, one.forward | two.forward),
        (head, base, one.backward | two.backward),
        # One of them is undone while the other is done.
        (changed(one), changed(two), one.backward | two.forward),
    ]
    for before, after, expected in cases:
        report = compare_contracts(before, after, prove=False)
        assert rules_of(report) == expected
        check_verdict(report)
        check_against_brute_force(before, after, report)


def test_every_breaking_kind_of_the_gate_is_among_the_kinds() -> None:
    tried = frozenset().union(*(kind.forward | kind.backward for kind in KINDS))
    # A checkpoint contract that goes away leaves nothing else of it to compare.
    assert BREAKING - tried == {"contract.checkpoint-removed"}


def test_a_removed_contract_says_nothing_of_its_parts() -> None:
    for kind in KINDS:
        base, head = changed(), changed(kind)
        provider = head["providers"]["operation.attention"][1]
        provider["checkpoint_capability"] = "unsupported"
        rules = rules_of(compare_contracts(base, head, prove=False))
        assert "contract.checkpoint-removed" in rules
        others = rules - {"contract.checkpoint-removed"}
        assert not any("span" in rule or "port" in rule or "numerics" in rule for rule in others)
        back = rules_of(compare_contracts(head, base, prove=False))
        assert "contract.checkpoint-added" in back
        del provider["checkpoint_capability"]  # absent is unsupported
        assert rules_of(compare_contracts(base, head, prove=False)) == rules


def test_nothing_changes() -> None:
    report = compare_contracts(changed(), changed())
    assert (report.verdict, report.findings) == ("verified", ())
