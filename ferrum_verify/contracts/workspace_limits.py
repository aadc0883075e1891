"""Workspace estimates at a policy's limits: do they fit, and where do they first not?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ferrum_verify.contracts.examples import ESTIMATE, checked
from ferrum_verify.contracts.names import code, codes
from ferrum_verify.counterexamples import Shape, ShapeCounterexample
from ferrum_verify.documents.demand import bind
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.documents.terms import COUNTS, Staircase
from ferrum_verify.findings import Rule, pointer
from ferrum_verify.plan.sizes import UNIT, Claim, describe, maximal_shape
from ferrum_verify.rules import estimates

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ferrum_verify.contracts.sources import PlanSource
    from ferrum_verify.documents.node import WorkspaceEstimate
    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.findings import Finding


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What bounds a workspace: the most sequences and tokens of a batch, and the usable bytes."""

    sequences: int
    tokens: int
    usable_bytes: int
    usable_from: str
    """Where the document says how many bytes are usable."""


@dataclass(frozen=True, slots=True)
class Workspaces:
    """The workspaces of one provider that ask for the same, bound to the ceilings."""

    provider_id: str
    part: str
    estimate: WorkspaceEstimate
    nodes: tuple[str, ...]
    place: str

    @property
    def name(self) -> str:
        """What they are called in a message."""
        return f"the {self.part} workspace of {code(self.provider_id)} ({codes(self.nodes)})"


def ceilings_of(plan: PlanSource, policy: RuntimePolicy | None) -> Ceilings:
    """The ceilings of the policy, or those that the plan was compiled with."""
    if policy is None:
        return Ceilings(
            plan.memory.maximum_active_sequences,
            plan.header.maximum_scheduled_tokens,
            plan.memory.usable_capacity_bytes,
            pointer(plan.subject.places.memory, "usable_capacity_bytes"),
        )
    return Ceilings(
        policy.memory.maximum_active_sequences,
        policy.admission.maximum_scheduled_tokens,
        max(0, policy.memory.capacity_bytes - policy.memory.reserve_bytes),
        "/policy/memory/capacity_bytes",
    )


def workspaces_of(plan: PlanSource) -> list[Workspaces]:
    """The distinct workspace estimates of a plan, in plan order."""
    groups: dict[tuple[str, str, WorkspaceEstimate], list[int]] = {}
    for index, node in enumerate(plan.nodes):
        for part, estimate in estimates.parts(node):
            if estimate is not None:
                key = (node.provider_resources.provider_id, part, estimate)
                groups.setdefault(key, []).append(index)
    return [
        Workspaces(
            provider_id,
            part,
            estimate,
            tuple(plan.nodes[index].id for index in indices),
            pointer(plan.subject.places.nodes, indices[0], "provider_resources", part),
        )
        for (provider_id, part, estimate), indices in groups.items()
    ]


def claim_of(
    workspace: Workspaces, ceilings: Ceilings, usable_profiles: Sequence[StorageProfile]
) -> Claim | None:
    """The workspace as it would be stored: in the first profile that may be used, if any."""
    accepted = workspace.estimate.storage.accepted_profiles
    profile = next((each for each in usable_profiles if each in accepted), None)
    if profile is None:
        return None
    demand = bind(workspace.estimate.size_formula, ceilings.sequences, ceilings.tokens)
    return Claim(demand.terms, workspace.estimate.alignment_bytes, profile.blocks)


WORKSPACE_STORAGE = Rule(
    id="contract.workspace-storage",
    summary="A workspace estimate accepts some storage that the device offers and the policy "
    "allows.",
    why="Otherwise the workspace can never be placed, so the provider can not run.",
    fix="Accept one of the device's storage profiles.",
    source="docs/format.md, «Workspace estimates»",
    example=checked({f"{ESTIMATE}/scratch/storage/accepted_profiles": []}),
)


def workspace_findings(
    plan: PlanSource, ceilings: Ceilings, usable_profiles: Sequence[StorageProfile]
) -> Iterator[Finding]:
    """Findings of every workspace that has no size, no place or not enough room."""
    for workspace in workspaces_of(plan):
        claim = claim_of(workspace, ceilings, usable_profiles)
        if claim is None:
            yield WORKSPACE_STORAGE.finding(
                f"Of the storage that may be used, {workspace.name} accepts none.",
                pointer(workspace.place, "storage"),
            )
            continue
        yield from _size_findings(workspace, claim, ceilings)


def fits(claim: Claim, limit: int) -> bool | None:
    """Whether a claim takes at most ``limit`` bytes at every shape; None where it has no size."""
    try:
        claim.bytes_at(UNIT)
        return claim.bytes_at(maximal_shape(claim.terms)) <= limit
    except SizeError:
        return None


WORKSPACE_FORMULA = Rule(
    id="contract.workspace-formula",
    summary="A workspace formula has a size at all shapes within the policy's limits.",
    why="The engine computes in 64 bits, and refuses a size of 0 bytes or one that passes them.",
    fix="Correct the formula, or lower the policy's ceilings.",
    source="docs/format.md, «Workspace estimates» and «Sizes»",
    judgment="safety",
    example=checked(
        {f"{ESTIMATE}/scratch/size_formula/affine/bytes_per_token": 18446744073709551615}
    ),
)
WORKSPACE_EXCEEDS = Rule(
    id="contract.workspace-exceeds-policy",
    summary="One workspace alone fits the bytes that the policy leaves, at all shapes within its "
    "limits.",
    why="The policy otherwise admits batches that can never run.",
    fix="Lower the formula or the policy's ceilings, or grant more memory.",
    source="docs/format.md, «Workspace estimates» and «Sizes»",
    judgment="safety",
    example=checked({f"{ESTIMATE}/scratch/size_formula/affine/bytes_per_token": 65536}),
)


def _size_findings(workspace: Workspaces, claim: Claim, ceilings: Ceilings) -> Iterator[Finding]:
    place = pointer(workspace.place, "size_formula")
    if claim.terms == Staircase(()):
        yield WORKSPACE_FORMULA.finding(
            f"The size of {workspace.name} has no bucket, so it is not defined at any shape.", place
        )
        return
    try:
        claim.bytes_at(UNIT)
    except SizeError as error:
        passes = "passes u64" in str(error)
        yield WORKSPACE_FORMULA.finding(
            f"At {describe(UNIT)}, the size of {workspace.name} {error}.",
            place,
            counterexample=ShapeCounterexample(UNIT, overflow=True) if passes else None,
        )
        return
    overflow = _smallest(claim, lambda shape: _bytes(claim, shape) is None)
    if overflow is not None:
        yield WORKSPACE_FORMULA.finding(
            f"At {describe(overflow)}, which the ceilings allow, the size of {workspace.name} "
            "passes u64.",
            place,
            counterexample=ShapeCounterexample(overflow, overflow=True),
        )
        return
    usable = ceilings.usable_bytes
    large = _smallest(claim, lambda shape: claim.bytes_at(shape) > usable)
    if large is not None:
        size = claim.bytes_at(large)
        yield WORKSPACE_EXCEEDS.finding(
            f"At {describe(large)}, which the ceilings allow, {workspace.name} takes {size:,} "
            f"bytes of the {usable:,} usable ones.",
            place,
            counterexample=ShapeCounterexample(large, size, usable, ceilings.usable_from),
        )


def _bytes(claim: Claim, shape: Shape) -> int | None:
    try:
        return claim.bytes_at(shape)
    except SizeError:
        return None


def _smallest(claim: Claim, broken: Callable[[Shape], bool]) -> Shape | None:
    """A shape that is broken, of which no count can be lowered; None where no shape is.

    Sizes grow with the shape, so what is broken at a shape is broken at every larger one.
    """
    shape = maximal_shape(claim.terms)
    if not broken(shape):
        return None
    for name in COUNTS:
        low, high = 1, getattr(shape, name)
        while low < high:
            middle = (low + high) // 2
            if broken(replace(shape, **{name: middle})):
                high = middle
            else:
                low = middle + 1
        shape = replace(shape, **{name: low})
    return shape
