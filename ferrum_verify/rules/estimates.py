"""Contract rules of a provider's estimate on its own: whose it is, and what it may ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.demand import bind
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.storage import accepted_fault, profile_fault
from ferrum_verify.documents.terms import Staircase
from ferrum_verify.findings import Example, Rule
from ferrum_verify.plan.sizes import is_power_of_two
from ferrum_verify.rules.descriptor_rows import demand_fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.node import PlanNode, WorkspaceEstimate
    from ferrum_verify.documents.storage import AcceptedStorage
    from ferrum_verify.documents.terms import Terms
    from ferrum_verify.findings import Finding

_FORMAT = "docs/format.md, «Workspace estimates»"
_ESTIMATE = "/plan/payload/nodes/2/provider_resources"
_OTHER_BUILD = ("contract.provider-differs",)
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


ESTIMATOR = Rule(
    id="contract.estimator-version",
    summary="An estimate is of an estimator whose major version is at least 1.",
    why="Version 0 is no release: what such an estimator promises is not settled, and the engine "
    "refuses its estimates.",
    fix="Give the estimator a version of 1.0 or later, and ask it again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_ESTIMATE}/estimator_version/major": 0}, also=_OTHER_BUILD),
)
FORMULA = Rule(
    id="contract.estimate-formula",
    summary="A workspace's size formula is legal, and asks for no more than its scope can have.",
    why="Bytes for the whole plan cannot grow with a step, and those of one sequence cannot grow "
    "with how many there are; a formula of 0 bytes, or one past u64, is no size.",
    fix="Have the provider ask for a fixed size in scope `plan`, for nothing by the count of "
    "sequences in scope `sequence`, and for positive sizes everywhere.",
    source=_FORMAT,
    example=Example(
        "workspaces",
        {
            "/plan/payload/nodes/4/provider_resources/persistent/size_formula": {
                "tokens": {"bytes_per_token": 64}
            }
        },
    ),
)


def check_node(
    node: PlanNode, location: str, sequences: int = 1, tokens: int = 1
) -> Iterator[Finding]:
    """Findings of the estimate of one node that stands at the pointer ``location``.

    ``sequences`` and ``tokens`` are the plan's ceilings.
    """
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
    version = estimate.estimator_version
    if version.major == 0:
        yield ESTIMATOR.finding(
            f"The estimate of node `{node.id}` is of `{estimate.estimator_id}` in version "
            f"0.{version.minor}.",
            f"{location}/estimator_version/major",
            expected=1,
            actual=0,
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
        for clause in formula_faults(workspace, sequences, tokens):
            yield FORMULA.finding(
                f"The formula of the {part} workspace of node `{node.id}` {clause}.",
                f"{location}/{part}/size_formula",
                actual=workspace.size_formula.to_wire(),
            )
        yield from check_accepted(
            workspace.storage,
            f"Provider `{estimate.provider_id}`, for the {part} workspace of node `{node.id}`,",
            f"{location}/{part}/storage/accepted_profiles",
        )
        if (workspace.scope == "invocation") != (part != "persistent"):
            yield SCOPE.finding(
                f"Provider `{estimate.provider_id}` asks for a {part} workspace of node "
                f"`{node.id}` with scope {workspace.scope}.",
                f"{location}/{part}/scope",
                actual=workspace.scope,
            )


def formula_faults(
    workspace: WorkspaceEstimate, sequences: int = 1, tokens: int = 1
) -> Iterator[str]:
    """What is wrong with a size formula that is bound to ceilings, each as a clause."""
    formula, scope = workspace.size_formula, workspace.scope
    terms = bind(formula, max(sequences, 1), max(tokens, 1)).terms
    fault = demand_fault(terms)
    if fault is not None:
        yield fault
        return
    if isinstance(terms, Staircase):
        most, least = terms.steps[-1].bytes, terms.steps[0].bytes
    else:
        most = terms.fixed + sum(part.each * part.most for part in terms.parts)
        least = terms.fixed + sum(part.each for part in terms.parts)
    unit = workspace.alignment_bytes
    if most > U64_MAX or (is_power_of_two(unit) and -(-least // unit) * unit > U64_MAX):
        yield f"is {most:,} bytes at most, which passes u64 when it is rounded up"
    if scope == "plan" and formula.tag != "fixed":
        yield "depends on the shape, and the workspace is for the whole plan"
    elif scope == "sequence" and _counts_sequences(terms):
        yield "grows with the sequences, and the workspace is for one"


def _counts_sequences(terms: Terms) -> bool:
    if isinstance(terms, Staircase):
        return any(step.sequences != 1 for step in terms.steps)
    return bool(terms.rate("sequences"))


ILLEGAL_PROFILE = Rule(
    id="contract.illegal-profile",
    summary="A storage profile in a catalog or estimate is one that the engine has.",
    why="No allocator can serve it, so whatever depends on it can never be planned.",
    fix="Use a linear arena seen contiguously, or a fixed-block arena with a power-of-two block, "
    "seen contiguously or in pages of the same block.",
    source="docs/format.md, «Sizes» (storage profiles)",
    example=Example(
        "catalog",
        {
            "/providers/operation.embed/0/dynamic_storage_bindings/1/storage/accepted_profiles/-": {
                "allocator": "linear_arena",
                "view": {"paged_regions": {"block_bytes": 256}},
            }
        },
    ),
)
ACCEPTED = Rule(
    id="contract.accepted-profiles",
    summary="A provider accepts at least one storage profile at a port or for a workspace, and "
    "they ascend.",
    why="Nothing can be stored for a provider that accepts nothing; and in any other order the "
    "same declaration has a second hash.",
    fix="Name each profile once: a linear arena first, then by block, contiguous before paged.",
    source="docs/format.md, «Sizes» (storage profiles)",
    example=Example(
        "catalog",
        {"/providers/operation.embed/0/dynamic_storage_bindings/1/storage/accepted_profiles": []},
    ),
)


def check_accepted(accepted: AcceptedStorage, who: str, location: str) -> Iterator[Finding]:
    """Findings of a list of accepted profiles, and of each that no allocator can serve."""
    if (fault := accepted_fault(accepted)) is not None:
        yield ACCEPTED.finding(f"{who} accepts {fault}.", location)
    for position, profile in enumerate(accepted.accepted_profiles):
        if (fault := profile_fault(profile)) is not None:
            yield ILLEGAL_PROFILE.finding(
                f"{who} accepts {fault}.",
                f"{location}/{position}",
                actual=profile.to_wire(),
            )


def parts(node: PlanNode) -> tuple[tuple[str, WorkspaceEstimate | None], ...]:
    """The workspaces of a node's estimate by name, in the format's order."""
    estimate = node.provider_resources
    return (
        ("scratch", estimate.scratch),
        ("binding", estimate.binding),
        ("persistent", estimate.persistent),
    )
