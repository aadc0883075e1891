"""The full execution plan: nodes, memory and where they came from."""

from typing import Annotated

from pydantic import Field

from ferrum_verify.documents.execution_weights import ExecutionWeights
from ferrum_verify.documents.memory_plan import MemoryPlan
from ferrum_verify.documents.node import PlanNode
from ferrum_verify.documents.primitives import U32, U64, Fingerprint, Identity, Version, WireModel
from ferrum_verify.documents.sequence_checkpoint import StatedLayout
from ferrum_verify.documents.tensor import Tensor


class RetainedCompletionValue(WireModel):
    """A value that is read after the terminal fence, so its bytes must survive the step."""

    value_id: Identity
    producer_node_id: Identity
    output_ordinal: U32
    resource_id: Identity
    logical_offset_bytes: U64
    tensor: Tensor


class PlanHeader(WireModel):
    """Where an execution plan came from, and what it retains: its payload less the bulk.

    What is optional is of schema 8.1; ``documents.plan_schema`` says what must be there.
    """

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
    execution_weights: ExecutionWeights | None = None
    weight_format: Identity
    quantization_formats: Annotated[tuple[Identity, ...], Field(strict=False)]
    retained_completion_values: Annotated[tuple[RetainedCompletionValue, ...], Field(strict=False)]
    terminal_output_resources: Annotated[tuple[Identity, ...], Field(strict=False)] | None = None
    sequence_checkpoint_layout: StatedLayout | None = None


class PlanPayload(PlanHeader):
    """All of an execution plan that its hash covers, and its id."""

    nodes: Annotated[tuple[PlanNode, ...], Field(strict=False)]
    memory: MemoryPlan


class ExecutionPlan(WireModel):
    """An execution plan with its hash."""

    payload: PlanPayload
    plan_hash: Fingerprint
