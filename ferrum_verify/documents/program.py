"""The model program: operations in blocks, states, weights, inputs and outputs."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, JsonValue, Tag

from ferrum_verify.documents.checkpoint import CheckpointInputs, StateCapability, StateSemantics
from ferrum_verify.documents.node import TokenAxis
from ferrum_verify.documents.primitives import (
    U32,
    U64,
    U64_MAX,
    Identity,
    Initialization,
    Variant,
    Version,
    WireModel,
    variant_tag,
)
from ferrum_verify.documents.tensor import Tensor, tensor_bytes, tensor_faults


class TokenScaled(Variant):
    """A state that grows with the tokens of its sequence."""

    tag: ClassVar[str] = "token_scaled"
    bytes_per_token: U64
    maximum_tokens: U64


CapacityDemand = Annotated[
    Annotated[Literal["fixed_per_scope"], Tag("fixed_per_scope")]
    | Annotated[TokenScaled, Tag("token_scaled")],
    Discriminator(variant_tag),
]


class ProgramState(WireModel):
    """A value that outlives a step."""

    id: Identity
    value_id: Identity
    tensor: Tensor
    lifetime: Literal["request", "sequence", "step"]
    capacity_demand: CapacityDemand
    initialization: Initialization
    checkpoint: StateCapability = "unsupported"

    def faults(self) -> Iterator[str]:
        """What makes the state malformed in a whole program, each as a clause.

        The rules are docs/format.md, «Sequence checkpoints».
        """
        shape = list(tensor_faults(self.tensor))
        yield from (f"state `{self.id}`: {fault}" for fault in shape)
        demand = self.capacity_demand
        if isinstance(demand, TokenScaled):
            each, most = demand.bytes_per_token, demand.maximum_tokens
            if not shape and each < tensor_bytes(self.tensor):
                yield (
                    f"state `{self.id}` has {each:,} bytes for each token, and its tensor takes "
                    f"{tensor_bytes(self.tensor):,}"
                )
            if not most:
                yield f"state `{self.id}` holds at most 0 tokens"
            if each * most > U64_MAX:
                yield f"state `{self.id}` takes {each * most:,} bytes, more than u64 holds"
        if isinstance(self.checkpoint, StateSemantics) and self.lifetime != "sequence":
            yield f"state `{self.id}` is checkpointed and lives for one {self.lifetime}"


class ProgramWeight(WireModel):
    """A weight and the value that it is."""

    weight_id: Identity
    value_id: Identity
    tensor: Tensor


class TokenSource(WireModel):
    """The axis that a node's tokens are counted along, before a plan says where it is bound."""

    value_id: Identity
    axis: U32


def _source_form(value: Any) -> str:
    fields = value.keys() if isinstance(value, dict) else ()
    return "planned" if any(name in fields for name in _PLANNED) else "stated"


_PLANNED = ("role", "ordinal", "rank", "canonical_extent")


class ProgramTokenWork(Variant):
    """Work in proportion to tokens: the source alone, or all that a plan says of it too."""

    tag: ClassVar[str] = "tokens"
    source: Annotated[
        Annotated[TokenSource, Tag("stated")] | Annotated[TokenAxis, Tag("planned")],
        Discriminator(_source_form),
    ]
    projections: Annotated[tuple[TokenAxis, ...], Field(strict=False)] = ()


ProgramWork = Annotated[
    Annotated[Literal["fixed"], Tag("fixed")] | Annotated[ProgramTokenWork, Tag("tokens")],
    Discriminator(variant_tag),
]


class ProgramNode(WireModel):
    """An operation of the program, before a provider is selected for it."""

    id: Identity
    operation_id: Identity
    required_version: Version
    work: ProgramWork
    inputs: Annotated[tuple[Identity, ...], Field(strict=False)]
    outputs: Annotated[tuple[Identity, ...], Field(strict=False)]
    attributes: dict[str, JsonValue]


class ProgramBlock(WireModel):
    """A named run of operations."""

    id: Identity
    nodes: Annotated[tuple[ProgramNode, ...], Field(strict=False)]


class ModelProgram(WireModel):
    """What the model computes, independent of any device."""

    family_id: Identity
    inputs: Annotated[tuple[Identity, ...], Field(strict=False)]
    blocks: Annotated[tuple[ProgramBlock, ...], Field(strict=False)]
    states: Annotated[tuple[ProgramState, ...], Field(strict=False)]
    weights: Annotated[tuple[ProgramWeight, ...], Field(strict=False)]
    outputs: Annotated[tuple[Identity, ...], Field(strict=False)]
    checkpoint_inputs: CheckpointInputs | None = None
