"""What is shown: no counterexample that the independent evaluator refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ferrum_verify.rules.proof import DISAGREEMENT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ferrum_verify.counterexamples import Counterexample, Execution
    from ferrum_verify.findings import Finding

    Gate = Callable[[Counterexample], bool]


def gate(document: Any, execution: Execution = "fenced", schedule: Any = None) -> Gate:
    """Whether a counterexample of the document may be shown.

    Every counterexample of every command passes such a gate: those of findings in ``shown``,
    those of the solver where the claim that they refute is counted.
    """

    parts: list[Any] = []

    def accepts(counterexample: Counterexample) -> bool:
        # A sound plan has none, and its audit need not load the evaluator: 1 of the 35 times
        # `python -c pass` that a cold audit may take.
        from ferrum_verify.counterexamples.checking import check_counterexample, parts_of  # noqa: PLC0415

        if not parts:
            parts.append(parts_of(document))
        return check_counterexample(parts[0], counterexample, execution, schedule)

    return accepts


def shown(findings: Iterable[Finding], accepts: Gate) -> Iterator[Finding]:
    """The findings; one whose counterexample is refused loses it, and that is a finding too."""
    for finding in findings:
        if finding.counterexample is None or accepts(finding.counterexample):
            yield finding
            continue
        yield replace(finding, counterexample=None)
        yield DISAGREEMENT.finding(
            f"an independent check refuses the counterexample of {finding.rule}, which is "
            "therefore not shown; please report this document",
            finding.location,
        )
