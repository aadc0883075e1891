"""Every reason for having no checkpoint, one broken rule at a time."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.findings.errors import DocumentError
from tests.derive import checkpoint_bundles as make

if TYPE_CHECKING:
    from collections.abc import Callable

Json = make.Json

KV_LAYOUT = [{"state_layout": {"state_id": "state.kv"}}] * 2
UNCOVERED_KV = {"uncovered_resource": {"resource_id": "r.kv"}}
BROKEN_KV = [*KV_LAYOUT, UNCOVERED_KV]
BROKEN_RECURRENT = [
    *[{"state_layout": {"state_id": "state.recurrent"}}] * 2,
    {"uncovered_resource": {"resource_id": "r.recurrent"}},
]


def reasons(bundle: Json) -> list[Any]:
    """The reasons of a bundle, free text left out."""
    found = deepcopy(derive_sequence_checkpoint(bundle).reasons)
    for reason in found:
        if isinstance(reason, dict) and "state_layout" in reason:
            assert reason["state_layout"].pop("reason")
    return found


def texts(bundle: Json) -> list[str]:
    """The free text of the reasons that have some."""
    return [
        reason["state_layout"]["reason"]
        for reason in derive_sequence_checkpoint(bundle).reasons
        if isinstance(reason, dict) and "state_layout" in reason
    ]


def test_the_sound_bundle_has_a_layout_in_the_engines_form() -> None:
    bundle = make.sound()
    layout = derive_sequence_checkpoint(bundle).to_wire()["layout"]
    assert list(layout) == [
        "contract_version",
        "inputs",
        "input_dependency",
        "boundaries",
        "completed_input_capture",
        "providers",
        "states",
    ]
    assert layout["contract_version"] == {"major": 1, "minor": 0}
    assert layout["inputs"] == bundle["program"]["checkpoint_inputs"]
    assert layout["input_dependency"] == "exact_token_prefix"
    assert layout["boundaries"] == {"prefix": make.span(), "suffix": make.span()}
    assert layout["completed_input_capture"] == "supported"
    assert [row["node_id"] for row in layout["providers"]] == [
        "embed",
        "attention",
        "mixer",
        "head",
    ]
    assert layout["providers"][1] == {
        "node_id": "attention",
        "provider_id": "provider.attention",
        "operation_fingerprint": "a" * 64,
        "implementation_fingerprint": "b" * 64,
        "contract": make.contract_of(bundle, "attention"),
    }
    assert "state_ports" not in layout["providers"][0]["contract"]
    assert layout["states"][0] == {
        "state_id": "state.kv",
        "value_id": "kv",
        "writers": ["attention"],
        "semantics": make.state_of(bundle, "kv")["checkpoint"]["completed_boundary"],
        "tensor": make.tensor(16),
        "resource_id": "r.kv",
        "offset_bytes": 0,
        "layout": "token_major_prefix",
        "storage": make.descriptor_of(bundle, "r.kv")["storage"],
        "initialization": "zero",
        "descriptor": make.descriptor_of(bundle, "r.kv"),
    }
    assert layout["states"][1]["layout"] == "contiguous_boundary_value"


def drop(key: str) -> Callable[[Json], object]:
    return lambda bundle: bundle["program"].pop(key)


def on_state(name: str, **changes: Any) -> Callable[[Json], object]:
    return lambda bundle: make.state_of(bundle, name).update(changes)


def on_descriptor(name: str, **changes: Any) -> Callable[[Json], object]:
    return lambda bundle: make.descriptor_of(bundle, name).update(changes)


def on_component(node: str, value: str, **changes: Any) -> Callable[[Json], object]:
    return lambda bundle: make.component_of(bundle, node, value).update(changes)


def on_binding(node: str, value: str, **changes: Any) -> Callable[[Json], object]:
    return lambda bundle: make.binding_of(bundle, node, value).update(changes)


def on_contract(node: str, **changes: Any) -> Callable[[Json], object]:
    return lambda bundle: make.contract_of(bundle, node).update(changes)


def on_port(node: str, **changes: Any) -> Callable[[Json], object]:
    return lambda bundle: make.contract_of(bundle, node)["state_ports"][0].update(changes)


def on_inputs(**changes: Any) -> Callable[[Json], object]:
    return lambda bundle: bundle["program"]["checkpoint_inputs"].update(changes)


def without_states(bundle: Json) -> None:
    bundle["program"]["states"] = []
    for node in ("attention", "mixer"):
        del make.contract_of(bundle, node)["state_ports"]


def with_persistent_workspace(bundle: Json) -> None:
    make.node_of(bundle, "head")["provider_resources"]["persistent"] = {
        "size_formula": {"fixed": {"bytes": 64}},
        "alignment_bytes": 16,
        "scope": "sequence",
        "storage": {"accepted_profiles": [make.LINEAR]},
    }


def with_persistent_descriptor(bundle: Json) -> None:
    make.descriptors_of(bundle).append(
        make.descriptor(
            "r.workspace",
            {"fixed": {"bytes": 64}},
            usage="persistent",
            element_type="u8",
            kind={"persistent": {"node_id": "head"}},
            initialization="none",
        )
    )


def with_unlisted_state(bundle: Json) -> None:
    make.descriptors_of(bundle).append(make.descriptor("r.cache", {"fixed": {"bytes": 64}}))


def unsupported_provider(bundle: Json) -> None:
    make.provider_of(bundle, "head")["checkpoint_capability"] = "unsupported"


def silent_provider(bundle: Json) -> None:
    del make.provider_of(bundle, "head")["checkpoint_capability"]


def silent_state_provider(bundle: Json) -> None:
    make.provider_of(bundle, "attention")["checkpoint_capability"] = "unsupported"


def silent_state(bundle: Json) -> None:
    del make.state_of(bundle, "kv")["checkpoint"]


def no_accepted_storage(bundle: Json) -> None:
    del make.provider_of(bundle, "attention")["dynamic_storage_bindings"][1]


def other_accepted_storage(bundle: Json) -> None:
    entry = make.provider_of(bundle, "attention")["dynamic_storage_bindings"][1]
    entry["storage"]["accepted_profiles"] = [make.PAGES]


def without_descriptor(bundle: Json) -> None:
    del make.descriptors_of(bundle)[0]


def in_components(bundle: Json) -> None:
    make.binding_of(bundle, "attention", "kv")["storage"]["components"] = [
        make.component("r.kv", 16, 0, "keys"),
        make.component("r.kv", 16, 16, "values"),
    ]


def unbound_state(bundle: Json) -> None:
    bundle["program"]["states"].append(make.state("ghost", "boundary_value", "fixed_per_scope"))


UNCOVERED_BOTH = [UNCOVERED_KV, {"uncovered_resource": {"resource_id": "r.recurrent"}}]
PORT_OF_ATTENTION = {"invalid_state_port": {"node_id": "attention"}}
UNDECLARED_PORT = [
    {"state_port_undeclared": {"node_id": "attention", "state_id": "state.kv"}},
    {"state_layout": {"state_id": "state.kv"}},
    UNCOVERED_KV,
]
STRIDED = make.tensor(16, layout={"strided": {"byte_strides": [2]}})
BLOCKED = make.tensor(16, layout={"blocked": {"block": [4], "axis_order": [0], "padding": "exact"}})
PADDED = make.tensor(
    15,
    layout={
        "blocked": {
            "block": [4],
            "axis_order": [0],
            "padding": {"zero_fill": {"physical_dimensions": [16]}},
        }
    },
)

REASONS: dict[str, tuple[Callable[[Json], object], list[Any]]] = {
    "inputs undeclared": (drop("checkpoint_inputs"), ["inputs_undeclared"]),
    "an input without a role": (on_inputs(output_only_inputs=[]), ["input_coverage"]),
    "a role for what is no input": (
        on_inputs(conditioning_inputs=["image"]),
        ["input_coverage"],
    ),
    "no state": (without_states, ["no_sequence_state", *UNCOVERED_BOTH]),
    "persistent workspace": (
        with_persistent_workspace,
        [{"provider_persistent_workspace": {"node_id": "head"}}],
    ),
    "persistent resource": (
        with_persistent_descriptor,
        [{"uncovered_resource": {"resource_id": "r.workspace"}}],
    ),
    "state resource of no state": (
        with_unlisted_state,
        [{"uncovered_resource": {"resource_id": "r.cache"}}],
    ),
    "unsupported provider": (
        unsupported_provider,
        [{"provider_undeclared": {"node_id": "head", "provider_id": "provider.head"}}],
    ),
    "provider without capability": (
        silent_provider,
        [{"provider_undeclared": {"node_id": "head", "provider_id": "provider.head"}}],
    ),
    "unsupported provider of a state": (
        silent_state_provider,
        [
            {"provider_undeclared": {"node_id": "attention", "provider_id": "provider.attention"}},
            {"state_layout": {"state_id": "state.kv"}},
            UNCOVERED_KV,
        ],
    ),
    "oracle over a state effect": (
        on_contract("attention", partition_numerics="operation_oracle"),
        [{"state_oracle_coverage": {"node_id": "attention"}}],
    ),
    "port of another ordinal": (
        on_port("attention", ordinal=7),
        [PORT_OF_ATTENTION, *UNDECLARED_PORT],
    ),
    "port of another role": (
        on_port("attention", role="output"),
        [PORT_OF_ATTENTION, *UNDECLARED_PORT],
    ),
    "port of a value that is no state": (
        on_port("attention", ordinal=0),
        [PORT_OF_ATTENTION, *UNDECLARED_PORT],
    ),
    "port without accepted storage": (no_accepted_storage, [PORT_OF_ATTENTION]),
    "port in storage not accepted": (other_accepted_storage, [PORT_OF_ATTENTION]),
    "port of another profile than the resource": (
        on_port("attention", storage_profile=make.BLOCKS),
        [PORT_OF_ATTENTION, *UNDECLARED_PORT],
    ),
    "state of a request": (
        on_state("kv", lifetime="request"),
        [{"state_lifetime": {"state_id": "state.kv", "lifetime": "request"}}, UNCOVERED_KV],
    ),
    "state of a step": (
        on_state("kv", lifetime="step"),
        [{"state_lifetime": {"state_id": "state.kv", "lifetime": "step"}}, UNCOVERED_KV],
    ),
    "unsupported state": (
        on_state("kv", checkpoint="unsupported"),
        [{"state_undeclared": {"state_id": "state.kv"}}, UNCOVERED_KV],
    ),
    "state without declaration": (
        silent_state,
        [{"state_undeclared": {"state_id": "state.kv"}}, UNCOVERED_KV],
    ),
    "state that is only read": (
        on_binding("attention", "kv", access="read"),
        [{"state_without_writer": {"state_id": "state.kv"}}],
    ),
    "state that no node binds": (
        unbound_state,
        [
            {"state_without_writer": {"state_id": "state.ghost"}},
            {"state_layout": {"state_id": "state.ghost"}},
        ],
    ),
    "no descriptor": (without_descriptor, KV_LAYOUT),
    "contents against the port": (
        on_port("mixer", layout="token_major_prefix"),
        BROKEN_RECURRENT,
    ),
    "port against the contents": (
        on_port("attention", layout="contiguous_boundary_value"),
        BROKEN_KV,
    ),
    "prefix that starts late": (on_component("attention", "kv", offset_bytes=32), BROKEN_KV),
    "prefix of fixed capacity": (
        on_state("kv", capacity_demand="fixed_per_scope"),
        BROKEN_KV,
    ),
    "prefix in a fixed resource": (
        on_descriptor("r.kv", demand={"fixed": {"bytes": 4096}}),
        BROKEN_KV,
    ),
    "prefix in a resource by affine tokens": (
        on_descriptor(
            "r.kv",
            demand={
                "affine": {
                    "fixed_bytes": 0,
                    "bytes_per_sequence": 0,
                    "maximum_sequences": 8,
                    "bytes_per_token": 32,
                    "maximum_tokens": 128,
                }
            },
        ),
        BROKEN_KV,
    ),
    "other bytes per token declared": (
        on_state("kv", capacity_demand={"token_scaled": make.scaled(64)}),
        BROKEN_KV,
    ),
    "other bytes per token demanded": (
        on_descriptor("r.kv", demand={"tokens": make.scaled(64)}),
        BROKEN_KV,
    ),
    "other maximum tokens": (
        on_descriptor("r.kv", demand={"tokens": make.scaled(32, 129)}),
        BROKEN_KV,
    ),
    "strided binding": (on_binding("attention", "kv", tensor=STRIDED), BROKEN_KV),
    "blocked binding": (on_binding("attention", "kv", tensor=BLOCKED), BROKEN_KV),
    "padded binding": (on_binding("attention", "kv", tensor=PADDED), BROKEN_KV),
    "strided state": (on_state("kv", tensor=STRIDED), BROKEN_KV),
    "blocked state": (on_state("recurrent", tensor=BLOCKED), BROKEN_RECURRENT),
    "state of other size": (on_state("recurrent", tensor=make.tensor(8)), BROKEN_RECURRENT),
    "component longer than the tensor": (
        on_component("mixer", "recurrent", length_bytes=34),
        BROKEN_RECURRENT,
    ),
    "resource of another type": (
        on_descriptor("r.recurrent", element_type="bf16"),
        BROKEN_RECURRENT,
    ),
    "binding of another usage": (
        on_binding("mixer", "recurrent", usage="activations"),
        BROKEN_RECURRENT,
    ),
    "other initialization": (
        on_descriptor("r.recurrent", initialization="none"),
        BROKEN_RECURRENT,
    ),
    "value that ends one byte past its resource": (
        on_descriptor("r.recurrent", demand={"fixed": {"bytes": 31}}),
        BROKEN_RECURRENT,
    ),
    "value that is pushed past its resource": (
        on_component("mixer", "recurrent", offset_bytes=2),
        BROKEN_RECURRENT,
    ),
    "alignments without common multiple": (
        lambda bundle: [
            make.contract_of(bundle, "embed")["boundaries"].update(prefix=make.span(1, 1 << 63)),
            make.contract_of(bundle, "head")["boundaries"].update(prefix=make.span(1, 3)),
        ],
        ["boundary_intersection"],
    ),
}


REFUSED: dict[str, tuple[Callable[[Json], object], str]] = {
    "component of another type": (
        on_component("mixer", "recurrent", element_type="bf16"),
        "holds f16 and its component bf16",
    ),
    "resource of another usage": (
        on_descriptor("r.recurrent", usage="activations"),
        "is no sequence state",
    ),
    "resource of another lifetime": (
        on_descriptor("r.recurrent", lifetime="request"),
        "is no sequence state",
    ),
    "resource that is a workspace": (
        on_descriptor("r.recurrent", kind={"persistent": {"node_id": "mixer"}}),
        "is the persistent workspace of `mixer`",
    ),
    "several components": (
        in_components,
        "is used as state and lies in 2 components",
    ),
    "a second descriptor": (
        lambda bundle: make.descriptors_of(bundle).append(
            make.descriptor("r.recurrent", {"fixed": {"bytes": 31}})
        ),
        "`r.recurrent` has a second descriptor",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_plan_may_hold_is_refused_when_read(name: str) -> None:
    edit, fault = REFUSED[name]
    bundle = make.sound()
    edit(bundle)
    with pytest.raises(DocumentError, match=fault):
        reasons(bundle)


@pytest.mark.parametrize("name", REASONS)
def test_reason(name: str) -> None:
    edit, expected = REASONS[name]
    bundle = make.sound()
    edit(bundle)
    assert reasons(bundle) == expected


def test_reasons_stand_in_the_engines_order() -> None:
    bundle = make.sound()
    with_persistent_workspace(bundle)
    unsupported_provider(bundle)
    silent_state(bundle)
    with_unlisted_state(bundle)
    on_port("mixer", ordinal=0)(bundle)
    on_inputs(output_only_inputs=["bias", "image"])(bundle)
    assert reasons(bundle) == [
        "input_coverage",
        {"invalid_state_port": {"node_id": "mixer"}},
        {"provider_persistent_workspace": {"node_id": "head"}},
        {"provider_undeclared": {"node_id": "head", "provider_id": "provider.head"}},
        {"state_undeclared": {"state_id": "state.kv"}},
        {"state_port_undeclared": {"node_id": "mixer", "state_id": "state.recurrent"}},
        {"state_layout": {"state_id": "state.recurrent"}},
        {"uncovered_resource": {"resource_id": "r.kv"}},
        {"uncovered_resource": {"resource_id": "r.recurrent"}},
        {"uncovered_resource": {"resource_id": "r.cache"}},
    ]


def reader(bundle: Json, name: str, **binding: Any) -> None:
    """Append a node that reads the key-value state, with a provider of its own."""
    seen = make.value("kv", "input", 1, usage="state") | binding
    make.nodes_of(bundle).append(
        make.node(name, make.value("x1", "input", 0), seen, make.value(f"{name}.out", "output", 0))
    )
    bundle["catalog"]["providers"][f"op.{name}"] = [
        make.provider(name, make.port("token_major_prefix"))
    ]


def test_readers_take_part_and_writers_ascend_by_id() -> None:
    bundle = make.sound()
    reader(bundle, "reader")
    reader(bundle, "aa.writer", access="read_write")
    layout = derive_sequence_checkpoint(bundle).layout
    assert layout is not None
    assert layout.states[0].writers == ("aa.writer", "attention")


def test_nodes_must_agree_on_the_projection() -> None:
    bundle = make.sound()
    reader(bundle, "reader")
    make.binding_of(bundle, "reader", "kv")["tensor"] = make.tensor(4, 4)
    assert reasons(bundle) == [{"state_layout": {"state_id": "state.kv"}}]
    (text,) = texts(bundle)
    assert "node `reader`" in text
    assert "4 x 4" in text


def test_a_projection_of_one_node_stands_beside_the_fault_of_another() -> None:
    bundle = make.sound()
    reader(bundle, "reader", usage="activations")
    assert reasons(bundle) == [{"state_layout": {"state_id": "state.kv"}}]


def test_the_writer_may_be_a_node_without_contract() -> None:
    bundle = make.sound()
    reader(bundle, "reader")
    silent_state_provider(bundle)
    assert reasons(bundle) == [
        {"provider_undeclared": {"node_id": "attention", "provider_id": "provider.attention"}}
    ]


def test_the_port_of_the_resources_profile_is_used() -> None:
    bundle = make.sound()
    make.contract_of(bundle, "attention")["state_ports"] = [
        make.port("token_major_prefix"),
        make.port("contiguous_boundary_value", profile=make.PAGES),
    ]
    entry = make.provider_of(bundle, "attention")["dynamic_storage_bindings"][1]
    entry["storage"]["accepted_profiles"] = [make.LINEAR, make.PAGES]
    assert reasons(bundle) == []
    make.descriptor_of(bundle, "r.kv")["storage"]["profile"] = make.PAGES
    assert reasons(bundle) == BROKEN_KV
    make.contract_of(bundle, "attention")["state_ports"][1]["layout"] = "token_major_prefix"
    assert reasons(bundle) == []


def test_the_first_provider_of_a_repeated_id_counts() -> None:
    bundle = make.sound()
    twin = deepcopy(make.provider_of(bundle, "head"))
    twin["checkpoint_capability"] = "unsupported"
    bundle["catalog"]["providers"]["op.head"].append(twin)
    assert reasons(bundle) == []
    bundle["catalog"]["providers"]["op.head"].reverse()
    assert reasons(bundle) == REASONS["unsupported provider"][1]


def test_an_oracle_is_enough_where_a_node_has_no_state_effect() -> None:
    bundle = make.sound()
    on_contract("head", partition_numerics="operation_oracle")(bundle)
    assert reasons(bundle) == []


@pytest.mark.parametrize(
    "edit",
    [
        on_contract("head", input_dependency="entire_token_input"),
        lambda bundle: make.state_of(bundle, "kv")["checkpoint"]["completed_boundary"].update(
            input_dependency="entire_token_input"
        ),
    ],
)
def test_one_participant_makes_the_state_depend_on_the_entire_input(
    edit: Callable[[Json], object],
) -> None:
    bundle = make.sound()
    edit(bundle)
    layout = derive_sequence_checkpoint(bundle).layout
    assert layout is not None
    assert layout.input_dependency == "entire_token_input"


def test_completed_input_is_captured_only_if_all_providers_can() -> None:
    bundle = make.sound()
    on_contract("embed", completed_input_capture="unsupported")(bundle)
    layout = derive_sequence_checkpoint(bundle).layout
    assert layout is not None
    assert layout.completed_input_capture == "unsupported"


def test_a_value_that_ends_with_its_resource_fits() -> None:
    bundle = make.sound()
    on_component("mixer", "recurrent", offset_bytes=32)(bundle)
    on_descriptor("r.recurrent", demand={"fixed": {"bytes": 64}})(bundle)
    layout = derive_sequence_checkpoint(bundle).layout
    assert layout is not None
    assert layout.states[1].offset_bytes == 32


def test_capacity_is_not_quantized() -> None:
    bundle = make.sound()
    on_descriptor("r.recurrent", demand={"fixed": {"bytes": 31}}, alignment_bytes=4096)(bundle)
    assert reasons(bundle) == BROKEN_RECURRENT


def test_the_text_of_a_layout_fault_names_every_condition_that_failed() -> None:
    bundle = make.sound()
    on_descriptor("r.recurrent", usage="activations", lifetime="request", initialization="none")(
        bundle
    )
    on_component("mixer", "recurrent", length_bytes=34)(bundle)
    first, second = texts(bundle)
    assert first == (
        "in node `mixer`, its component has 34 bytes and its tensor 32; the usage of `r.recurrent` "
        "is activations; the lifetime of `r.recurrent` is request; its initialization is zero in "
        "the program and none in `r.recurrent`"
    )
    assert second == "no node shows where all of its bytes are"


def test_the_answer_depends_on_nothing_but_the_bundle() -> None:
    bundle = make.sound()
    before = deepcopy(bundle)
    assert (
        derive_sequence_checkpoint(bundle).to_wire()
        == derive_sequence_checkpoint(deepcopy(bundle)).to_wire()
    )
    assert bundle == before
