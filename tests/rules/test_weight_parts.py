"""Weights: known layouts and encodings to the letter, and parts that are the stored ones."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify.auditing.audit import audit
from tests.rules.edited import NODES, broken, edited, faults

DENSE = f"{NODES}/0/values/1/weight"
PARTED = f"{NODES}/5/values/1/weight"
PARTS = f"{PARTED}/physical_layout/composite/parts"


@pytest.mark.parametrize(
    ("member", "value", "rule"),
    [
        ("physical_layout/dense/component", "weight.embedding.values", "wire.unknown-field"),
        ("physical_layout/dense/component_id", 3, "wire.type"),
        ("physical_layout", None, "wire.type"),
        ("physical_layout", 7, "wire.type"),
        ("components/0/encoding/dense/scale", 1, "wire.unknown-field"),
        ("components/0/encoding/dense/element_type", "f64", "wire.unknown-variant"),
        ("components/0/encoding", {}, "wire.type"),
    ],
)
def test_known_variants_are_read_to_the_letter(member: str, value: Any, rule: str) -> None:
    assert [found for found, _ in broken({f"{DENSE}/{member}": value})] == [rule]


def test_numbers_of_a_composite_layout_are_integers() -> None:
    extent = f"{PARTS}/0/extents/1"
    assert broken({extent: 16.0}) == [("wire.type", extent)]
    assert broken({extent: -1}) == [("wire.range", extent)]


def test_other_variants_are_none() -> None:
    packed: dict[str, Any] = {"packed": {"bits": 4, "scale": 0.5, "zero": None}}
    for place in (
        f"{DENSE}/physical_layout",
        f"{DENSE}/components/0/encoding",
        f"{PARTS}/0/layout",
    ):
        assert [rule for rule, _ in broken({place: packed})] == ["wire.unknown-variant"]


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ({f"{DENSE}/components/0/physical_dimensions": [32, 9]}, "takes 1,152 bytes"),
        ({f"{DENSE}/components/0/encoding/dense/element_type": "f16"}, "is f16 and stored as f32"),
        (
            {f"{NODES}/0/values/1/storage/components/0/component_id": "weight.other"},
            "its storage has `weight.other`",
        ),
        (
            {f"{PARTED}/components/1/component_id": "weight.head.left"},
            "stands after `weight",
        ),
        ({f"{PARTED}/components/1/component_id": "weight.head.middle"}, "weight.head.right"),
        ({f"{PARTS}/0/extents": [8, 15]}, "have 248 of 256 elements"),
        ({f"{PARTS}/0/extents": [128]}, "is no block of [8, 32]"),
        ({f"{PARTS}/1/logical_offsets": [0, 17]}, "reaches past [8, 32]"),
        ({f"{PARTS}/1/logical_offsets": [0, 0]}, "parts 0 and 1 of its layout overlap"),
        (
            {f"{PARTS}/1/layout/dense/component_id": "weight.head.left"},
            "leaves out `weight.head.right`",
        ),
        ({PARTS: []}, "have 0 of 256 elements"),
    ],
)
def test_parts_that_are_not_the_stored_ones(edits: dict[str, Any], reason: str) -> None:
    [finding] = faults(edited(edits))
    assert finding.rule == "value.weight-parts"
    assert reason in finding.message


def test_a_part_that_does_not_fit_its_row_is_one_fault() -> None:
    length = f"{NODES}/0/values/1/storage/components/0/length_bytes"
    assert [rule for rule, _ in broken({length: 1 << 20})] == ["value.exceeds-resource"]
    assert [rule for rule, _ in broken({length: 1000})] == ["value.weight-parts"]


def test_a_format_that_no_weight_has_is_the_plans_fault() -> None:
    place = "/plan/payload/weight_format"
    assert broken({place: "weight-format.other"}) == [("value.weight-format", place)]


def test_a_weight_is_bound_alike_in_all_nodes() -> None:
    shared = edited({})["plan"]["payload"]["nodes"][0]["values"][1]
    other = shared | {"ordinal": 4, "weight": shared["weight"] | {"layout_id": "weight-layout.b"}}
    found = faults(edited({f"{NODES}/1/values/-": other}))
    assert "binds weight `weight.embedding` otherwise than node `node.embed`" in " ".join(
        finding.message for finding in found if finding.rule == "value.weight-format"
    )


def test_formats_that_a_provider_does_not_list_are_a_note() -> None:
    report = audit(edited({"/plan/payload/quantization_formats": ["gptq"]}), prove=False)
    told = [f for f in report.findings if f.rule == "contract.weight-format-not-accepted"]
    assert len(told) == 5
    assert report.verdict == "verified"
