"""Auditing with proofs: the solver's answers beside those of the concrete checks.

The two paths share the document and nothing else. Where both speak they must agree; where
they do, a refuted claim's counterexample is shown with the concrete finding of the same fault.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, combinations
from typing import TYPE_CHECKING, Any

from ferrum_verify.counterexamples import SpanCounterexample
from ferrum_verify.derive.checkpoint import derive_checkpoint
from ferrum_verify.findings.wording import plural
from ferrum_verify.prove import second_opinion
from ferrum_verify.prove.claims import claims_of, plan_of
from ferrum_verify.prove.export import second_opinions, write_obligations
from ferrum_verify.prove.obligation import Proved, Refuted, Undecided, Vacuous
from ferrum_verify.prove.prover import prove
from ferrum_verify.report.model import Obligations
from ferrum_verify.report.shown import gate
from ferrum_verify.rules import buffer_lives, buffer_places
from ferrum_verify.rules.accesses import OVERWRITTEN, RACE, RESOURCE_RACE
from ferrum_verify.rules.liveness import ROWS_OVERLAP
from ferrum_verify.rules.proof import DISAGREEMENT, UNDECIDED, VACUOUS
from ferrum_verify.rules.slot import SHARED_WHILE_LIVE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ferrum_verify.counterexamples import Counterexample, Execution
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.scheduled import ScheduledPlan
    from ferrum_verify.prove.obligation import Claims, Obligation
    from ferrum_verify.prove.prover import Proof, Verdict
    from ferrum_verify.prove.proving import Proving
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.schedules import LoadedSchedule
    from ferrum_verify.report.shown import Gate

OF_BUFFERS = frozenset(
    rule.id
    for rule in (
        *(buffer_places.OUT_OF_ARENA, buffer_places.OUTSIDE_ALIAS, buffer_places.MISALIGNED),
        *(buffer_places.PARTIAL_OVERLAP, buffer_lives.SHARED_WHILE_LIVE, buffer_lives.RACE),
        *(buffer_lives.OVERWRITTEN, buffer_lives.READ_BEFORE_WRITE),
    )
)
"""Those of other planners' plans, whose bytes are judged one by one as well."""

ORDER_RULES = OF_BUFFERS | frozenset(
    rule.id for rule in (SHARED_WHILE_LIVE, ROWS_OVERLAP, OVERWRITTEN, RACE, RESOURCE_RACE)
)
"""Rules that the concrete path judges pair by pair, exactly as the proofs do."""


@dataclass(frozen=True, slots=True)
class ProofReport:
    """The findings of an audit with the proofs' share in them, and how many claims there were."""

    findings: tuple[Finding, ...]
    obligations: Obligations
    interrupted: bool


def prove_subject(
    subject: Subject,
    document: Any,
    findings: Sequence[Finding],
    execution: Execution,
    proving: Proving,
    *,
    ordered: bool,
    judged: Callable[[str], bool],
    under: LoadedSchedule | None = None,
    scheduled: ScheduledPlan | None = None,
    observe: Callable[[Obligation], None] = lambda _: None,
) -> ProofReport | None:
    """Discharge the claims about a subject, and merge what they show into the findings.

    ``document`` is the JSON that counterexamples are checked against; ``ordered`` says whether
    the order of the nodes is sound, ``judged`` of the place of a slot, or of a pool's rows,
    whether the concrete path judged all that share bytes there. ``under`` a schedule, order is
    claimed of the plan as it is ``scheduled``.
    None for a document about which nothing is claimed. Raises OSError where the folder of
    ``proving.smt2`` cannot be written.
    """
    plan = plan_of(
        subject,
        execution,
        ordered=ordered,
        under_schedule=under is not None,
        scheduled=scheduled,
    )
    if plan is None:
        return None

    # Each gate takes its document apart once, for all counterexamples.
    of_document = gate(document, execution, under and under.value)

    @cache
    def of_checkpoint() -> Gate:
        return gate(_with_checkpoint(subject, document), execution)

    def accepts(found: Counterexample) -> bool:
        return (of_checkpoint() if isinstance(found, SpanCounterexample) else of_document)(found)

    return proved(
        claims_of(plan), findings, proving, accepts=accepts, judged=judged, observe=observe
    )


def proved(
    claims: Iterable[Claims],
    findings: Sequence[Finding],
    proving: Proving,
    *,
    accepts: Gate,
    judged: Callable[[str], bool],
    observe: Callable[[Obligation], None] = lambda _: None,
) -> ProofReport:
    """Discharge claims, and merge what they show into the findings.

    ``judged`` is as in ``prove_subject``, and ``accepts`` the independent check of
    counterexamples. Raises OSError where the folder of ``proving.smt2`` cannot be written.
    """
    proof = prove(claims, proving.limits, accepts, observe, proving.answers)
    if proving.smt2 is not None:
        write_obligations(proof.verdicts, proving.smt2)
    outcomes = Counter(type(verdict.outcome) for verdict in proof.claims)
    return ProofReport(
        findings=(
            *_merge(findings, proof, judged=judged),
            *(_second_opinions(proof, proving) if proving.second_opinion else ()),
        ),
        obligations=Obligations(
            proved=outcomes[Proved],
            refuted=outcomes[Refuted],
            undecided=outcomes[Undecided],
            vacuous=outcomes[Vacuous],
            formulas=proof.formulas,
        ),
        interrupted=proof.interrupted,
    )


def _with_checkpoint(subject: Subject, document: Any) -> Any:
    """The document with the checkpoint that was derived, which claims of spans put to the test."""
    program, catalog, memory = subject.program, subject.catalog, subject.memory
    if program is None or catalog is None or memory is None or subject.plan_nodes is None:
        return document
    derived = derive_checkpoint(
        program, subject.plan_nodes, memory.dynamic_descriptors, catalog.providers
    )
    if derived.refusals:
        return document
    return {**document, "checkpoint": derived.checkpoint.to_wire()}


def _merge(
    findings: Sequence[Finding], proof: Proof, *, judged: Callable[[str], bool]
) -> tuple[Finding, ...]:
    merged = list(findings)
    known = _Known(findings)
    # Whether the concrete path found anything at all: only a plan that it called clean can be
    # contradicted by a refuted claim that it has no rule of the same grain for.
    clean = not any(finding.severity == "error" for finding in findings)
    for verdict in proof.of(Refuted):
        found = known.same_fault(verdict.obligation)
        if found is not None:
            if merged[found].counterexample is None:
                merged[found] = replace(merged[found], counterexample=verdict.counterexample)
            continue
        if clean or _is_judged(verdict.obligation, judged):
            merged.append(_disagreement(verdict, "refuted", "finds nothing wrong"))
        else:
            merged.append(_finding(verdict))
        known.add(merged[-1])
    merged += _contradicted(findings, proof, judged)
    merged += [*_vacuous(proof), *_open(proof)]
    return tuple(merged)


class _Known:
    """The findings of a report by what they are about, as there may be many thousands of them."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._about: dict[tuple[str, str], list[tuple[int, frozenset[str]]]] = {}
        self._exactly: dict[tuple[str, frozenset[str]], int] = {}
        self._within: dict[tuple[str, str], int] = {}
        self._size = 0
        for finding in findings:
            self.add(finding)

    def add(self, finding: Finding) -> None:
        """One more finding of the report."""
        index, self._size = self._size, self._size + 1
        if not finding.about:
            place = finding.location
            self._within.setdefault((finding.rule, place), index)
            while place:
                place = place.rpartition("/")[0]
                self._within.setdefault((finding.rule, place), index)
            return
        about = frozenset(finding.about)
        if self._exactly.setdefault((finding.rule, about), index) == index:
            least = min(about)
            self._about.setdefault((finding.rule, least), []).append((index, about))

    def same_fault(self, obligation: Obligation) -> int | None:
        """The place of the first finding of the fault that a refuted claim speaks of."""
        told = {obligation.rule.id: frozenset(obligation.names)}
        told |= {rule.id: frozenset(names) for rule, names in obligation.told_by}
        found = [
            index
            for rule, names in told.items()
            # A rule of one finding a place, such as a plan's capacity, is found by its place.
            if (index := self._within.get((rule, obligation.location))) is not None
        ]
        for rule, names in told.items():
            if len(names) <= 4:
                subsets = chain.from_iterable(
                    combinations(names, size) for size in range(1, len(names) + 1)
                )
                places = (self._exactly.get((rule, frozenset(each))) for each in subsets)
                found += [index for index in places if index is not None]
            else:
                found += [
                    index
                    for name in names
                    for index, about in self._about.get((rule, name), ())
                    if about <= names
                ]
        return min(found, default=None)


def _finding(verdict: Verdict) -> Finding:
    obligation = verdict.obligation
    finding = obligation.rule.finding(
        obligation.says(verdict.counterexample),
        obligation.location,
        counterexample=verdict.counterexample,
        about=obligation.names,
    )
    # Whatever its rule judges, a claim that is refuted is one about bytes and schedules.
    return replace(finding, judgment="safety")


def _is_judged(obligation: Obligation, judged: Callable[[str], bool]) -> bool:
    """Whether the concrete path has answered the same question."""
    return obligation.rule.id in ORDER_RULES and judged(obligation.location)


def _contradicted(
    findings: Sequence[Finding], proof: Proof, judged: Callable[[str], bool]
) -> list[Finding]:
    """Concrete findings of order whose claim the solver proved."""
    proved = {
        (verdict.obligation.rule.id, frozenset(verdict.obligation.names)): verdict
        for verdict in proof.of(Proved)
        if _is_judged(verdict.obligation, judged)
    }
    return [
        _disagreement(proved[key], "proved", f"says: {finding.message}")
        for finding in findings
        if (key := (finding.rule, frozenset(finding.about))) in proved
    ]


def _second_opinions(proof: Proof, proving: Proving) -> list[Finding]:
    """Where cvc5 contradicts, or cannot be asked."""
    if not second_opinion.available():
        return [UNDECIDED.finding(f"There is no second opinion: {second_opinion.MISSING}")]
    asked = list(second_opinions(proof.verdicts, proving.limits.obligation_seconds))
    findings = [
        DISAGREEMENT.finding(
            f"z3 and cvc5 contradict each other about the claim “{opinion.obligation.claim}”; "
            "please report this plan",
            opinion.obligation.location,
        )
        for opinion in asked
        if opinion.contradicts
    ]
    silent = [opinion for opinion in asked if opinion.decision.answer == "unknown"]
    if silent:
        first = silent[0]
        findings.append(
            UNDECIDED.finding(
                f"cvc5 gave no answer about {len(silent):,} of {len(asked):,} formulas, such as "
                f"“{first.obligation.claim}”: {first.decision.reason}",
                first.obligation.location,
            )
        )
    return findings


def _disagreement(verdict: Verdict, answer: str, concrete: str) -> Finding:
    obligation = verdict.obligation
    return DISAGREEMENT.finding(
        f"the solver {answer} the claim “{obligation.claim}”, but the check "
        f"{obligation.rule.id} {concrete}; please report this plan",
        obligation.location,
        counterexample=verdict.counterexample,
        about=obligation.names,
    )


def _vacuous(proof: Proof) -> Iterator[Finding]:
    """One note for the vacuous claims about the same names: their one cause is there."""
    alike: dict[tuple[str, ...], list[Obligation]] = {}
    for verdict in proof.of(Vacuous):
        alike.setdefault(verdict.obligation.names, []).append(verdict.obligation)
    for names, claims in alike.items():
        said = ", ".join(f"“{claim.claim}”" for claim in claims)
        yield VACUOUS.finding(
            f"{plural(len(claims), 'claim')} vacuous, as nothing meets what is assumed: {said}",
            claims[0].location,
            about=names,
        )


def _open(proof: Proof) -> list[Finding]:
    """One finding for each reason why claims stay open, with a claim as the example."""
    undecided = [
        (verdict.obligation, verdict.outcome.reason)
        for verdict in proof.claims
        if isinstance(verdict.outcome, Undecided)
    ]
    counts = Counter(reason for _, reason in undecided)
    findings = []
    for reason, count in counts.items():
        example = next(obligation for obligation, why in undecided if why == reason)
        findings.append(
            UNDECIDED.finding(
                f"{count:,} claim{'s' if count > 1 else ''} undecided, such as "
                f"“{example.claim}”: {reason}",
                example.location,
            )
        )
    if proof.interrupted:
        findings.append(
            UNDECIDED.finding(
                "the proofs were interrupted; what they had decided until then is counted"
            )
        )
    if proof.expired:
        findings.append(
            UNDECIDED.finding(
                "the document's limit was used up before every claim was asked; raise it with "
                "--proof-limit"
            )
        )
    return findings
