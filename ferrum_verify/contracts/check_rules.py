"""Rules of a catalog against a program, a policy and the estimates of plans.

What a catalog's declarations say on their own is judged by ``rules.declarations``. An example
is an edit of the sample bundle, whose program, policy and plan its catalog is held to.
"""

from __future__ import annotations

from typing import Any

from ferrum_verify.findings import DELETE, Example, Rule

_SOURCE = "provider contracts, «check»"
_DERIVE = f"{_SOURCE}; seed 004, `derive_sequence_checkpoint`"
_SPANS = f"{_SOURCE}; seed 004, `intersect_boundaries`"
_ATTENTION = "/catalog/providers/operation.attention/1"
_CONTRACT = f"{_ATTENTION}/checkpoint_capability/completed_boundary"
_PREFIX = f"{_CONTRACT}/boundaries/prefix"
_NODE = "/plan/payload/nodes/2/provider_resources"
_LINEAR = {"allocator": "linear_arena", "view": "contiguous"}
_PAGED = {
    "allocator": {"fixed_block_arena": {"block_bytes": 256}},
    "view": {"paged_regions": {"block_bytes": 256}},
}


def _bundle(edits: dict[str, Any], *also: str) -> Example:
    return Example("bundle", edits, also=also, command="contracts check")


SPAN_UNREACHABLE = Rule(
    id="contract.span-unreachable",
    summary="The first prefix that providers permit is longer than the program's states hold.",
    why="A plan that selects them claims to support checkpoints and can never take one.",
    fix="Lower the alignment or the minimum of the providers that the message names.",
    source=f"{_SPANS}; the states' declared capacity",
    severity="warning",
    example=_bundle({f"{_PREFIX}/alignment": 512}),
)
SPAN_BEYOND_STEP = Rule(
    id="contract.span-beyond-step",
    summary="The first prefix that providers permit has more tokens than the policy schedules in "
    "one step.",
    why="A sequence that runs one step at a time never stands at a boundary.",
    fix="Lower the providers' alignment or minimum, or raise `maximum_scheduled_tokens`.",
    source=f"{_SPANS}; the policy's `maximum_scheduled_tokens`",
    severity="note",
    example=_bundle({"/policy/admission/maximum_scheduled_tokens": 2}),
)
PORT_WITHOUT_STATE = Rule(
    id="contract.state-port-without-state",
    summary="A provider has a state port at which the program binds no state.",
    why="The derivation refuses a state port that carries no state, so each plan that selects the "
    "provider has no checkpoints.",
    fix="Declare state ports only where the operation always binds a state.",
    source=_DERIVE,
    severity="warning",
    example=_bundle(
        {
            f"{_CONTRACT}/state_ports": [
                {
                    "role": "input",
                    "ordinal": 0,
                    "storage_profile": _LINEAR,
                    "layout": "contiguous_boundary_value",
                },
                {
                    "role": "input",
                    "ordinal": 1,
                    "storage_profile": _PAGED,
                    "layout": "token_major_prefix",
                },
                {
                    "role": "input",
                    "ordinal": 2,
                    "storage_profile": _LINEAR,
                    "layout": "contiguous_boundary_value",
                },
            ]
        }
    ),
)
PORT_LAYOUT = Rule(
    id="contract.state-port-layout",
    summary="A provider lays a state out in a way that contradicts what the program says it holds.",
    why="A value for each position and one value for the whole prefix are copied differently, so "
    "a plan that selects the provider has no checkpoints.",
    fix="Use `token_major_prefix` for states of prefix positions, and `contiguous_boundary_value` "
    "for boundary values.",
    source=_DERIVE,
    severity="warning",
    example=_bundle({f"{_CONTRACT}/state_ports/1/layout": "token_major_prefix"}),
)
STATE_UNSERVED = Rule(
    id="contract.state-unserved",
    summary="A provider runs nodes that bind a state, and has no usable state port there.",
    why="A plan that selects it has no checkpoints.",
    fix="Declare a state port of that role and ordinal for storage that the device offers.",
    source=_DERIVE,
    severity="note",
    example=_bundle({f"{_CONTRACT}/state_ports/1": DELETE}),
)
CHECKPOINT_UNDECLARED = Rule(
    id="contract.checkpoint-undeclared",
    summary="The program's states can be captured, and a provider of its operations has no "
    "checkpoint contract.",
    why="One silent provider leaves the whole plan without checkpoints.",
    fix="Declare `checkpoint_capability` for the provider.",
    source=_DERIVE,
    severity="note",
    example=_bundle({f"{_ATTENTION}/checkpoint_capability": "unsupported"}),
)
OPERATION_UNSERVED = Rule(
    id="contract.operation-unserved",
    summary="The program runs an operation that the catalog does not have in that version, or "
    "that no provider can run.",
    why="No plan of the program can be built on this device.",
    fix="Add the operation or a provider, or make the policy allow storage that one accepts.",
    source=_SOURCE,
    example=_bundle({"/catalog/providers/operation.embed": []}),
)
PROGRAM_PORTS = Rule(
    id="contract.program-ports",
    summary="A node of the program binds other inputs, outputs or tensors than its operation "
    "takes.",
    why="No plan can bind them, whatever provider is selected.",
    fix="Correct the program, or add an operation of that contract.",
    source=_SOURCE,
    example=_bundle({"/catalog/operations/operation.embed/inputs/1/element_types": ["f16"]}),
)
POLICY_PROFILE = Rule(
    id="contract.policy-profile-unknown",
    summary="The policy lists a storage profile that the device does not offer.",
    why="The entry never takes effect; most likely the policy was written for another device.",
    fix="List only profiles of the device.",
    source=_SOURCE,
    severity="warning",
    example=_bundle(
        {
            "/policy/memory/dynamic_storage_profile_order/-": {
                "allocator": {"fixed_block_arena": {"block_bytes": 512}},
                "view": "contiguous",
            }
        }
    ),
)
POLICY_EXCLUDES = Rule(
    id="contract.policy-excludes-provider",
    summary="The policy allows no storage that a provider accepts at one of its ports.",
    why="The provider can never be selected under the policy.",
    fix="Add the provider's storage to `dynamic_storage_profile_order`.",
    source=_SOURCE,
    severity="note",
    example=_bundle(
        {"/policy/memory/dynamic_storage_profile_order": [_LINEAR]},
    ),
)
WORKSPACE_STORAGE = Rule(
    id="contract.workspace-storage",
    summary="A workspace estimate accepts no storage that the device offers and the policy allows.",
    why="The workspace can never be placed, so the provider can not run.",
    fix="Accept one of the device's storage profiles.",
    source=_SOURCE,
    example=_bundle({f"{_NODE}/scratch/storage/accepted_profiles": []}),
)
WORKSPACE_FORMULA = Rule(
    id="contract.workspace-formula",
    summary="A workspace formula has no size at the policy's limits.",
    why="The engine computes in 64 bits, and refuses a size of 0 bytes or one that passes them.",
    fix="Correct the formula, or lower the policy's ceilings.",
    source=f"{_SOURCE}; format description, «Sizes»",
    judgment="safety",
    example=_bundle({f"{_NODE}/scratch/size_formula/affine/bytes_per_token": 18446744073709551615}),
)
WORKSPACE_EXCEEDS = Rule(
    id="contract.workspace-exceeds-policy",
    summary="One workspace alone takes more bytes than the policy leaves, within its own limits.",
    why="The policy admits batches that can never run.",
    fix="Lower the formula or the policy's ceilings, or grant more memory.",
    source=f"{_SOURCE}; format description, «Sizes»",
    judgment="safety",
    example=_bundle({f"{_NODE}/scratch/size_formula/affine/bytes_per_token": 65536}),
)
