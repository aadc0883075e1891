"""Bindings whose components cannot hold their value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.documents.node import ValueBinding
from ferrum_verify.documents.value_storage import Malformed, malformed_reason, port_faults
from ferrum_verify.documents.weight_parts import weight_faults
from tests.derive import checkpoint_bundles as make

if TYPE_CHECKING:
    from collections.abc import Iterable

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
        binding(make.component("r", 32, LARGEST - 33)),
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
        (binding(*parts("a", "b", "a")), "2 of its components have the id `a`"),
        (
            binding(make.component("r", 30)),
            "its tensor takes 32 bytes and its components hold 30",
        ),
        (
            binding(make.component("r", 33)),
            "its component in `r` takes 33 bytes from byte 0 on, which are no whole elements of "
            "f16",
        ),
        (
            binding(*parts("a", "b")),
            "it is used as activations and lies in 2 components",
        ),
        (
            binding(make.component("r", 60), tensor=STRIDED),
            "its tensor takes 62 bytes and its components hold 60",
        ),
        (
            binding(make.component("r", 32), tensor=make.tensor(16, 0)),
            "its tensor has a dimension of 0 in [16, 0]",
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
    assert reason in (malformed_reason(one) or "").split("; ")


def weight(encoding: Any, role: str = "values") -> make.Json:
    return {
        "weight_id": "w",
        "format_id": "format",
        "layout_id": "layout",
        "schema_version": make.VERSION,
        "physical_layout": {"dense": {"component_id": "w.values"}},
        "components": [
            {
                "component_id": "w.values",
                "role": role,
                "physical_dimensions": [16],
                "encoding": encoding,
            }
        ],
    }


DENSE = {"dense": {"element_type": "f16"}}


@pytest.mark.parametrize(
    ("component", "stated", "fault"),
    [
        (make.component("r", 32, name="w.values"), weight(DENSE), None),
        (
            make.component("r", 8, name="w.values"),
            weight(DENSE),
            "`w.values` takes 32 bytes and its storage has 8",
        ),
        (make.component("r", 32), weight(DENSE), "its storage component has no id"),
        (
            make.component("r", 16, name="w.values"),
            weight({"dense": {"element_type": "u8"}}),
            "`w.values` holds u8, where f16 belongs",
        ),
        (
            make.component("r", 32, name="w.values"),
            weight(DENSE, "codebook"),
            "its layout takes `w.values` for values, and that is codebook",
        ),
    ],
)
def test_a_weight_has_the_bytes_of_its_components(
    component: make.Json, stated: make.Json, fault: str | None
) -> None:
    one = binding(component, usage="weights", weight=stated)
    assert malformed_reason(one) is None
    faults = list(weight_faults(one))
    assert faults == [] if fault is None else fault in faults


def said(faults: Iterable[Malformed]) -> list[str]:
    return [each.said for each in faults]


def test_a_port_says_what_it_may_do() -> None:
    component = make.component("r", 32)
    assert said(port_faults(binding(component))) == []
    assert said(port_faults(binding(component, access="write"))) == [
        "it is an input that is only written"
    ]
    assert said(port_faults(binding(component, usage="weights"))) == [
        "it is used as weights and says nothing of a weight"
    ]
