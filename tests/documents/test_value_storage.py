"""Bindings whose components cannot hold their value."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify.documents.node import ValueBinding
from ferrum_verify.documents.value_storage import malformed_reason
from tests.derive import checkpoint_bundles as make

LARGEST = (1 << 64) - 1


def binding(
    *components: make.Json, tensor: make.Json | None = None, **changes: Any
) -> ValueBinding:
    value = make.value("x", "input", 0) | changes
    value["storage"] = {"components": list(components)}
    if tensor is not None:
        value["tensor"] = tensor
    return ValueBinding.model_validate(value)


def parts(*names: str | None, length: int = 16) -> list[make.Json]:
    return [make.component("r", length, length * index, name) for index, name in enumerate(names)]


STRIDED = make.tensor(16, layout={"strided": {"byte_strides": [4]}})
EXACT = make.tensor(16, layout={"blocked": {"block": [4], "axis_order": [0], "padding": "exact"}})
PADDED = make.tensor(
    15,
    layout={
        "blocked": {
            "block": [16],
            "axis_order": [0],
            "padding": {"zero_fill": {"physical_dimensions": [16]}},
        }
    },
)


@pytest.mark.parametrize(
    "one",
    [
        binding(make.component("r", 32)),
        binding(make.component("r", 32, name="whole")),
        binding(make.component("r", 64)),
        binding(make.component("r", 32, LARGEST - 32)),
        binding(*parts("a", "b")),
        binding(make.component("r", 2 + 15 * 4), tensor=STRIDED),
        binding(make.component("r", 32), tensor=EXACT),
        binding(make.component("r", 32), tensor=PADDED),
    ],
)
def test_well_formed(one: ValueBinding) -> None:
    assert malformed_reason(one) is None


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (binding(), "it has no storage component"),
        (binding(make.component("r", 0)), "its component in `r` is empty"),
        (
            binding(make.component("r", 32), make.component("q", 0, name="a")),
            "its component in `q` is empty",
        ),
        (
            binding(make.component("r", 32, LARGEST - 31)),
            "its component in `r` ends at byte 18,446,744,073,709,551,616, past u64",
        ),
        (
            binding(*parts("a", None)),
            "1 of its 2 components have no id to tell them apart by",
        ),
        (
            binding(*parts(None, None)),
            "2 of its 2 components have no id to tell them apart by",
        ),
        (binding(*parts("a", "b", "a")), "two of its components have the id `a`"),
        (
            binding(make.component("r", 31)),
            "its tensor takes 32 bytes and its components hold 31",
        ),
        (
            binding(*parts("a", "b", length=15)),
            "its tensor takes 32 bytes and its components hold 30",
        ),
        (
            binding(make.component("r", 61), tensor=STRIDED),
            "its tensor takes 62 bytes and its components hold 61",
        ),
        (
            binding(make.component("r", 30), tensor=PADDED),
            "its tensor takes 32 bytes and its components hold 30",
        ),
        (
            binding(make.component("r", 32), tensor=make.tensor(1 << 40, 1 << 40)),
            "the size of its tensor passes u64",
        ),
    ],
)
def test_malformed(one: ValueBinding, reason: str) -> None:
    assert malformed_reason(one) == reason


def weight(encoding: Any) -> make.Json:
    return {
        "weight_id": "w",
        "format_id": "format",
        "layout_id": "layout",
        "schema_version": make.VERSION,
        "physical_layout": {"packed": {}},
        "components": [
            {
                "component_id": "w.values",
                "role": "values",
                "physical_dimensions": [16],
                "encoding": encoding,
            }
        ],
    }


def test_a_packed_weight_may_be_smaller_than_the_tensor_that_it_stands_for() -> None:
    short = make.component("r", 8, name="w.values")
    packed = binding(short, usage="weights", weight=weight({"packed": {"bits": 4}}))
    narrower = binding(short, usage="weights", weight=weight({"dense": {"element_type": "u8"}}))
    dense = binding(short, usage="weights", weight=weight({"dense": {"element_type": "f16"}}))
    assert malformed_reason(packed) is None
    assert malformed_reason(narrower) is None
    assert malformed_reason(dense) == "its tensor takes 32 bytes and its components hold 8"
