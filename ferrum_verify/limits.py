"""How proofs are run, apart from the solver so that it can be said without loading it."""

from __future__ import annotations

from dataclasses import dataclass

LEAST_MEMORY_MIB = 256
"""Below it the solver's own tables do not fit, and it ends the process."""

MOST_MEMORY_MIB = 2**20
LONGEST_SECONDS = 10_000_000.0
"""The solver counts milliseconds, and no further than that."""


MOST_NUMBERS = 100_000
"""Numbers of a plan, such as dependencies, that one formula speaks of; writing it down for the
solver takes some seconds then, which no limit of the solver's bounds.
"""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the solver may take, in seconds, and how much memory it may hold, in MiB."""

    obligation_seconds: float = 10.0
    document_seconds: float = 120.0
    memory_mib: int = 1536

    def __post_init__(self) -> None:
        """Refuse limits that the solver cannot keep; raises ValueError with a sentence."""
        if not LEAST_MEMORY_MIB <= self.memory_mib <= MOST_MEMORY_MIB:
            raise ValueError(
                f"the solver needs at least {LEAST_MEMORY_MIB} MiB, and takes a limit of at most "
                f"{MOST_MEMORY_MIB:,}"
            )
        for seconds in (self.obligation_seconds, self.document_seconds):
            if not 0 <= seconds <= LONGEST_SECONDS:
                raise ValueError(
                    f"a limit of {seconds:g} s is not between 0 and {LONGEST_SECONDS:,.0f}"
                )
