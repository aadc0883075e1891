"""Examples: for each rule a sound sample document, edited just so that the rule is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.contracts import check_contracts, compare_contracts

if TYPE_CHECKING:
    from ferrum_verify.findings import Example
    from ferrum_verify.report.model import Report


def broken_document(example: Example) -> Any:
    """The document that breaks the rule which the example belongs to."""
    document = sample(example.sample)
    apply_edits(document, example.edits)
    if example.rehash:
        restamp(document, keep=example.edits)
    return document


def report_of(example: Example, *, prove: bool = False) -> Report:
    """What the example's command says of the document that breaks the rule."""
    document = broken_document(example)
    match example.command:
        case "audit" if example.sample == "schedule":
            return audit(sample("fragment"), schedule=document, prove=prove)
        case "audit":
            return audit(document, execution=example.execution, prove=prove)
        case "contracts check":
            return check_contracts(document, prove=prove)
        case "contracts compare":
            before, after = sample(example.sample), document
            if example.reverse:
                before, after = after, before
            plans = [before, after] if "plan" in before else []
            return compare_contracts(before, after, plans, prove=prove)
