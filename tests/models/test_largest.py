"""The largest legal documents stand within one layer of the limit."""

from __future__ import annotations

import json
from typing import Any

from models.largest import PLAN_LIMIT_BYTES, encoded_bytes, largest_below


def stack(layer_bytes: int, fixed_bytes: int) -> Any:
    return lambda layers: {"text": "x" * (fixed_bytes + layers * layer_bytes)}


def test_one_more_layer_would_not_fit() -> None:
    for layer_bytes, fixed_bytes in ((50_000, 700_000), (123_457, 3), (15_000, 1_000_000)):
        build = stack(layer_bytes, fixed_bytes)
        found = largest_below(build, lambda document: document)
        size = encoded_bytes(found)
        assert PLAN_LIMIT_BYTES - layer_bytes < size <= PLAN_LIMIT_BYTES


def test_bytes_are_those_of_compact_json() -> None:
    document = {"b": [1, 2], "a": "é"}
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    assert encoded_bytes(document) == len(text.encode())


def test_sizes_that_bend_are_still_settled() -> None:
    def build(layers: int) -> dict[str, str]:
        return {"text": "x" * (40_000 * layers + 2 * layers * layers)}

    layers = len(largest_below(build, lambda document: document)["text"])
    assert layers <= PLAN_LIMIT_BYTES < layers + 50_000
