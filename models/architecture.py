"""Each family's model, from its dimensions to a network of nodes and values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import operations as op
from .layers import (
    feed_forward,
    gated_delta,
    norm,
    routed_experts,
    self_attention,
)
from .network import Network, NetworkBuilder, Tensor, Value

if TYPE_CHECKING:
    from .deployment import Deployment
    from .dimensions import Dimensions


def network(sizes: Dimensions, deployment: Deployment) -> Network:
    """The decoder of one family: embedding, layers, final norm and logits.

    The logits are retained for sampling. A mixture of experts also retains which experts
    its last layer chose, for load statistics; being read after the fence, that Step value
    may share its bytes with no other.
    """
    build = NetworkBuilder(sizes.family)
    build.begin("embedding")
    tokens = Value(
        "tokens", Tensor((1,), "u32"), "activations", "request", "tokens", "resource/input/tokens"
    )
    table = build.weight("embedding", sizes.vocabulary, sizes.hidden)
    stream = build.activation("embedding", sizes.hidden)
    build.apply("embedding", op.EMBEDDING, (tokens, table), (stream,))

    retained: list[Value] = []
    for index in range(sizes.layers):
        prefix = f"l{index:04d}"
        build.begin(prefix)
        stream = _mixer(build, prefix, stream, sizes, deployment=deployment, index=index)
        if sizes.experts is not None:
            stream, chosen = routed_experts(build, prefix, stream, sizes.experts)
            retained = [chosen]
        elif sizes.feed_forward is not None:
            stream = feed_forward(build, prefix, stream, sizes.feed_forward)

    build.begin("head")
    final = norm(build, "final_norm", stream, sizes.hidden)
    head = table if sizes.tied_embeddings else build.weight("head", sizes.vocabulary, sizes.hidden)
    logits = Value(
        "logits",
        Tensor((1, sizes.vocabulary), "f32"),
        "activations",
        "request",
        "sequences",
        "resource/output/logits",
    )
    build.apply("head", op.LOGITS, (final, head), (logits,))
    return build.finish((tokens,), (logits,), (*retained, logits))


def _mixer(
    build: NetworkBuilder,
    prefix: str,
    stream: Value,
    sizes: Dimensions,
    *,
    deployment: Deployment,
    index: int,
) -> Value:
    """The half of a layer in which tokens meet: attention, or in a hybrid mostly recurrence."""
    hybrid = sizes.recurrence
    if hybrid is not None and (index + 1) % hybrid.full_attention_interval != 0:
        return gated_delta(build, prefix, stream, hybrid)
    return self_attention(
        build,
        prefix,
        stream,
        sizes.attention,
        deployment,
        head_norms=sizes.architecture != "dense",
        output_gate=hybrid is not None,
    )
