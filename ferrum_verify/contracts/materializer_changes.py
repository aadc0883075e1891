"""What changes between two catalogs for who makes weights: the materializers of plan schema 8.1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.contracts.build_changes import identity_change
from ferrum_verify.contracts.compatible import change
from ferrum_verify.contracts.names import code
from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.rules.execution_weights import materializers_of

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

    A catalog without the member has the identity alone, of a build that it does not say. HEAD
    stands at the pointer ``place`` of its document.
    """
    before, after = materializers_of(base), materializers_of(head)
    assumed = None in (base.weight_materializers, head.weight_materializers)
    stated = head.weight_materializers is not None
    at = pointer(place, "weight_materializers") if stated else place
    for name, was in before.items():
        owner, where = f"weight materializer {code(name)}", pointer(at, name) if stated else at
        now = after.get(name)
        if now is None:
            yield MATERIALIZER_REMOVED.finding(
                f"the {owner} is gone.", at, about=(name, "materializer")
            )
        elif was.fidelity != now.fidelity:
            yield change(
                FIDELITY_LOST if was.fidelity == "exact" else "materializer-exact",
                f"{owner} is {now.fidelity} and was {was.fidelity}.",
                pointer(where, "fidelity") if stated else at,
                expected=was.fidelity,
                actual=now.fidelity,
            )
        elif not assumed:
            yield from identity_change(owner, _BUILD, was, now, where)
    for name in after:
        if name not in before:
            yield change(
                "provider-added",
                f"the weight materializer {code(name)} is new.",
                pointer(at, name),
            )
