"""The audit: read documents, run every check that applies, and say what was found."""

from __future__ import annotations

import os
import time
from sys import intern
from typing import TYPE_CHECKING, Any, get_args

from ferrum_verify.auditing.asked import asked
from ferrum_verify.auditing.checks import derive_subject, has_errors, judge_memory
from ferrum_verify.auditing.garbage_collection import collection_paused
from ferrum_verify.auditing.judged import Judged
from ferrum_verify.findings import Judge
from ferrum_verify.findings.capping import MAXIMUM_OF_A_RULE, capped
from ferrum_verify.findings.errors import DerivationError
from ferrum_verify.findings.ordering import causes_first
from ferrum_verify.findings.wording import printable
from ferrum_verify.limits import Limits
from ferrum_verify.plan.sharing import EXECUTIONS
from ferrum_verify.prove.proving import Proving
from ferrum_verify.reading.load import LoadedDocument, from_memory, no_document_in, read_documents
from ferrum_verify.reading.parse import UNREADABLE, subject_of
from ferrum_verify.report.model import DocumentReport, SlotReport, verdict_of
from ferrum_verify.report.saved import Report
from ferrum_verify.report.shown import gate, shown
from ferrum_verify.rules.judged import judged_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from ferrum_verify.auditing.buffers import BufferFacts
    from ferrum_verify.auditing.proofs import ProofReport
    from ferrum_verify.cache.folder import CacheFolder
    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.findings import Finding
    from ferrum_verify.prove.answers import Answers
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.schedules import LoadedSchedule
    from ferrum_verify.report.slots_cost import SlotsCost
    from ferrum_verify.rules.expected import Expected


def audit(
    document: Any | str | os.PathLike[str],
    execution: Execution = "fenced",
    prove: bool = True,
    schedule: Any | str | os.PathLike[str] | None = None,
    *,
    limits: Limits | None = None,
    judge: Judge = "all",
    memory: bool = False,
) -> Report:
    """Audit one parsed document, or every document of a file or folder.

    ``execution`` is the model under which resources must not be live together, unless a
    ``schedule``, parsed or a path, takes its place; ``prove`` adds the solver's proofs to the
    concrete checks, within ``limits``. ``judge`` asks for one judgment alone: of safety, whoever
    planned the slots; or of conformance, which nothing is put to the solver for. ``memory`` adds
    what the slots cost and how little would do, under an execution model: with a ``schedule`` it
    is a ValueError. Nothing raises for a bad document: the report says what is wrong with it.
    """
    _known("execution", execution, EXECUTIONS)
    _known("judge", judge, get_args(Judge))
    if memory and schedule is not None:
        raise ValueError(MEMORY_OF_MODELS)
    under = None if schedule is None else schedule_of(schedule)
    loaded = _loaded(document)
    answers = new_answers() if prove else None
    documents = [
        audit_document(
            each,
            execution=execution,
            prove=prove,
            limits=limits,
            asked_for=judge,
            memory=memory,
            under=under,
            answers=answers,
        )
        for each in loaded
    ]
    return whole_report(documents, execution, under, judge)


def _loaded(document: Any | str | os.PathLike[str]) -> Iterable[LoadedDocument]:
    if not isinstance(document, str | os.PathLike):
        return [from_memory(document)]
    if not os.path.isdir(document):
        return read_documents(document)
    from ferrum_verify.reading.schedules import is_sound_schedule  # noqa: PLC0415 - seldom needed

    # A schedule beside plans is none of them.
    found = [each for each in read_documents(document, folders=True) if not is_sound_schedule(each)]
    name = printable(os.fsdecode(document))
    return found or [LoadedDocument(source=name, findings=(no_document_in(name),))]


MEMORY_OF_MODELS = (
    "What the slots cost is told under an execution model, so memory does not go with a schedule."
)


def new_answers(folder: CacheFolder | None = None, *, doubted: bool = False) -> Answers:
    """What documents are to share of the solver's answers; the solver is loaded for it."""
    from ferrum_verify.prove.answers import Answers  # noqa: PLC0415 - not where none is asked

    return Answers(folder, doubted)


def schedule_of(given: Any | str | os.PathLike[str]) -> LoadedSchedule:
    """The schedule of a path or of parsed JSON, read once for all plans."""
    from ferrum_verify.reading.schedules import read_schedule  # noqa: PLC0415 - seldom needed

    return read_schedule(given)


def whole_report(
    documents: Sequence[DocumentReport],
    execution: Execution,
    under: LoadedSchedule | None,
    judge: Judge,
) -> Report:
    """The report of documents that were audited; a schedule that has faults is one of them."""
    if under is None:
        return Report(execution=execution, judge=judge, documents=tuple(documents))
    own: tuple[DocumentReport, ...] = ()
    if under.findings:
        known = not any(finding.rule in UNREADABLE for finding in under.findings)
        findings = tuple(asked(under.findings, judge)) if known else under.findings
        own = (
            DocumentReport(
                source=under.source,
                kind="schedule" if known else None,
                verdict=verdict_of(findings, readable=known),
                findings=findings,
            ),
        )
    return Report(execution="schedule", judge=judge, documents=(*documents, *own))


def _known(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}, not one of {', '.join(choices)}")


def audit_document(
    loaded: LoadedDocument,
    *,
    execution: Execution = "fenced",
    prove: bool = True,
    limits: Limits | None = None,
    smt2: Path | None = None,
    second_opinion: bool = False,
    asked_for: Judge = "all",
    memory: bool = False,
    under: LoadedSchedule | None = None,
    answers: Answers | None = None,
) -> DocumentReport:
    """Audit one document that was read, or report why it could not be.

    ``limits`` bound the proofs in time and memory; None takes the defaults. ``smt2`` is a folder
    that every obligation is written to as SMT-LIB 2; ``second_opinion`` asks cvc5 too.
    ``asked_for`` is ``judge`` of ``audit``, ``memory`` as there. ``under`` a schedule, order is
    judged by that. ``answers`` are shared with other documents. Raises OSError where the folder
    cannot be written.
    """
    proving = Proving(
        limits=limits or Limits(), smt2=smt2, second_opinion=second_opinion, answers=answers
    )
    with collection_paused():
        prove = prove and asked_for != "conformance"
        return _audit(
            loaded, execution, prove, proving, asked_for=asked_for, memory=memory, under=under
        )


def _audit(
    loaded: LoadedDocument,
    execution: Execution,
    prove: bool,
    proving: Proving,
    *,
    asked_for: Judge,
    memory: bool,
    under: LoadedSchedule | None,
) -> DocumentReport:
    if loaded.findings:
        return DocumentReport(
            source=loaded.source,
            kind=None,
            verdict="unreadable",
            findings=loaded.findings,
            path=loaded.path,
            line=loaded.line,
        )
    started = time.perf_counter()
    subject, findings = subject_of(loaded.value)
    parsed = time.perf_counter()
    if subject is None:
        return DocumentReport(
            source=loaded.source,
            kind=None,
            verdict="unreadable",
            findings=tuple(findings),
            path=loaded.path,
            line=loaded.line,
        )
    doubts = tuple(finding.location for finding in findings)
    facts: Expected | None = None
    of_buffers: BufferFacts | None = None
    if subject.kind == "buffer-plan":
        faults, of_buffers = _judge_buffers(subject, execution, asked_for, under)
    else:
        subject, faults, facts = judge(subject, execution, doubts, under)
    concrete = [*findings, *faults]
    findings += shown(faults, gate(loaded.value, execution, under and under.value))
    judged = time.perf_counter()
    obligations = None
    interrupted = False
    proof: ProofReport | None = None
    if prove and facts is not None:
        proof = _prove(loaded.value, subject, facts, findings, proving)
    if prove and of_buffers is not None:
        from ferrum_verify.auditing.buffers import prove_buffers  # noqa: PLC0415

        proof = prove_buffers(loaded.value, findings, of_buffers, proving, under)
    if proof is not None:
        findings, obligations = list(proof.findings), proof.obligations
        interrupted = proof.interrupted
    proved = time.perf_counter()
    cost = _cost(loaded.value, subject, findings, facts, proving) if memory else None
    asked_of = asked(findings, asked_for)
    return DocumentReport(
        source=loaded.source,
        kind=subject.kind,
        verdict=verdict_of(asked_of, obligations),
        findings=_with_causes(
            asked_of, Judged(loaded.value, subject, facts, concrete), execution, under
        ),
        slots=slots_of(facts),
        obligations=obligations,
        timings={
            "read": loaded.seconds,
            "parse": parsed - started,
            "check": judged - parsed,
        }
        | ({} if obligations is None else {"prove": proved - judged}),
        memory=cost,
        interrupted=interrupted,
        subject=subject,
        path=loaded.path,
        line=loaded.line,
        origins=loaded.origins,
    )


def _judge_buffers(
    subject: Subject, execution: Execution, asked_for: Judge, under: LoadedSchedule | None
) -> tuple[list[Finding], BufferFacts | None]:
    # The engine's own plans need nothing of it.
    from ferrum_verify.auditing.buffers import judge_buffers  # noqa: PLC0415

    return judge_buffers(subject, execution, asked_for, under)


def _with_causes(
    findings: list[Finding], judged: Judged, execution: Execution, under: LoadedSchedule | None
) -> tuple[Finding, ...]:
    if not has_errors(findings):
        return causes_first(findings)
    # A sound plan has no faults, and its audit need not load what undoes them.
    from ferrum_verify.auditing.causes import with_causes  # noqa: PLC0415

    def again(document: Any) -> Judged | None:
        subject, wire = subject_of(document)
        if subject is None:
            return None
        subject, faults, facts = judge(
            subject, execution, tuple(finding.location for finding in wire), under
        )
        return Judged(document, subject, facts, [*wire, *faults])

    return with_causes(findings, judged, again)


def _cost(
    document: Any,
    subject: Subject,
    findings: list[Finding],
    facts: Expected | None,
    proving: Proving,
) -> SlotsCost | None:
    """What the slots cost; None where that cannot be told, for reasons that findings give."""
    from ferrum_verify.auditing.best_slots import Shared  # noqa: PLC0415 - few ask for it

    try:
        shared = Shared.of(document, subject, findings, facts)
        assert facts is not None
        return shared.cost(facts.execution, lambda largest: largest, limits=proving.limits)
    except DerivationError:
        return None


def _prove(
    document: Any,
    subject: Subject,
    facts: Expected,
    findings: list[Finding],
    proving: Proving,
) -> ProofReport | None:
    # The solver is loaded where proofs run only: it takes longer to import than a concrete audit
    # takes to run.
    from ferrum_verify.auditing.proofs import prove_subject  # noqa: PLC0415

    if subject.problem is not None and subject.memory is not None:
        # What is claimed of a problem is claimed of the plan that is derived from it.
        document = {
            "nodes": document["nodes"],
            "memory": subject.memory.to_wire(),
            "retained_completion_resources": sorted(subject.kept),
        }
    # Of a rule that broke too often for all to be told, not every answer is known.
    judged = judged_places(facts) if len(findings) < MAXIMUM_OF_A_RULE else frozenset()
    return prove_subject(
        subject,
        document,
        findings,
        facts.execution,
        proving,
        ordered=facts.order is not None,
        judged=judged.__contains__,
        under=facts.under,
        scheduled=facts.judged_schedule,
    )


def judge(
    subject: Subject,
    execution: Execution,
    doubts: tuple[str, ...] = (),
    under: LoadedSchedule | None = None,
) -> tuple[Subject, list[Finding], Expected | None]:
    """Run the concrete checks that apply to a subject.

    ``doubts`` are the JSON pointers of wire faults that were read past. Returns the subject (of
    a problem: with the derived memory plan), the findings and what was re-derived.
    """
    findings: list[Finding] = []
    facts: Expected | None = None
    if subject.kind == "problem":
        derived, findings = derive_subject(subject)
        if derived is None:
            return subject, findings, None
        subject = derived
    if subject.kind == "buffer-plan":
        return subject, _judge_buffers(subject, execution, "all", under)[0], None
    if subject.kind == "schedule":
        from ferrum_verify.rules.schedule import check_alone  # noqa: PLC0415 - seldom needed

        return subject, [check_alone()], None
    if subject.kind not in ("program", "catalog", "policy"):
        faults, facts = judge_memory(subject, execution, doubts, under)
        findings += faults
    if subject.kind not in ("problem", "fragment", "memory-plan"):
        findings += _judge_provenance(subject)
    return subject, findings, facts


def _judge_provenance(subject: Subject) -> list[Finding]:
    # Only full plans and their sources need these. A fragment's audit would take 6 times
    # `python -c pass` longer with them, of the 35 that it may take and nearly does.
    from ferrum_verify.rules import (  # noqa: PLC0415
        canonical_form,
        checkpoint,
        contract,
        integrity,
        plan_graph,
        value,
    )

    return [
        finding
        for check in (
            plan_graph.check,
            value.check,
            contract.check,
            checkpoint.check,
            integrity.check,
            canonical_form.check,
        )
        for finding in capped(check(subject))
    ]


def slots_of(facts: Expected | None) -> tuple[SlotReport, ...]:
    """Every slot of several members, with its safety under each execution model."""
    if facts is None:
        return ()
    slots = []
    for group, (_, pool) in facts.pools.items():
        for index, slot in enumerate(pool.step_resource_slots):
            if len(slot.resource_ids) < 2:
                continue
            safety = facts.slot_safety.get((group, index))
            users = {} if facts.order is None else facts.order.users
            # The plans of a fleet have the same names, of which one will do.
            pool_id, members = intern(pool.pool_id), tuple(map(intern, slot.resource_ids))
            # Where a member has no user, nobody can say when it lives.
            if safety is None or not all(users.get(name) for name in slot.resource_ids):
                slots.append(SlotReport(pool_id=pool_id, resource_ids=members))
            else:
                slots.append(
                    SlotReport(
                        pool_id=pool_id,
                        resource_ids=members,
                        in_order=safety.safe("in-order"),
                        fenced=safety.safe("fenced"),
                        concurrent=safety.safe("concurrent"),
                        hazards=safety.unsafe["concurrent"],
                    )
                )
    return tuple(slots)
