"""The capability catalog: the device, the operations a network uses, and their providers."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ferrum_verify.plan.canonical import fingerprint, ordered_fingerprint

from .operations import VERSION
from .schemas import execution_semantics, weight_materializers
from .storage import LINEAR, Json, ordered_profiles

if TYPE_CHECKING:
    from .network import Network
    from .operations import Operation, Port

DEVICE_ID = "device/accelerator/0"
WEIGHT_FORMAT = "weight-format/dense"
COMPUTE = "capability.compute"


@cache
def implementation_fingerprint(identity: str) -> str:
    """A stable stand-in for the hash of an implementation's code."""
    return fingerprint({"domain": "ferrum-verify.models.implementation.v1", "identity": identity})


def used_operations(network: Network) -> list[Operation]:
    """The distinct operations of a network, ascending by id."""
    distinct = {node.operation.operation_id: node.operation for node in network.nodes()}
    return [distinct[operation_id] for operation_id in sorted(distinct)]


def capability_catalog(network: Network, device_bytes: int, schema: str) -> Json:
    """The catalog in the engine's field order, which its fingerprint depends on."""
    used = used_operations(network)
    profiles = {value.profile for value in network.values()} | {LINEAR}
    engine = "provider/engine"
    catalog: Json = {
        "device": {
            "id": DEVICE_ID,
            "class": "accelerator",
            "ordinal": 0,
            "total_memory_bytes": device_bytes,
            "runtime_implementation_fingerprint": implementation_fingerprint(DEVICE_ID),
            "capabilities": [COMPUTE],
            "dynamic_storage_profiles": ordered_profiles(profiles),
        },
        "operations": {operation.operation_id: operation.contract() for operation in used},
        "providers": {operation.operation_id: [_provider(operation, schema)] for operation in used},
        "engine_providers": {
            engine: {
                "provider_id": engine,
                "contract_version": dict(VERSION),
                "implementation_fingerprint": implementation_fingerprint(engine),
                "device_id": DEVICE_ID,
                "capabilities": [COMPUTE],
            }
        },
    }
    if schema != "5.0":
        catalog["weight_materializers"] = weight_materializers()
    return catalog


def operation_fingerprint(operation: Operation) -> str:
    """Hash of the operation's contract in the engine's field order."""
    return ordered_fingerprint(operation.contract())


def _provider(operation: Operation, schema: str) -> Json:
    promises: Json = {}
    older: Json = {}
    contract = {"completed_boundary": _checkpoint_contract(operation, schema)}
    if schema == "5.0":
        older["checkpoint_capability"] = contract
    else:
        promises = {"execution_semantics": execution_semantics(), "checkpoint": contract}
    return {
        "provider_id": operation.provider_id,
        "operation_id": operation.operation_id,
        "operation_fingerprint": operation_fingerprint(operation),
        "provider_implementation_fingerprint": implementation_fingerprint(operation.provider_id),
        **promises,
        "version": dict(VERSION),
        "device_id": DEVICE_ID,
        "capabilities": [COMPUTE],
        "accepted_weight_formats": [WEIGHT_FORMAT],
        "accepted_quantization_formats": [],
        "dynamic_storage_bindings": [
            {"role": role, "ordinal": ordinal, "storage": port.profile.requirement()}
            for role, ordinal, port in _ports(operation)
        ],
        "resource_estimator_id": operation.estimator_id,
        "resource_estimator_version": dict(VERSION),
        "resource_estimator_implementation_fingerprint": implementation_fingerprint(
            operation.estimator_id
        ),
        **older,
    }


def _ports(operation: Operation) -> list[tuple[str, int, Port]]:
    inputs = [("input", ordinal, port) for ordinal, port in enumerate(operation.inputs)]
    outputs = [("output", ordinal, port) for ordinal, port in enumerate(operation.outputs)]
    return inputs + outputs


def _checkpoint_contract(operation: Operation, schema: str) -> Json:
    """What the provider needs of a boundary, and which of its state it lets be captured.

    A continuation may start at any later token, so suffixes are unconstrained.
    """
    contract: Json = {
        "contract_version": dict(VERSION),
        "input_dependency": "exact_token_prefix",
        "boundaries": {
            "prefix": {"minimum_tokens": 1, "alignment": operation.prefix_tokens},
            "suffix": {"minimum_tokens": 1, "alignment": 1},
        },
        "partition_numerics": operation.numerics,
    }
    if operation.captures_completed_input:
        contract["completed_input_capture"] = "supported"
    elif schema == "5.0":
        contract["completed_input_capture"] = "unsupported"
    state_ports = [
        {
            "role": role,
            "ordinal": ordinal,
            "storage_profile": port.profile.to_json(),
            "layout": port.checkpoint_layout,
        }
        for role, ordinal, port in _ports(operation)
        if port.checkpoint_layout is not None
    ]
    if state_ports:
        contract["state_ports"] = state_ports
    return contract
