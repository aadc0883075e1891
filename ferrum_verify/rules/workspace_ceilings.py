"""Contract rules of workspace sizes: a row is its estimate's formula, bound to the ceilings.

A formula is bound to ``maximum_active_sequences`` and ``maximum_scheduled_tokens``. Where all
workspaces agree on another ceiling, that one number is wrong, not every row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from ferrum_verify.documents.demand import bind
from ferrum_verify.documents.memory_plan import DynamicDescriptor, StaticAllocation
from ferrum_verify.documents.terms import Staircase
from ferrum_verify.findings import Example, Rule, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.demand import Demand, SizeFormula
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.node import PlanNode, WorkspaceEstimate
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows, Row
    from ferrum_verify.reading.document import Subject

_FORMAT = "docs/format.md, «Workspace estimates»"


@dataclass(frozen=True, slots=True)
class Workspace:
    """One workspace of one node, and its row in the memory plan."""

    part: str
    node: PlanNode
    estimate: WorkspaceEstimate
    resource_id: str
    row: Row
    rows: ResourceRows

    def at(self, member: str) -> str:
        """The JSON pointer of a member of the row."""
        return f"{self.rows.pointer(self.resource_id)}/{member}"

    @property
    def name(self) -> str:
        """What the workspace is called in a message."""
        return f"resource {self.resource_id}, the {self.part} workspace of node {self.node.id},"


@dataclass(frozen=True, slots=True)
class Ceilings:
    """The ceilings that formulas are bound to.

    Where the plan departs from its policy in one, either is a good ceiling here: the departure
    is one fault, and not one for each row.
    """

    sequences: tuple[int, ...]
    tokens: tuple[int, ...]

    @classmethod
    def of(cls, subject: Subject, memory: MemoryPlan) -> Self:
        """The ceilings of a plan and, where it is at hand, of its policy."""
        sequences = [memory.maximum_active_sequences]
        # A ceiling of 0 tokens is a fault of its own, and would be one of every row.
        tokens = [subject.header.maximum_scheduled_tokens] if subject.header else []
        if subject.policy is not None:
            sequences.append(subject.policy.memory.maximum_active_sequences)
            tokens.append(subject.policy.admission.maximum_scheduled_tokens)
        return cls(tuple(sequences), () if 0 in tokens else tuple(tokens))


_ESTIMATE = "/plan/payload/nodes/2/provider_resources"
SIZE = Rule(
    id="contract.workspace-size",
    summary="A workspace row has the size of its provider's estimate, bound to the plan's "
    "ceilings.",
    why="A kernel writes as much as its estimate says; in a smaller workspace it writes into the "
    "next resource.",
    fix="Bind the estimate's formula to `maximum_active_sequences` and "
    "`maximum_scheduled_tokens`, and plan the memory again.",
    source=_FORMAT,
    example=Example("bundle", {f"{_ESTIMATE}/scratch/size_formula/affine/fixed_bytes": 8192}),
)


def check_size(workspace: Workspace) -> Iterator[Finding]:
    """Findings of one row's size, whatever ceilings it was bound to."""
    row, formula = workspace.row, workspace.estimate.size_formula
    if isinstance(row, StaticAllocation):
        yield from _check_static(workspace, row)
        return
    if workspace.estimate.scope == "plan":
        return  # a descriptor lives for less, which is said as such
    own = row.demand.terms
    expected = bind(formula, own.limit("sequences") or 1, own.limit("tokens") or 1)
    if row.demand != expected:
        yield SIZE.finding(
            f"The {workspace.name} has the demand {_words(row.demand)}, but its estimate asks for "
            f"{_words(formula)}.",
            workspace.at("demand"),
            expected=expected.to_wire(),
            actual=row.demand.to_wire(),
        )


STATIC_FORMULA = Rule(
    id="contract.static-workspace-formula",
    summary="A workspace of scope plan has a size that depends on no shape.",
    why="Its row is one fixed number of bytes; for which shape the engine takes it, the format "
    "does not say, so whether the row is large enough is not known here.",
    fix="Have the provider ask for a fixed size for the whole plan.",
    source=_FORMAT,
    severity="warning",
    undecided=True,
    example=Example(
        "workspaces",
        {
            "/plan/payload/nodes/4/provider_resources/persistent/size_formula": {
                "tokens": {"bytes_per_token": 64}
            }
        },
    ),
)


def _check_static(workspace: Workspace, row: StaticAllocation) -> Iterator[Finding]:
    formula = workspace.estimate.size_formula.terms
    where = workspace.at("per_instance_bytes")
    if workspace.estimate.scope != "plan":
        return  # a static row lives for longer, which is said as such
    if isinstance(formula, Staircase) or formula.parts:
        yield STATIC_FORMULA.finding(
            f"The size of {workspace.name} depends on the shape, so whether its "
            f"{row.per_instance_bytes:,} bytes are enough cannot be told.",
            where,
        )
    elif formula.fixed != row.per_instance_bytes:
        yield SIZE.finding(
            f"The {workspace.name} has {row.per_instance_bytes:,} bytes, but its estimate asks "
            f"for {formula.fixed:,}.",
            where,
            expected=formula.fixed,
            actual=row.per_instance_bytes,
        )


def check_ceilings(
    workspaces: Sequence[Workspace], ceilings: Ceilings, subject: Subject
) -> Iterator[Finding]:
    """Findings of the ceilings that the rows of ``workspaces`` are bound to."""
    dynamic = [(each, each.row) for each in workspaces if isinstance(each.row, DynamicDescriptor)]
    yield from _check_instances(dynamic, ceilings, subject)
    if ceilings.tokens:
        yield from _check_tokens(dynamic, ceilings, subject)


INSTANCES = Rule(
    id="contract.workspace-instances",
    summary="A workspace descriptor has `maximum_active_sequences` instances.",
    why="With fewer, a full batch finds no workspace; with more, the pool's ceiling holds memory "
    "that no batch can use.",
    fix="Plan the memory with the policy's `maximum_active_sequences`.",
    source=_FORMAT,
    example=Example(
        "bundle",
        {"/plan/payload/memory/dynamic_descriptors/11/theoretical_maximum_instances": 5},
        also=("pool.ceiling",),
    ),
)


def _check_instances(
    dynamic: Sequence[tuple[Workspace, DynamicDescriptor]], ceilings: Ceilings, subject: Subject
) -> Iterator[Finding]:
    expected = ceilings.sequences[0]
    counts = {row.theoretical_maximum_instances for _, row in dynamic}
    if len(dynamic) > 1 and len(counts) == 1 and not counts & set(ceilings.sequences):
        count = counts.pop()
        yield INSTANCES.finding(
            f"The plan runs at most {expected:,} sequences, but all {len(dynamic):,} of its "
            f"dynamic workspaces have {count:,} instances.",
            pointer(subject.places.memory, "maximum_active_sequences"),
            expected=count,
            actual=expected,
        )
        return
    for workspace, row in dynamic:
        instances = row.theoretical_maximum_instances
        own = row.demand.terms
        sequences = own.limit("sequences")
        if own.only("sequences") and sequences != instances:
            continue  # no such demand is legal, and the descriptor rules say so
        if instances not in ceilings.sequences:
            yield INSTANCES.finding(
                f"The {workspace.name} has {instances:,} instances, but the plan runs at most "
                f"{expected:,} sequences.",
                workspace.at("theoretical_maximum_instances"),
                expected=expected,
                actual=instances,
            )
        elif sequences is not None and sequences not in ceilings.sequences:
            yield SIZE.finding(
                f"The {workspace.name} is sized for {sequences:,} sequences, but the plan runs at "
                f"most {expected:,}.",
                workspace.at("demand"),
                expected=expected,
                actual=sequences,
            )


def _check_tokens(
    dynamic: Sequence[tuple[Workspace, DynamicDescriptor]], ceilings: Ceilings, subject: Subject
) -> Iterator[Finding]:
    expected = ceilings.tokens[0]
    scaled = [
        (workspace, tokens)
        for workspace, row in dynamic
        if (tokens := row.demand.terms.limit("tokens")) is not None
    ]
    counts = {tokens for _, tokens in scaled}
    if len(scaled) > 1 and len(counts) == 1 and not counts & set(ceilings.tokens):
        count = counts.pop()
        yield SIZE.finding(
            f"The plan schedules at most {expected:,} tokens, but all {len(scaled):,} of its "
            f"token-scaled workspaces are sized for {count:,}.",
            pointer(subject.places.payload, "maximum_scheduled_tokens"),
            expected=count,
            actual=expected,
        )
        return
    for workspace, tokens in scaled:
        if tokens not in ceilings.tokens:
            yield SIZE.finding(
                f"The {workspace.name} is sized for {tokens:,} tokens, but the plan schedules at "
                f"most {expected:,}.",
                workspace.at("demand"),
                expected=expected,
                actual=tokens,
            )


def _words(form: Demand | SizeFormula) -> str:
    if isinstance(form.terms, Staircase):
        steps = form.terms.steps
        largest = max((step.bytes for step in steps), default=0)
        return f"{form.tag} ({len(steps)} buckets, the largest of {largest:,} bytes)"
    wire = form.to_wire()[form.tag]
    said = ", ".join(f"{name} {value:,}" for name, value in wire.items())
    return f"{form.tag} ({said})"
