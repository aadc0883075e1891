"""What a program, a provider and a state declare about sequence checkpoints."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, Discriminator, Field, Tag, model_serializer, model_validator
from pydantic_core import PydanticCustomError

from ferrum_verify.documents.primitives import (
    U32,
    U64,
    U64_MAX,
    Identity,
    Role,
    Variant,
    Version,
    WireModel,
    variant_tag,
)
from ferrum_verify.documents.storage import StorageProfile, profile_fault

InputDependency = Literal["exact_token_prefix", "entire_token_input"]
PartitionNumerics = Literal[
    "captured_execution_continuation",
    "same_partition_only",
    "bitwise_equivalent",
    "operation_oracle",
]
InputCapture = Literal["supported", "unsupported"]
StateContents = Literal["prefix_positions", "boundary_value"]

CONTRACT_VERSION = Version(major=1, minor=0)
"""The only version of every checkpoint contract."""


def _known_version(version: Version) -> None:
    if version != CONTRACT_VERSION:
        raise PydanticCustomError("contract_version", "Checkpoint contract version should be 1.0")


def _legal_profile(profile: StorageProfile) -> StorageProfile:
    if (fault := profile_fault(profile)) is not None:
        raise PydanticCustomError(
            "storage_profile", "Storage profile should not be {fault}", {"fault": fault}
        )
    return profile


class PagedKeyValue(Variant):
    """Keys and values of a prefix in blocks: in each the keys of all its tokens, then the values.

    ``key_pack_elements`` neighbours of a key lie together, token by token.
    """

    tag: ClassVar[str] = "paged_key_value_block_prefix"
    tokens_per_block: Annotated[U64, Field(ge=1)]
    key_pack_elements: Annotated[U64, Field(ge=1)]


StateLayout = Annotated[
    Annotated[Literal["contiguous_boundary_value"], Tag("contiguous_boundary_value")]
    | Annotated[Literal["token_major_prefix"], Tag("token_major_prefix")]
    | Annotated[PagedKeyValue, Tag("paged_key_value_block_prefix")],
    Discriminator(variant_tag),
]
"""How a state's bytes lie; the last came with plan schema 8.1."""


def layout_name(layout: StateLayout) -> str:
    """The layout as messages name it."""
    if isinstance(layout, str):
        return layout
    return f"{layout.tag}({layout.tokens_per_block}, {layout.key_pack_elements})"


def layout_wire(layout: StateLayout) -> Any:
    """The layout as the engine's JSON."""
    return layout if isinstance(layout, str) else layout.to_wire()


def holds_prefix(layout: StateLayout) -> bool:
    """Whether the layout is for a value of each position, not for one of the whole prefix."""
    return layout != "contiguous_boundary_value"


LegalStorageProfile = Annotated[StorageProfile, AfterValidator(_legal_profile)]
"""A storage profile that some allocator can really serve."""


def _ascend(keys: Iterable[Any]) -> bool:
    return all(left < right for left, right in pairwise(keys))


def smallest_legal(minimum_tokens: int, alignment: int) -> int:
    """The smallest aligned count of tokens that is at least the minimum; may pass u64."""
    return -(-minimum_tokens // alignment) * alignment


class TokenSpan(WireModel):
    """A count of tokens is legal when it is at least ``minimum_tokens`` and aligned."""

    minimum_tokens: Annotated[U64, Field(ge=1)]
    alignment: Annotated[U64, Field(ge=1)]

    @property
    def smallest(self) -> int:
        """The smallest legal count of tokens."""
        return smallest_legal(self.minimum_tokens, self.alignment)

    def permits(self, tokens: int) -> bool:
        """Whether ``tokens`` is a legal count."""
        return tokens >= self.minimum_tokens and tokens % self.alignment == 0

    @model_validator(mode="after")
    def _representable(self) -> Self:
        if self.smallest > U64_MAX:
            raise PydanticCustomError(
                "span_overflow", "The smallest legal count of tokens passes u64"
            )
        return self


class BoundaryConstraint(WireModel):
    """Where a prompt may be cut: constraints on the tokens before and after the boundary."""

    prefix: TokenSpan
    suffix: TokenSpan

    def permits(self, processed: int, boundary: int, prompt: int) -> bool:
        """Whether a prompt of ``prompt`` tokens may be cut at ``boundary``.

        ``processed`` tokens stood in the state before; the tokens in between are the prefix.
        """
        return self.prefix.permits(boundary - processed) and self.suffix.permits(prompt - boundary)

    @model_validator(mode="after")
    def _representable(self) -> Self:
        if self.prefix.smallest + self.suffix.smallest > U64_MAX:
            raise PydanticCustomError(
                "boundary_overflow", "The smallest legal prefix and suffix together pass u64"
            )
        return self


class StatePort(WireModel):
    """A port through which a provider reads or writes a state, and how it is laid out there."""

    role: Role
    ordinal: U32
    storage_profile: LegalStorageProfile
    layout: StateLayout

    @property
    def key(self) -> tuple[Any, ...]:
        """The order in which the ports of a contract ascend."""
        profile = self.storage_profile
        view = 0 if isinstance(profile.view, str) else profile.view.block_bytes
        return (self.role != "input", self.ordinal, profile.block_bytes or 0, view)


class ProviderContract(Variant):
    """A provider's promise about states at completed boundaries."""

    tag: ClassVar[str] = "completed_boundary"
    contract_version: Version
    input_dependency: InputDependency
    boundaries: BoundaryConstraint
    partition_numerics: PartitionNumerics
    completed_input_capture: InputCapture = "unsupported"
    state_ports: Annotated[tuple[StatePort, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _canonical(self) -> Self:
        _known_version(self.contract_version)
        if not _ascend(port.key for port in self.state_ports):
            raise PydanticCustomError(
                "port_order",
                "State ports should ascend by role, ordinal and storage profile, each once",
            )
        return self

    @model_serializer(mode="wrap")
    def _wrap(self, handler: Any) -> dict[str, Any]:
        contract: dict[str, Any] = handler(self)
        if not self.state_ports:
            contract.pop("state_ports", None)
        if not self.states_input_capture:
            contract.pop("completed_input_capture", None)
        return {self.tag: contract}

    @property
    def states_input_capture(self) -> bool:
        """Whether the contract says of input capture what leaving it out would not."""
        return "completed_input_capture" in self.model_fields_set

    def contract_wire(self) -> dict[str, Any]:
        """The contract's JSON without the tag of its variant."""
        wire: dict[str, Any] = self.to_wire()[self.tag]
        return wire


ProviderCapability = Annotated[
    Annotated[Literal["unsupported"], Tag("unsupported")]
    | Annotated[ProviderContract, Tag("completed_boundary")],
    Discriminator(variant_tag),
]


class StateSemantics(Variant):
    """What a state holds at a completed boundary."""

    tag: ClassVar[str] = "completed_boundary"
    contract_version: Version
    contents: StateContents
    input_dependency: InputDependency

    @model_validator(mode="after")
    def _canonical(self) -> Self:
        _known_version(self.contract_version)
        return self


StateCapability = Annotated[
    Annotated[Literal["unsupported"], Tag("unsupported")]
    | Annotated[StateSemantics, Tag("completed_boundary")],
    Discriminator(variant_tag),
]


class CheckpointInputs(WireModel):
    """How the program's inputs bear on its state."""

    contract_version: Version
    token_input: Identity
    conditioning_inputs: Annotated[tuple[Identity, ...], Field(strict=False)]
    output_only_inputs: Annotated[tuple[Identity, ...], Field(strict=False)] = ()

    @model_validator(mode="after")
    def _canonical(self) -> Self:
        _known_version(self.contract_version)
        for field in ("conditioning_inputs", "output_only_inputs"):
            if not _ascend(getattr(self, field)):
                raise PydanticCustomError(
                    "input_order", "{field} should ascend, each once", {"field": field}
                )
        named = [self.token_input, *self.conditioning_inputs, *self.output_only_inputs]
        if len(set(named)) != len(named):
            raise PydanticCustomError(
                "inputs_overlap", "Token, conditioning and output-only inputs should be disjoint"
            )
        return self

    @model_serializer(mode="wrap")
    def _without_empty(self, handler: Any) -> dict[str, Any]:
        wire: dict[str, Any] = handler(self)
        if not self.output_only_inputs:
            wire.pop("output_only_inputs", None)
        return wire

    def covers(self, inputs: tuple[str, ...]) -> bool:
        """Whether these are exactly the program's inputs."""
        return {
            self.token_input,
            *self.conditioning_inputs,
            *self.output_only_inputs,
        } == set(inputs)
