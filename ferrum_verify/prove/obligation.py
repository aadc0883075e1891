"""Obligations: what is claimed of one plan, and what a solver made of it.

An obligation is one object: its claim in words, the names it speaks of, the formula of its
violation, how a solver's model becomes a typed counterexample, and the concrete rule that it
mirrors. The claim holds exactly when the violation has no model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Hashable

    import z3

    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.findings import Rule


@dataclass(frozen=True, slots=True)
class Violation:
    """The formula that is satisfiable exactly when the claim is broken.

    ``least`` are bit-vector or integer terms to make as small as possible, the first one
    first, so that a counterexample is the smallest.
    """

    assertions: tuple[z3.BoolRef, ...]
    least: tuple[z3.ExprRef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Obligation:
    """A claim about a plan, and its encoding.

    ``key`` names the formula up to renaming: obligations with equal keys have the same
    violation, which is then decided once. ``witness`` turns the values of the violation's
    ``least`` terms into a counterexample; None where the claim has none of a fixed kind.
    ``message`` is the finding's sentence when the claim is refuted. A ``lemma`` only saves other
    claims from being asked: that it does not hold is no fault of the plan.
    """

    id: str
    claim: str
    names: tuple[str, ...]
    logic: str
    rule: Rule
    location: str
    key: Hashable
    violation: Callable[[], Violation]
    message: Callable[[Counterexample | None], str]
    witness: Callable[[tuple[int, ...]], Counterexample | None] = lambda _: None
    lemma: bool = False


@dataclass(frozen=True, slots=True)
class Proved:
    """The violation has no model: the claim holds for everything it speaks of."""


@dataclass(frozen=True, slots=True)
class Refuted:
    """The violation has a model; ``values`` are its least terms' values."""

    values: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Undecided:
    """The solver gave no answer; ``reason`` says why, and what would settle it."""

    reason: str


Outcome: TypeAlias = Proved | Refuted | Undecided

if TYPE_CHECKING:
    Claims: TypeAlias = Generator[Obligation, Outcome, None]
    """A source of obligations. It is sent the outcome of each before it gives the next, so
    that what a proof makes unnecessary is never asked, and what a refutation opens up is."""
