"""Nodes in full, as an execution plan holds them."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, JsonValue, Tag

from ferrum_verify.documents.demand import SizeFormula
from ferrum_verify.documents.execution_semantics import Determinism, ExecutionSemantics
from ferrum_verify.documents.primitives import (
    U32,
    U64,
    Access,
    ElementType,
    Fingerprint,
    Identity,
    Lifetime,
    Role,
    Usage,
    Variant,
    Version,
    WireModel,
    variant_tag,
)
from ferrum_verify.documents.storage import AcceptedStorage
from ferrum_verify.documents.tensor import Tensor
from ferrum_verify.documents.weight import WeightBinding


class MayAlias(Variant):
    """The output may take the bytes of the input at ``tensor_index``."""

    tag: ClassVar[str] = "may_alias"
    tensor_index: U32


class MustAlias(Variant):
    """The output takes the bytes of the input at ``tensor_index``."""

    tag: ClassVar[str] = "must_alias"
    tensor_index: U32


AliasPolicy = Annotated[
    Annotated[Literal["no_alias"], Tag("no_alias")]
    | Annotated[MayAlias, Tag("may_alias")]
    | Annotated[MustAlias, Tag("must_alias")],
    Discriminator(variant_tag),
]


def alias_words(policy: AliasPolicy) -> str:
    """An alias policy as a sentence can hold it: "no_alias", "may_alias of input 0"."""
    return policy if isinstance(policy, str) else f"{policy.tag} of input {policy.tensor_index}"


class StorageComponent(WireModel):
    """A byte range of a resource that holds a part of a value."""

    component_id: Identity | None
    resource_id: Identity
    offset_bytes: U64
    length_bytes: U64
    element_type: ElementType


class ValueStorage(WireModel):
    """Where a value's bytes are."""

    components: Annotated[tuple[StorageComponent, ...], Field(strict=False)]


class ValueBinding(WireModel):
    """One input or output of a node, bound to its tensor and its bytes."""

    value_id: Identity
    role: Role
    ordinal: U32
    tensor: Tensor
    access: Access
    alias: AliasPolicy
    usage: Usage
    weight: WeightBinding | None
    storage: ValueStorage

    @property
    def writes(self) -> bool:
        """Whether the node changes the value's bytes."""
        return self.access != "read"


class ExactAlias(WireModel):
    """An output that takes an input's bytes."""

    output_value_id: Identity
    output_ordinal: U32
    input_value_id: Identity
    input_ordinal: U32
    kind: Literal["may_alias", "must_alias"]


class StateEffect(WireModel):
    """A node's effect on a state of the program."""

    state_id: Identity
    state_value_id: Identity
    lifetime: Lifetime
    access: Access
    resource_ids: Annotated[tuple[Identity, ...], Field(strict=False)]


class TokenAxis(WireModel):
    """A tensor axis along which a node's work is counted in tokens."""

    value_id: Identity
    role: Role
    ordinal: U32
    axis: U32
    rank: U32
    canonical_extent: U64

    @property
    def key(self) -> tuple[Any, ...]:
        """The order in which projections ascend."""
        return (
            self.value_id,
            0 if self.role == "input" else 1,
            self.ordinal,
            self.axis,
            self.rank,
            self.canonical_extent,
        )


class TokenWork(Variant):
    """Work in proportion to the tokens along the projected axes."""

    tag: ClassVar[str] = "tokens"
    source: TokenAxis
    projections: Annotated[tuple[TokenAxis, ...], Field(strict=False)]


Work = Annotated[
    Annotated[Literal["fixed"], Tag("fixed")] | Annotated[TokenWork, Tag("tokens")],
    Discriminator(variant_tag),
]


class OperationVersionMismatch(Variant):
    """The provider runs another version of the operation."""

    tag: ClassVar[str] = "operation_version_mismatch"
    required: Version
    available: Version


class ProviderVersionMismatch(Variant):
    """The provider is of another version than the operation asks for."""

    tag: ClassVar[str] = "provider_version_mismatch"
    required: Version
    available: Version


class MissingCapabilities(Variant):
    """The provider lacks what the operation or the node requires."""

    tag: ClassVar[str] = "missing_capabilities"
    capabilities: Annotated[tuple[Identity, ...], Field(strict=False)]


class UnsupportedWeightFormats(Variant):
    """The provider does not read the plan's weights."""

    tag: ClassVar[str] = "unsupported_weight_formats"
    formats: Annotated[tuple[Identity, ...], Field(strict=False)]


class UnsupportedQuantizationFormats(Variant):
    """The provider does not read the plan's quantized weights."""

    tag: ClassVar[str] = "unsupported_quantization_formats"
    formats: Annotated[tuple[Identity, ...], Field(strict=False)]


class InsufficientExecutionDeterminism(Variant):
    """The provider promises less of its bits than the policy requires; of schema 8.1."""

    tag: ClassVar[str] = "insufficient_execution_determinism"
    required: Determinism
    available: ExecutionSemantics


Incompatibility = Annotated[
    Annotated[OperationVersionMismatch, Tag("operation_version_mismatch")]
    | Annotated[ProviderVersionMismatch, Tag("provider_version_mismatch")]
    | Annotated[MissingCapabilities, Tag("missing_capabilities")]
    | Annotated[UnsupportedWeightFormats, Tag("unsupported_weight_formats")]
    | Annotated[UnsupportedQuantizationFormats, Tag("unsupported_quantization_formats")]
    | Annotated[InsufficientExecutionDeterminism, Tag("insufficient_execution_determinism")],
    Discriminator(variant_tag),
]


class Incompatible(WireModel):
    """The provider cannot run the node; the list of reasons may be empty, or repeat one."""

    tag: ClassVar[str] = "incompatible"
    incompatible: Annotated[tuple[Incompatibility, ...], Field(strict=False)]


class StorageIncompatible(Variant):
    """The provider does not accept how these resources are stored."""

    tag: ClassVar[str] = "storage_incompatible"
    resource_ids: Annotated[tuple[Identity, ...], Field(strict=False)]


class RejectedProvider(WireModel):
    """A provider that was not selected, and why."""

    provider_id: Identity
    reasons: Annotated[
        Annotated[Literal["not_registered"], Tag("not_registered")]
        | Annotated[Incompatible, Tag("incompatible")]
        | Annotated[StorageIncompatible, Tag("storage_incompatible")],
        Discriminator(variant_tag),
    ]


class Selection(WireModel):
    """Which provider runs the node, and why that one."""

    requested_provider: Identity | None
    selected_provider: Identity
    selection_reason: Literal[
        "deterministic_compatible",
        "canonical_compatible",
        "preferred_compatible",
        "fallback_from_preferred",
    ]
    rejected_providers: Annotated[tuple[RejectedProvider, ...], Field(strict=False)]


class WorkspaceEstimate(WireModel):
    """A provider's estimate of one workspace."""

    size_formula: SizeFormula
    alignment_bytes: U64
    scope: Lifetime
    storage: AcceptedStorage


class ProviderResources(WireModel):
    """What the selected provider says the node needs beside its values."""

    provider_id: Identity
    estimator_id: Identity
    estimator_version: Version
    estimator_implementation_fingerprint: Fingerprint
    estimator_input_fingerprint: Fingerprint
    estimate_fingerprint: Fingerprint
    value_alignment_bytes: U64
    scratch: WorkspaceEstimate | None
    binding: WorkspaceEstimate | None
    persistent: WorkspaceEstimate | None


class PlanNode(WireModel):
    """A node of a full execution plan."""

    id: Identity
    dependencies: Annotated[tuple[Identity, ...], Field(strict=False)]
    operation_id: Identity
    operation_version: Version
    operation_fingerprint: Fingerprint
    provider_implementation_fingerprint: Fingerprint
    provider_execution_semantics: ExecutionSemantics | None = None
    required_capabilities: Annotated[tuple[Identity, ...], Field(strict=False)]
    attributes: dict[str, JsonValue]
    work: Work
    selection: Selection
    provider_resources: ProviderResources
    values: Annotated[tuple[ValueBinding, ...], Field(strict=False)]
    exact_aliases: Annotated[tuple[ExactAlias, ...], Field(strict=False)]
    state_effects: Annotated[tuple[StateEffect, ...], Field(strict=False)]
    scratch_resource: Identity | None
    binding_resource: Identity | None
    persistent_resource: Identity | None
    resources: Annotated[tuple[Identity, ...], Field(strict=False)]
