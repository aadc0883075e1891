"""The halves of a decoder layer. Each takes the residual stream and returns the next one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import operations as op
from .network import NetworkBuilder, Tensor, Value
from .storage import affine, fixed, per_sequence, per_token, shape_buckets

if TYPE_CHECKING:
    from .deployment import Deployment
    from .dimensions import Attention, Experts, FeedForward, Recurrence
    from .storage import Formula

ATTENTION_SPLITS = 8
"""Parts into which a decode step cuts one sequence's keys, each with its own partial result."""

DELTA_CHUNK_TOKENS = 64
"""Tokens that the gated delta rule folds into its state at once."""


def norm(build: NetworkBuilder, name: str, source: Value, hidden: int) -> Value:
    """Root-mean-square normalisation of the residual stream."""
    normed = build.activation(name, hidden)
    build.apply(name, op.NORM, (source, build.weight(name, hidden)), (normed,))
    return normed


def linear(build: NetworkBuilder, name: str, source: Value, rows: int) -> Value:
    """A matrix product without bias."""
    result = build.activation(name, rows)
    weight = build.weight(name, rows, source.tensor.dimensions[-1])
    build.apply(name, op.LINEAR_MAP, (source, weight), (result,))
    return result


def linear_residual(
    build: NetworkBuilder,
    name: str,
    source: Value,
    residual: Value,
    scratch: Formula | None = None,
) -> Value:
    """A matrix product added to the residual stream."""
    hidden = residual.tensor.dimensions[-1]
    result = build.activation(name, hidden)
    weight = build.weight(name, hidden, source.tensor.dimensions[-1])
    build.apply(name, op.LINEAR_RESIDUAL, (source, weight, residual), (result,), scratch=scratch)
    return result


def self_attention(
    build: NetworkBuilder,
    prefix: str,
    residual: Value,
    sizes: Attention,
    deployment: Deployment,
    *,
    head_norms: bool,
    output_gate: bool,
) -> Value:
    """Grouped-query attention over a paged KV cache, projected back onto the residual."""
    normed = norm(build, f"{prefix}/norm1", residual, residual.tensor.dimensions[-1])
    query = linear(build, f"{prefix}/q", normed, sizes.query_width)
    key = linear(build, f"{prefix}/k", normed, sizes.key_value_width)
    value = linear(build, f"{prefix}/v", normed, sizes.key_value_width)
    gate = linear(build, f"{prefix}/gate_attn", normed, sizes.query_width) if output_gate else None
    if head_norms:
        query = _head_norm(build, f"{prefix}/q_norm", query, sizes.head)
        key = _head_norm(build, f"{prefix}/k_norm", key, sizes.head)

    position = Tensor((2, sizes.key_value_heads, sizes.head), "f16")
    block_bytes = kv_block_bytes(sizes, deployment)
    cache = build.cache(f"{prefix}/kv", position, block_bytes)
    mixed = build.activation(f"{prefix}/attn", sizes.query_width)
    build.apply(
        f"{prefix}/attn",
        op.paged_attention(deployment.page_tokens, block_bytes),
        (query, key, value, cache),
        (mixed,),
        scratch=_attention_scratch(sizes, deployment),
        binding=_page_tables(deployment),
    )
    if gate is not None:
        gated = build.in_place(f"{prefix}/attn_gated", mixed)
        build.apply(f"{prefix}/attn_gated", op.SIGMOID_GATE, (mixed, gate), (gated,))
        mixed = gated
    return linear_residual(build, f"{prefix}/o", mixed, residual)


def kv_block_bytes(sizes: Attention, deployment: Deployment) -> int:
    """Bytes of one cache block: a page of keys and values, up to a power of two."""
    token_bytes = Tensor((2, sizes.key_value_heads, sizes.head), "f16").size_bytes
    return 1 << (deployment.page_tokens * token_bytes - 1).bit_length()


def _head_norm(build: NetworkBuilder, name: str, source: Value, head: int) -> Value:
    normed = build.in_place(name, source)
    build.apply(name, op.HEAD_NORM, (source, build.weight(name, head)), (normed,))
    return normed


def _attention_scratch(sizes: Attention, deployment: Deployment) -> Formula:
    """Partial results of split keys when decoding; row maxima and sums when prefilling."""
    sequences, tokens = deployment.maximum_active_sequences, deployment.maximum_scheduled_tokens
    pages = deployment.pages_per_sequence
    one = ATTENTION_SPLITS * sizes.heads * (sizes.head + 2) * 4
    rows = tokens * sizes.heads * 2 * 4
    return shape_buckets(
        (1, 1, pages, one),
        (sequences, sequences, sequences * pages, sequences * one),
        (sequences, tokens, sequences * pages, sequences * one + rows),
    )


def _page_tables(deployment: Deployment) -> Formula:
    """For each sequence the numbers of its blocks (u32), and a line of lengths and pointers."""
    return per_sequence(deployment.pages_per_sequence * 4 + 64)


def feed_forward(build: NetworkBuilder, prefix: str, residual: Value, sizes: FeedForward) -> Value:
    """A gated feed-forward block; the product overwrites the gate."""
    hidden = residual.tensor.dimensions[-1]
    normed = norm(build, f"{prefix}/norm2", residual, hidden)
    gate = linear(build, f"{prefix}/gate", normed, sizes.intermediate)
    up = linear(build, f"{prefix}/up", normed, sizes.intermediate)
    product = build.in_place(f"{prefix}/mul", gate)
    build.apply(f"{prefix}/mul", op.SILU_MULTIPLY, (gate, up), (product,))
    split_sums = per_token(hidden * 4)
    return linear_residual(build, f"{prefix}/down", product, residual, split_sums)


def routed_experts(
    build: NetworkBuilder, prefix: str, residual: Value, sizes: Experts
) -> tuple[Value, Value]:
    """A mixture of experts. Returns the residual stream and the experts chosen per token."""
    hidden = residual.tensor.dimensions[-1]
    normed = norm(build, f"{prefix}/norm2", residual, hidden)
    scores = build.activation(f"{prefix}/router", sizes.experts, "f32")
    router = build.weight(f"{prefix}/router", sizes.experts, hidden)
    build.apply(f"{prefix}/router", op.ROUTER, (normed, router), (scores,))

    chosen = build.activation(f"{prefix}/chosen", sizes.experts_per_token, "u32")
    shares = build.activation(f"{prefix}/shares", sizes.experts_per_token, "f32")
    build.apply(f"{prefix}/top_experts", op.TOP_EXPERTS, (scores,), (chosen, shares))

    gate_weights = build.weight(f"{prefix}/experts_gate", sizes.experts, sizes.intermediate, hidden)
    up_weights = build.weight(f"{prefix}/experts_up", sizes.experts, sizes.intermediate, hidden)
    down_weights = build.weight(f"{prefix}/experts_down", sizes.experts, hidden, sizes.intermediate)
    counters = sizes.experts * 8
    pointers = fixed(sizes.experts * 16)
    gate = build.activation(f"{prefix}/experts_gate", sizes.routed_width)
    up = build.activation(f"{prefix}/experts_up", sizes.routed_width)
    build.apply(
        f"{prefix}/experts_in",
        op.EXPERT_PROJECTION,
        (normed, chosen, gate_weights, up_weights),
        (gate, up),
        scratch=affine(counters, 0, sizes.experts_per_token * hidden * 2),
        binding=pointers,
    )
    product = build.in_place(f"{prefix}/experts_mul", gate)
    build.apply(f"{prefix}/experts_mul", op.SILU_MULTIPLY, (gate, up), (product,))
    mixed = build.activation(f"{prefix}/experts_out", hidden)
    build.apply(
        f"{prefix}/experts_out",
        op.EXPERT_COMBINE,
        (product, chosen, shares, down_weights, residual),
        (mixed,),
        scratch=affine(counters, 0, sizes.experts_per_token * hidden * 4),
        binding=pointers,
    )
    return mixed, chosen


def gated_delta(build: NetworkBuilder, prefix: str, residual: Value, sizes: Recurrence) -> Value:
    """A recurrent layer: causal convolution, gated delta rule, gated norm, projection."""
    hidden = residual.tensor.dimensions[-1]
    channels = sizes.convolution_channels
    normed = norm(build, f"{prefix}/norm1", residual, hidden)
    mixed = linear(build, f"{prefix}/qkv", normed, channels)
    gate = linear(build, f"{prefix}/z", normed, sizes.value_width)
    rates = linear(build, f"{prefix}/ba", normed, 2 * sizes.value_heads)

    tail = build.boundary_state(
        f"{prefix}/conv", Tensor((channels, sizes.convolution_kernel - 1), "f16")
    )
    convolved = build.activation(f"{prefix}/conv", channels)
    kernel = build.weight(f"{prefix}/conv", channels, sizes.convolution_kernel)
    build.apply(f"{prefix}/conv", op.CAUSAL_CONVOLUTION, (mixed, kernel, tail), (convolved,))

    matrix = (sizes.value_heads, sizes.key_head, sizes.value_head)
    state = build.boundary_state(f"{prefix}/recurrent", Tensor(matrix, "f32"))
    decay = build.weight(f"{prefix}/decay", sizes.value_heads)
    step = build.weight(f"{prefix}/step", sizes.value_heads)
    output = build.activation(f"{prefix}/delta", sizes.value_width)
    build.apply(
        f"{prefix}/delta",
        op.gated_delta(DELTA_CHUNK_TOKENS),
        (convolved, rates, decay, step, state),
        (output,),
        scratch=_delta_scratch(sizes),
    )
    gated = build.in_place(f"{prefix}/delta_norm", output)
    weight = build.weight(f"{prefix}/delta_norm", sizes.value_head)
    build.apply(f"{prefix}/delta_norm", op.GATED_NORM, (output, gate, weight), (gated,))
    return linear_residual(build, f"{prefix}/o", gated, residual)


def _delta_scratch(sizes: Recurrence) -> Formula:
    """For each sequence the decays of a chunk; for each token its row of the chunk's products."""
    head_bytes = sizes.value_heads * DELTA_CHUNK_TOKENS * 4
    return affine(0, head_bytes, 2 * head_bytes)
