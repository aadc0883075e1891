"""The subject of an audit: the well-formed parts of one document, and where each stands.

Checks read a subject, never a raw document. A part that is absent, or too malformed to be
read, is None; the wire findings then say why, and the checks that need it do not run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.buffer_plan import BufferPlan
    from ferrum_verify.documents.catalog import CapabilityCatalog
    from ferrum_verify.documents.execution_plan import PlanHeader
    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.plan_schema import Schema
    from ferrum_verify.documents.policy import RuntimePolicy
    from ferrum_verify.documents.problem import PlanningProblem
    from ferrum_verify.documents.program import ModelProgram
    from ferrum_verify.plan.order import HappensBefore

Kind = Literal[
    "execution-plan",
    "fragment",
    "memory-plan",
    "problem",
    "bundle",
    "resolved-model-plan",
    "program",
    "catalog",
    "policy",
    "schedule",
    "buffer-plan",
]


@dataclass(frozen=True, slots=True)
class Places:
    """JSON pointers of the parts of a document ("" is the document itself)."""

    plan: str = ""
    payload: str = ""
    nodes: str = ""
    memory: str = ""
    retained: str = ""
    terminal: str = ""
    program: str = ""
    catalog: str = ""
    policy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One document, ready to be checked.

    ``order`` is that of its nodes, made once for all that ask; ``plan_nodes`` are the same nodes
    in full, where the document is an execution plan. ``raw`` holds the JSON values of the parts
    named ``plan``, ``program``, ``catalog`` and ``policy``, whose hashes are recomputed.
    ``schema`` is the known version whose rules the plan is held to; None where the document
    names none. ``retained`` are the resources that completion values keep past the terminal
    fence, ``terminal`` those that hold the program's outputs.
    ``buffers`` is another planner's plan, of which ``order`` has the nodes.
    """

    kind: Kind
    places: Places
    raw: dict[str, Any]
    schema: Schema | None = None
    order: HappensBefore | None = None
    plan_nodes: tuple[PlanNode, ...] | None = None
    header: PlanHeader | None = None
    memory: MemoryPlan | None = None
    retained: frozenset[str] = frozenset()
    terminal: frozenset[str] = frozenset()
    problem: PlanningProblem | None = None
    program: ModelProgram | None = None
    catalog: CapabilityCatalog | None = None
    policy: RuntimePolicy | None = None
    buffers: BufferPlan | None = None

    @property
    def kept(self) -> frozenset[str]:
        """The resources that are read after the terminal fence, so that they never share a slot."""
        return self.retained | self.terminal

    @property
    def nodes(self) -> Sequence[FragmentNode | PlanNode] | None:
        """The nodes in plan order, as the graph rules read them."""
        return None if self.order is None else self.order.nodes
