"""The memory plan: static rows, dynamic descriptors, pools and reusable execution."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_serializer

from ferrum_verify.documents.demand import Demand
from ferrum_verify.documents.primitives import (
    U32,
    U64,
    U128,
    ElementType,
    Fingerprint,
    Identity,
    Initialization,
    Lifetime,
    Usage,
    Variant,
    Version,
    WireModel,
    variant_tag,
)
from ferrum_verify.documents.reusable import ReusableExecution
from ferrum_verify.documents.storage import Storage, StorageProfile


class Scratch(Variant):
    """Workspace bytes that live for one invocation of the node."""

    tag: ClassVar[str] = "scratch"
    node_id: Identity


class Binding(Variant):
    """The node's slot of a program-binding arena."""

    tag: ClassVar[str] = "binding"
    node_id: Identity


class Persistent(Variant):
    """Workspace bytes that the node's provider keeps between invocations."""

    tag: ClassVar[str] = "persistent"
    node_id: Identity


Kind = Annotated[
    Annotated[Literal["value"], Tag("value")]
    | Annotated[Scratch, Tag("scratch")]
    | Annotated[Binding, Tag("binding")]
    | Annotated[Persistent, Tag("persistent")],
    Discriminator(variant_tag),
]

StaticKind = Annotated[
    Annotated[Literal["value"], Tag("value")]
    | Annotated[Literal["initialization_scratch"], Tag("initialization_scratch")]
    | Annotated[Scratch, Tag("scratch")]
    | Annotated[Binding, Tag("binding")]
    | Annotated[Persistent, Tag("persistent")],
    Discriminator(variant_tag),
]
"""What a static row is; plans of 8.1 have one for what loading the weights works in."""

LivenessMode = Literal["no_invocation_resources", "total_order_reuse", "conservative_concurrent"]
SlotKind = Literal["dedicated", "ordered_single_fence_step_wave"]


class StaticAllocation(WireModel):
    """Bytes that are resident for the whole life of the plan."""

    resource_id: Identity
    per_instance_bytes: U64
    instance_stride_bytes: U64
    instance_count: U32
    size_bytes: U64
    alignment_bytes: U64
    usage: Usage
    element_type: ElementType
    lifetime: Lifetime
    kind: StaticKind
    storage: Storage


class DynamicDescriptor(WireModel):
    """A resource whose bytes depend on the shape that runs."""

    base_resource_id: Identity
    demand: Demand
    alignment_bytes: U64
    usage: Usage
    element_type: ElementType
    lifetime: Lifetime
    kind: Kind
    storage: Storage
    pool_id: Identity
    initialization: Initialization
    theoretical_maximum_instances: U32


class PoolCompatibility(WireModel):
    """What all members of a backing pool have in common."""

    version: Version
    profile: StorageProfile
    usage: Usage
    element_type: ElementType
    logical_layout_fingerprint: Fingerprint
    alignment_bytes: U64


class StepSlot(WireModel):
    """Bytes that the listed Step resources share, one after the other."""

    kind: SlotKind
    resource_ids: Annotated[tuple[Identity, ...], Field(strict=False)]


class InvocationLiveness(WireModel):
    """The invocation resources that are live while the node runs."""

    node_id: Identity
    resource_ids: Annotated[tuple[Identity, ...], Field(strict=False)]


class Provisioning(WireModel):
    """How many bytes a pool keeps resident, at least and at most."""

    mode: Literal["demand_driven_elastic"]
    minimum_resident_bytes: U64
    maximum_resident_bytes: U64


class DynamicPool(WireModel):
    """One backing pool with its slots, liveness and byte totals."""

    pool_id: Identity
    compatibility: PoolCompatibility
    resource_ids: Annotated[tuple[Identity, ...], Field(strict=False)]
    minimum_request_bytes: U64
    minimum_sequence_bytes: U64
    minimum_step_bytes: U64
    minimum_invocation_peak_bytes: U64
    step_resource_slots: Annotated[tuple[StepSlot, ...], Field(strict=False)]
    theoretical_ceiling_bytes: U128
    reusable_workspace_ceiling_bytes: U64
    provisioning: Provisioning
    invocation_liveness_mode: LivenessMode
    invocation_liveness: Annotated[tuple[InvocationLiveness, ...], Field(strict=False)]
    checkpoint_growth_ceiling_bytes: U64 = 0

    @model_serializer(mode="wrap")
    def _without_zero_growth(self, handler: Any) -> dict[str, Any]:
        wire: dict[str, Any] = handler(self)
        if not self.checkpoint_growth_ceiling_bytes:
            wire.pop("checkpoint_growth_ceiling_bytes", None)
        return wire


class CheckpointCapacity(WireModel):
    """How many bytes captured checkpoints may keep."""

    maximum_retained_bytes: Annotated[U64, Field(ge=1)]


class MemoryPlan(WireModel):
    """Which bytes every node of a plan may use, and the totals that follow."""

    device_capacity_bytes: U64
    policy_capacity_bytes: U64
    reserve_bytes: U64
    usable_capacity_bytes: U64
    maximum_active_sequences: U32
    static_bytes: U64
    minimum_request_bytes: U64
    minimum_sequence_bytes: U64
    minimum_step_bytes: U64
    minimum_invocation_peak_bytes: U64
    minimum_runnable_request_bytes: U64
    theoretical_ceiling_bytes: U128
    static_allocations: Annotated[tuple[StaticAllocation, ...], Field(strict=False)]
    dynamic_descriptors: Annotated[tuple[DynamicDescriptor, ...], Field(strict=False)]
    dynamic_pools: Annotated[tuple[DynamicPool, ...], Field(strict=False)]
    reusable_execution: ReusableExecution | None = None
    checkpoint_capacity: CheckpointCapacity | None = None
    invocation_liveness_mode: LivenessMode
    invocation_liveness: Annotated[tuple[InvocationLiveness, ...], Field(strict=False)]

    @model_serializer(mode="wrap")
    def _without_absent_capacity(self, handler: Any) -> dict[str, Any]:
        wire: dict[str, Any] = handler(self)
        if wire.get("checkpoint_capacity", ...) is None:
            del wire["checkpoint_capacity"]
        return wire
