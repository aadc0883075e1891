"""Contract rules of provider selection against the catalog: is the record of it true?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import marked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ferrum_verify.documents.catalog import Provider
    from ferrum_verify.documents.execution_plan import PlanHeader
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.findings import Finding

_FORMAT = "docs/format.md, «Execution-plan rules» (selection, against the catalog)"
WEIGHT_FORMAT = Rule(
    id="contract.weight-format-not-accepted",
    summary="A node that binds weights runs on a provider that lists the plan's weight and "
    "quantization formats.",
    why="A kernel reads weights in the formats that it was written for. The engine compiles such a "
    "plan all the same, as its own test runs show, so this is no fault of the plan; but few "
    "loaders convert.",
    fix="Check that the weights are converted while they are loaded, or select a provider that "
    "lists the formats.",
    source=_FORMAT,
    severity="note",
    example=Example("bundle", {"/catalog/providers/operation.embed/0/accepted_weight_formats": []}),
)


def check_formats(
    node: PlanNode, provider: Provider, header: PlanHeader | None, location: str
) -> Iterator[Finding]:
    """Whether the selected provider lists the plan's formats, where the node binds weights."""
    if header is None or all(binding.weight is None for binding in node.values):
        return
    refused = {*header.quantization_formats} - {*provider.accepted_quantization_formats}
    if header.weight_format not in provider.accepted_weight_formats:
        refused.add(header.weight_format)
    if refused:
        yield WEIGHT_FORMAT.finding(
            f"Node `{node.id}` binds weights and runs on `{provider.provider_id}`, which does not "
            f"list {', '.join(marked(sorted(refused)))} among the formats that it accepts.",
            f"{location}/selection/selected_provider",
        )


_NODE = "/plan/payload/nodes/2"
REJECTION = Rule(
    id="contract.rejection-differs",
    summary="What a node says of a rejected provider, registered or not, is what the catalog says.",
    why="The record explains why another kernel runs. One that calls a shipped kernel unknown, or "
    "an unknown one unfit, sends whoever asked for it the wrong way.",
    fix="Compile the plan again against the catalog at hand.",
    source=_FORMAT,
    example=Example(
        "bundle", {f"{_NODE}/selection/rejected_providers/0/reasons": "not_registered"}
    ),
)


def check_rejections(
    node: PlanNode, providers: Mapping[tuple[str, str], object], location: str
) -> Iterator[Finding]:
    """Whether the catalog lists just those rejected providers that the node calls registered.

    ``providers`` has a key for each operation and provider of the catalog.
    """
    for index, rejected in enumerate(node.selection.rejected_providers):
        provider_id = rejected.provider_id
        if provider_id == node.selection.selected_provider:
            continue  # which of the two is meant is in doubt, as the graph rules say
        registered = (node.operation_id, provider_id) in providers
        if registered == (rejected.reasons == "not_registered"):
            said, listed = ("unknown", "lists") if registered else ("unfit", "does not list")
            yield REJECTION.finding(
                f"Node `{node.id}` rejected `{provider_id}` as {said}, but the catalog {listed} it "
                f"for `{node.operation_id}`.",
                f"{location}/selection/rejected_providers/{index}/reasons",
            )
