"""Contract rules of a provider's estimate on its own: whose it is, and what it may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule
from ferrum_verify.plan.sizes import is_power_of_two

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.node import PlanNode, WorkspaceEstimate
    from ferrum_verify.findings import Finding

_FORMAT = "docs/format.md, «Workspace estimates»"
_ESTIMATE = "/plan/payload/nodes/2/provider_resources"
OTHER_PROVIDER = Rule(
    id="contract.estimate-of-other-provider",
    summary="A node's estimate was given by its selected provider.",
    why="Each kernel needs its own workspace: with another one's estimate it may write past the "
    "end of what it was given.",
    fix="Ask the selected provider for the estimate.",
    source=_FORMAT,
    example=Example("bundle", {f"{_ESTIMATE}/provider_id": "provider.other"}),
)
ESTIMATE_ALIGNMENT = Rule(
    id="contract.estimate-alignment",
    summary="An alignment in an estimate is a power of two.",
    why="No allocator can place bytes at such an alignment, and kernels mask addresses with it.",
    fix="Have the provider ask for a power of two.",
    source=_FORMAT,
    example=Example("bundle", {f"{_ESTIMATE}/value_alignment_bytes": 48}),
)
SCOPE = Rule(
    id="contract.workspace-scope",
    summary="An estimate asks for each workspace in a scope that it can have.",
    why="Scratch and binding bytes live for one invocation and are handed on after it; a "
    "provider that counts on them for longer reads another node's bytes.",
    fix="Ask for scratch and binding with scope `invocation`, for persistent bytes with `plan`, "
    "`request`, `sequence` or `step`.",
    source=_FORMAT,
    example=Example("bundle", {f"{_ESTIMATE}/binding/scope": "step"}),
)


def check_node(node: PlanNode, location: str) -> Iterator[Finding]:
    """Findings of the estimate of one node that stands at the pointer ``place``."""
    estimate = node.provider_resources
    location += "/provider_resources"
    if estimate.provider_id != node.selection.selected_provider:
        yield OTHER_PROVIDER.finding(
            f"Node `{node.id}` runs on `{node.selection.selected_provider}`, but its estimate is "
            f"that of `{estimate.provider_id}`.",
            f"{location}/provider_id",
            expected=node.selection.selected_provider,
            actual=estimate.provider_id,
        )
    if not is_power_of_two(estimate.value_alignment_bytes):
        yield ESTIMATE_ALIGNMENT.finding(
            f"Provider `{estimate.provider_id}` wants the values of node `{node.id}` aligned to "
            f"{estimate.value_alignment_bytes:,} bytes, which is no power of two.",
            f"{location}/value_alignment_bytes",
            actual=estimate.value_alignment_bytes,
        )
    for part, workspace in parts(node):
        if workspace is None:
            continue
        if not is_power_of_two(workspace.alignment_bytes):
            yield ESTIMATE_ALIGNMENT.finding(
                f"Provider `{estimate.provider_id}` wants the {part} workspace of node `{node.id}` "
                f"aligned to {workspace.alignment_bytes:,} bytes, which is no power of two.",
                f"{location}/{part}/alignment_bytes",
                actual=workspace.alignment_bytes,
            )
        if (workspace.scope == "invocation") != (part != "persistent"):
            yield SCOPE.finding(
                f"Provider `{estimate.provider_id}` asks for a {part} workspace of node "
                f"`{node.id}` with scope {workspace.scope}.",
                f"{location}/{part}/scope",
                actual=workspace.scope,
            )


def parts(node: PlanNode) -> tuple[tuple[str, WorkspaceEstimate | None], ...]:
    """The workspaces of a node's estimate by name, in the format's order."""
    estimate = node.provider_resources
    return (
        ("scratch", estimate.scratch),
        ("binding", estimate.binding),
        ("persistent", estimate.persistent),
    )
