"""Workspaces at every shape: where a row has fewer bytes than its provider's estimate asks for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

from ferrum_verify.counterexamples import Shape, ShapeCounterexample
from ferrum_verify.documents.demand import bind
from ferrum_verify.documents.memory_plan import StaticAllocation
from ferrum_verify.documents.terms import Linear
from ferrum_verify.plan.holding import bytes_at_most, smallest_unheld_shape
from ferrum_verify.plan.resource_rows import terms_of
from ferrum_verify.rules.descriptor_rows import demand_fault

if TYPE_CHECKING:
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.node import PlanNode, WorkspaceEstimate
    from ferrum_verify.documents.terms import Terms
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows, Row
    from ferrum_verify.reading.document import Subject


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
        return f"resource `{self.resource_id}`, the {self.part} workspace of node `{self.node.id}`,"


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


def judged_by_shapes(finding: Finding, workspace: Workspace, ceilings: Ceilings) -> Finding:
    """A finding of a row's size, which is about safety where the row is too small at some shape.

    A row that is larger than its estimate wastes bytes, and nothing is written past it.
    """
    shape = _smallest_short(workspace, ceilings)
    if shape is None:
        return finding
    need = bytes_at_most(workspace.estimate.size_formula.terms, shape)
    limit = bytes_at_most(terms_of(workspace.row), shape)
    member = "per_instance_bytes" if isinstance(workspace.row, StaticAllocation) else "demand"
    shown = ShapeCounterexample(shape, need, limit, workspace.at(member))
    # A row that is not defined at the shape may have had more bytes before.
    return replace(finding, judgment="safety", counterexample=shown if need > limit else None)


def _smallest_short(workspace: Workspace, ceilings: Ceilings) -> Shape | None:
    have = terms_of(workspace.row)
    if not ceilings.tokens or demand_fault(have):
        return None
    within = Shape(min(ceilings.sequences), min(ceilings.tokens), 1)
    want = bind(workspace.estimate.size_formula, within.sequences, within.tokens).terms
    if demand_fault(want):
        return None
    return smallest_unheld_shape(have, want, replace(within, pages=_pages(want)))


def _pages(terms: Terms) -> int:
    if isinstance(terms, Linear):
        return terms.limit("pages") or 1
    return terms.steps[-1].pages
