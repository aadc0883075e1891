"""Examples: for each rule a sound sample document, edited just so that the rule is broken."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.findings import Delete, Swap

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    # Each command needs modules that the others do not.
    document = broken_document(example)
    match example.command:
        case "audit":
            from ferrum_verify.auditing.audit import audit  # noqa: PLC0415

            return audit(document, execution=example.execution, prove=prove)
        case "contracts check":
            from ferrum_verify.contracts import check_contracts  # noqa: PLC0415

            return check_contracts(document, prove=prove)
        case "contracts compare":
            from ferrum_verify.contracts import compare_contracts  # noqa: PLC0415

            before, after = sample(example.sample), document
            if example.reverse:
                before, after = after, before
            plans = [before, after] if "plan" in before else []
            return compare_contracts(before, after, plans, prove=prove)


def apply_edits(document: Any, edits: Mapping[str, Any]) -> None:
    """Apply edits in their order: each a JSON pointer and what to put there."""
    for pointer, value in edits.items():
        parent, key = _resolve(document, pointer)
        match value:
            case Delete():
                del parent[key]
            case Swap(other=other):
                other_parent, other_key = _resolve(document, other)
                parent[key], other_parent[other_key] = other_parent[other_key], parent[key]
            case _ if key == "-" and isinstance(parent, list):
                parent.append(deepcopy(value))
            case _:
                parent[key] = deepcopy(value)


def _resolve(document: Any, pointer: str) -> tuple[Any, Any]:
    *steps, last = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    value = document
    for step in steps:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value, int(last) if isinstance(value, list) and last != "-" else last
