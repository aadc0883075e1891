"""Graph rules of provider selection: the record of who was asked for, chosen and refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.node import StorageIncompatible
from ferrum_verify.findings import Example, Rule, Swap
from ferrum_verify.findings.wording import marked
from ferrum_verify.rules.ascending import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.node import PlanNode, Selection
    from ferrum_verify.findings import Finding

_FORMAT = "docs/format.md, «Execution-plan rules» (selection)"
_SELECTION = "/plan/payload/nodes/2/selection"
SELECTED_REJECTED = Rule(
    id="graph.selected-rejected",
    summary="The selected provider is none of the rejected ones.",
    why="A provider that was refused as unfit is about to run the node.",
    fix="Select a provider that was not rejected, or drop the rejection.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {
            f"{_SELECTION}/rejected_providers/-": {
                "provider_id": "provider.attention.reference",
                "reasons": "not_registered",
            }
        },
    ),
)
REJECTED_ORDER = Rule(
    id="graph.rejected-order",
    summary="The rejected providers of a node, and the resources of a rejection, ascend, "
    "each once.",
    why="The list is a set; in any other order the same selection has a second hash.",
    fix="Sort the providers by id and the resources by id, each once.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {f"{_SELECTION}/rejected_providers/0": Swap(f"{_SELECTION}/rejected_providers/1")},
    ),
)


def check_node(node: PlanNode, location: str) -> Iterator[Finding]:
    """Findings of the selection of one node that stands at the pointer ``place``."""
    selection = node.selection
    where = f"{location}/selection"
    rejected = [provider.provider_id for provider in selection.rejected_providers]
    if not rejected and selection.requested_provider is None:
        if not _reason_fits(selection, rejected):
            yield _reason(node, selection, where)
        return
    if not _reason_fits(selection, rejected):
        yield _reason(node, selection, where)
    if selection.selected_provider in rejected:
        position = rejected.index(selection.selected_provider)
        yield SELECTED_REJECTED.finding(
            f"Node `{node.id}` runs on `{selection.selected_provider}`, which stands among its "
            "rejected providers.",
            f"{where}/rejected_providers/{position}",
        )
    if (fault := first_fault(rejected)) is not None:
        yield REJECTED_ORDER.finding(
            f"The rejected providers of node `{node.id}` do not strictly ascend: {fault.text}.",
            f"{where}/rejected_providers/{fault.position}",
        )
    yield from _check_rejections(node, where)


REJECTED_RESOURCE = Rule(
    id="graph.rejected-resource",
    summary="A provider is rejected for the storage of resources that the node uses.",
    why="The record explains why another kernel runs. A resource that is not the node's explains "
    "nothing, and whoever wants the faster kernel changes the wrong storage.",
    fix="Name the resources of the node whose storage the provider does not accept.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {
            f"{_SELECTION}/rejected_providers/0/reasons/storage_incompatible/resource_ids": [
                "resource.absent"
            ]
        },
    ),
)


def _check_rejections(node: PlanNode, location: str) -> Iterator[Finding]:
    for position, provider in enumerate(node.selection.rejected_providers):
        reasons = provider.reasons
        if not isinstance(reasons, StorageIncompatible):
            continue
        foreign = sorted({*reasons.resource_ids} - _resources(node))
        if foreign:
            yield REJECTED_RESOURCE.finding(
                f"Node `{node.id}` rejected `{provider.provider_id}` for the storage of "
                f"{', '.join(marked(foreign))}, which it does not use.",
                f"{location}/rejected_providers/{position}/reasons/storage_incompatible/resource_ids",
            )
        elif not reasons.resource_ids:
            yield REJECTED_RESOURCE.finding(
                f"Node `{node.id}` rejected `{provider.provider_id}` for the storage of no "
                "resource.",
                f"{location}/rejected_providers/{position}/reasons/storage_incompatible/resource_ids",
            )
        if (fault := first_fault(reasons.resource_ids)) is not None:
            yield REJECTED_ORDER.finding(
                f"The resources for which node `{node.id}` rejected `{provider.provider_id}` do "
                f"not strictly ascend: {fault.text}.",
                f"{location}/rejected_providers/{position}/reasons/storage_incompatible"
                f"/resource_ids/{fault.position}",
            )


def _resources(node: PlanNode) -> set[str]:
    bound = (each.resource_id for value in node.values for each in value.storage.components)
    return {*node.resources, *bound}


def _reason_fits(selection: Selection, rejected: list[str]) -> bool:
    requested = selection.requested_provider
    match selection.selection_reason:
        case "deterministic_compatible" | "canonical_compatible":
            return requested is None
        case "preferred_compatible":
            return requested == selection.selected_provider
        case "fallback_from_preferred":
            return requested != selection.selected_provider and requested in rejected


REASON = Rule(
    id="graph.selection-reason",
    summary="A node's selection reason fits the provider that was requested.",
    why="The reason says whether a user's preference was honoured. A plan that claims a "
    "preference it did not follow hides that a slower or less exact kernel runs.",
    fix="Where nothing was requested, give `deterministic_compatible` (in schema 8.1 "
    "`canonical_compatible`); where the selected provider was, "
    "`preferred_compatible`; where one was that stands among the rejected, "
    "`fallback_from_preferred`.",
    source=_FORMAT,
    example=Example("bundle", {f"{_SELECTION}/selection_reason": "preferred_compatible"}),
)


def _reason(node: PlanNode, selection: Selection, location: str) -> Finding:
    requested = selection.requested_provider
    if requested is None:
        request = "no provider was requested"
    elif requested == selection.selected_provider:
        request = f"`{requested}` was requested and selected"
    else:
        request = f"`{requested}` was requested and `{selection.selected_provider}` selected"
        if requested not in [each.provider_id for each in selection.rejected_providers]:
            request += ", without a rejection that says why"
    return REASON.finding(
        f"The selection of node `{node.id}` says {selection.selection_reason}, but {request}.",
        f"{location}/selection_reason",
        actual=selection.selection_reason,
    )
