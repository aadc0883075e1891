"""States that share a resource: their byte ranges are disjoint, or they are the same state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.derive.checkpoint_layout import LayoutState
from ferrum_verify.derive.checkpoint_ranges import byte_range, conflict, largest_boundary
from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.documents.checkpoint import StateSemantics
from ferrum_verify.documents.memory_plan import DynamicDescriptor
from ferrum_verify.documents.tensor import Tensor
from tests.derive import checkpoint_bundles as make

if TYPE_CHECKING:
    from collections.abc import Callable

Json = make.Json


def sharing(
    *, offset: int = 0, size: int = 32, edit: Callable[[Json], object] = lambda _: None
) -> Json:
    """A sound bundle in which a second boundary value lies in the mixer's resource."""
    bundle = make.sound()
    make.descriptor_of(bundle, "r.recurrent")["demand"] = {"fixed": {"bytes": 256}}
    second = make.state("second", "boundary_value", "fixed_per_scope")
    second["tensor"] = make.tensor(size // 2)
    bundle["program"]["states"].append(second)
    binding = make.value(
        "second",
        "input",
        2,
        access="read_write",
        usage="state",
        resource="r.recurrent",
        elements=size // 2,
    )
    binding["storage"]["components"][0]["offset_bytes"] = offset
    make.node_of(bundle, "mixer")["values"].append(binding)
    make.contract_of(bundle, "mixer")["state_ports"].append(
        make.port("contiguous_boundary_value", 2)
    )
    make.provider_of(bundle, "mixer")["dynamic_storage_bindings"].append(
        {"role": "input", "ordinal": 2, "storage": {"accepted_profiles": [make.LINEAR]}}
    )
    edit(bundle)
    return bundle


CONFLICT = [{"state_layout": {"state_id": "state.kv"}}]


def reasons(bundle: Json) -> list[Any]:
    found = derive_sequence_checkpoint(bundle).reasons
    return [{"state_layout": {"state_id": reason["state_layout"]["state_id"]}} for reason in found]


@pytest.mark.parametrize("offset", [32, 34, 224])
def test_neighbours_are_sound(offset: int) -> None:
    assert reasons(sharing(offset=offset)) == []


def test_the_same_bytes_in_the_same_form_are_sound() -> None:
    layout = derive_sequence_checkpoint(sharing()).layout
    assert layout is not None
    assert [state.state_id for state in layout.states] == [
        "state.kv",
        "state.recurrent",
        "state.second",
    ]


@pytest.mark.parametrize(("offset", "size"), [(30, 32), (2, 32), (0, 34), (0, 30), (2, 28)])
def test_a_partial_overlap_is_blamed_on_the_first_state(offset: int, size: int) -> None:
    bundle = sharing(offset=offset, size=size)
    assert reasons(bundle) == CONFLICT
    (reason,) = derive_sequence_checkpoint(bundle).reasons
    text = reason["state_layout"]["reason"]
    assert "state.recurrent" in text
    assert "state.second" in text
    assert "r.recurrent" in text


def other_tensor(bundle: Json) -> None:
    shape = make.tensor(4, 4)
    make.state_of(bundle, "second")["tensor"] = shape
    make.binding_of(bundle, "mixer", "second")["tensor"] = shape


def other_semantics(bundle: Json) -> None:
    declared = make.state_of(bundle, "second")["checkpoint"]["completed_boundary"]
    declared["input_dependency"] = "entire_token_input"


@pytest.mark.parametrize("edit", [other_tensor, other_semantics])
def test_the_same_bytes_in_another_form_are_a_conflict(edit: Callable[[Json], None]) -> None:
    assert reasons(sharing(edit=edit)) == CONFLICT


def test_a_conflict_is_shown_only_when_nothing_else_is_wrong() -> None:
    bundle = sharing(offset=2)
    del bundle["program"]["checkpoint_inputs"]
    assert derive_sequence_checkpoint(bundle).reasons == ["inputs_undeclared"]


SEMANTICS = StateSemantics.model_validate(
    make.state("s", "boundary_value", "fixed_per_scope")["checkpoint"]
)


def layout_state(
    name: str,
    offset: int,
    elements: int,
    layout: Any,
    demand: Json,
    *,
    resource: str = "r",
    **changes: Any,
) -> LayoutState:
    return LayoutState(
        state_id=name,
        value_id=name,
        writers=(),
        semantics=SEMANTICS,
        tensor=Tensor.model_validate(make.tensor(elements)),
        resource_id=resource,
        offset_bytes=offset,
        layout=layout,
        descriptor=DynamicDescriptor.model_validate(make.descriptor(resource, demand, **changes)),
    )


def test_a_prefix_reaches_to_the_resources_last_whole_token() -> None:
    state = layout_state("kv", 0, 16, "token_major_prefix", {"tokens": make.scaled(32, 128)})
    assert largest_boundary(state) == 128
    assert byte_range(state, 1) == (0, 32)
    assert byte_range(state, 128) == (0, 4096)
    odd = layout_state("kv", 0, 16, "token_major_prefix", {"fixed": {"bytes": 100}})
    assert largest_boundary(odd) == 3


def test_a_boundary_value_takes_its_tensor_at_every_boundary() -> None:
    state = layout_state("r", 64, 16, "contiguous_boundary_value", {"fixed": {"bytes": 256}})
    assert byte_range(state, 1) == byte_range(state, 4096) == (64, 96)


def test_a_prefix_meets_a_boundary_value_only_beyond_its_first_tokens() -> None:
    demand = {"tokens": make.scaled(32, 4)}
    prefix = layout_state("kv", 0, 16, "token_major_prefix", demand)
    inside = layout_state("s", 96, 16, "contiguous_boundary_value", demand)
    beyond = layout_state("s", 128, 16, "contiguous_boundary_value", demand)
    assert byte_range(prefix, 1)[1] <= byte_range(inside, 1)[0]
    next_to = layout_state("s", 32, 16, "contiguous_boundary_value", demand)
    for state in (inside, next_to):
        meeting = conflict([prefix, state])
        assert meeting is not None
        assert not meeting.from_start
    at_once = conflict([prefix, layout_state("s", 31, 16, "contiguous_boundary_value", demand)])
    assert at_once is not None
    assert at_once.from_start
    assert conflict([prefix, beyond]) is None


@pytest.mark.parametrize(
    "change",
    [
        {"initialization": "none"},
        {"storage": {"profile": make.BLOCKS, "logical_layout_fingerprint": "f" * 64}},
        {"storage": {"profile": make.LINEAR, "logical_layout_fingerprint": "0" * 64}},
    ],
)
def test_equal_ranges_need_equal_storage_and_initialization(change: Json) -> None:
    demand = {"fixed": {"bytes": 256}}
    left = layout_state("a", 0, 16, "contiguous_boundary_value", demand)
    right = layout_state("b", 0, 16, "contiguous_boundary_value", demand, **change)
    assert conflict([left, left]) is None
    assert conflict([left, right]) is not None


def test_equal_ranges_need_an_equal_layout() -> None:
    one_token = {"tokens": make.scaled(32, 1)}
    left = layout_state("a", 0, 16, "contiguous_boundary_value", one_token)
    right = layout_state("b", 0, 16, "token_major_prefix", one_token)
    assert byte_range(left, 1) == byte_range(right, largest_boundary(right))
    assert conflict([left, right]) is not None


resident = st.builds(
    layout_state,
    st.just("s"),
    st.integers(0, 6).map(lambda draw: 4 * draw),
    st.sampled_from([2, 4, 6]),
    st.sampled_from(["contiguous_boundary_value", "token_major_prefix"]),
    st.just({"fixed": {"bytes": 64}}),
    resource=st.sampled_from(["r", "q"]),
)


@given(st.lists(resident, max_size=5))
def test_neighbours_decide_for_all_pairs(states: list[LayoutState]) -> None:
    def bytes_of(state: LayoutState) -> set[int]:
        return set(range(*byte_range(state, largest_boundary(state))))

    def clash(left: LayoutState, right: LayoutState) -> bool:
        return (
            left.resource_id == right.resource_id
            and bool(bytes_of(left) & bytes_of(right))
            and (bytes_of(left), left.tensor, left.layout)
            != (bytes_of(right), right.tensor, right.layout)
        )

    expected = any(
        clash(left, right) for index, left in enumerate(states) for right in states[:index]
    )
    assert (conflict(states) is not None) == expected
