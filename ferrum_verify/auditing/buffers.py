"""Auditing another planner's plan: the checks of a buffer plan, and what the proofs add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings.capping import MAXIMUM_OF_A_RULE, capped
from ferrum_verify.plan.clashes import Clashes
from ferrum_verify.plan.reads import Reads
from ferrum_verify.plan.storages import Storages, box_of
from ferrum_verify.plan.uses import Runs
from ferrum_verify.report.shown import gate
from ferrum_verify.rules import buffer, buffer_lives, buffer_places
from ferrum_verify.rules.graph import ORDER_RULES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.auditing.proofs import ProofReport
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.findings import Finding, Judge
    from ferrum_verify.limits import Proving
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.schedules import LoadedSchedule


@dataclass(frozen=True, slots=True)
class BufferFacts:
    """What the checks of a buffer plan looked at: its storages, and its order if that is sound."""

    storages: Storages
    order: HappensBefore | None
    execution: Execution


def judge_buffers(
    subject: Subject, execution: Execution, judge: Judge
) -> tuple[list[Finding], BufferFacts | None]:
    """All findings of a buffer plan, and the facts behind them; None where it could not be read."""
    plan, order = subject.buffers, subject.order
    told = buffer.safety_only(judge)
    if order is None:
        return [told], None
    if plan is None:
        return [told, *buffer.check_nodes(order)], None
    storages = Storages(plan, plan.nodes, box_of(plan))
    named = list(capped(buffer.check(storages, order)))
    findings = [told, *named]
    findings += capped(
        buffer_lives.bounded(lambda: buffer_places.check(storages), "where buffers lie")
    )
    if any(finding.rule in ORDER_RULES for finding in named):
        return findings, BufferFacts(storages, None, execution)
    clashes = Clashes(Runs(order, execution), storages.box)
    reads = Reads(storages, clashes)
    for check, what in (
        (lambda: buffer_lives.check_clashes(storages, clashes), "which buffers share bytes"),
        (lambda: buffer_lives.check_conflicts(storages, reads), "who waits for whom"),
        (lambda: buffer_lives.check_reads(storages, reads), "whether what is read was written"),
    ):
        findings += capped(buffer_lives.bounded(check, what))
    return findings, BufferFacts(storages, order, execution)


def prove_buffers(
    document: Any,
    findings: Sequence[Finding],
    facts: BufferFacts,
    proving: Proving,
    under: LoadedSchedule | None = None,
) -> ProofReport:
    """Discharge the claims about a buffer plan, and merge what they show into the findings.

    Where the checks came to a limit the proofs may go on; and where something is read that nobody
    has written, who lives when is told for some of its bytes only.
    """
    # The solver is loaded where proofs run only.
    from ferrum_verify.auditing.proofs import proved  # noqa: PLC0415
    from ferrum_verify.prove.buffers import BufferClaims  # noqa: PLC0415

    open_ = {buffer_lives.UNDECIDED.id, buffer_lives.READ_BEFORE_WRITE.id}
    is_whole = len(findings) < MAXIMUM_OF_A_RULE and not any(
        finding.rule in open_ for finding in findings
    )
    claims = BufferClaims(facts.storages, facts.order, facts.execution)
    return proved(
        claims.sources(),
        findings,
        proving,
        accepts=gate(document, facts.execution, under and under.value),
        judged=lambda _: is_whole,
    )
