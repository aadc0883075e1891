"""The generated sizes against what each model's release publishes."""

from __future__ import annotations

from typing import Any

import pytest

import models
from models.dimensions import UnknownFamilyError, dimensions

PARAMETERS = {"llama-3.1-8b": 8_030_261_248, "qwen3-30b-a3b": 30_532_122_624}
"""Published parameter counts, 16 bits each."""


def rows(problem: dict[str, Any], usage: str, part: str = "") -> list[dict[str, Any]]:
    return [
        row
        for row in problem["dynamic_descriptors"]
        if row["usage"] == usage and part in row["base_resource_id"]
    ]


@pytest.mark.parametrize(("family", "parameters"), PARAMETERS.items())
def test_the_weights_are_the_published_parameters(family: str, parameters: int) -> None:
    static = models.problem(family)["static_allocations"]
    assert sum(row["per_instance_bytes"] for row in static) == 2 * parameters


def test_the_hybrid_has_about_four_billion_parameters() -> None:
    static = models.problem("qwen3.5-4b")["static_allocations"]
    parameters = sum(row["per_instance_bytes"] for row in static) / 2
    assert 4.1e9 < parameters < 4.3e9


def test_only_the_hybrid_ties_its_head_to_its_embedding() -> None:
    for family in models.families():
        names = {row["resource_id"] for row in models.problem(family, 1)["static_allocations"]}
        assert ("resource/weight/head" in names) == (family != "qwen3.5-4b")


@pytest.mark.parametrize(
    ("family", "layers", "token_bytes"),
    [
        ("llama-3.1-8b", 32, 2 * 8 * 128 * 2),
        ("qwen3-30b-a3b", 48, 2 * 4 * 128 * 2),
        ("qwen3.5-4b", 8, 2 * 4 * 256 * 2),
    ],
)
def test_the_cache_holds_keys_and_values_of_each_attention_layer(
    family: str, layers: int, token_bytes: int
) -> None:
    caches = rows(models.problem(family), "state", "/kv")
    assert len(caches) == layers
    for cache in caches:
        assert cache["demand"]["tokens"]["bytes_per_token"] == token_bytes
        assert cache["lifetime"] == "sequence"
        block = cache["storage"]["profile"]["allocator"]["fixed_block_arena"]["block_bytes"]
        assert cache["storage"]["profile"]["view"] == {"paged_regions": {"block_bytes": block}}
        assert block == 16 * token_bytes


def test_a_recurrent_layer_carries_matrices_and_a_convolution_tail() -> None:
    problem = models.problem("qwen3.5-4b")
    recurrent, tails = rows(problem, "state", "/recurrent"), rows(problem, "state", "/conv")
    assert len(recurrent) == len(tails) == 24
    for row in recurrent:
        assert row["demand"] == {"fixed": {"bytes": 32 * 128 * 128 * 4}}
        assert row["element_type"] == "f32"
    for row in tails:
        assert row["demand"] == {"fixed": {"bytes": (2 * 16 * 128 + 32 * 128) * 3 * 2}}
        assert row["element_type"] == "f16"
    for row in recurrent + tails:
        assert row["initialization"] == "zero"
        assert row["lifetime"] == "sequence"


def test_every_fourth_layer_of_the_hybrid_attends() -> None:
    ids = {node["id"] for node in models.problem("qwen3.5-4b", 8)["nodes"]}
    attends = [f"node/l{index:04d}/attn" in ids for index in range(8)]
    recurs = [f"node/l{index:04d}/delta" in ids for index in range(8)]
    assert attends == [False, False, False, True] * 2
    assert recurs == [True, True, True, False] * 2


def test_an_expert_layer_holds_all_experts_and_routes_to_eight() -> None:
    problem = models.problem("qwen3-30b-a3b", 1)
    weights = {
        row["resource_id"]: row["per_instance_bytes"] for row in problem["static_allocations"]
    }
    for part in ("gate", "up", "down"):
        assert weights[f"resource/weight/l0000/experts_{part}"] == 128 * 768 * 2048 * 2
    (chosen,) = rows(problem, "activations", "/chosen")
    assert chosen["demand"]["tokens"]["bytes_per_token"] == 8 * 4


def test_logits_are_a_request_row_for_each_sequence() -> None:
    for family in models.families():
        (logits,) = rows(models.problem(family, 1), "activations", "logits")
        assert logits["lifetime"] == "request"
        size = dimensions(family).vocabulary * 4
        assert logits["demand"]["actual_sequences"]["bytes_per_sequence"] == size


def test_unknown_families_and_empty_stacks_are_refused() -> None:
    with pytest.raises(UnknownFamilyError, match=r"llama-3\.1-8b"):
        models.problem("gpt-2")
    with pytest.raises(ValueError, match="at least one layer"):
        models.problem("llama-3.1-8b", 0)
