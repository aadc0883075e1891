"""Wire rules of checkpoint declarations and of the values that a checkpoint reads.

``documents.checkpoint`` and ``documents.bundle`` raise these faults while they parse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule, Swap, pointer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.wire_faults import WireFault

_FORMAT = "docs/format.md, «Sequence checkpoints»"
_CONTRACT = "/catalog/providers/operation.attention/1/checkpoint_capability/completed_boundary"

STATE_PORTS = Rule(
    id="wire.state-ports",
    summary="The state ports of a checkpoint contract ascend by role, ordinal and storage "
    "profile, each once.",
    why="The list is a set, looked up by key: a repeated key would give one port two layouts, "
    "and another order gives the same contract a second hash.",
    fix="Sort the ports, inputs before outputs, and name each key once.",
    source=_FORMAT,
    example=Example("bundle", {f"{_CONTRACT}/state_ports/0": Swap(f"{_CONTRACT}/state_ports/1")}),
)
INPUT_ORDER = Rule(
    id="wire.checkpoint-inputs",
    summary="The conditioning and the output-only inputs of a program ascend, each once.",
    why="Each list is a set; in any other order the same program has a second hash.",
    fix="Sort the inputs by id, each once.",
    source=_FORMAT,
    example=Example(
        "bundle", {"/program/checkpoint_inputs/conditioning_inputs": ["value.z", "value.a"]}
    ),
)
PORT_PROFILE = Rule(
    id="wire.storage-profile",
    summary="A checkpoint declaration names storage profiles that an allocator can serve, and "
    "accepted ones ascend.",
    why="A state can never be in other storage, and a list that is empty, or spelled in another "
    "order, is none that the engine wrote.",
    fix="Let each list ascend, with at least one profile. Use a linear arena seen contiguously, or "
    "a fixed-block arena with a power-of-two block, seen contiguously or in pages of the same "
    "block.",
    source="docs/format.md, «Sizes» (storage profiles)",
    example=Example(
        "bundle", {f"{_CONTRACT}/state_ports/0/storage_profile/allocator": "linear_arena"}
    ),
)
MALFORMED_BINDING = Rule(
    id="wire.malformed-binding",
    summary="The tensor, the storage, the port and the weight of a binding are well-formed.",
    why="A node would read or write bytes that are not the value's.",
    fix="Correct what the message names; `explain value.malformed` and `explain "
    "value.weight-parts` say what is held to.",
    source="docs/format.md, «Values»; docs/format.md, «Weights»",
)


def declaration_finding(fault: WireFault) -> Finding | None:
    """The finding of a fault that these rules speak of, or None."""
    context = fault.context
    of = f" of `{fault.holder}`" if fault.holder else ""
    match fault.type:
        case "port_order":
            rule = STATE_PORTS
            sentence = (
                f"The state ports{of or ' of a provider'} do not ascend by role, ordinal and "
                "storage profile, each once."
            )
        case "input_order":
            rule = INPUT_ORDER
            sentence = f"The program's `{context['field']}` do not ascend, each once."
        case "storage_profile":
            rule = PORT_PROFILE
            sentence = f"The field `{fault.field}`{of} is {context['fault']}."
        case "accepted_profiles":
            rule = PORT_PROFILE
            sentence = f"The field `{fault.field}`{of} accepts {context['fault']}."
        case "malformed_state":
            rule = MALFORMED_STATE
            sentence = f"The program is malformed: {context['reason']}."
        case "malformed_binding":
            rule = MALFORMED_BINDING
            sentence = f"The value `{context['value_id']}` is malformed: {context['reason']}."
        case _:
            return None
    return rule.finding(sentence, pointer("", *fault.steps))


MALFORMED_STATE = Rule(
    id="wire.malformed-state",
    summary="The tensor, the capacity and the checkpoint of a program's state go together.",
    why="The engine reserves for a state what it declares: less than its tensor for each token is "
    "written past, and only a state of a sequence outlives the step that a checkpoint ends.",
    fix="Correct what the message names.",
    source=_FORMAT,
    example=Example("program", {"/states/0/capacity_demand/token_scaled/bytes_per_token": 1}),
)


def state_findings(subject: Subject) -> Iterator[Finding]:
    """Findings of the states of a program that is a document or the part of one."""
    states = () if subject.program is None else subject.program.states
    for index, state in enumerate(states):
        if faults := list(state.faults()):
            yield MALFORMED_STATE.finding(
                f"The program is malformed: {'; '.join(faults)}.",
                pointer(subject.places.program, "states", index),
            )
