"""What changes between two catalogs for who makes weights: the materializers of plan schema 8.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.contracts.build_changes import identity_change
from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.names import code
from ferrum_verify.findings import DELETE, Example, Rule, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.findings import Finding

_SOURCE = "docs/format.md, «Plan schema 8.1» (execution weights)"
_BUILD = (
    "version",
    "implementation_fingerprint",
    "required_capabilities",
    "approximate_quality_contract",
)
_PACKING = "/weight_materializers/weight-materializer.packing"

MATERIALIZER_REMOVED = Rule(
    id="contract.materializer-removed",
    summary="HEAD has each weight materializer that BASE has.",
    why="A plan names who makes its weights; without it the engine cannot load them.",
    fix="Keep the materializer until no plan names it.",
    source=_SOURCE,
    example=Example("catalog-8.1", {_PACKING: DELETE}, command="contracts compare"),
)
FIDELITY_LOST = Rule(
    id="contract.materializer-approximate",
    summary="A weight materializer that is exact in BASE is so in HEAD.",
    why="The weights are no longer the model's, and no plan of BASE approved of others.",
    fix="Offer the approximation as a materializer of its own.",
    source=_SOURCE,
    example=Example(
        "catalog-8.1",
        {f"{_PACKING}/fidelity": "exact", f"{_PACKING}/approximate_quality_contract": DELETE},
        command="contracts compare",
        reverse=True,
    ),
)


def materializer_changes(
    base: CapabilityCatalog, head: CapabilityCatalog, place: str
) -> Iterator[Finding]:
    """Findings of materializers that go, come, are less exact than they were, or built anew.

    A catalog without the member has the identity alone, which nothing removes.
    """
    if base.weight_materializers is None or head.weight_materializers is None:
        return
    for name, was in base.weight_materializers.items():
        owner, where = f"weight materializer {code(name)}", pointer(place, name)
        now = head.weight_materializers.get(name)
        if now is None:
            yield MATERIALIZER_REMOVED.finding(
                f"the {owner} is gone.", place, about=(name, "materializer")
            )
            continue
        if was.fidelity != now.fidelity:
            yield change(
                FIDELITY_LOST if was.fidelity == "exact" else "materializer-exact",
                f"{owner} is {now.fidelity} and was {was.fidelity}.",
                pointer(where, "fidelity"),
                expected=was.fidelity,
                actual=now.fidelity,
            )
        else:
            yield from identity_change(owner, _BUILD, was, now, where)
    for name in head.weight_materializers:
        if name not in base.weight_materializers:
            yield change(
                "provider-added",
                f"the weight materializer {code(name)} is new.",
                pointer(place, name),
            )
