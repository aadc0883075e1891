"""Wire rules of checkpoint declarations and of the values that a checkpoint reads.

``documents.checkpoint`` and ``documents.bundle`` raise these faults while they parse.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule, Swap, pointer

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding
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
    summary="A checkpoint declaration names storage profiles that an allocator can serve.",
    why="A state can never be in that storage, so the declaration is void.",
    fix="Use a linear arena seen contiguously, or a fixed-block arena with a power-of-two block, "
    "seen contiguously or in pages of the same block.",
    source="docs/format.md, «Sizes» (storage profiles)",
    example=Example(
        "bundle", {f"{_CONTRACT}/state_ports/0/storage_profile/allocator": "linear_arena"}
    ),
)
MALFORMED_BINDING = Rule(
    id="wire.malformed-binding",
    summary="The storage components of a value can hold it.",
    why="A node would read or write bytes that are not the value's.",
    fix="Give the value components that are not empty, end below 2^64, have ids of their own "
    "where there are several, and together hold its tensor.",
    source=_FORMAT,
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
        case "malformed_binding":
            rule = MALFORMED_BINDING
            sentence = f"The value `{context['value_id']}` is malformed: {context['reason']}."
        case _:
            return None
    return rule.finding(sentence, pointer("", *fault.steps))
