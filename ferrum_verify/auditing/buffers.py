"""Auditing another planner's plan: the checks of a buffer plan, and what the proofs add."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.findings.capping import capped
from ferrum_verify.plan.clashes import Clashes
from ferrum_verify.plan.reads import Reads
from ferrum_verify.plan.storages import Storages, box_of
from ferrum_verify.plan.uses import Runs
from ferrum_verify.rules import buffer, buffer_lives, buffer_places
from ferrum_verify.rules.graph import ORDER_RULES

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.findings import Finding, Judge
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.reading.document import Subject


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
