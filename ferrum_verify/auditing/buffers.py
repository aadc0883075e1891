"""Auditing another planner's plan: the checks of a buffer plan, and what the proofs add."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from ferrum_verify.findings.capping import MAXIMUM_OF_A_RULE, capped
from ferrum_verify.plan.clashes import Clashes
from ferrum_verify.plan.reads import Reads
from ferrum_verify.plan.storages import Storages, box_of
from ferrum_verify.plan.uses import Runs
from ferrum_verify.report.shown import gate
from ferrum_verify.rules import buffer, buffer_lives, buffer_places
from ferrum_verify.rules.graph import ORDER_RULES
from ferrum_verify.rules.schedule_steps import TOO_MANY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.auditing.proofs import ProofReport
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.findings import Finding, Judge
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.prove.proving import Proving
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.schedules import LoadedSchedule


@dataclass(frozen=True, slots=True)
class BufferFacts:
    """What the checks of a buffer plan looked at: its storages, and its order if that is sound.

    Under a schedule they are those of what it launches, on ``streams``.
    """

    storages: Storages
    order: HappensBefore | None
    execution: Execution
    streams: dict[str, str] = field(default_factory=dict)


def judge_buffers(
    subject: Subject, execution: Execution, judge: Judge, under: LoadedSchedule | None = None
) -> tuple[list[Finding], BufferFacts | None]:
    """All findings of a buffer plan, and the facts behind them; None where it could not be read."""
    plan, order = subject.buffers, subject.order
    findings = [buffer.safety_only(judge)]
    if order is None:
        return findings, None
    if plan is None:
        return [*findings, *buffer.check_nodes(order)], None
    if under is None:
        findings += buffer.planned_in_order(plan, execution)
    storages = Storages(plan, plan.nodes, box_of(plan))
    names = list(capped(buffer.check(storages, order)))
    findings += names
    findings += capped(
        buffer_lives.bounded(lambda: buffer_places.check(storages), "where buffers lie")
    )
    if any(finding.rule in ORDER_RULES for finding in names):
        return findings, BufferFacts(storages, None, execution)
    facts = BufferFacts(storages, order, execution)
    if under is not None:
        found, facts = _launched(facts, order, under)
        findings += capped(found)
    return [*findings, *_judge_order(facts)], facts


def _launched(
    facts: BufferFacts, order: HappensBefore, under: LoadedSchedule
) -> tuple[list[Finding], BufferFacts]:
    """What is wrong with a schedule, and the plan as it is launched; without order if it cannot."""
    # Seldom asked for.
    from ferrum_verify.plan.launched import launched  # noqa: PLC0415
    from ferrum_verify.rules import buffer_schedule  # noqa: PLC0415
    from ferrum_verify.rules.schedule import NO_ORDER  # noqa: PLC0415

    plan, schedule = facts.storages.plan, under.schedule
    found = buffer_schedule.check(under, plan, order)
    if schedule is not None:
        found += buffer_schedule.too_many(schedule)
    if schedule is None or any(each.rule in {*NO_ORDER, TOO_MANY.id} for each in found):
        return found, BufferFacts(facts.storages, None, "concurrent")
    held = launched(plan, schedule)
    found += buffer_schedule.check_dependencies(plan, held, under)
    storages = Storages(plan, held.nodes, facts.storages.box)
    return found, BufferFacts(storages, held.order, "concurrent", held.streams)


def _judge_order(facts: BufferFacts) -> Iterator[Finding]:
    """Everything that depends on the order of the nodes."""
    if facts.order is None:
        return
    storages = facts.storages
    clashes = Clashes(Runs(facts.order, facts.execution), storages.box)
    reads = Reads(storages, clashes)
    pair = partial(buffer_lives.reached_pair, storages, clashes)
    use = partial(buffer_lives.reached_use, storages, reads)
    for check, what, where in (
        (lambda: buffer_lives.check_clashes(storages, clashes), "which buffers share bytes", pair),
        (lambda: buffer_lives.check_conflicts(storages, reads), "who waits for whom", use),
        (
            lambda: buffer_lives.check_reads(storages, reads),
            "whether what is read was written",
            use,
        ),
    ):
        yield from capped(buffer_lives.bounded(check, what, where))


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
    claims = BufferClaims(facts.storages, facts.order, facts.execution, facts.streams)
    return proved(
        claims.sources(),
        findings,
        proving,
        accepts=gate(document, facts.execution, under and under.value),
        judged=lambda _: is_whole,
    )
