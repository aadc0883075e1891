"""The page of promises names rules, claims and theorems that exist, and every rule of safety."""

from __future__ import annotations

import re

from ferrum_verify.catalogue import catalogue
from ferrum_verify.prove import theorems
from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "verified.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| promise")
]


def named(column: int) -> set[str]:
    return {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[column])}


def test_each_promise_names_rules_and_theorems_that_exist() -> None:
    assert named(1) <= catalogue().keys()
    assert named(3) <= {theorem.id for theorem in theorems.load()}


def test_every_rule_of_safety_is_part_of_a_promise() -> None:
    safety = {rule.id for rule in catalogue().values() if rule.judgment == "safety"}
    assert named(1) >= safety


def test_a_promise_is_kept_by_somebody() -> None:
    for promise, rules, claims, _ in ROWS:
        assert rules or claims or "counterexample" in promise, promise
