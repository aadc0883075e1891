"""How findings and claims are counted and called."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ferrum_verify.findings.ordering import LABELS, label_of
from ferrum_verify.findings.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.findings import Finding
    from ferrum_verify.findings.ordering import Label
    from ferrum_verify.report.model import Obligations, Report

_NOUNS: dict[Label, str] = {
    "error": "error",
    "undecided": "open question",
    "warning": "warning",
    "note": "note",
}


def tally(findings: Iterable[Finding]) -> dict[Label, int]:
    """How many findings have each label."""
    counts = dict.fromkeys(LABELS, 0)
    for finding in findings:
        counts[label_of(finding)] += 1
    return counts


def tally_text(findings: Iterable[Finding]) -> str:
    """The counts in words: "2 errors, 1 open question"; "no findings"."""
    counts = tally(findings)
    words = [plural(count, _NOUNS[label]) for label, count in counts.items() if count]
    return ", ".join(words) or "no findings"


def claim_counts(claims: Obligations) -> list[str]:
    """What came of the claims in words: "2,040 claims proved (89 formulas)", "1 refuted"."""
    others = ("refuted", "undecided", "vacuous")
    counts = {outcome: getattr(claims, outcome) for outcome in others}
    return [
        f"{plural(claims.proved, 'claim')} proved{formula_count(claims)}",
        *(f"{count:,} {outcome}" for outcome, count in counts.items() if count),
    ]


def formula_count(claims: Obligations) -> str:
    """The formulas behind the claims, as they follow a number: " (89 formulas)"."""
    return f" ({plural(claims.formulas, 'formula')})" if claims.formulas else ""


def statistics(report: Report) -> str:
    """How many findings each rule has, most first, a line each, and the verdict in the last."""
    counts = Counter((finding.rule, label_of(finding)) for finding in report.findings)
    width = max((len(f"{count:,}") for count in counts.values()), default=0)
    lines = [
        f"{count:>{width},}  {rule}  ({label})"
        for (rule, label), count in sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    ]
    total = plural(len(report.documents), "document")
    lines.append(f"{report.shown_verdict}  {total}: {tally_text(report.findings)}")
    return "\n".join(lines) + "\n"
