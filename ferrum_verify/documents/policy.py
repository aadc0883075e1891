"""The runtime policy: how much memory a plan may take, and how work is admitted."""

from typing import Annotated, Literal

from pydantic import Field

from ferrum_verify.documents.execution_semantics import Determinism
from ferrum_verify.documents.memory_plan import CheckpointCapacity
from ferrum_verify.documents.primitives import (
    U32,
    U64,
    Fingerprint,
    Identity,
    Version,
    WireModel,
)
from ferrum_verify.documents.reusable import PolicyReusableExecution
from ferrum_verify.documents.storage import StorageProfile


class PolicyMemory(WireModel):
    """Bytes that the policy grants, and how storage is chosen."""

    capacity_bytes: U64
    reserve_bytes: U64
    maximum_active_sequences: U32
    dynamic_storage_profile_order: Annotated[tuple[StorageProfile, ...], Field(strict=False)]
    checkpoint_capacity: CheckpointCapacity | None = None


class PolicyAdmission(WireModel):
    """How much work is admitted at once."""

    maximum_queue_depth: U64
    maximum_scheduled_tokens: U64
    sequence_fit_policy: Identity
    allow_defer: bool
    cancellation_check_interval_steps: U64


class RuntimePolicy(WireModel):
    """A runtime policy with its own fingerprint; how attention runs came with plan schema 8.1."""

    policy_id: Identity
    version: Version
    scheduling: Identity
    memory: PolicyMemory
    admission: PolicyAdmission
    attention_execution: Literal["portable", "native-adaptive"] | None = None
    execution_determinism: Determinism | None = None
    reusable_execution: PolicyReusableExecution | None
    fingerprint: Fingerprint
