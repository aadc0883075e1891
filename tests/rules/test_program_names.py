"""Names of a program: each means one thing, alone and beside the plan that was compiled from it."""

from __future__ import annotations

from typing import Any

import pytest

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.findings import DELETE
from tests.rules.edited import NODES, broken, edited, faults

PROGRAM = sample("program")
DUPLICATE = "contract.program-duplicate-name"
UNKNOWN = "contract.program-unknown-value"
NODE = PROGRAM["blocks"][0]["nodes"][0]


@pytest.mark.parametrize(
    ("edits", "place"),
    [
        ({"/blocks/-": PROGRAM["blocks"][0]}, "/blocks/2/id"),
        ({"/blocks/1/id": PROGRAM["blocks"][0]["id"]}, "/blocks/1/id"),
        ({"/blocks/1/nodes/-": NODE}, "/blocks/1/nodes/2/id"),
        ({"/blocks/0/nodes/1/id": NODE["id"]}, "/blocks/0/nodes/1/id"),
        ({"/states/-": PROGRAM["states"][0]}, "/states/2/id"),
        ({"/states/1/id": "state.cache"}, "/states/1/id"),
        ({"/states/-": PROGRAM["states"][0] | {"id": "state.second"}}, "/states/2/value_id"),
        ({"/weights/1/weight_id": "weight.embedding"}, "/weights/1/weight_id"),
        ({"/inputs/-": "value.bias"}, "/inputs/2"),
        ({"/outputs/-": "value.logits"}, "/outputs/1"),
    ],
)
def test_each_name_means_one_thing(edits: dict[str, Any], place: str) -> None:
    assert broken(edits, sample="program") == [(DUPLICATE, place)]
    beside_a_plan = {f"/program{pointer}": value for pointer, value in edits.items()}
    assert broken(beside_a_plan) == [(DUPLICATE, f"/program{place}")]


def test_what_is_doubled_is_named() -> None:
    [finding] = faults(edited({"/weights/1/value_id": "value.cache"}, sample="program"))[:1]
    assert finding.message == (
        "The value `value.cache` of the program is state `state.cache` and weight `weight.norm`."
    )


@pytest.mark.parametrize(
    ("edits", "place"),
    [
        ({"/program/outputs/0": "value.absent"}, "/program/outputs/0"),
        ({"/program/inputs/1": DELETE}, "/program/blocks/1/nodes/1/inputs/2"),
    ],
)
def test_each_value_comes_from_somewhere(edits: dict[str, Any], place: str) -> None:
    assert (UNKNOWN, place) in broken(edits)


def test_what_the_plan_shows_better_is_said_once() -> None:
    lost = {"/program/blocks/0/nodes/0": DELETE}
    assert broken(lost) == [("contract.program-nodes", NODES)]
    alone = {"/blocks/0/nodes/0": DELETE}
    assert broken(alone, sample="program") == [(UNKNOWN, "/blocks/0/nodes/0/inputs/0")]
    read = {"/program/blocks/0/nodes/0/inputs/1": "value.absent"}
    assert broken(read) == [("contract.program-values-differ", f"{NODES}/0/values")]
