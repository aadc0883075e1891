"""Nodes in full, as an execution plan holds them."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, JsonValue, Tag
from typing_extensions import TypedDict

from ferrum_verify.documents.demand import SizeFormula
from ferrum_verify.documents.execution_semantics import ExecutionSemantics
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
from ferrum_verify.documents.variants import ANOTHER, WHOLE, known_or_another, schema_of_others


class MayAlias(Variant):
    """The output may take the bytes of the input at ``tensor_index``."""

    tag: ClassVar[str] = "may_alias"
    tensor_index: U64


class MustAlias(Variant):
    """The output takes the bytes of the input at ``tensor_index``."""

    tag: ClassVar[str] = "must_alias"
    tensor_index: U64


AliasPolicy = Annotated[
    Annotated[Literal["no_alias"], Tag("no_alias")]
    | Annotated[MayAlias, Tag("may_alias")]
    | Annotated[MustAlias, Tag("must_alias")],
    Discriminator(variant_tag),
]


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


@WHOLE
class _DenseEncoding(TypedDict):
    element_type: ElementType


@WHOLE
class DenseEncoding(TypedDict):
    """Elements one after the other, each in full."""

    dense: _DenseEncoding


Encoding = Annotated[
    Annotated[DenseEncoding, Tag("dense")]
    | Annotated[JsonValue, Tag(ANOTHER), schema_of_others("dense")],
    known_or_another("dense"),
]
"""How a part of a weight is written; as plain JSON, since most variants are not known here."""


class WeightComponent(WireModel):
    """One stored part of a weight."""

    component_id: Identity
    role: Identity
    physical_dimensions: Annotated[tuple[U64, ...], Field(strict=False)]
    encoding: Encoding


@WHOLE
class _DenseLayout(TypedDict):
    component_id: Identity


@WHOLE
class DenseLayout(TypedDict):
    """The whole matrix in one component."""

    dense: _DenseLayout


@WHOLE
class CompositePart(TypedDict):
    """A block of the matrix: where it begins, how far it goes, and what holds it."""

    layout: Annotated[
        Annotated[DenseLayout, Tag("dense")]
        | Annotated[JsonValue, Tag(ANOTHER), schema_of_others("dense")],
        known_or_another("dense"),
    ]
    logical_offsets: list[U64]
    extents: list[U64]


@WHOLE
class _CompositeLayout(TypedDict):
    parts: list[CompositePart]


@WHOLE
class CompositeLayout(TypedDict):
    """The matrix in blocks, each with a layout of its own."""

    composite: _CompositeLayout


PhysicalLayout = Annotated[
    Annotated[DenseLayout, Tag("dense")]
    | Annotated[CompositeLayout, Tag("composite")]
    | Annotated[JsonValue, Tag(ANOTHER), schema_of_others("dense", "composite")],
    known_or_another("dense", "composite"),
]
"""Which component holds which part of a weight; as plain JSON, like an encoding."""


class WeightBinding(WireModel):
    """Which weight a value is, and how it is stored.

    Dense and composite layouts are known; what others hold is the weight format's own affair.
    """

    weight_id: Identity
    format_id: Identity
    layout_id: Identity
    schema_version: Version
    physical_layout: PhysicalLayout
    components: Annotated[tuple[WeightComponent, ...], Field(strict=False)]


class ValueBinding(WireModel):
    """One input or output of a node, bound to its tensor and its bytes."""

    value_id: Identity
    role: Role
    ordinal: U64
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
    output_ordinal: U64
    input_value_id: Identity
    input_ordinal: U64
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
    ordinal: U64
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


class Incompatible(WireModel):
    """The provider cannot run the node; the engine's own reasons are kept as they are."""

    tag: ClassVar[str] = "incompatible"
    incompatible: Annotated[tuple[JsonValue, ...], Field(strict=False)]


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
