"""The planning problem: what the engine's memory planner is given."""

from typing import Annotated

from pydantic import Field

from ferrum_verify.documents.demand import Demand
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.memory_plan import Kind, StaticKind
from ferrum_verify.documents.primitives import (
    U32,
    U64,
    ElementType,
    Identity,
    Initialization,
    Lifetime,
    Usage,
    WireModel,
)
from ferrum_verify.documents.reusable import ProblemReusableExecution
from ferrum_verify.documents.storage import Storage


class ProblemAllocation(WireModel):
    """A static row before its stride, count, size and lifetime are derived."""

    resource_id: Identity
    per_instance_bytes: U64
    alignment_bytes: U64
    usage: Usage
    element_type: ElementType
    kind: StaticKind
    storage: Storage


class ProblemDescriptor(WireModel):
    """A dynamic descriptor before its pool is derived."""

    base_resource_id: Identity
    demand: Demand
    alignment_bytes: U64
    usage: Usage
    element_type: ElementType
    lifetime: Lifetime
    kind: Kind
    storage: Storage
    initialization: Initialization
    theoretical_maximum_instances: U32


class PlanningProblem(WireModel):
    """The planner's input; its rows and nodes' lists may stand in any order."""

    device_capacity_bytes: U64
    policy_capacity_bytes: U64
    reserve_bytes: U64
    maximum_active_sequences: U32
    static_allocations: Annotated[tuple[ProblemAllocation, ...], Field(strict=False)]
    dynamic_descriptors: Annotated[tuple[ProblemDescriptor, ...], Field(strict=False)]
    nodes: Annotated[tuple[FragmentNode, ...], Field(strict=False)]
    reusable_execution_policy: ProblemReusableExecution | None = None
    retained_completion_resources: Annotated[tuple[Identity, ...], Field(strict=False)] = ()
