"""The capability catalog: a device, its operations, and who provides them."""

from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, Tag, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from ferrum_verify.documents.checkpoint import ProviderCapability
from ferrum_verify.documents.execution_semantics import ExecutionSemantics
from ferrum_verify.documents.execution_weights import WeightMaterializer
from ferrum_verify.documents.node import AliasPolicy
from ferrum_verify.documents.primitives import (
    U32,
    U64,
    Access,
    ElementType,
    Fingerprint,
    Identity,
    Role,
    Version,
    WireModel,
)
from ferrum_verify.documents.storage import AcceptedStorage, StorageProfile
from ferrum_verify.documents.variants import ANOTHER, WHOLE, known_or_another, schema_of_others

Requirement = Literal["required", "optional", "forbidden"]


class Device(WireModel):
    """The device that the catalog speaks of."""

    id: Identity
    class_: Annotated[Identity, Field(alias="class")]
    ordinal: U32
    total_memory_bytes: U64
    runtime_implementation_fingerprint: Fingerprint
    capabilities: Annotated[tuple[Identity, ...], Field(strict=False)]
    dynamic_storage_profiles: Annotated[tuple[StorageProfile, ...], Field(strict=False)]


@WHOLE
class ExactDimension(TypedDict):
    """An axis of one length only."""

    exact: U64


@WHOLE
class SymbolicDimension(TypedDict):
    """An axis of any length, the same wherever the operation names the symbol."""

    symbol: Identity


Dimension = Annotated[
    Annotated[ExactDimension, Tag("exact")]
    | Annotated[SymbolicDimension, Tag("symbol")]
    | Annotated[JsonValue, Tag(ANOTHER), schema_of_others("exact", "symbol")],
    known_or_another("exact", "symbol"),
]
"""What an operation accepts of an axis; as plain JSON, since it may have further forms."""


class TensorContract(WireModel):
    """What an operation accepts at one input or output."""

    dimensions: Annotated[tuple[Dimension, ...], Field(strict=False)]
    element_types: Annotated[tuple[ElementType, ...], Field(strict=False)]
    layouts: Annotated[tuple[JsonValue, ...], Field(strict=False)]
    access: Access
    alias: AliasPolicy


class OperationAttributes(WireModel):
    """The attributes that an operation takes."""

    entries: dict[str, JsonValue]


class OperationResources(WireModel):
    """What an operation's providers must, may or must not ask for beside its values."""

    minimum_value_alignment_bytes: U64
    scratch: Requirement
    binding: Requirement
    persistent: Requirement


class OperationProviderContract(WireModel):
    """What a provider must be able to do to run the operation."""

    minimum_version: Version
    required_capabilities: Annotated[tuple[Identity, ...], Field(strict=False)]


class Operation(WireModel):
    """An operation's contract, the same for all of its providers."""

    id: Identity
    version: Version
    inputs: Annotated[tuple[TensorContract, ...], Field(strict=False)]
    outputs: Annotated[tuple[TensorContract, ...], Field(strict=False)]
    attributes: OperationAttributes
    resources: OperationResources
    oracle: JsonValue
    provider: OperationProviderContract
    profile_phase: Identity


class PortStorage(WireModel):
    """The storage that a provider accepts at one of its ports."""

    role: Role
    ordinal: U32
    storage: AcceptedStorage


class CheckpointProvider(WireModel):
    """The members of a provider that the checkpoint derivation reads."""

    provider_id: Identity
    operation_fingerprint: Fingerprint
    provider_implementation_fingerprint: Fingerprint
    dynamic_storage_bindings: Annotated[tuple[PortStorage, ...], Field(strict=False)]
    checkpoint: ProviderCapability = "unsupported"
    checkpoint_capability: ProviderCapability = "unsupported"

    @property
    def checkpoint_key(self) -> str:
        """The key under which the checkpoint contract stands: the engine's, or an older one."""
        older = "checkpoint_capability"
        return older if older in self.model_fields_set else "checkpoint"

    @property
    def capability(self) -> ProviderCapability:
        """What the provider promises about checkpoints, under whichever key."""
        is_new = self.checkpoint_key == "checkpoint"
        return self.checkpoint if is_new else self.checkpoint_capability

    @model_validator(mode="after")
    def _one_contract(self) -> Self:
        if {"checkpoint", "checkpoint_capability"} <= self.model_fields_set:
            raise PydanticCustomError(
                "checkpoint_twice", "A provider should have one checkpoint contract"
            )
        return self

    def dynamic_storage_for(self, role: str, ordinal: int) -> AcceptedStorage | None:
        """The storage that the provider accepts at a port, or None if it names none."""
        for port in self.dynamic_storage_bindings:
            if port.role == role and port.ordinal == ordinal:
                return port.storage
        return None


class Provider(CheckpointProvider):
    """An implementation of an operation on the catalog's device."""

    operation_id: Identity
    execution_semantics: ExecutionSemantics | None = None
    version: Version
    device_id: Identity
    capabilities: Annotated[tuple[Identity, ...], Field(strict=False)]
    accepted_weight_formats: Annotated[tuple[Identity, ...], Field(strict=False)]
    accepted_quantization_formats: Annotated[tuple[Identity, ...], Field(strict=False)]
    resource_estimator_id: Identity
    resource_estimator_version: Version
    resource_estimator_implementation_fingerprint: Fingerprint


class EngineProvider(WireModel):
    """An engine that runs plans on the catalog's device."""

    provider_id: Identity
    contract_version: Version
    implementation_fingerprint: Fingerprint
    device_id: Identity
    capabilities: Annotated[tuple[Identity, ...], Field(strict=False)]


class CapabilityCatalog(WireModel):
    """All that the device can run."""

    device: Device
    operations: dict[Identity, Operation]
    providers: dict[Identity, Annotated[tuple[Provider, ...], Field(strict=False)]]
    engine_providers: dict[Identity, EngineProvider]
    weight_materializers: dict[Identity, WeightMaterializer] | None = None
