"""What is said of the rules' examples: worked out once in a process, however many tests ask."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.examples import report_of

if TYPE_CHECKING:
    from ferrum_verify.findings import Rule
    from ferrum_verify.report.model import Report

WITH_EXAMPLE: tuple[Rule, ...] = tuple(
    rule for rule in catalogue().values() if rule.example is not None
)


@cache
def report_of_rule(rule_id: str) -> Report:
    """What the command of a rule's example says of it."""
    example = catalogue()[rule_id].example
    assert example is not None
    return report_of(example)
