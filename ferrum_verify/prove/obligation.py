"""Obligations: what is claimed of one plan, and what a solver made of it.

An obligation is one object: its claim in words, the names it speaks of, its formula, how a
solver's model becomes a typed counterexample, and the concrete rule that it mirrors. The formula
says apart what is given and what is the goal. The claim holds exactly when nothing meets what
is given and misses the goal; where nothing meets what is given at all, it says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypeVarTuple

import z3

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.findings import Rule

Arguments = TypeVarTuple("Arguments")


@dataclass(frozen=True, slots=True)
class Statement:
    """Whatever meets all of ``given`` meets the ``goal``, in one of SMT-LIB's logics.

    ``least`` are bit-vector or integer terms to make as small as possible, the first one
    first, so that a counterexample is the smallest. ``example`` are values of constants at which
    all that is given is met, where they are known; they are checked, never believed.
    """

    logic: str
    goal: z3.BoolRef
    given: tuple[z3.BoolRef, ...] = ()
    least: tuple[z3.ExprRef, ...] = ()
    example: tuple[tuple[z3.ExprRef, z3.ExprRef], ...] = ()

    @property
    def violation(self) -> tuple[z3.BoolRef, ...]:
        """The assertions that have a model exactly when the claim is broken."""
        denied = self.goal.arg(0) if z3.is_not(self.goal) else z3.Not(self.goal)
        return (*self.given, denied)


@dataclass(frozen=True, slots=True)
class Formula:
    """A statement, by the function that encodes it and all that this function is given.

    Equal formulas are decided once: claims that differ in names alone have equal ones. No other
    key could fall out of step with the encoding, as ``formula`` takes functions that see nothing
    but their arguments.
    """

    encode: Callable[..., Statement]
    arguments: tuple[Hashable, ...]

    def statement(self) -> Statement:
        """Encode it."""
        return self.encode(*self.arguments)


def formula(encode: Callable[[*Arguments], Statement], *arguments: *Arguments) -> Formula:
    """The formula that a function of a module makes of its arguments.

    Raises TypeError for a function that closes over anything, and (when the formula is first
    looked up) for an argument that could change.
    """
    if encode.__closure__ is not None:
        raise TypeError(f"{encode.__qualname__} sees more than its arguments")
    return Formula(encode, arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class Obligation:
    """A claim about a plan, and its formula.

    ``witness`` turns the values of the statement's ``least`` terms into a counterexample; None
    where the claim has none of a fixed kind. ``message`` is the finding's sentence when the claim
    is refuted. ``told_by`` are other rules whose finding speaks of the same fault, each with what
    such a finding is about. A ``lemma`` only saves other claims from being asked: that it does
    not hold is no fault of the plan.
    """

    id: str
    claim: str
    names: tuple[str, ...]
    rule: Rule
    location: str
    formula: Formula
    message: str | Callable[[Counterexample | None], str] = ""
    witness: Callable[[tuple[int, ...]], Counterexample | None] = lambda _: None
    told_by: tuple[tuple[Rule, tuple[str, ...]], ...] = ()
    lemma: bool = False

    def says(self, found: Counterexample | None) -> str:
        """The sentence of the finding, which may speak of the counterexample that was found."""
        return self.message if isinstance(self.message, str) else self.message(found)


@dataclass(frozen=True, slots=True)
class Proved:
    """What is given can be met, and whatever meets it meets the goal."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """Something meets what is given and misses the goal; ``values`` are its least terms'."""

    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Vacuous:
    """Nothing meets what is given: the claim is about nothing, and neither proved nor broken."""


@dataclass(frozen=True, slots=True)
class Undecided:
    """The solver gave no answer; ``reason`` says why, and what would settle it."""

    reason: str


Outcome: TypeAlias = Proved | Refuted | Vacuous | Undecided

if TYPE_CHECKING:
    Claims: TypeAlias = Generator[Obligation, Outcome, None]
    """A source of obligations. It is sent the outcome of each before it gives the next, so
    that what a proof makes unnecessary is never asked, and what a refutation opens up is."""
