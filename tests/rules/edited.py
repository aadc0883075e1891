"""The rules that an edited sample breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue.examples import broken_document
from ferrum_verify.findings import Example

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding

NODES = "/plan/payload/nodes"
MEMORY = "/plan/payload/memory"


def edited(edits: dict[str, Any], *, sample: str = "bundle", rehash: bool = True) -> Any:
    """A sample with some members replaced, and all fingerprints that were not recomputed."""
    return broken_document(Example(sample, edits, rehash=rehash))


def faults(document: Any) -> list[Finding]:
    """The errors and warnings of a document."""
    return [f for f in audit(document, prove=False).findings if f.severity != "note"]


def broken(
    edits: dict[str, Any], *, sample: str = "bundle", rehash: bool = True
) -> list[tuple[str, str]]:
    """Rule and location of every error and warning that some edits cause, in no order."""
    document = edited(edits, sample=sample, rehash=rehash)
    return sorted((finding.rule, finding.location) for finding in faults(document))


def rules(edits: dict[str, Any], *, sample: str = "bundle", rehash: bool = True) -> set[str]:
    """The rules that some edits break."""
    return {rule for rule, _ in broken(edits, sample=sample, rehash=rehash)}
