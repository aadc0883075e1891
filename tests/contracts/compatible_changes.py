"""For each aspect of a compatible change an edit of a sample that makes just that change."""

from __future__ import annotations

from typing import Any

from ferrum_verify.findings import DELETE, Example
from ferrum_verify.plan.canonical import semantics_fingerprint

ATTENTION = "/providers/operation.attention/1"
CONTRACT = f"{ATTENTION}/checkpoint_capability/completed_boundary"
PREFIX = f"{CONTRACT}/boundaries/prefix"
OPERATION = "/operations/operation.attention"
LINEAR = {"allocator": "linear_arena", "view": "contiguous"}
SEMANTICS = "/providers/operation.mixer/0/execution_semantics"
PACKING = "/weight_materializers/weight-materializer.packing"
ESTIMATOR = f"/catalog{ATTENTION}/resource_estimator_implementation_fingerprint"


def head(edits: dict[str, Any], sample: str = "catalog") -> Example:
    return Example(sample, edits, command="contracts compare")


def base(edits: dict[str, Any], sample: str = "catalog") -> Example:
    return Example(sample, edits, command="contracts compare", reverse=True)


COMPATIBLE_CHANGES: dict[str, Example] = {
    "provider-added": base({ATTENTION: DELETE}),
    "capability-added": head({"/device/capabilities/-": "capability.new"}),
    "storage-profile-added": head(
        {f"{ATTENTION}/dynamic_storage_bindings/1/storage/accepted_profiles/-": LINEAR}
    ),
    "format-added": head({f"{ATTENTION}/accepted_weight_formats/-": "weight-format.new"}),
    "checkpoint-added": base({f"{ATTENTION}/checkpoint_capability": "unsupported"}),
    "prefix-widened": head({f"{PREFIX}/alignment": 2}),
    "suffix-widened": base({f"{CONTRACT}/boundaries/suffix/minimum_tokens": 3}),
    "span-restated": head({f"{PREFIX}/minimum_tokens": 3}),
    "state-port-added": base({f"{CONTRACT}/state_ports/1": DELETE}),
    "input-dependency-narrowed": base({f"{CONTRACT}/input_dependency": "entire_token_input"}),
    "numerics-bitwise": head({f"{CONTRACT}/partition_numerics": "bitwise_equivalent"}),
    "input-capture-gained": base({f"{CONTRACT}/completed_input_capture": "unsupported"}),
    "operation-widened": head({f"{OPERATION}/inputs/0/element_types/-": "f16"}),
    "selectable-again": base({f"{OPERATION}/provider/minimum_version/minor": 1}),
    "device-memory-extended": head({"/device/total_memory_bytes": 4194305}),
    "plan-checkpoint-kept": head({ESTIMATOR: "0" * 64}, "bundle"),
    "plan-checkpoint-gained": base(
        {f"/catalog{ATTENTION}/checkpoint_capability": "unsupported"}, "bundle"
    ),
    "plan-checkpoint-strengthened": base(
        {f"/catalog{CONTRACT}/completed_input_capture": "unsupported"}, "bundle"
    ),
    "plan-boundary-gained": base({f"/catalog{PREFIX}/alignment": 8}, "bundle"),
    "plan-memory-kept": head({ESTIMATOR: "0" * 64}, "bundle"),
    "replay-gained": head(
        {
            f"{SEMANTICS}/replay_equivalence": "bitwise_eager_equivalent",
            f"{SEMANTICS}/contract_fingerprint": semantics_fingerprint(1, 0, replayed=True),
        },
        "catalog-8.1",
    ),
    "materializer-exact": head(
        {f"{PACKING}/fidelity": "exact", f"{PACKING}/approximate_quality_contract": DELETE},
        "catalog-8.1",
    ),
}
