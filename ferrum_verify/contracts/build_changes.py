"""Builds: what declares the same in HEAD as in BASE, under other fingerprints or versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.contracts.examples import ATTENTION, ZERO, changed
from ferrum_verify.contracts.names import code
from ferrum_verify.findings import Rule, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.findings import Finding

IDENTITY_CHANGED = Rule(
    id="contract.identity-changed",
    summary="What declares the same in HEAD as in BASE has the same fingerprints and versions.",
    why="A plan names the builds that it was compiled with, so the engine refuses it; rebuilt, "
    "it has the same promises.",
    fix="Rebuild the plans that select what changed.",
    source="docs/format.md, «Provider contracts»",
    severity="note",
    example=changed({f"{ATTENTION}/provider_implementation_fingerprint": ZERO}),
)


def identity_change(
    owner: str, fields: Sequence[str], base: object, head: object, place: str
) -> Iterator[Finding]:
    """At most one finding: these fields differ, and nothing that is declared."""
    names = [name.rstrip("_") for name in fields if getattr(base, name) != getattr(head, name)]
    if names:
        verb = "differs" if len(names) == 1 else "differ"
        yield IDENTITY_CHANGED.finding(
            f"{owner} is another build: only its {', '.join(map(code, names))} {verb}.",
            pointer(place, names[0]),
        )
