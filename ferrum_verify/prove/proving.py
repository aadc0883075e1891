"""How the claims about a document are put to solvers, said without loading one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ferrum_verify.limits import Limits

if TYPE_CHECKING:
    from pathlib import Path

    from ferrum_verify.prove.answers import Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Proving:
    """How the claims about a document are put to solvers.

    ``smt2`` is a folder that each obligation is written to as SMT-LIB 2; ``second_opinion``
    asks cvc5 too, where it is installed. ``answers`` are what the solver said of the formulas of
    other documents; None where nothing is shared with them.
    """

    limits: Limits = field(default_factory=Limits)
    smt2: Path | None = None
    second_opinion: bool = False
    answers: Answers | None = None
