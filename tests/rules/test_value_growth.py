"""Rows at every number of tokens: values, states, instances, workspaces and lanes."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify import audit, check_counterexample
from tests.rules.edited import MEMORY, NODES, broken, edited, faults, rules

ROWS = f"{MEMORY}/dynamic_descriptors"
TOKENS = f"{NODES}/0/values/0"
TOKENS_ROW = "resource.tokens"


def row_of(resource: str) -> str:
    """The pointer of a dynamic row of the sample."""
    rows = edited({})["plan"]["payload"]["memory"]["dynamic_descriptors"]
    (index,) = (i for i, row in enumerate(rows) if row["base_resource_id"] == resource)
    return f"{ROWS}/{index}"


def of_rule(edits: dict[str, Any], rule: str) -> tuple[Any, list[Any]]:
    """The edited sample, and its findings of a rule; other rules speak of pools and totals."""
    document = edited(edits)
    return document, [each for each in faults(document) if each.rule == rule]


def shown(edits: dict[str, Any], rule: str) -> tuple[Any, dict[str, Any]]:
    """The one finding of a rule, and its counterexample as JSON, once the check accepted it."""
    document, found = of_rule(edits, rule)
    (finding,) = found
    assert finding.judgment == "safety"
    assert finding.counterexample is not None
    assert check_counterexample(document, finding.counterexample, "fenced")
    wire = finding.counterexample.to_wire()
    for name, other in (("bytes", 1), ("limit", -1)):
        assert not check_counterexample(document, wire | {name: wire[name] + other}, "fenced")
    return finding, wire


@pytest.mark.parametrize(
    ("demand", "tokens", "need", "limit"),
    [
        ({"tokens": {"bytes_per_token": 3, "maximum_tokens": 512}}, 1, 4, 3),
        ({"tokens": {"bytes_per_token": 4, "maximum_tokens": 16}}, 17, 68, 64),
        ({"fixed": {"bytes": 40}}, 11, 44, 40),
        ({"actual_sequences": {"bytes_per_sequence": 100, "maximum_sequences": 4}}, 26, 104, 100),
        ({"pages": {"bytes_per_page": 8, "maximum_pages": 2}}, 5, 20, 8),
        (
            {
                "bounded_shape_buckets": {
                    "buckets": [
                        {
                            "maximum_sequences": 4,
                            "maximum_tokens": 8,
                            "maximum_pages": 1,
                            "bytes": 8,
                        },
                        {
                            "maximum_sequences": 4,
                            "maximum_tokens": 256,
                            "maximum_pages": 1,
                            "bytes": 100,
                        },
                    ]
                }
            },
            3,
            12,
            8,
        ),
    ],
)
def test_the_smallest_tokens_that_a_row_does_not_hold(
    demand: Any, tokens: int, need: int, limit: int
) -> None:
    place = f"{row_of(TOKENS_ROW)}/demand"
    finding, wire = shown({place: demand}, "value.row-too-small")
    assert wire == {
        "kind": "shape",
        "shape": {"sequences": 1, "tokens": tokens, "pages": 1},
        "bytes": need,
        "limit": limit,
        "limit_from": place,
    }
    assert finding.location == place
    assert f"needs {need:,} bytes" in finding.message


def test_a_row_that_is_defined_for_few_tokens_may_have_had_more_bytes() -> None:
    place = f"{row_of(TOKENS_ROW)}/demand"
    demand = {"tokens": {"bytes_per_token": 400, "maximum_tokens": 16}}
    _, [finding] = of_rule({place: demand}, "value.row-too-small")
    assert finding.counterexample is None
    assert "is defined for at most 16" in finding.message


@pytest.mark.parametrize(
    "demand",
    [
        {"pages": {"bytes_per_page": 64, "maximum_pages": 16}},
        {
            "bounded_shape_buckets": {
                "buckets": [
                    {"maximum_sequences": 4, "maximum_tokens": 256, "maximum_pages": 1, "bytes": 8},
                    {
                        "maximum_sequences": 4,
                        "maximum_tokens": 256,
                        "maximum_pages": 2,
                        "bytes": 1_024,
                    },
                ]
            }
        },
    ],
)
def test_how_many_pages_the_tokens_fill_is_open(demand: Any) -> None:
    edits = {f"{row_of(TOKENS_ROW)}/demand": demand}
    assert of_rule(edits, "value.row-too-small")[1] == []
    _, [finding] = of_rule(edits, "value.growth-undecided")
    assert finding.undecided


def test_how_a_strided_or_longer_value_grows_is_open() -> None:
    strided = {f"{TOKENS}/tensor/layout": {"strided": {"byte_strides": [8]}}}
    _, [finding] = of_rule(strided, "value.growth-undecided")
    assert "since its layout is strided" in finding.message
    longer = edited({f"{TOKENS}/storage/components/0/length_bytes": 128})
    [finding] = faults(longer)
    assert (finding.rule, finding.undecided) == ("value.growth-undecided", True)
    assert audit(longer, prove=False).verdict == "undecided"


def test_a_value_that_no_work_projects_is_noted_at_the_smallest_shape() -> None:
    cache = f"{NODES}/2/values/1/storage/components/0/length_bytes"
    document = edited({cache: 8_192})
    assert [each.rule for each in faults(document)] == []
    report = audit(document, prove=False)
    assert report.verdict == "verified"
    assert "value.beyond-smallest-shape" in [each.rule for each in report.findings]


def test_a_state_has_the_bytes_that_the_program_declares() -> None:
    scaled = "/program/states/0/capacity_demand/token_scaled"
    rule = "value.state-row-too-small"
    finding, wire = shown({f"{scaled}/bytes_per_token": 64}, rule)
    assert (wire["shape"]["tokens"], wire["bytes"], wire["limit"]) == (1, 64, 32)
    assert "`state.cache`" in finding.message
    _, wire = shown({f"{scaled}/maximum_tokens": 300}, rule)
    assert (wire["shape"]["tokens"], wire["bytes"], wire["limit"]) == (257, 8_224, 8_192)
    assert rules({f"{scaled}/maximum_tokens": 100}) == set()


def test_a_state_of_one_size_has_the_bytes_of_its_tensor() -> None:
    demand = f"{row_of('resource.counter')}/demand"
    small = {"actual_sequences": {"bytes_per_sequence": 8, "maximum_sequences": 4}}
    _, wire = shown({demand: small}, "value.state-row-too-small")
    assert (wire["shape"]["tokens"], wire["bytes"], wire["limit"]) == (1, 16, 8)


def test_a_row_of_each_sequence_has_an_instance_for_each() -> None:
    cache = f"{row_of('resource.cache')}/theoretical_maximum_instances"
    _, [finding] = of_rule({cache: 3}, "descriptor.too-few-instances")
    assert (finding.location, finding.expected, finding.actual) == (cache, 4, 3)
    step = f"{row_of('resource.hidden')}/theoretical_maximum_instances"
    _, found = of_rule({step: 2}, "descriptor.too-few-instances")
    assert found == []  # the sample has two lanes
    _, [finding] = of_rule({step: 1}, "descriptor.too-few-instances")
    assert (finding.location, finding.expected, finding.actual) == (step, 2, 1)


def test_one_number_of_instances_is_one_fault() -> None:
    resources = [f"resource.{name}" for name in ("bias", "cache", "counter", "tokens")]
    edits = {f"{row_of(each)}/theoretical_maximum_instances": 1 for each in resources}
    _, [finding] = of_rule(edits, "descriptor.too-few-instances")
    assert finding.location == f"{MEMORY}/maximum_active_sequences"
    assert "all 4 dynamic resources" in finding.message


def test_a_workspace_that_is_too_small_is_unsafe() -> None:
    demand = f"{row_of('resource.attention.scratch')}/demand/affine"
    for edits, shape, need, limit in (
        ({"maximum_tokens": 255}, (1, 256, 1), 4_672, 4_656),
        ({"bytes_per_sequence": 63}, (1, 1, 1), 592, 591),
        ({"fixed_bytes": 500}, (1, 1, 1), 592, 580),
        ({"maximum_sequences": 3}, (4, 1, 1), 784, 720),
    ):
        _, wire = shown(
            {f"{demand}/{name}": number for name, number in edits.items()},
            "contract.workspace-size",
        )
        assert tuple(wire["shape"].values()) == shape
        assert (wire["bytes"], wire["limit"]) == (need, limit)


def test_a_workspace_that_is_too_large_is_not_what_the_engine_derives() -> None:
    demand = f"{row_of('resource.attention.scratch')}/demand/affine"
    for name, number in (("fixed_bytes", 600), ("maximum_tokens", 300)):
        _, [finding] = of_rule({f"{demand}/{name}": number}, "contract.workspace-size")
        assert (finding.judgment, finding.counterexample) == ("conformance", None)


def test_lanes_that_do_not_fit_are_counted() -> None:
    place = "/reusable_execution_policy/maximum_reusable_lanes"
    assert broken({place: 2}, sample="problem") == []
    document = edited({place: 1_000_000}, sample="problem")
    [finding] = faults(document)
    assert (finding.rule, finding.severity) == ("reusable.lanes-exceed-memory", "warning")
    assert finding.message.endswith(f": {finding.expected:,} lanes fit.")
    assert audit(document, prove=False).verdict == "verified"
    assert broken({place: finding.expected}, sample="problem") == []
    assert broken({place: finding.expected + 1}, sample="problem") != []


def test_a_value_does_not_grow_into_the_next() -> None:
    component = "storage/components/0"
    edits: dict[str, Any] = {}
    for place in (f"{NODES}/4/values/2/{component}", f"{NODES}/5/values/0/{component}"):
        edits |= {f"{place}/resource_id": "resource.logits", f"{place}/offset_bytes": 12_800}
    logits = f"{row_of('resource.logits')}/demand/tokens"
    edits[f"{logits}/bytes_per_token"] = 16_384
    _, [finding] = of_rule(edits, "value.grows-into")
    assert "At 101 tokens value `value.logits` takes bytes 0 to 12,927" in finding.message
    behind_all = {f"{place}": 128 * 256 for place in edits if place.endswith("offset_bytes")}
    fixed = {row_of("resource.logits") + "/demand": {"fixed": {"bytes": 1 << 17}}}
    del edits[f"{logits}/bytes_per_token"]
    assert of_rule(edits | behind_all | fixed, "value.grows-into")[1] == []
    assert of_rule(edits | behind_all | fixed, "value.row-too-small")[1] == []


def test_a_row_of_a_step_has_a_size_at_each_shape() -> None:
    demand = {
        "affine": {
            "fixed_bytes": 0,
            "bytes_per_sequence": 0,
            "maximum_sequences": 3,
            "bytes_per_token": 128,
            "maximum_tokens": 256,
        }
    }
    place = f"{row_of('resource.logits')}/demand"
    _, [finding] = of_rule({place: demand}, "value.row-undefined")
    assert "has no size at 4 sequences, 1 token, 1 page" in finding.message
    demand["affine"]["maximum_sequences"] = 4
    assert of_rule({place: demand}, "value.row-undefined")[1] == []
