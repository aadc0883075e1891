"""Limits of the proofs, apart from the solver so that they can be named without loading it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """How long the solver may take, in seconds, and how much memory it may hold, in MiB."""

    obligation_seconds: float = 10.0
    document_seconds: float = 120.0
    memory_mib: int = 1536
