"""The prover: puts a plan's claims to the solver, and says what came of each."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import AccessCounterexample, ScheduleCounterexample
from ferrum_verify.prove.answers import Answers
from ferrum_verify.prove.obligation import Obligation, Outcome, Refuted, Undecided
from ferrum_verify.prove.solving import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.limits import Limits
    from ferrum_verify.prove.obligation import Claims


MOST_NODES = 500_000
"""Nodes that the counterexamples of one document list in all; of more, none would be looked at.

A refuted claim beyond is counted, and checked as the others are.
"""


@dataclass(frozen=True, slots=True)
class Verdict:
    """An obligation with its outcome, and the checked counterexample if it is refuted."""

    obligation: Obligation
    outcome: Outcome
    counterexample: Counterexample | None = None


@dataclass
class Proof:
    """What was claimed of a plan, and what the solver made of it.

    Lemmas are no claims: they only save others from being asked. ``formulas`` counts what was put
    to the solver, lemmas included. ``expired`` says that the document's limit was used up before
    every claim was asked.
    """

    verdicts: list[Verdict] = field(default_factory=list)
    interrupted: bool = False
    expired: bool = False
    formulas: int = 0
    _nodes: int = 0

    def kept(self, found: Counterexample | None) -> Counterexample | None:
        """The counterexample, while those that are kept list no more than ``MOST_NODES``."""
        if isinstance(found, ScheduleCounterexample | AccessCounterexample):
            self._nodes += len(found.nodes)
            if self._nodes > MOST_NODES:
                return None
        return found

    @property
    def claims(self) -> Iterator[Verdict]:
        """The verdicts on claims about the plan."""
        return (verdict for verdict in self.verdicts if not verdict.obligation.lemma)

    def of(self, outcome: type[Outcome]) -> list[Verdict]:
        """The claims with an outcome of this kind."""
        return [verdict for verdict in self.claims if isinstance(verdict.outcome, outcome)]


def prove(
    sources: Iterable[Claims],
    limits: Limits,
    accepts: Callable[[Counterexample], bool],
    observe: Callable[[Obligation], None] = lambda _: None,
    answers: Answers | None = None,
) -> Proof:
    """Discharge every claim of every source.

    ``accepts`` is an independent check of counterexamples: one that it refuses is not shown.
    ``observe`` sees each obligation as it is asked. ``answers`` are known of other documents. An
    interruption ends the run; what was done until then is kept.
    """
    proof = Proof()
    session = Session(limits, answers=answers or Answers())
    try:
        for source in sources:
            _discharge(source, session, proof, accepts, observe)
            if proof.expired:
                break
    except KeyboardInterrupt:
        proof.interrupted = True
    proof.formulas = session.formulas
    return proof


def _discharge(
    source: Claims,
    session: Session,
    proof: Proof,
    accepts: Callable[[Counterexample], bool],
    observe: Callable[[Obligation], None],
) -> None:
    try:
        obligation = next(source)
        while True:
            observe(obligation)
            outcome = session.decide(obligation)
            found = None
            if isinstance(outcome, Refuted) and not obligation.lemma:
                found = obligation.witness(outcome.values)
                if found is not None and not accepts(found):
                    outcome = Undecided(
                        "the solver says that the claim is broken, but an independent check "
                        "refuses its counterexample; please report this plan"
                    )
                    found = None
            proof.verdicts.append(Verdict(session.shared(obligation), outcome, proof.kept(found)))
            if session.expired:
                # What is left of the source would be undecided too, claim by claim.
                proof.expired = True
                return
            obligation = source.send(outcome)
    except StopIteration:
        return
