"""What another run would find again, and need not look for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrum_verify.report.model import Verdict


def is_settled(verdict: Verdict, undecided: int) -> bool:
    """Whether no run finds more than so many ``undecided`` claims: they may need but time."""
    return verdict != "undecided" and not undecided
