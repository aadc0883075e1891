"""Findings that are left out of a report's own: what a baseline knows, and ignored rules."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.findings import Finding

HiddenBy = Literal["baseline", "ignored"]
"""Why a finding is hidden: a baseline knows it, or its rule is ignored."""

HIDDEN_AS: dict[HiddenBy, str] = {"baseline": "known", "ignored": "ignored"}
"""What a hidden finding is called beside a verdict."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """A finding that is left out of a document's own, by what, and the reason that was given."""

    finding: Finding
    by: HiddenBy
    reason: str

    def to_wire(self) -> dict[str, Any]:
        """The finding as JSON, with why it is hidden."""
        return self.finding.to_wire() | {"hidden_by": self.by, "reason": self.reason}


def hidden_words(hidden: Sequence[Hidden]) -> str:
    """How many findings are hidden, as it follows a verdict: " (1 known, 2 ignored)"."""
    counts = Counter(HIDDEN_AS[each.by] for each in hidden)
    return f" ({', '.join(f'{count:,} {name}' for name, count in counts.items())})" * bool(counts)
