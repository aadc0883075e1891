"""At most so many findings of one rule: a list of hundreds of thousands helps nobody.

One mistake of a generator can break a rule at every pair of nodes. The report then keeps the
first findings of the rule and says how many more there are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrum_verify.findings import Finding

MAXIMUM_OF_A_RULE = 10_000
"""Findings of one rule that are kept of one document."""

_SEVERITIES = ("note", "warning", "error")


def capped(findings: Iterable[Finding], most: int = MAXIMUM_OF_A_RULE) -> Iterator[Finding]:
    """The findings of one document in their order, the first ``most`` of each rule.

    Where a rule has more, one finding of it follows at the end, which says how many and is as
    severe as the most severe of them; it leaves a question open only if they all do. Findings
    are taken one by one, so that those left out are never held together. Capping again what was
    capped may count that last finding as one of those left out, so it is done once.
    """
    counts: Counter[str] = Counter()
    left_out: dict[str, Finding] = {}
    for finding in findings:
        counts[finding.rule] += 1
        if counts[finding.rule] <= most:
            yield finding
            continue
        worst = left_out.get(finding.rule)
        left_out[finding.rule] = finding if worst is None else _worse(worst, finding)
    for rule, worst in left_out.items():
        more = counts[rule] - most
        noun = "finding" if more == 1 else "findings"
        yield replace(
            worst,
            message=f"The document has {more:,} more {noun} of {rule}, beyond the first {most:,}; "
            "they are not listed.",
            location="",
            expected=None,
            actual=None,
            counterexample=None,
            about=(),
        )


def _worse(one: Finding, other: Finding) -> Finding:
    def weight(finding: Finding) -> tuple[bool, int]:
        return not finding.undecided, _SEVERITIES.index(finding.severity)

    return other if weight(other) > weight(one) else one
