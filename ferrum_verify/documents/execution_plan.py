"""The full execution plan: nodes, memory and where they came from."""

from typing import Annotated

from pydantic import Field

from ferrum_verify.documents.memory_plan import MemoryPlan
from ferrum_verify.documents.node import PlanNode
from ferrum_verify.documents.primitives import U32, U64, Fingerprint, Identity, Version, WireModel
from ferrum_verify.documents.tensor import Tensor

KNOWN_SCHEMA = Version(major=5, minor=0)
"""The schema version whose rules this package knows."""


class RetainedCompletionValue(WireModel):
    """A value that is read after the terminal fence, so its bytes must survive the step."""

    value_id: Identity
    producer_node_id: Identity
    output_ordinal: U32
    resource_id: Identity
    logical_offset_bytes: U64
    tensor: Tensor


class PlanHeader(WireModel):
    """Where an execution plan came from, and what it retains: its payload less the bulk."""

    schema_: Annotated[Version, Field(alias="schema")]
    plan_id: Identity
    family_id: Identity
    device_id: Identity
    device_runtime_implementation_fingerprint: Fingerprint
    prepared_family_fingerprint: Fingerprint
    program_fingerprint: Fingerprint
    capability_catalog_fingerprint: Fingerprint
    policy_version: Version
    policy_fingerprint: Fingerprint
    maximum_scheduled_tokens: U64
    weight_format: Identity
    quantization_formats: Annotated[tuple[Identity, ...], Field(strict=False)]
    retained_completion_values: Annotated[tuple[RetainedCompletionValue, ...], Field(strict=False)]


class PlanPayload(PlanHeader):
    """All of an execution plan that its hash covers, and its id."""

    nodes: Annotated[tuple[PlanNode, ...], Field(strict=False)]
    memory: MemoryPlan


class ExecutionPlan(WireModel):
    """An execution plan with its hash."""

    payload: PlanPayload
    plan_hash: Fingerprint
