"""A bundle: a plan with the documents that it was compiled from."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from ferrum_verify.documents.catalog import CapabilityCatalog, CheckpointProvider
from ferrum_verify.documents.checkpoint import CheckpointInputs
from ferrum_verify.documents.execution_plan import ExecutionPlan
from ferrum_verify.documents.memory_plan import DynamicDescriptor
from ferrum_verify.documents.node import PlanNode
from ferrum_verify.documents.policy import RuntimePolicy
from ferrum_verify.documents.primitives import Identity, WireModel
from ferrum_verify.documents.program import ModelProgram, ProgramState


class Bundle(WireModel):
    """An execution plan and, as far as they are at hand, its sources."""

    plan: ExecutionPlan
    program: ModelProgram | None = None
    catalog: CapabilityCatalog | None = None
    policy: RuntimePolicy | None = None


class _Part(WireModel):
    # A part of a document: what the derivation does not read may be there or not.
    model_config = ConfigDict(extra="ignore")


class CheckpointMemory(_Part):
    """The memory plan as the checkpoint derivation reads it."""

    dynamic_descriptors: Annotated[tuple[DynamicDescriptor, ...], Field(strict=False)]


class CheckpointPayload(_Part):
    """The plan's payload as the checkpoint derivation reads it."""

    nodes: Annotated[tuple[PlanNode, ...], Field(strict=False)]
    memory: CheckpointMemory


class CheckpointPlan(_Part):
    """The plan as the checkpoint derivation reads it."""

    payload: CheckpointPayload


class CheckpointProgram(_Part):
    """The program as the checkpoint derivation reads it."""

    inputs: Annotated[tuple[Identity, ...], Field(strict=False)]
    states: Annotated[tuple[ProgramState, ...], Field(strict=False)]
    checkpoint_inputs: CheckpointInputs | None = None


class PartialProvider(CheckpointProvider):
    """A provider as the checkpoint derivation reads it."""

    model_config = ConfigDict(extra="ignore")


class CheckpointCatalog(_Part):
    """The catalog as the checkpoint derivation reads it."""

    providers: dict[Identity, Annotated[tuple[PartialProvider, ...], Field(strict=False)]]


class CheckpointBundle(_Part):
    """The parts of a bundle from which a sequence checkpoint is derived."""

    plan: CheckpointPlan
    program: CheckpointProgram
    catalog: CheckpointCatalog
