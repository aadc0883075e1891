"""The sample catalog, and every kind of change that can be made to one of its providers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ferrum_verify.catalogue.restamp import restamp
from ferrum_verify.catalogue.samples import sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from ferrum_verify.findings import Finding

Json = dict[str, Any]

OPERATION = "operation.attention"
PROVIDER = "provider.attention.reference"
LINEAR = {"allocator": "linear_arena", "view": "contiguous"}
PAGED = {
    "allocator": {"fixed_block_arena": {"block_bytes": 256}},
    "view": {"paged_regions": {"block_bytes": 256}},
}


def kind_of(finding: Finding) -> str:
    """The rule of a finding; of a compatible change its aspect, as if it were a rule of its own."""
    if finding.rule != "contract.compatible-change":
        return finding.rule
    assert (finding.severity, finding.undecided) == ("note", False)
    return f"contract.{finding.actual['aspect']}"


def catalog() -> Json:
    """A fresh catalog whose attention provider has room to change for better and worse."""
    document: Json = sample("catalog")
    contract = attention(document)["checkpoint_capability"]["completed_boundary"]
    contract["boundaries"] = {
        "prefix": {"minimum_tokens": 8, "alignment": 4},
        "suffix": {"minimum_tokens": 6, "alignment": 2},
    }
    return document


def attention(document: Json) -> Json:
    """The provider that the kinds below change; None of them moves it."""
    providers = document["providers"][OPERATION]
    found: Json = next(each for each in providers if each["provider_id"] == PROVIDER)
    return found


def contract_of(document: Json) -> Json:
    """The provider's checkpoint contract."""
    found: Json = attention(document)["checkpoint_capability"]["completed_boundary"]
    return found


@dataclass(frozen=True)
class Kind:
    """One kind of change: what it does to a catalog, and the rules of it and of its reverse.

    Kinds of one ``part`` exclude each other: they write to the same place.
    """

    name: str
    part: str
    edit: Callable[[Json], None]
    forward: frozenset[str]
    backward: frozenset[str]


BREAKING = frozenset(
    {
        "contract.provider-removed",
        "contract.capability-removed",
        "contract.checkpoint-removed",
        "contract.prefix-narrowed",
        "contract.suffix-narrowed",
        "contract.state-port-removed",
        "contract.state-port-layout-changed",
        "contract.input-dependency-widened",
        "contract.numerics-changed",
        "contract.input-capture-lost",
        "contract.storage-profile-dropped",
        "contract.format-dropped",
    }
)


def _kind(
    name: str,
    edit: Callable[[Json], None],
    forward: str,
    backward: str,
    part: str | None = None,
) -> Kind:
    def rules(names: str) -> frozenset[str]:
        return frozenset(f"contract.{each}" for each in names.split())

    return Kind(name, part or name, edit, rules(forward), rules(backward))


def _span(side: str, minimum: int, alignment: int) -> Callable[[Json], None]:
    def edit(document: Json) -> None:
        contract_of(document)["boundaries"][side] = {
            "minimum_tokens": minimum,
            "alignment": alignment,
        }

    return edit


def _field(field: str, value: str) -> Callable[[Json], None]:
    def edit(document: Json) -> None:
        contract_of(document)[field] = value

    return edit


def _remove_other_provider(document: Json) -> None:
    # The pairs change the attention provider, so the one that goes is another.
    del document["providers"]["operation.norm"]


def _lose_capability(document: Json) -> None:
    attention(document)["capabilities"].remove("capability.paging")


def _lose_device_capability(document: Json) -> None:
    # One that no provider has, so that nothing follows from it.
    document["device"]["capabilities"].remove("capability.spare")


def _lose_state_port(document: Json) -> None:
    contract_of(document)["state_ports"].pop()


def _change_port_layout(document: Json) -> None:
    contract_of(document)["state_ports"][0]["layout"] = "contiguous_boundary_value"


def _drop_profile(document: Json) -> None:
    port = attention(document)["dynamic_storage_bindings"][0]
    port["storage"]["accepted_profiles"].remove(PAGED)


def _drop_format(document: Json) -> None:
    attention(document)["accepted_weight_formats"].append("weight-format.old")


def _identity(document: Json) -> None:
    attention(document)["provider_implementation_fingerprint"] = "0" * 64


KINDS = [
    _kind("provider", _remove_other_provider, "provider-removed", "provider-added"),
    _kind("capability", _lose_capability, "capability-removed", "capability-added"),
    _kind("device capability", _lose_device_capability, "capability-removed", "capability-added"),
    _kind("prefix alignment", _span("prefix", 8, 8), "prefix-narrowed", "prefix-widened", "prefix"),
    _kind("prefix minimum", _span("prefix", 21, 4), "prefix-narrowed", "prefix-widened", "prefix"),
    _kind(
        "prefix crossing",
        _span("prefix", 1, 6),
        "prefix-narrowed prefix-widened",
        "prefix-narrowed prefix-widened",
        "prefix",
    ),
    _kind("prefix restated", _span("prefix", 5, 4), "span-restated", "span-restated", "prefix"),
    _kind(
        "suffix alignment", _span("suffix", 6, 10), "suffix-narrowed", "suffix-widened", "suffix"
    ),
    _kind(
        "suffix minimum", _span("suffix", 9_000, 2), "suffix-narrowed", "suffix-widened", "suffix"
    ),
    _kind("state port", _lose_state_port, "state-port-removed", "state-port-added"),
    _kind(
        "port layout",
        _change_port_layout,
        "state-port-layout-changed",
        "state-port-layout-changed",
    ),
    _kind(
        "input dependency",
        _field("input_dependency", "entire_token_input"),
        "input-dependency-widened",
        "input-dependency-narrowed",
    ),
    _kind(
        "numerics",
        _field("partition_numerics", "same_partition_only"),
        "numerics-changed",
        "numerics-changed",
    ),
    _kind(
        "bitwise numerics",
        _field("partition_numerics", "bitwise_equivalent"),
        "numerics-bitwise",
        "numerics-changed",
        "numerics",
    ),
    _kind(
        "input capture",
        _field("completed_input_capture", "unsupported"),
        "input-capture-lost",
        "input-capture-gained",
    ),
    _kind("profile", _drop_profile, "storage-profile-dropped", "storage-profile-added"),
    _kind("format", _drop_format, "format-added", "format-dropped"),
]
"""Kinds that can be combined: none hides another, and each changes something of its own."""


@cache
def _changeable() -> str:
    document = catalog()
    document["device"]["capabilities"].append("capability.spare")
    port = attention(document)["dynamic_storage_bindings"][0]
    port["storage"]["accepted_profiles"].append(PAGED)
    return json.dumps(document)


def changed(*kinds: Kind) -> Json:
    """The catalog that has room for all kinds, with some of them applied in their order."""
    document: Json = json.loads(_changeable())
    for kind in kinds:
        kind.edit(document)
    restamp(document)
    return document
