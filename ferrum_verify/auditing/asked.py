"""What was asked: all findings, or those of one judgment, with what that leaves open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.rules.proof import SAFETY_IN_DOUBT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.findings import Finding, Judge

_FAMILIES_OF_CHOICES = frozenset({"binding", "checkpoint", "contract", "integrity"})
_CHOICES = frozenset(
    {
        "capacity.no-scheduled-tokens",
        "descriptor.not-canonical",
        "graph.dependencies-not-canonical",
        "graph.rejected-order",
        "graph.rejected-resource",
        "graph.resources-not-canonical",
        "graph.selected-rejected",
        "graph.selection-reason",
        "graph.state-effect-order",
        "graph.unreferenced-resource",
        "liveness.global-mode",
        "liveness.mode-not-derived",
        "liveness.not-canonical",
        "pool.identity",
        "pool.not-canonical",
        "reusable.bucket-identity",
        "reusable.bucket-order",
        "reusable.executables",
        "slot.kind",
        "slot.not-canonical",
        "slot.not-derived",
        "static.not-canonical",
        "value.alias-order",
        "value.layout-fingerprint",
        "value.retained-order",
    }
)
"""Rules of conformance whose breach hides no byte and no order: the plan says another thing than
the engine would, or says it in another order, and what it says is judged all the same."""


def asked(findings: Sequence[Finding], judge: Judge) -> list[Finding]:
    """The findings that answer what was asked.

    Of safety, a fault of conformance may leave bytes or order unread, and then what was found
    about safety is not all that there is: such faults are one open question.
    """
    if judge == "all":
        return list(findings)
    if judge == "conformance":
        return [each for each in findings if each.judgment == "conformance"]
    kept, doubts = [], []
    for finding in findings:
        if finding.judgment == "safety":
            kept.append(finding)
        elif finding.family in _FAMILIES_OF_CHOICES or finding.rule in _CHOICES:
            continue
        elif finding.undecided:
            kept.append(finding)
        elif finding.severity == "error":
            doubts.append(finding)
    if doubts:
        rules = ", ".join(sorted({finding.rule for finding in doubts}))
        kept.append(
            SAFETY_IN_DOUBT.finding(
                f"what depends on {len(doubts):,} faults of conformance ({rules}) was not judged; "
                f"the first: {doubts[0].message}",
                doubts[0].location,
            )
        )
    return kept
