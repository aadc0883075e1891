"""The operations that decoder models are made of: their signatures and their contracts.

A signature names each dimension by a symbol; the same symbol is the same extent within one
node. ``tokens`` is the axis along which a node's work grows, ``sequences`` the batch axis.
"""

from __future__ import annotations

from dataclasses import dataclass

from .storage import LINEAR, VALUE_ALIGNMENT_BYTES, Json, Profile

VERSION = {"major": 1, "minor": 0}
TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class Port:
    """One tensor of an operation's signature.

    ``in_place_of`` is the ordinal of the input whose bytes an output may (or, with
    ``must``, has to) take over. ``checkpoint_layout`` makes a state input capturable.
    """

    dimensions: tuple[str, ...]
    element_types: tuple[str, ...] = ("f16",)
    access: str = "read"
    in_place_of: int | None = None
    must: bool = False
    profile: Profile = LINEAR
    checkpoint_layout: str | None = None

    @property
    def alias(self) -> str | Json:
        """The alias policy as the engine writes it."""
        if self.in_place_of is None:
            return "no_alias"
        return {self.alias_kind: {"tensor_index": self.in_place_of}}

    @property
    def alias_kind(self) -> str:
        """Whether sharing is allowed or required, where an input is named at all."""
        return "must_alias" if self.must else "may_alias"

    def to_json(self) -> Json:
        """The port's tensor contract."""
        return {
            "dimensions": [{"symbol": symbol} for symbol in self.dimensions],
            "element_types": list(self.element_types),
            "layouts": ["contiguous"],
            "access": self.access,
            "alias": self.alias,
        }


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation, and what its one provider promises of checkpoints and workspaces.

    A checkpoint boundary must leave a prefix of whole ``prefix_tokens``. ``numerics`` says
    how a run that continues from a checkpoint compares to one that never stopped.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    numerics: str
    prefix_tokens: int = 1
    captures_completed_input: bool = True
    scratch: str = "forbidden"
    binding: str = "forbidden"

    @property
    def operation_id(self) -> str:
        """Identity in the catalog's ``operations``."""
        return f"operation/{self.name}"

    @property
    def provider_id(self) -> str:
        """Identity of the operation's provider."""
        return f"provider/{self.name}"

    @property
    def estimator_id(self) -> str:
        """Identity of the provider's workspace estimator."""
        return f"resource-estimator/{self.name}"

    def contract(self) -> Json:
        """The catalog's description of the operation, in the engine's field order."""
        return {
            "id": self.operation_id,
            "version": dict(VERSION),
            "inputs": [port.to_json() for port in self.inputs],
            "outputs": [port.to_json() for port in self.outputs],
            "attributes": {"entries": {}},
            "resources": {
                "minimum_value_alignment_bytes": VALUE_ALIGNMENT_BYTES,
                "scratch": self.scratch,
                "binding": self.binding,
                "persistent": "forbidden",
            },
            "oracle": "exact",
            "provider": {
                "minimum_version": dict(VERSION),
                "required_capabilities": ["capability.compute"],
            },
            "profile_phase": "decode",
        }


EXACT = "bitwise_equivalent"
"""Each token's result depends on that token alone, whatever the batch."""

ORACLE = "operation_oracle"
"""A matrix product, whose rounding may change with the batch's shape."""

CONTINUED = "captured_execution_continuation"
"""The restored state continues the captured run; only its later batches may round apart."""

SAME_PARTITION = "same_partition_only"
"""Equal results need equal chunks, since a chunk is summed before it meets the state."""

EMBEDDING = Operation(
    "embedding",
    inputs=(Port((TOKENS,), ("u32",)), Port(("vocabulary", "hidden"))),
    outputs=(Port((TOKENS, "hidden"), access="write"),),
    numerics=EXACT,
)

NORM = Operation(
    "rms-norm",
    inputs=(Port((TOKENS, "hidden")), Port(("hidden",))),
    outputs=(Port((TOKENS, "hidden"), access="write"),),
    numerics=EXACT,
)

HEAD_NORM = Operation(
    "head-norm",
    inputs=(Port((TOKENS, "width")), Port(("head",))),
    outputs=(Port((TOKENS, "width"), access="write", in_place_of=0, must=True),),
    numerics=EXACT,
)

LINEAR_MAP = Operation(
    "linear",
    inputs=(Port((TOKENS, "columns")), Port(("rows", "columns"))),
    outputs=(Port((TOKENS, "rows"), access="write"),),
    numerics=ORACLE,
)

LINEAR_RESIDUAL = Operation(
    "linear-residual",
    inputs=(
        Port((TOKENS, "columns")),
        Port(("rows", "columns")),
        Port((TOKENS, "rows")),
    ),
    outputs=(Port((TOKENS, "rows"), access="write"),),
    numerics=ORACLE,
    scratch="optional",
)

SILU_MULTIPLY = Operation(
    "silu-multiply",
    inputs=(Port((TOKENS, "width")), Port((TOKENS, "width"))),
    outputs=(Port((TOKENS, "width"), access="write", in_place_of=0),),
    numerics=EXACT,
)

SIGMOID_GATE = Operation(
    "sigmoid-gate",
    inputs=(Port((TOKENS, "width")), Port((TOKENS, "width"))),
    outputs=(Port((TOKENS, "width"), access="write", in_place_of=0),),
    numerics=EXACT,
)

LOGITS = Operation(
    "logits",
    inputs=(Port((TOKENS, "hidden")), Port(("vocabulary", "hidden"))),
    outputs=(Port(("sequences", "vocabulary"), ("f32",), access="write"),),
    numerics=ORACLE,
)

ROUTER = Operation(
    "router",
    inputs=(Port((TOKENS, "hidden")), Port(("experts", "hidden"))),
    outputs=(Port((TOKENS, "experts"), ("f32",), access="write"),),
    numerics=ORACLE,
)

TOP_EXPERTS = Operation(
    "top-experts",
    inputs=(Port((TOKENS, "experts"), ("f32",)),),
    outputs=(
        Port((TOKENS, "chosen"), ("u32",), access="write"),
        Port((TOKENS, "chosen"), ("f32",), access="write"),
    ),
    numerics=EXACT,
)

EXPERT_PROJECTION = Operation(
    "expert-projection",
    inputs=(
        Port((TOKENS, "hidden")),
        Port((TOKENS, "chosen"), ("u32",)),
        Port(("experts", "intermediate", "hidden")),
        Port(("experts", "intermediate", "hidden")),
    ),
    outputs=(
        Port((TOKENS, "routed"), access="write"),
        Port((TOKENS, "routed"), access="write"),
    ),
    numerics=ORACLE,
    scratch="required",
    binding="required",
)

EXPERT_COMBINE = Operation(
    "expert-combine",
    inputs=(
        Port((TOKENS, "routed")),
        Port((TOKENS, "chosen"), ("u32",)),
        Port((TOKENS, "chosen"), ("f32",)),
        Port(("experts", "hidden", "intermediate")),
        Port((TOKENS, "hidden")),
    ),
    outputs=(Port((TOKENS, "hidden"), access="write"),),
    numerics=ORACLE,
    scratch="required",
    binding="required",
)

GATED_NORM = Operation(
    "gated-norm",
    inputs=(Port((TOKENS, "width")), Port((TOKENS, "width")), Port(("head",))),
    outputs=(Port((TOKENS, "width"), access="write", in_place_of=0, must=True),),
    numerics=EXACT,
)

CAUSAL_CONVOLUTION = Operation(
    "causal-convolution",
    inputs=(
        Port((TOKENS, "channels")),
        Port(("channels", "kernel")),
        Port(
            ("channels", "tail"),
            access="read_write",
            checkpoint_layout="contiguous_boundary_value",
        ),
    ),
    outputs=(Port((TOKENS, "channels"), access="write"),),
    numerics=CONTINUED,
)


def paged_attention(page_tokens: int, block_bytes: int) -> Operation:
    """Attention over a paged KV cache, one block of it holding ``page_tokens`` tokens.

    The cache is captured by whole pages, so a checkpoint's prefix is a multiple of a page.
    """
    cache = Port(
        ("pair", "key_value_heads", "head"),
        access="read_write",
        profile=Profile(block_bytes),
        checkpoint_layout="token_major_prefix",
    )
    return Operation(
        "paged-attention",
        inputs=(
            Port((TOKENS, "query")),
            Port((TOKENS, "key_value")),
            Port((TOKENS, "key_value")),
            cache,
        ),
        outputs=(Port((TOKENS, "query"), access="write"),),
        numerics=CONTINUED,
        prefix_tokens=page_tokens,
        scratch="required",
        binding="required",
    )


def gated_delta(chunk_tokens: int) -> Operation:
    """The gated delta rule, which folds ``chunk_tokens`` at a time into its state matrices.

    Its state is exact between chunks only: a prefix is a multiple of a chunk, and the state
    after an input that ends inside a chunk is not offered for capture.
    """
    matrices = Port(
        ("value_heads", "key_head", "value_head"),
        ("f32",),
        access="read_write",
        checkpoint_layout="contiguous_boundary_value",
    )
    return Operation(
        "gated-delta",
        inputs=(
            Port((TOKENS, "channels")),
            Port((TOKENS, "gates")),
            Port(("value_heads",)),
            Port(("value_heads",)),
            matrices,
        ),
        outputs=(Port((TOKENS, "width"), access="write"),),
        numerics=SAME_PARTITION,
        prefix_tokens=chunk_tokens,
        captures_completed_input=False,
        scratch="required",
    )
