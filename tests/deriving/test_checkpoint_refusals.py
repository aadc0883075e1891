"""Bundles on which the engine's derivation returns an error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue import catalogue
from ferrum_verify.deriving.checkpoints import derive_sequence_checkpoint
from ferrum_verify.findings.errors import DerivationError, DocumentError
from tests.derive import checkpoint_bundles as make

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.findings import Finding

Json = make.Json
HUGE = make.tensor(1 << 32, 1 << 32)


def refusals(bundle: Json) -> tuple[Finding, ...]:
    with pytest.raises((DerivationError, DocumentError)) as caught:
        derive_sequence_checkpoint(bundle)
    return caught.value.findings


def operation_unknown(bundle: Json) -> None:
    del bundle["catalog"]["providers"]["op.head"]


def operation_empty(bundle: Json) -> None:
    bundle["catalog"]["providers"]["op.head"] = []


def selected_absent(bundle: Json) -> None:
    make.provider_of(bundle, "head")["provider_id"] = "provider.other"


def operation_rebuilt(bundle: Json) -> None:
    make.provider_of(bundle, "head")["operation_fingerprint"] = "0" * 64


def implementation_rebuilt(bundle: Json) -> None:
    make.provider_of(bundle, "head")["provider_implementation_fingerprint"] = "0" * 64


def state_too_large(bundle: Json) -> None:
    make.state_of(bundle, "recurrent")["tensor"] = HUGE


def with_demand(demand: Json) -> Callable[[Json], None]:
    return lambda bundle: make.descriptor_of(bundle, "r.recurrent").update(demand=demand)


AFFINE: dict[str, Any] = {
    "fixed_bytes": (1 << 64) - 1,
    "bytes_per_sequence": 1,
    "maximum_sequences": 1,
    "bytes_per_token": 0,
    "maximum_tokens": 1,
}
IN_CATALOG = "/plan/payload/nodes/3"
AT_ROW = "/plan/payload/memory/dynamic_descriptors/1"
REFUSED: dict[str, tuple[Callable[[Json], None], str, str]] = {
    "operation unknown": (operation_unknown, IN_CATALOG, "op.head"),
    "operation without providers": (operation_empty, IN_CATALOG, "op.head"),
    "selected provider absent": (selected_absent, IN_CATALOG, "provider.head"),
    "operation rebuilt": (operation_rebuilt, IN_CATALOG, "provider.head"),
    "implementation rebuilt": (implementation_rebuilt, IN_CATALOG, "provider.head"),
    "state past u64": (state_too_large, "/program/states/1", "state.recurrent"),
    "demand of nothing": (with_demand({"fixed": {"bytes": 0}}), AT_ROW, "r.recurrent"),
    "demand past u64": (with_demand({"affine": AFFINE}), AT_ROW, "r.recurrent"),
    "product past u64": (
        with_demand({"pages": {"bytes_per_page": 1 << 40, "maximum_pages": 1 << 40}}),
        AT_ROW,
        "r.recurrent",
    ),
    "no tokens": (with_demand({"tokens": make.scaled(32, 0)}), AT_ROW, "r.recurrent"),
    "no buckets": (
        with_demand({"bounded_shape_buckets": {"buckets": []}}),
        AT_ROW,
        "r.recurrent",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    edit, location, subject = REFUSED[name]
    bundle = make.sound()
    edit(bundle)
    (finding,) = refusals(bundle)
    assert finding.location.removesuffix("/demand") == location
    assert finding.severity == "error"
    assert subject in finding.message
    assert finding.rule in catalogue()


def test_all_refusals_are_reported_and_outweigh_reasons() -> None:
    bundle = make.sound()
    operation_unknown(bundle)
    state_too_large(bundle)
    make.provider_of(bundle, "embed")["operation_fingerprint"] = "0" * 64
    del bundle["program"]["checkpoint_inputs"]
    assert [finding.location for finding in refusals(bundle)] == [
        "/plan/payload/nodes/0",
        IN_CATALOG,
        "/program/states/1",
    ]


def test_the_programs_tensor_is_measured_only_where_it_decides() -> None:
    bundle = make.sound()
    state_too_large(bundle)
    make.contract_of(bundle, "mixer")["state_ports"][0]["layout"] = "token_major_prefix"
    reasons = derive_sequence_checkpoint(bundle).reasons
    assert [next(iter(reason)) for reason in reasons] == [
        "state_layout",
        "state_layout",
        "uncovered_resource",
    ]


def test_an_unused_descriptor_is_held_to_its_rules_too() -> None:
    bundle = make.sound()
    make.descriptors_of(bundle).append(
        make.descriptor("r.scratch", {"fixed": {"bytes": 0}}, usage="scratch")
    )
    with pytest.raises(DocumentError) as caught:
        derive_sequence_checkpoint(bundle)
    assert "descriptor.illegal-demand" in {finding.rule for finding in caught.value.findings}
