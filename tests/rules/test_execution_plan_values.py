"""Value rules: bindings, overlaps, aliases, rows and retained completion values."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.documents.bundle import Bundle
from ferrum_verify.documents.node import PlanNode
from ferrum_verify.documents.tensor import Blocked
from ferrum_verify.plan.canonical import CONTIGUOUS_LAYOUT_FINGERPRINT, layout_fingerprint
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.plan.resource_rows import ResourceRows
from ferrum_verify.reading.document import Places, Subject
from ferrum_verify.rules import value
from tests.rules.edited import MEMORY, NODES, broken, edited, faults, rules

COMPONENT = "storage/components/0"
RETAINED = "/plan/payload/retained_completion_values"


@pytest.mark.parametrize(
    ("component", "reason"),
    [
        ({"length_bytes": 0}, "empty"),
        ({"offset_bytes": 2**64 - 8}, "past u64"),
        ({"length_bytes": 31}, "its components hold 31"),
    ],
)
def test_malformed_bindings(component: dict[str, int], reason: str) -> None:
    place = f"{NODES}/4/values/2/storage/components/0"
    document = edited({f"{place}/{name}": number for name, number in component.items()})
    [finding] = faults(document)
    assert finding.rule == "value.malformed"
    assert finding.fix is not None
    assert "weight" not in finding.fix
    assert reason in finding.message


def test_several_components_need_ids_of_their_own() -> None:
    place = f"{NODES}/5/values/1/storage/components"
    assert rules({f"{place}/1/component_id": None}) == {"value.malformed"}
    assert rules({f"{place}/1/component_id": "weight.head.left"}) == {"value.malformed"}
    assert rules({place: []}) == {"value.malformed", "graph.resources-differ"}


def test_an_offset_leaves_too_little_for_what_grows_behind_it() -> None:
    # resource.tokens has 4 bytes for each of at most 256 tokens, and the value takes as many.
    tokens = f"{NODES}/0/values/0/{COMPONENT}"
    assert rules({f"{tokens}/offset_bytes": 64}) == {"value.row-too-small"}
    assert rules({f"{tokens}/offset_bytes": 1_024}) == {"value.exceeds-resource"}


def test_an_offset_has_the_alignment_of_its_row_and_is_one_of_whole_elements() -> None:
    tokens = f"{NODES}/0/values/0/{COMPONENT}/offset_bytes"
    assert rules({tokens: 61}) == {"value.malformed"}
    found = {each.rule: each.message for each in faults(edited({tokens: 60}))}
    assert found.keys() == {"value.misaligned-offset", "value.row-too-small"}
    message = found["value.misaligned-offset"]
    assert "the 64 bytes that `resource.tokens` is aligned to" in message


def test_what_most_nodes_bind_is_taken_for_right() -> None:
    first = f"{NODES}/0/values/2/{COMPONENT}/length_bytes"
    assert broken({first: 64}) == [("value.inconsistent", f"{NODES}/0/values/2/storage")]


def test_an_inconsistent_value_makes_no_alias_false() -> None:
    aliased = f"{NODES}/3/values/0/{COMPONENT}/length_bytes"
    assert broken({aliased: 64}) == [("value.inconsistent", f"{NODES}/3/values/0/storage")]


def test_each_field_of_a_value_counts() -> None:
    [finding] = faults(edited({f"{NODES}/4/values/0/usage": "transfer"}))[-1:]
    assert finding.rule == "value.inconsistent"
    assert "usage" in finding.message


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ({"kind": "may_alias"}, "is must_alias, not may_alias"),
        ({"output_ordinal": 2}, "no output 2"),
        ({"input_ordinal": 7}, "no input 7"),
        ({"input_value_id": "value.attended"}, "input 0 is `value.hidden`"),
        ({"output_value_id": "value.mixed"}, "output 0 is `value.residual`"),
    ],
)
def test_false_aliases(edits: dict[str, Any], reason: str) -> None:
    alias = f"{NODES}/3/exact_aliases/0"
    document = edited({f"{alias}/{name}": entry for name, entry in edits.items()})
    found = {finding.rule: finding.message for finding in faults(document)}
    assert reason in found["value.false-alias"]


def test_an_alias_of_a_state_is_false() -> None:
    document = edited(
        {
            f"{NODES}/2/exact_aliases/-": {
                "output_value_id": "value.attended",
                "output_ordinal": 0,
                "input_value_id": "value.counter",
                "input_ordinal": 2,
                "kind": "may_alias",
            }
        }
    )
    [finding] = faults(document)
    assert finding.rule == "value.false-alias"
    assert "used as state" in finding.message
    assert "alias policy is no_alias" in finding.message
    assert "different places" in finding.message


def test_a_value_in_another_ones_workspace() -> None:
    scratch = f"{NODES}/1/values/2/{COMPONENT}"
    listed = f"{NODES}/1/resources"
    found = rules(
        {
            f"{scratch}/resource_id": "resource.head.scratch",
            listed: [
                "resource.head.scratch",
                "resource.hidden",
                "resource.norm",
                "resource.norm.scratch",
            ],
        }
    )
    assert "value.resource-differs" in found


def test_an_element_type_that_the_row_does_not_hold() -> None:
    assert broken({f"{NODES}/1/values/1/{COMPONENT}/element_type": "u32"}) == [
        ("value.resource-differs", f"{MEMORY}/static_allocations/4")
    ]


def test_a_blocked_tensor_in_a_row_of_contiguous_ones() -> None:
    blocked = {"blocked": {"block": [4], "axis_order": [0], "padding": "exact"}}
    edits = {
        f"{NODES}/1/values/1/tensor/layout": blocked,
        "/program/weights/1/tensor/layout": blocked,
    }
    row = f"{MEMORY}/static_allocations/4/storage/logical_layout_fingerprint"
    assert broken(edits) == [("value.layout-fingerprint", row)]
    hashed = layout_fingerprint([Blocked.model_validate(blocked)])
    assert broken({**edits, row: hashed}) == []


@pytest.mark.parametrize(
    ("edits", "reason"),
    [
        ({"producer_node_id": "node.mixer"}, "producer `node.mixer`"),
        ({"output_ordinal": 1}, "output 0, not 1"),
        ({"tensor/dimensions": [32]}, "another tensor"),
    ],
)
def test_retained_values_are_described_as_bound(edits: dict[str, Any], reason: str) -> None:
    document = edited({f"{RETAINED}/0/{name}": entry for name, entry in edits.items()})
    [finding] = faults(document)
    assert finding.rule == "value.retained-differs"
    assert reason in finding.message


def test_a_retained_value_with_two_producers() -> None:
    document = edited({f"{NODES}/4/values/2/value_id": "value.logits"})
    found = {finding.rule: finding.message for finding in faults(document)}
    assert "an output of 2 nodes: `node.mixer`, `node.head`" in found["value.retained-unproduced"]


def test_a_retained_value_beside_another_output_is_kept() -> None:
    """A write of the producer elsewhere in the resource, or before it, destroys nothing."""
    payload = sample("bundle")["plan"]["payload"]
    head = payload["nodes"][5]
    beside = {**head["values"][3], "ordinal": 1, "value_id": "value.other"}
    beside["storage"] = {"components": [dict(beside["storage"]["components"][0])]}
    beside["storage"]["components"][0]["offset_bytes"] = 128
    apart = rules({f"{NODES}/5/values/-": beside})
    assert "value.retained-overwritten" not in apart
    beside["storage"]["components"][0]["offset_bytes"] = 100
    colliding = rules({f"{NODES}/5/values/-": beside})
    assert "value.retained-overwritten" in colliding
    assert "value.overlap" in colliding


RANGES = st.lists(
    st.tuples(
        st.integers(0, 1),  # resource
        st.integers(0, 12),  # offset
        st.integers(1, 6),  # length
        st.integers(0, 3),  # alias class
    ),
    max_size=8,
)


@given(RANGES)
def test_overlaps_are_those_that_comparing_all_pairs_finds(
    ranges: list[tuple[int, int, int, int]],
) -> None:
    overlapping = {
        frozenset((left, right))
        for left, right in combinations(range(len(ranges)), 2)
        if _collide(ranges[left], ranges[right])
    }
    found = {
        frozenset(index for index in range(len(ranges)) if f"`value.{index}` " in finding.message)
        for finding in value.check(_subject(ranges))
        if finding.rule == "value.overlap"
    }
    assert found <= overlapping
    # Each value that collides with one that starts no later is told of, with one of them.
    later = {max(pair, key=lambda index: (ranges[index][1:3], index)) for pair in overlapping}
    assert later <= {index for pair in found for index in pair}


def _collide(left: tuple[int, int, int, int], right: tuple[int, int, int, int]) -> bool:
    if left[0] != right[0] or left == right:
        return False  # apart, or aliases with equal storage
    return max(left[1], right[1]) < min(left[1] + left[2], right[1] + right[2])


def _subject(ranges: list[tuple[int, int, int, int]]) -> Subject:
    """One node that binds a value for each range; those of one class are exact aliases."""
    node = sample("bundle")["plan"]["payload"]["nodes"][3]
    template = node["values"][0]
    node["values"] = [
        {
            **template,
            "value_id": f"value.{index}",
            "ordinal": index,
            "tensor": {"dimensions": [1], "element_type": "u8", "layout": "contiguous"},
            "storage": {
                "components": [
                    {
                        "component_id": None,
                        "resource_id": f"resource.{resource}",
                        "offset_bytes": offset,
                        "length_bytes": length,
                        "element_type": "u8",
                    }
                ]
            },
        }
        for index, (resource, offset, length, _) in enumerate(ranges)
    ]
    node["exact_aliases"] = [
        {
            "output_value_id": f"value.{left}",
            "output_ordinal": left,
            "input_value_id": f"value.{right}",
            "input_ordinal": right,
            "kind": "may_alias",
        }
        for left, right in combinations(range(len(ranges)), 2)
        if ranges[left][3] == ranges[right][3]
    ]
    plan_node = PlanNode.model_validate(node)
    return Subject(
        kind="execution-plan",
        places=Places(nodes="/nodes"),
        raw={},
        order=HappensBefore((plan_node,)),
        plan_nodes=(plan_node,),
    )


def test_thousands_of_values_in_one_resource_are_compared_in_passing() -> None:
    """Quadratic work on 6,000 ranges would take minutes."""
    ranges = [(0, 8 * index, 8, index) for index in range(3_000)]
    ranges += [(0, 8 * index + 4, 8, 10_000 + index) for index in range(3_000)]
    found = [f for f in value.check(_subject_without_aliases(ranges)) if f.rule == "value.overlap"]
    assert len(found) == 5_999


def _subject_without_aliases(ranges: list[tuple[int, int, int, int]]) -> Subject:
    subject = _subject([])
    template = _subject(ranges[:1]).plan_nodes
    assert template is not None
    binding = template[0].values[0]
    component = binding.storage.components[0]
    values = tuple(
        binding.model_copy(
            update={
                "value_id": f"value.{index}",
                "ordinal": index,
                "storage": binding.storage.model_copy(
                    update={
                        "components": (
                            component.model_copy(
                                update={"offset_bytes": offset, "length_bytes": length}
                            ),
                        )
                    }
                ),
            }
        )
        for index, (_, offset, length, _) in enumerate(ranges)
    )
    node = template[0].model_copy(update={"values": values})
    return Subject(
        kind=subject.kind,
        places=subject.places,
        raw={},
        order=HappensBefore((node,)),
        plan_nodes=(node,),
    )


def test_the_sample_holds_only_contiguous_tensors() -> None:
    memory = Bundle.model_validate(sample("bundle")).plan.payload.memory
    rows = ResourceRows(memory, "").values()
    layouts = {row.storage.logical_layout_fingerprint for row in rows if row.kind == "value"}
    assert layouts == {CONTIGUOUS_LAYOUT_FINGERPRINT}
