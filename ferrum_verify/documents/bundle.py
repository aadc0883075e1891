"""A bundle: a plan with the documents that it was compiled from."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from ferrum_verify.documents.catalog import CapabilityCatalog, CheckpointProvider, PortStorage
from ferrum_verify.documents.checkpoint import CheckpointInputs, LegalStorageProfile
from ferrum_verify.documents.execution_plan import ExecutionPlan
from ferrum_verify.documents.memory_plan import DynamicDescriptor
from ferrum_verify.documents.node import PlanNode, ValueBinding
from ferrum_verify.documents.plan_schema import Schema, followed
from ferrum_verify.documents.policy import RuntimePolicy
from ferrum_verify.documents.primitives import Identity, Version, WireModel
from ferrum_verify.documents.program import ModelProgram, ProgramState
from ferrum_verify.documents.storage import AcceptedStorage, StorageContract, accepted_fault
from ferrum_verify.documents.value_storage import malformed_reason, port_faults
from ferrum_verify.documents.weight_parts import weight_faults


class Bundle(WireModel):
    """An execution plan and, as far as they are at hand, its sources."""

    plan: ExecutionPlan
    program: ModelProgram | None = None
    catalog: CapabilityCatalog | None = None
    policy: RuntimePolicy | None = None


class _Part(WireModel):
    # A part of a document: what the derivation does not read may be there or not.
    model_config = ConfigDict(extra="ignore")


class WellFormedBinding(ValueBinding):
    """A binding that is well-formed, and so is its weight.

    In an audited plan that is a rule of its own; here a plan that breaks it is no document.
    """

    @model_validator(mode="after")
    def _well_formed(self) -> Self:
        own = malformed_reason(self)
        faults = [*(each.said for each in port_faults(self)), *([] if own is None else [own])]
        if self.usage == "weights":
            faults += weight_faults(self)
        if faults:
            raise PydanticCustomError(
                "malformed_binding",
                "The binding of value {value_id} is malformed: {reason}",
                {"value_id": self.value_id, "reason": "; ".join(faults)},
            )
        return self


class CheckpointNode(PlanNode):
    """A plan's node as the checkpoint derivation reads it."""

    values: Annotated[tuple[WellFormedBinding, ...], Field(strict=False)]


class LegalStorageContract(StorageContract):
    """A storage contract whose profile is legal."""

    profile: LegalStorageProfile


class CheckpointDescriptor(DynamicDescriptor):
    """A descriptor as the checkpoint derivation reads it."""

    storage: LegalStorageContract


class CheckpointMemory(_Part):
    """The memory plan as the checkpoint derivation reads it."""

    dynamic_descriptors: Annotated[tuple[CheckpointDescriptor, ...], Field(strict=False)]


class CheckpointPayload(_Part):
    """The plan's payload as the checkpoint derivation reads it."""

    schema_: Annotated[Version | None, Field(alias="schema")] = None
    nodes: Annotated[tuple[CheckpointNode, ...], Field(strict=False)]
    memory: CheckpointMemory

    @property
    def followed_schema(self) -> Schema | None:
        """The known schema version whose rules the plan follows; None where it names none."""
        version = self.schema_
        return None if version is None else followed((version.major, version.minor))


class CheckpointPlan(_Part):
    """The plan as the checkpoint derivation reads it."""

    payload: CheckpointPayload


class CheckpointProgram(_Part):
    """The program as the checkpoint derivation reads it."""

    family_id: Identity | None = None
    inputs: Annotated[tuple[Identity, ...], Field(strict=False)]
    states: Annotated[tuple[ProgramState, ...], Field(strict=False)]
    checkpoint_inputs: CheckpointInputs | None = None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.family_id is not None and (
            faults := [fault for state in self.states for fault in state.faults()]
        ):
            raise PydanticCustomError("malformed_state", "{reason}", {"reason": "; ".join(faults)})
        return self


class LegalAcceptedStorage(AcceptedStorage):
    """The profiles that a provider accepts, all of them legal."""

    accepted_profiles: Annotated[tuple[LegalStorageProfile, ...], Field(strict=False)]

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        if (fault := accepted_fault(self)) is not None:
            raise PydanticCustomError("accepted_profiles", "{fault}", {"fault": fault})
        return self


class LegalPortStorage(PortStorage):
    """The storage that a provider accepts at one of its ports, all of it legal."""

    storage: LegalAcceptedStorage


class PartialProvider(CheckpointProvider):
    """A provider as the checkpoint derivation reads it."""

    model_config = ConfigDict(extra="ignore")

    dynamic_storage_bindings: Annotated[tuple[LegalPortStorage, ...], Field(strict=False)]


class CheckpointCatalog(_Part):
    """The catalog as the checkpoint derivation reads it."""

    providers: dict[Identity, Annotated[tuple[PartialProvider, ...], Field(strict=False)]]


class CheckpointBundle(_Part):
    """The parts of a bundle from which a sequence checkpoint is derived."""

    plan: CheckpointPlan
    program: CheckpointProgram
    catalog: CheckpointCatalog
