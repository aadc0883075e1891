"""The sequence-checkpoint layout that a plan of schema 8.1 states."""

from typing import Annotated, Any

from pydantic import Field

from ferrum_verify.documents.checkpoint import (
    BoundaryConstraint,
    CheckpointInputs,
    InputCapture,
    InputDependency,
    ProviderContract,
    StateLayout,
    StateSemantics,
)
from ferrum_verify.documents.memory_plan import DynamicDescriptor
from ferrum_verify.documents.primitives import (
    U64,
    Fingerprint,
    Identity,
    Initialization,
    Version,
    WireModel,
)
from ferrum_verify.documents.storage import Storage
from ferrum_verify.documents.tensor import Tensor


class StatedContract(ProviderContract):
    """A provider's contract without the tag of its variant."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
        """The members alone."""
        return handler(core_schema)


class StatedSemantics(StateSemantics):
    """What a state holds, without the tag of its variant."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core_schema: Any, handler: Any) -> Any:
        """The members alone."""
        return handler(core_schema)


class StatedProvider(WireModel):
    """A node's provider, and what it promises at completed boundaries."""

    node_id: Identity
    provider_id: Identity
    operation_fingerprint: Fingerprint
    implementation_fingerprint: Fingerprint
    contract: StatedContract


class StatedState(WireModel):
    """Where a state's bytes are, and what they mean at a boundary."""

    state_id: Identity
    value_id: Identity
    writers: Annotated[tuple[Identity, ...], Field(strict=False)]
    semantics: StatedSemantics
    tensor: Tensor
    resource_id: Identity
    offset_bytes: U64
    layout: StateLayout
    storage: Storage
    initialization: Initialization
    descriptor: DynamicDescriptor


class StatedLayout(WireModel):
    """How the plan says that sequence state is captured and restored."""

    contract_version: Version
    inputs: CheckpointInputs
    input_dependency: InputDependency
    boundaries: BoundaryConstraint
    completed_input_capture: InputCapture = "unsupported"
    providers: Annotated[tuple[StatedProvider, ...], Field(strict=False)]
    states: Annotated[tuple[StatedState, ...], Field(strict=False)]
