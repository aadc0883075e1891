"""Keys and values in blocks: when a state lies so, and which bytes a checkpoint copies."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.derive.checkpoint_ranges import byte_range
from ferrum_verify.derive.paged_layout import copied, resolved_layout
from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.documents.checkpoint import PagedKeyValue
from ferrum_verify.documents.storage import StorageProfile
from ferrum_verify.documents.tensor import Tensor
from tests.derive import checkpoint_bundles as make

Json = make.Json
HEADS, DIM, TOKENS_PER_BLOCK, PACK = 2, 8, 16, 4
TOKEN_BYTES = 2 * HEADS * DIM * 2
BLOCK = TOKEN_BYTES * TOKENS_PER_BLOCK


def paged(tokens: int = TOKENS_PER_BLOCK, pack: int = PACK) -> Json:
    return {"paged_key_value_block_prefix": {"tokens_per_block": tokens, "key_pack_elements": pack}}


def pages(block: int) -> Json:
    block_bytes = {"block_bytes": block}
    return {
        "allocator": {"fixed_block_arena": block_bytes},
        "view": {"paged_regions": block_bytes},
    }


def bundle(layout: Any = None, *, page: int = 2 * BLOCK, schema: Any = None) -> Json:
    """A sound bundle whose cache is of keys and values, in pages."""
    made = make.sound()
    tensor = make.tensor(2, HEADS, DIM)
    binding = make.binding_of(made, "attention", "kv")
    binding["tensor"] = tensor
    component = make.component_of(made, "attention", "kv")
    component["length_bytes"] = TOKEN_BYTES
    state = make.state_of(made, "kv")
    state["tensor"] = tensor
    scaled = make.scaled(TOKEN_BYTES, 100)
    state["capacity_demand"] = {"token_scaled": scaled}
    row = make.descriptor_of(made, "r.kv")
    row["demand"] = {"tokens": scaled}
    row["storage"]["profile"] = pages(page)
    provider = make.provider_of(made, "attention")
    provider["dynamic_storage_bindings"][1]["storage"]["accepted_profiles"] = [pages(page)]
    (port,) = make.contract_of(made, "attention")["state_ports"]
    port["storage_profile"] = pages(page)
    port["layout"] = paged() if layout is None else layout
    if schema is not None:
        made["plan"]["payload"]["schema"] = schema
    return made


def layout_of(document: Json) -> Any:
    wire = derive_sequence_checkpoint(document).to_wire()
    return wire["layout"] if "layout" in wire else wire["reasons"]


def test_blocks_that_fill_pages_are_kept() -> None:
    layout = layout_of(bundle())
    assert layout["states"][0]["layout"] == paged()
    assert layout["providers"][1]["contract"]["state_ports"][0]["layout"] == paged()


@pytest.mark.parametrize(
    ("declared", "page"),
    [
        (paged(pack=3), 2 * BLOCK),  # keys do not pack evenly
        (paged(tokens=64), 2 * BLOCK),  # a block is more than a page
        (paged(tokens=12), 2 * BLOCK),  # a page is no whole number of blocks
    ],
)
def test_others_become_token_major(declared: Json, page: int) -> None:
    layout = layout_of(bundle(declared, page=page))
    assert layout["states"][0]["layout"] == "token_major_prefix"
    assert layout["providers"][1]["contract"]["state_ports"][0]["layout"] == declared


def one_dimension_less(document: Json) -> None:
    for tensor in (
        make.binding_of(document, "attention", "kv")["tensor"],
        make.state_of(document, "kv")["tensor"],
    ):
        tensor["dimensions"] = [2 * HEADS, DIM]


def bf16(document: Json) -> None:
    for holder in (
        make.binding_of(document, "attention", "kv")["tensor"],
        make.state_of(document, "kv")["tensor"],
        make.component_of(document, "attention", "kv"),
        make.descriptor_of(document, "r.kv"),
    ):
        holder["element_type"] = "bf16"


def contiguous(document: Json) -> None:
    profile = {"allocator": {"fixed_block_arena": {"block_bytes": 4096}}, "view": "contiguous"}
    make.descriptor_of(document, "r.kv")["storage"]["profile"] = profile
    make.contract_of(document, "attention")["state_ports"][0]["storage_profile"] = profile
    make.provider_of(document, "attention")["dynamic_storage_bindings"][1]["storage"][
        "accepted_profiles"
    ] = [profile]


def beyond_u64(document: Json) -> None:
    (port,) = make.contract_of(document, "attention")["state_ports"]
    port["layout"] = paged(tokens=2**63)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (one_dimension_less, "its tensor is 4 x 8"),
        (bf16, "its tensor of bf16"),
        (contiguous, "lie in pages"),
        (beyond_u64, "more than u64 holds"),
    ],
)
def test_what_no_block_can_hold_is_a_reason(edit: Any, words: str) -> None:
    document = bundle()
    edit(document)
    first, second, third = layout_of(document)
    assert words in first["state_layout"]["reason"]
    assert second["state_layout"]["state_id"] == "state.kv"
    assert third == {"uncovered_resource": {"resource_id": "r.kv"}}


def test_a_tensor_that_is_not_two_halves_is_a_reason() -> None:
    tensor = Tensor.model_validate(make.tensor(4, HEADS, DIM))
    profile = StorageProfile.model_validate(pages(4096))
    declared = PagedKeyValue.model_validate(paged())
    assert isinstance(resolved_layout(declared, tensor, 128, profile), tuple)


def test_the_tests_of_a_prefix_hold_for_blocks_too() -> None:
    document = bundle()
    make.state_of(document, "kv")["checkpoint"]["completed_boundary"]["contents"] = "boundary_value"
    assert "state_layout" in layout_of(document)[0]


def address(token: int, is_value: int, head: int, index: int) -> int:
    """Where an element lies in a block, by the definition of the layout."""
    if is_value:
        return BLOCK // 2 + (head * DIM + index) * 2 * TOKENS_PER_BLOCK + 2 * token
    row = head * (DIM // PACK) + index // PACK
    return row * 2 * TOKENS_PER_BLOCK * PACK + 2 * PACK * token + 2 * (index % PACK)


def bytes_of(tokens: int) -> set[int]:
    return {
        token // TOKENS_PER_BLOCK * BLOCK
        + address(token % TOKENS_PER_BLOCK, is_value, head, index)
        + byte
        for token in range(tokens)
        for is_value in range(2)
        for head in range(HEADS)
        for index in range(DIM)
        for byte in range(2)
    }


@pytest.mark.parametrize("tokens", [1, 2, 15, 16, 17, 31, 32, 33, 100])
def test_just_the_bytes_of_the_prefix_are_copied(tokens: int) -> None:
    layout = PagedKeyValue.model_validate(paged())
    tensor = Tensor.model_validate(make.tensor(2, HEADS, DIM))
    listed = [
        each.start + row * each.pitch + byte
        for each in copied(layout, tensor, TOKEN_BYTES, 0, tokens)
        for row in range(each.rows)
        for byte in range(each.width)
    ]
    assert len(listed) == len(set(listed))
    assert set(listed) == bytes_of(tokens)


@given(st.integers(1, 100), st.sampled_from([1, 2, 4]))
def test_copies_end_within_whole_pages(tokens: int, blocks: int) -> None:
    page = blocks * BLOCK
    derived = derive_sequence_checkpoint(bundle(page=page)).layout
    assert derived is not None
    _, end = byte_range(derived.states[0], tokens)
    assert end <= -(-tokens * TOKEN_BYTES // page) * page
    assert end == max(bytes_of(tokens)) + 1


V5, V8 = {"major": 5, "minor": 0}, {"major": 8, "minor": 1}


@pytest.mark.parametrize(
    ("schema", "capture", "allowed"),
    [
        (None, "supported", False),
        (V5, "supported", False),
        (V8, "supported", True),
        (V8, "unsupported", False),
    ],
)
def test_a_boundary_at_the_prompts_end_follows_the_schema(
    schema: Any, capture: str, allowed: bool
) -> None:
    document = bundle(schema=schema)
    contract = make.contract_of(document, "head")
    contract["boundaries"]["prefix"] = make.span(4, 4)
    contract["completed_input_capture"] = capture
    layout = derive_sequence_checkpoint(document).layout
    assert layout is not None
    assert layout.permits(4, 12, 12) == allowed
    assert layout.permits(4, 12, 13)
    assert not layout.permits(4, 11, 11)
    assert not layout.permits(12, 12, 12)
