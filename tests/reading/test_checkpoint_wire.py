"""Checkpoint documents that are malformed: refused before anything is derived."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.documents.checkpoint import ProviderContract
from ferrum_verify.findings.errors import DocumentError, FerrumVerifyError
from tests.derive import checkpoint_bundles as make

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ferrum_verify.findings import Finding

Json = make.Json

NEWER = {"major": 1, "minor": 1}
TOO_LARGE = 1 << 64
ILLEGAL = {"allocator": "linear_arena", "view": {"paged_regions": {"block_bytes": 4096}}}
NO_POWER = {"allocator": {"fixed_block_arena": {"block_bytes": 3000}}, "view": "contiguous"}
NO_BLOCK = {"allocator": {"fixed_block_arena": {"block_bytes": 0}}, "view": "contiguous"}
OTHER_PAGES = {
    "allocator": {"fixed_block_arena": {"block_bytes": 4096}},
    "view": {"paged_regions": {"block_bytes": 2048}},
}

CONTRACT = "/catalog/providers/op.attention/0/checkpoint_capability/completed_boundary"
INPUTS = "/program/checkpoint_inputs"
KV = "/plan/payload/nodes/1/values/1"


def refused(bundle: Any) -> tuple[Finding, ...]:
    with pytest.raises(DocumentError) as caught:
        derive_sequence_checkpoint(bundle)
    assert caught.value.findings
    return caught.value.findings


def put(pointer: str, value: Any) -> Callable[[Json], None]:
    """An edit that puts a value at a JSON pointer."""

    def edit(bundle: Json) -> None:
        *path, last = pointer.split("/")[1:]
        holder: Any = bundle
        for step in path:
            holder = holder[int(step)] if isinstance(holder, list) else holder[step]
        if isinstance(holder, list):
            holder[int(last)] = value
        else:
            holder[last] = value

    return edit


def ports(*rows: Json) -> Callable[[Json], None]:
    return put(f"{CONTRACT}/state_ports", list(rows))


PREFIX = "token_major_prefix"
MALFORMED: dict[str, tuple[Callable[[Json], None], str, str]] = {
    "contract of another version": (
        put(f"{CONTRACT}/contract_version", NEWER),
        "wire.contract-version",
        CONTRACT,
    ),
    "state of another version": (
        put("/program/states/0/checkpoint/completed_boundary/contract_version", NEWER),
        "wire.contract-version",
        "/program/states/0/checkpoint/completed_boundary",
    ),
    "inputs of another version": (
        put(f"{INPUTS}/contract_version", NEWER),
        "wire.contract-version",
        INPUTS,
    ),
    "no minimum": (
        put(f"{CONTRACT}/boundaries/prefix", make.span(0, 1)),
        "wire.range",
        f"{CONTRACT}/boundaries/prefix/minimum_tokens",
    ),
    "no alignment": (
        put(f"{CONTRACT}/boundaries/suffix", make.span(1, 0)),
        "wire.range",
        f"{CONTRACT}/boundaries/suffix/alignment",
    ),
    "alignment past u64": (
        put(f"{CONTRACT}/boundaries/suffix", make.span(1, TOO_LARGE)),
        "wire.range",
        f"{CONTRACT}/boundaries/suffix/alignment",
    ),
    "span without a legal count": (
        put(f"{CONTRACT}/boundaries/prefix", make.span((1 << 63) + 1, 1 << 63)),
        "wire.span",
        f"{CONTRACT}/boundaries/prefix",
    ),
    "prefix and suffix past u64 together": (
        put(
            f"{CONTRACT}/boundaries",
            {"prefix": make.span(1 << 63), "suffix": make.span(1 << 63)},
        ),
        "wire.span",
        f"{CONTRACT}/boundaries",
    ),
    "ports out of order by ordinal": (
        ports(make.port(PREFIX, 2), make.port(PREFIX, 1)),
        "wire.state-ports",
        CONTRACT,
    ),
    "ports out of order by role": (
        ports(make.port(PREFIX, 1, "output"), make.port(PREFIX, 1, "input")),
        "wire.state-ports",
        CONTRACT,
    ),
    "ports out of order by allocator": (
        ports(make.port(PREFIX, profile=make.BLOCKS), make.port(PREFIX)),
        "wire.state-ports",
        CONTRACT,
    ),
    "ports out of order by view": (
        ports(make.port(PREFIX, profile=make.PAGES), make.port(PREFIX, profile=make.BLOCKS)),
        "wire.state-ports",
        CONTRACT,
    ),
    "one port twice": (
        ports(make.port(PREFIX), make.port("contiguous_boundary_value")),
        "wire.state-ports",
        CONTRACT,
    ),
    "port of an unknown layout": (
        ports(make.port("page_major")),
        "wire.unknown-variant",
        f"{CONTRACT}/state_ports/0/layout",
    ),
    "port in a paged linear arena": (
        ports(make.port(PREFIX, profile=ILLEGAL)),
        "wire.storage-profile",
        f"{CONTRACT}/state_ports/0/storage_profile",
    ),
    "accepted paged linear arena": (
        put(
            "/catalog/providers/op.attention/0/dynamic_storage_bindings/0/storage",
            {"accepted_profiles": [ILLEGAL]},
        ),
        "wire.storage-profile",
        "/catalog/providers/op.attention/0/dynamic_storage_bindings/0/storage/accepted_profiles/0",
    ),
    "descriptor of blocks that are no power of two": (
        put("/plan/payload/memory/dynamic_descriptors/0/storage/profile", NO_POWER),
        "wire.storage-profile",
        "/plan/payload/memory/dynamic_descriptors/0/storage/profile",
    ),
    "descriptor of empty blocks": (
        put("/plan/payload/memory/dynamic_descriptors/0/storage/profile", NO_BLOCK),
        "wire.storage-profile",
        "/plan/payload/memory/dynamic_descriptors/0/storage/profile",
    ),
    "descriptor with pages of another size": (
        put("/plan/payload/memory/dynamic_descriptors/0/storage/profile", OTHER_PAGES),
        "wire.storage-profile",
        "/plan/payload/memory/dynamic_descriptors/0/storage/profile",
    ),
    "output-only token input": (
        put(f"{INPUTS}/output_only_inputs", ["tokens"]),
        "wire.overlapping-inputs",
        INPUTS,
    ),
    "conditioning token input": (
        put(f"{INPUTS}/conditioning_inputs", ["tokens"]),
        "wire.overlapping-inputs",
        INPUTS,
    ),
    "conditioning and output-only input": (
        put(f"{INPUTS}/conditioning_inputs", ["bias"]),
        "wire.overlapping-inputs",
        INPUTS,
    ),
    "unsorted conditioning inputs": (
        put(f"{INPUTS}/conditioning_inputs", ["b", "a"]),
        "wire.checkpoint-inputs",
        INPUTS,
    ),
    "repeated output-only input": (
        put(f"{INPUTS}/output_only_inputs", ["bias", "bias"]),
        "wire.checkpoint-inputs",
        INPUTS,
    ),
    "null for output-only inputs": (
        put(f"{INPUTS}/output_only_inputs", None),
        "wire.type",
        f"{INPUTS}/output_only_inputs",
    ),
    "unknown role of inputs": (
        put(f"{INPUTS}/unverified_inputs", []),
        "wire.unknown-field",
        f"{INPUTS}/unverified_inputs",
    ),
    "unknown field of a contract": (
        put(f"{CONTRACT}/speed", "fast"),
        "wire.unknown-field",
        f"{CONTRACT}/speed",
    ),
    "unknown capability": (
        put("/catalog/providers/op.attention/0/checkpoint_capability", "partial"),
        "wire.unknown-variant",
        "/catalog/providers/op.attention/0/checkpoint_capability",
    ),
    "unknown numerics": (
        put(f"{CONTRACT}/partition_numerics", "close_enough"),
        "wire.unknown-variant",
        f"{CONTRACT}/partition_numerics",
    ),
    "plan-lived state": (
        put("/program/states/0/lifetime", "plan"),
        "wire.unknown-variant",
        "/program/states/0/lifetime",
    ),
    "binding without component": (
        put(f"{KV}/storage/components", []),
        "wire.malformed-binding",
        KV,
    ),
    "binding smaller than its tensor": (
        put(f"{KV}/storage/components/0/length_bytes", 30),
        "wire.malformed-binding",
        KV,
    ),
    "binding past u64": (
        put(f"{KV}/storage/components/0/offset_bytes", (1 << 64) - 31),
        "wire.malformed-binding",
        KV,
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed(name: str) -> None:
    edit, rule, location = MALFORMED[name]
    bundle = make.sound()
    edit(bundle)
    (finding,) = refused(bundle)
    assert (finding.rule, finding.location, finding.severity) == (rule, location, "error")


def test_every_malformed_part_is_reported() -> None:
    bundle = make.sound()
    for name in ("inputs of another version", "binding without component", "no minimum"):
        MALFORMED[name][0](bundle)
    found = refused(bundle)
    assert sorted(finding.rule for finding in found) == [
        "wire.contract-version",
        "wire.malformed-binding",
        "wire.range",
    ]


def test_messages_name_the_thing_and_the_numbers() -> None:
    bundle = make.sound()
    MALFORMED["binding smaller than its tensor"][0](bundle)
    (finding,) = refused(bundle)
    assert finding.message == (
        "The value `kv` is malformed: its tensor takes 32 bytes and its components hold 30."
    )
    bundle = make.sound()
    MALFORMED["one port twice"][0](bundle)
    (finding,) = refused(bundle)
    assert "provider.attention" in finding.message


@pytest.mark.parametrize("part", ["plan", "program", "catalog"])
def test_a_bundle_without_a_part_is_no_input(part: str) -> None:
    bundle = make.sound()
    del bundle[part]
    (finding,) = refused(bundle)
    assert finding.rule == "wire.missing-field"


@pytest.mark.parametrize("value", [[], "x.json", 3, None, {}])
def test_what_is_no_bundle_is_refused(value: Any) -> None:
    refused(value)


def test_what_the_derivation_does_not_read_may_be_there() -> None:
    bundle = make.sound()
    bundle["policy"] = {}
    bundle["plan"]["plan_hash"] = 7
    bundle["plan"]["payload"]["memory"]["static_bytes"] = "many"
    bundle["program"]["weights"] = None
    make.provider_of(bundle, "head")["version"] = 3
    assert derive_sequence_checkpoint(bundle).layout is not None


def test_empty_lists_may_be_written_and_are_left_out() -> None:
    bundle = make.sound()
    bundle["program"]["inputs"].remove("bias")
    bundle["program"]["checkpoint_inputs"]["output_only_inputs"] = []
    make.contract_of(bundle, "head")["state_ports"] = []
    layout = derive_sequence_checkpoint(bundle).to_wire()["layout"]
    assert "output_only_inputs" not in layout["inputs"]
    assert "state_ports" not in layout["providers"][3]["contract"]


def test_ports_may_stand_in_their_canonical_order() -> None:
    contract = make.contract_of(make.sound(), "attention")
    contract["state_ports"] = [
        make.port(PREFIX, 0),
        make.port(PREFIX, 1),
        make.port(PREFIX, 1, profile=make.BLOCKS),
        make.port(PREFIX, 1, profile=make.PAGES),
        make.port(PREFIX, 0, "output"),
    ]
    wire = {"completed_boundary": contract}
    assert ProviderContract.model_validate(wire).to_wire() == wire


def test_a_contract_writes_no_empty_ports() -> None:
    contract = make.contract_of(make.sound(), "head")
    parsed = ProviderContract.model_validate({"completed_boundary": contract})
    assert parsed.to_wire() == {"completed_boundary": contract}
    assert parsed.contract_wire() == contract


@pytest.mark.parametrize("suffix", [".json", ".json.gz", ".jsonl", ".jsonl.gz"])
def test_a_bundle_is_read_from_a_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"bundle{suffix}"
    text = json.dumps(make.sound()).encode()
    path.write_bytes(gzip.compress(text) if suffix.endswith(".gz") else text)
    expected = derive_sequence_checkpoint(make.sound()).to_wire()
    assert derive_sequence_checkpoint(path).to_wire() == expected
    assert derive_sequence_checkpoint(str(path)).to_wire() == expected


def test_a_file_of_several_documents_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bundles.jsonl"
    path.write_text(f"{json.dumps(make.sound())}\n" * 2)
    with pytest.raises(DocumentError, match="not the only document"):
        derive_sequence_checkpoint(path)


def test_a_file_that_is_no_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bundle.json"
    path.write_text('{"plan": ')
    (finding,) = refused(path)
    assert finding.rule == "wire.not-json"


def places(value: Any, steps: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value, as the steps that lead there."""
    inside = value.items() if isinstance(value, dict) else enumerate(value)
    found = []
    for step, member in inside:
        found.append((*steps, step))
        if isinstance(member, (dict, list)):
            found += places(member, (*steps, step))
    return found


scalars = st.none() | st.booleans() | st.integers(-1, 1 << 70) | st.floats() | st.text(max_size=3)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


@given(st.sampled_from(places(make.sound())), json_values)
def test_any_value_at_any_place_is_answered_or_refused(steps: tuple[Any, ...], value: Any) -> None:
    bundle = make.sound()
    *path, last = steps
    holder: Any = bundle
    for step in path:
        holder = holder[step]
    holder[last] = value
    try:
        result = derive_sequence_checkpoint(bundle)
    except FerrumVerifyError as error:
        told = list(error.findings)
        answered = bool(told)
    else:
        answered = (result.layout is None) == bool(result.reasons)
    assert answered


@given(json_values)
def test_any_value_is_refused_as_a_bundle(value: Any) -> None:
    if not isinstance(value, str):
        refused(value)


def test_a_bundle_nested_too_deep_is_refused() -> None:
    bundle = make.sound()
    deep: Any = 0
    for _ in range(5_000):
        deep = [deep]
    make.node_of(bundle, "head")["attributes"]["deep"] = deep
    (finding,) = refused(bundle)
    assert finding.rule == "wire.limit"
