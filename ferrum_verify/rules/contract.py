"""Contract rules: what a catalog's providers declare, and a plan that departs from its sources.

The rules stand in one file for each thing that a plan is held to; the family's list in
``catalogue/rules.py`` names them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.plan.resource_rows import ResourceRows
from ferrum_verify.rules import (
    catalog_provenance,
    declarations,
    execution_semantics,
    execution_weights,
    policy_provenance,
    program_names,
    program_provenance,
    workspace,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject


def check(subject: Subject) -> Iterator[Finding]:
    """Findings of all contract rules that the parts at hand allow to judge."""
    rows = None
    if subject.memory is not None:
        rows = ResourceRows(subject.memory, subject.places.memory)
    yield from workspace.check(subject, rows)
    if subject.catalog is not None:
        yield from declarations.check(subject.catalog, subject.places.catalog)
        yield from catalog_provenance.check(subject, subject.catalog, rows)
    if subject.program is not None:
        yield from program_names.check(
            subject.program, subject.places.program, subject.plan_nodes or ()
        )
        yield from program_provenance.check(subject, subject.program, rows)
    yield from execution_semantics.check(subject)
    yield from execution_weights.check(subject)
    if subject.policy is not None:
        yield from policy_provenance.check(subject, subject.policy)
