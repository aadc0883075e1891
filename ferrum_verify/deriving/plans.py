"""Deriving: what the engine would make of a document, or every reason why it would refuse."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.checks import derive_subject, has_errors, judge_memory
from ferrum_verify.auditing.garbage_collection import collection_paused
from ferrum_verify.derive.bindings import BindingLayout, binding_pools, compile_layouts
from ferrum_verify.findings.errors import DerivationError, DocumentError, summarise
from ferrum_verify.reading.load import from_memory, read_documents
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.rules import binding
from ferrum_verify.rules.expected import Expected

if TYPE_CHECKING:
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject


def read_one(document: dict[str, Any] | str | os.PathLike[str]) -> Any:
    """The JSON of one parsed document, or of the only document at a path.

    Raises DocumentError where it cannot be read, or there is more than one.
    """
    if isinstance(document, str | os.PathLike):
        loaded = list(read_documents(document))
        if len(loaded) != 1:
            raise DocumentError(f"{os.fspath(document)} holds {len(loaded):,} documents, not one")
    else:
        loaded = [from_memory(document)]
    if loaded[0].findings:
        raise DocumentError(summarise(loaded[0].findings), loaded[0].findings)
    return loaded[0].value


def read_subject(
    document: dict[str, Any] | str | os.PathLike[str],
) -> tuple[Subject, list[Finding]]:
    """The subject of one parsed document, or of the only document at a path.

    Raises DocumentError where there is no document of a known kind, or more than one.
    """
    subject, findings = subject_of(read_one(document))
    if subject is None:
        raise DocumentError(summarise(findings), findings)
    return subject, findings


@collection_paused()
def derive_memory_plan(document: dict[str, Any] | str | os.PathLike[str]) -> MemoryPlan:
    """The memory plan that the engine derives from a planning problem.

    ``document`` is parsed JSON or the path of a document. ``to_wire()`` of the result is the
    engine's JSON. Raises DerivationError, with every fault in ``findings``, where the engine
    would refuse; DocumentError where a path holds no document at all.
    """
    subject, findings = _read(document)
    return _derived(subject, findings)[1]


@collection_paused()
def compile_program_bindings(
    document: dict[str, Any] | str | os.PathLike[str],
) -> list[BindingLayout]:
    """The program-binding layouts of a planning problem or a plan, by bucket id.

    Empty without binding descriptors or without a reusable policy. Raises as
    ``derive_memory_plan`` does.
    """
    subject, findings = _read(document)
    if subject.kind == "problem":
        facts = Expected(*_derived(subject, findings), "fenced")
        findings = []
    else:
        if subject.kind == "buffer-plan":
            raise DerivationError("a buffer-plan is of another planner, and has no bindings")
        if subject.nodes is None and not findings:
            raise DerivationError(f"a {subject.kind} has no nodes that bindings could belong to")
        faults, judged = judge_memory(subject, "fenced")
        findings += faults
        if judged is None:
            raise DerivationError(
                summarise(findings) if findings else f"a {subject.kind} has no memory plan",
                findings,
            )
        facts = judged
    findings = [f for f in findings if f.family != "binding"] + list(binding.refusals(facts))
    refusals = [f for f in findings if f.severity == "error" or f.family == "binding"]
    if refusals:
        raise DerivationError(summarise(refusals), refusals)
    pools = binding_pools(facts.memory)
    if not pools or facts.order is None:
        return []
    return compile_layouts(pools[0], facts.memory, facts.order)


def _read(document: dict[str, Any] | str | os.PathLike[str]) -> tuple[Subject, list[Finding]]:
    try:
        return read_subject(document)
    except DocumentError as error:
        if isinstance(document, str | os.PathLike):
            raise
        # A value at hand that is no document is one more thing that the engine would refuse.
        raise DerivationError(str(error), error.findings) from None


def _derived(subject: Subject, findings: list[Finding]) -> tuple[Subject, MemoryPlan]:
    if subject.kind != "problem":
        has_slots = subject.memory is not None
        said = "; `audit DOC --format json` has the slots that the engine derives in `expected`"
        raise DerivationError(f"a {subject.kind} is no planning problem{said if has_slots else ''}")
    derived, faults = derive_subject(subject)
    findings += faults
    if derived is None or derived.memory is None or has_errors(findings):
        raise DerivationError(summarise(findings), findings)
    return derived, derived.memory
