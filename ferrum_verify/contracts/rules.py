"""Rules of a change of catalog: what breaks plans, what does not, and what only renames.

Breaking changes are errors. Compatible ones, and changes of identity alone, are notes. An
example is an edit of the sample catalog: the sample is BASE and the edited one is HEAD, or the
other way round.
"""

from __future__ import annotations

from typing import Any

from ferrum_verify.findings import DELETE, Example, Rule

SOURCE = "provider contracts, «compare»"
_DERIVE = f"{SOURCE}; seed 004, `derive_sequence_checkpoint`"
_SPANS = f"{SOURCE}; seed 004, `intersect_boundaries`"
_ATTENTION = "/providers/operation.attention/1"
_CONTRACT = f"{_ATTENTION}/checkpoint_capability/completed_boundary"
_PREFIX = f"{_CONTRACT}/boundaries/prefix"
_SUFFIX = f"{_CONTRACT}/boundaries/suffix"
_OPERATION = "/operations/operation.attention"
_LINEAR = {"allocator": "linear_arena", "view": "contiguous"}


def _head(edits: dict[str, Any], *also: str) -> Example:
    return Example("catalog", edits, also=also, command="contracts compare")


def _base(edits: dict[str, Any]) -> Example:
    """The other way round: the edited catalog is BASE and the sample HEAD."""
    return Example("catalog", edits, command="contracts compare", reverse=True)


PROVIDER_REMOVED = Rule(
    id="contract.provider-removed",
    summary="HEAD lacks a provider of an operation, or the operation, that BASE has.",
    why="Each plan that selected it names a kernel that is no longer there, and the engine "
    "refuses to load it.",
    fix="Keep the provider until no plan selects it, or rebuild those plans on another one.",
    source=SOURCE,
    example=_head({_ATTENTION: DELETE}),
)
PROVIDER_ADDED = Rule(
    id="contract.provider-added",
    summary="HEAD has a provider, or an operation, that BASE lacks.",
    why="Plans keep what they selected; a plan that is rebuilt may select the new one.",
    fix="Nothing has to be done.",
    source=SOURCE,
    severity="note",
    example=_base({_ATTENTION: DELETE}),
)
CAPABILITY_REMOVED = Rule(
    id="contract.capability-removed",
    summary="A provider or the device lacks a capability in HEAD that it has in BASE.",
    why="A node may require the capability; its plan then has no provider any more.",
    fix="Keep the capability, or offer it as another provider.",
    source=SOURCE,
    example=_head({f"{_ATTENTION}/capabilities": ["capability.compute"]}),
)
CAPABILITY_ADDED = Rule(
    id="contract.capability-added",
    summary="A provider or the device has a capability in HEAD that it lacks in BASE.",
    why="What needed less still runs.",
    fix="Nothing has to be done.",
    source=SOURCE,
    severity="note",
    example=_head({"/device/capabilities/-": "capability.new"}),
)
CHECKPOINT_REMOVED = Rule(
    id="contract.checkpoint-removed",
    summary="A provider that takes part in checkpoints in BASE does not in HEAD.",
    why="One node without a contract leaves its whole plan without checkpoints: every prefix is "
    "computed again.",
    fix="Declare `checkpoint_capability` again.",
    source=_DERIVE,
    example=_head({f"{_ATTENTION}/checkpoint_capability": "unsupported"}),
)
CHECKPOINT_ADDED = Rule(
    id="contract.checkpoint-added",
    summary="A provider takes part in checkpoints in HEAD and did not in BASE.",
    why="Plans that select it may gain checkpoints when they are rebuilt.",
    fix="Nothing has to be done.",
    source=_DERIVE,
    severity="note",
    example=_base({f"{_ATTENTION}/checkpoint_capability": "unsupported"}),
)
PREFIX_NARROWED = Rule(
    id="contract.prefix-narrowed",
    summary="A provider refuses a prefix in HEAD that it permits in BASE.",
    why="Captured prefixes of that many tokens can no longer be restored, and the boundaries of "
    "each plan that selects the provider move.",
    fix="Lower the minimum to that of BASE, and make the alignment divide that of BASE.",
    source=_SPANS,
    example=_head({f"{_PREFIX}/alignment": 8}),
)
PREFIX_WIDENED = Rule(
    id="contract.prefix-widened",
    summary="A provider permits a prefix in HEAD that it refuses in BASE.",
    why="More boundaries are legal; all that were legal may still be.",
    fix="Nothing has to be done.",
    source=_SPANS,
    severity="note",
    example=_head({f"{_PREFIX}/alignment": 2}),
)
SUFFIX_NARROWED = Rule(
    id="contract.suffix-narrowed",
    summary="A provider refuses a suffix in HEAD that it permits in BASE.",
    why="A prompt with that many tokens after the boundary can no longer be continued from it.",
    fix="Lower the minimum to that of BASE, and make the alignment divide that of BASE.",
    source=_SPANS,
    example=_head({f"{_SUFFIX}/minimum_tokens": 3}),
)
SUFFIX_WIDENED = Rule(
    id="contract.suffix-widened",
    summary="A provider permits a suffix in HEAD that it refuses in BASE.",
    why="More prompts can be continued from a boundary; all that could be may still be.",
    fix="Nothing has to be done.",
    source=_SPANS,
    severity="note",
    example=_head(
        {
            "/providers/operation.head/0/checkpoint_capability/completed_boundary/boundaries"
            "/suffix/minimum_tokens": 1
        }
    ),
)
SPAN_RESTATED = Rule(
    id="contract.span-restated",
    summary="A span constraint is written differently in HEAD, and permits the same counts.",
    why="No boundary changes. The catalog's fingerprint does, so plans must be rebuilt.",
    fix="Nothing has to be done.",
    source=_SPANS,
    severity="note",
    example=_head({f"{_PREFIX}/minimum_tokens": 3}),
)
STATE_PORT_REMOVED = Rule(
    id="contract.state-port-removed",
    summary="A provider lacks a state port in HEAD that it has in BASE.",
    why="The state of a plan that uses it can no longer be captured, so the plan loses its "
    "checkpoints.",
    fix="Declare the port of that role, ordinal and storage profile again.",
    source=_DERIVE,
    example=_head({f"{_CONTRACT}/state_ports/1": DELETE}),
)
STATE_PORT_ADDED = Rule(
    id="contract.state-port-added",
    summary="A provider has a state port in HEAD that it lacks in BASE.",
    why="Plans whose state lies there may gain checkpoints when they are rebuilt.",
    fix="Nothing has to be done.",
    source=_DERIVE,
    severity="note",
    example=_base({f"{_CONTRACT}/state_ports/1": DELETE}),
)
STATE_PORT_LAYOUT = Rule(
    id="contract.state-port-layout-changed",
    summary="A provider lays a state out differently at a port in HEAD than in BASE.",
    why="A captured state is bytes: in the other layout they mean something else, and a state "
    "that is stored by position no longer fits a port that holds one value.",
    fix="Keep the layout, or offer the other one as another provider.",
    source=_DERIVE,
    example=_head({f"{_CONTRACT}/state_ports/1/layout": "token_major_prefix"}),
)
DEPENDENCY_WIDENED = Rule(
    id="contract.input-dependency-widened",
    summary="A provider's state depends on the whole prompt in HEAD, and in BASE only on the "
    "prefix.",
    why="A captured prefix may then be reused only for the very same prompt, which is of little "
    "use.",
    fix="Keep `exact_token_prefix`.",
    source=_DERIVE,
    example=_head({f"{_CONTRACT}/input_dependency": "entire_token_input"}),
)
DEPENDENCY_NARROWED = Rule(
    id="contract.input-dependency-narrowed",
    summary="A provider's state depends only on the prefix in HEAD, and in BASE on the whole "
    "prompt.",
    why="Captured prefixes serve more prompts.",
    fix="Nothing has to be done.",
    source=_DERIVE,
    severity="note",
    example=_base({f"{_CONTRACT}/input_dependency": "entire_token_input"}),
)
NUMERICS_CHANGED = Rule(
    id="contract.numerics-changed",
    summary="A provider promises other numerics at a boundary in HEAD, and not those that equal "
    "an uncut run bit by bit.",
    why="Whoever relied on the promise of BASE may see a continuation that differs from it.",
    fix="Keep the numerics of BASE, or promise `bitwise_equivalent`.",
    source=_DERIVE,
    example=_head({f"{_CONTRACT}/partition_numerics": "same_partition_only"}),
)
NUMERICS_BITWISE = Rule(
    id="contract.numerics-bitwise",
    summary="A provider promises results that equal an uncut run bit by bit in HEAD, and less in "
    "BASE.",
    why="That promise includes every other one.",
    fix="Nothing has to be done.",
    source=_DERIVE,
    severity="note",
    example=_head({f"{_CONTRACT}/partition_numerics": "bitwise_equivalent"}),
)
CAPTURE_LOST = Rule(
    id="contract.input-capture-lost",
    summary="A provider offers no capture after a completed input in HEAD, and does in BASE.",
    why="A plan offers that capture only if all of its providers do; a conversation's next turn "
    "then computes its history again.",
    fix="Support `completed_input_capture` again.",
    source=_DERIVE,
    example=_head({f"{_CONTRACT}/completed_input_capture": "unsupported"}),
)
CAPTURE_GAINED = Rule(
    id="contract.input-capture-gained",
    summary="A provider offers capture after a completed input in HEAD, and does not in BASE.",
    why="Plans whose other providers offer it too gain it when they are rebuilt.",
    fix="Nothing has to be done.",
    source=_DERIVE,
    severity="note",
    example=_base({f"{_CONTRACT}/completed_input_capture": "unsupported"}),
)
PROFILE_DROPPED = Rule(
    id="contract.storage-profile-dropped",
    summary="A storage profile is not accepted at a port, or not offered by the device, in HEAD "
    "and is in BASE.",
    why="A plan that stores its values in that way has no kernel that reads them, or no "
    "allocator that holds them.",
    fix="Keep the profile until no plan uses it.",
    source=SOURCE,
    example=_head(
        {"/providers/operation.embed/0/dynamic_storage_bindings/0/storage/accepted_profiles": []}
    ),
)
PROFILE_ADDED = Rule(
    id="contract.storage-profile-added",
    summary="A storage profile is accepted at a port, or offered by the device, in HEAD and not "
    "in BASE.",
    why="Plans stay as they are stored; a plan that is rebuilt may be stored in the new way.",
    fix="Nothing has to be done.",
    source=SOURCE,
    severity="note",
    example=_head(
        {
            f"{_ATTENTION}/dynamic_storage_bindings/1/storage/accepted_profiles/-": _LINEAR,
        }
    ),
)
FORMAT_DROPPED = Rule(
    id="contract.format-dropped",
    summary="A provider does not accept a weight or quantization format in HEAD that it accepts "
    "in BASE.",
    why="The weights of a plan in that format can no longer be read.",
    fix="Keep the format, or convert the weights and rebuild the plans.",
    source=SOURCE,
    example=_head({f"{_ATTENTION}/accepted_weight_formats": []}),
)
FORMAT_ADDED = Rule(
    id="contract.format-added",
    summary="A provider accepts a weight or quantization format in HEAD that it does not in BASE.",
    why="What was accepted still is.",
    fix="Nothing has to be done.",
    source=SOURCE,
    severity="note",
    example=_head({f"{_ATTENTION}/accepted_weight_formats/-": "weight-format.new"}),
)
OPERATION_NARROWED = Rule(
    id="contract.operation-narrowed",
    summary="An operation's contract refuses something in HEAD that it allows in BASE.",
    why="Nodes that keep to the contract of BASE may bind what the operation no longer takes.",
    fix="Give the new contract a new major version of its own beside the old one.",
    source=SOURCE,
    example=_head({f"{_OPERATION}/inputs/0/element_types": ["f16"]}),
)
OPERATION_WIDENED = Rule(
    id="contract.operation-widened",
    summary="An operation's contract allows something in HEAD that it refuses in BASE.",
    why="Nodes that keep to the contract of BASE keep to that of HEAD in this.",
    fix="Nothing has to be done.",
    source=SOURCE,
    severity="note",
    example=_head({f"{_OPERATION}/inputs/0/element_types/-": "f16"}),
)
OPERATION_UNCLEAR = Rule(
    id="contract.operation-unclear",
    summary="An operation's contract changes in a part whose meaning the format does not fix.",
    why="Attributes, symbolic dimensions and oracles are the operation's own affair; whether "
    "nodes that keep to BASE keep to HEAD cannot be told from the catalogs.",
    fix="Have the operation's author say whether plans of BASE still hold.",
    source=SOURCE,
    severity="warning",
    undecided=True,
    example=_head({f"{_OPERATION}/oracle": "approximate"}),
)
UNSELECTABLE_NOW = Rule(
    id="contract.no-longer-selectable",
    summary="A provider could be selected in BASE and can not be in HEAD.",
    why="It is still listed, but no plan can be built with it, so the plans that have it cannot "
    "be rebuilt.",
    fix="Make the provider meet what the device and the operation require of it.",
    source=SOURCE,
    example=_head(
        {
            f"{_OPERATION}/provider/minimum_version/minor": 1,
        }
    ),
)
SELECTABLE_NOW = Rule(
    id="contract.selectable-again",
    summary="A provider could not be selected in BASE and can be in HEAD.",
    why="Plans keep what they selected; a plan that is rebuilt may select it.",
    fix="Nothing has to be done.",
    source=SOURCE,
    severity="note",
    example=_base({f"{_OPERATION}/provider/minimum_version/minor": 1}),
)
DEVICE_CHANGED = Rule(
    id="contract.device-changed",
    summary="HEAD is the catalog of another device than BASE.",
    why="A plan belongs to one device; none of BASE's plans runs on another.",
    fix="Compare two catalogs of one device.",
    source=SOURCE,
    example=_head({"/device/id": "device.sample.1"}),
)
MEMORY_REDUCED = Rule(
    id="contract.device-memory-reduced",
    summary="The device has less memory in HEAD than in BASE.",
    why="A policy that grants more than the device has admits requests that run out of memory.",
    fix="Check each policy against the new size, and rebuild the plans.",
    source=SOURCE,
    example=_head({"/device/total_memory_bytes": 4194303}),
)
MEMORY_EXTENDED = Rule(
    id="contract.device-memory-extended",
    summary="The device has more memory in HEAD than in BASE.",
    why="What fitted still fits.",
    fix="Nothing has to be done.",
    source=SOURCE,
    severity="note",
    example=_head({"/device/total_memory_bytes": 4194305}),
)
IDENTITY_CHANGED = Rule(
    id="contract.identity-changed",
    summary="Fingerprints or versions differ between BASE and HEAD, and nothing that is declared.",
    why="A plan names the builds that it was compiled with, so the engine refuses it; rebuilt, "
    "it has the same promises.",
    fix="Rebuild the plans that select what changed.",
    source=SOURCE,
    severity="note",
    example=_head({f"{_ATTENTION}/provider_implementation_fingerprint": "0" * 64}),
)
