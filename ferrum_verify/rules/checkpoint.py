"""Checkpoint rules: can the plan's sequences be captured and restored, and if not, why.

A plan without sequence checkpoints is a good plan, so each reason is a note. Where the engine's
derivation fails, the plan departs from its sources: of that the contract and descriptor rules
speak, and nothing is said here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.checkpoint import derive_checkpoint
from ferrum_verify.documents.value_storage import states_are_bound_well
from ferrum_verify.findings import DELETE, Example, Rule
from ferrum_verify.rules import checkpoint_stated
from ferrum_verify.rules.checkpoint_causes import (
    clause,
    grouped,
    independent_causes,
    locate,
)
from ferrum_verify.rules.checkpoint_reach import prefix_alignment, reach_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject

_DERIVE = "seed 004, `derive_sequence_checkpoint`"
_INPUTS = "/program/checkpoint_inputs"
_OF_ATTENTION = "/catalog/providers/operation.attention/1/checkpoint_capability/completed_boundary"

INPUTS_UNDECLARED = Rule(
    id="checkpoint.inputs-undeclared",
    summary="The program says how its inputs bear on its state.",
    why="A restored state is right only for a prompt whose inputs agree with the captured one's; "
    "without roles nobody knows which inputs have to be compared.",
    fix="Declare `checkpoint_inputs` in the program: the token input, the conditioning inputs "
    "and those that only affect outputs.",
    source=_DERIVE,
    severity="note",
    example=Example("bundle", {_INPUTS: DELETE}),
)
INPUT_COVERAGE = Rule(
    id="checkpoint.input-coverage",
    summary="The declared checkpoint inputs are exactly the program's inputs.",
    why="An input without a role could change the state unseen, and two prompts that differ in "
    "it would share a checkpoint.",
    fix="Give each input of the program one role in `checkpoint_inputs`, and no other value.",
    source=f"{_DERIVE} (`covers`)",
    severity="note",
    example=Example("bundle", {f"{_INPUTS}/output_only_inputs": []}),
)
OUTPUT_ONLY_INPUT = Rule(
    id="checkpoint.output-only-input-affects-state",
    summary="No input that is declared output-only can reach a state.",
    why="Output-only inputs are not compared on a restore; if one reaches state, a continuation "
    "runs on a state that its own input would not have produced.",
    fix="Declare the input as conditioning, or keep its values away from nodes with state.",
    source="seed 004, `output_only::state_dependencies`",
    severity="note",
    example=Example(
        "bundle",
        {
            f"{_INPUTS}/token_input": "value.bias",
            f"{_INPUTS}/output_only_inputs": ["value.tokens"],
        },
    ),
)
NO_STATE = Rule(
    id="checkpoint.no-sequence-state",
    summary="The program has a state.",
    why="There is nothing to capture, so a prefix cannot be reused.",
    fix="Declare the program's caches and recurrent values as states, if it has any.",
    source=_DERIVE,
    severity="note",
    example=Example("bundle", {"/program/states": []}, also=("contract.state-effect-differs",)),
)
PERSISTENT_WORKSPACE = Rule(
    id="checkpoint.provider-persistent-workspace",
    summary="No node's provider keeps a persistent workspace.",
    why="Bytes that outlive an invocation and belong to no state are not captured; a restored "
    "sequence would run on another one's leftovers.",
    fix="Select a provider without persistent workspace, or make the bytes a declared state.",
    source=_DERIVE,
    severity="note",
    example=Example("workspaces", {}),
)
PROVIDER_UNDECLARED = Rule(
    id="checkpoint.provider-undeclared",
    summary="Every selected provider has a checkpoint contract.",
    why="Every node takes part in continuing from a boundary, also those without state; one "
    "silent provider leaves the whole plan without a promise.",
    fix="Declare `checkpoint` for the provider, or select one that has it.",
    source=_DERIVE,
    severity="note",
    example=Example(
        "bundle",
        {"/catalog/providers/operation.mixer/0/checkpoint_capability": "unsupported"},
    ),
)
ORACLE_COVERAGE = Rule(
    id="checkpoint.state-oracle-coverage",
    summary="No provider's numerics rest on an operation's oracle where its node has state "
    "effects.",
    why="The oracle compares outputs. It says nothing of what repartitioning does to state, so "
    "a restored state could drift.",
    fix="Promise `bitwise_equivalent`, or one of the weaker numerics that hold for state too.",
    source=_DERIVE,
    severity="note",
    example=Example("bundle", {f"{_OF_ATTENTION}/partition_numerics": "operation_oracle"}),
)
INVALID_PORT = Rule(
    id="checkpoint.invalid-state-port",
    summary="A provider's state port is a binding of a state, in storage that the provider "
    "accepts there.",
    why="The port says where a state's bytes are; one that points elsewhere would copy "
    "something else.",
    fix="Make role, ordinal and storage profile of the port those of the node's state binding.",
    source=_DERIVE,
    severity="note",
    example=Example("bundle", {f"{_OF_ATTENTION}/state_ports/1/ordinal": 3}),
)
STATE_LIFETIME = Rule(
    id="checkpoint.state-lifetime",
    summary="A state lives as long as its sequence.",
    why="A checkpoint is taken of a sequence; state of a request or a step is gone, or "
    "shared, when it is restored.",
    fix="Give the state the lifetime `sequence`, or leave checkpoints unsupported.",
    source=_DERIVE,
    severity="note",
    example=Example(
        "bundle",
        {"/program/states/1/lifetime": "request"},
        also=("contract.state-differs", "wire.malformed-state"),
    ),
)
STATE_UNDECLARED = Rule(
    id="checkpoint.state-undeclared",
    summary="A state says what it holds at a completed boundary.",
    why="Without its contents, a value for each position or one for the whole, the bytes to copy "
    "are unknown.",
    fix="Declare the state's `checkpoint` in the program.",
    source=_DERIVE,
    severity="note",
    example=Example("bundle", {"/program/states/1/checkpoint": "unsupported"}),
)
PORT_UNDECLARED = Rule(
    id="checkpoint.state-port-undeclared",
    summary="A node binds a state where its provider declares a state port for that storage.",
    why="The provider may keep the bytes in an order of its own, which a plain copy would break.",
    fix="Add a state port of that role, ordinal and storage profile to the provider's contract.",
    source=_DERIVE,
    severity="note",
    example=Example("bundle", {f"{_OF_ATTENTION}/state_ports/1": DELETE}),
)
STATE_LAYOUT = Rule(
    id="checkpoint.state-layout",
    summary="A state's bytes are one whole, contiguous range that all of its nodes agree on.",
    why="A copy of any other range restores too little, too much, or another state's bytes.",
    fix="Make the program's declaration, the binding, the port and the descriptor agree in "
    "contents, sizes, element type, usage, lifetime and initialization.",
    source=f"{_DERIVE} (`validate_aliases`)",
    severity="note",
    example=Example("bundle", {f"{_OF_ATTENTION}/state_ports/1/layout": "token_major_prefix"}),
)

_BINDING = "/plan/payload/nodes/2/values/2/access"
_EFFECT = "/plan/payload/nodes/2/state_effects/1/access"
_OPERAND = "/catalog/operations/operation.attention/inputs/2/access"
WITHOUT_WRITER = Rule(
    id="checkpoint.state-without-writer",
    summary="Some node writes each state.",
    why="A state that is never written holds nothing of the prefix; the plan that fills it is "
    "another one.",
    fix="Bind the state with access `write` or `read_write` in the node that fills it.",
    source=_DERIVE,
    severity="note",
    example=Example("bundle", {_BINDING: "read", _EFFECT: "read", _OPERAND: "read"}),
)
UNCOVERED_RESOURCE = Rule(
    id="checkpoint.uncovered-resource",
    summary="A resource of usage state or persistent belongs to a captured state.",
    why="Its bytes outlive the step and would be missing after a restore.",
    fix="Declare the state that the resource holds, or give the resource another usage.",
    source=_DERIVE,
    severity="note",
    example=Example(
        "bundle",
        {"/program/states/1": DELETE, f"{_OF_ATTENTION}/state_ports/1": DELETE},
        also=("contract.state-effect-differs",),
    ),
)
BOUNDARY_INTERSECTION = Rule(
    id="checkpoint.boundary-intersection",
    summary="The providers' boundary constraints have a boundary in common below 2^64 tokens.",
    why="A boundary has to be legal for every node, and here none is.",
    fix="Bring the providers' alignments and minimum tokens closer to each other.",
    source="seed 004, `intersect_boundaries`",
    severity="note",
    example=Example(
        "bundle",
        {prefix_alignment("operation.embed"): 1 << 63, prefix_alignment("operation.norm"): 3},
    ),
)

_OF_REASON = {
    rule.id.partition(".")[2].replace("-", "_"): rule
    for rule in (
        INPUTS_UNDECLARED,
        INPUT_COVERAGE,
        OUTPUT_ONLY_INPUT,
        NO_STATE,
        PERSISTENT_WORKSPACE,
        PROVIDER_UNDECLARED,
        ORACLE_COVERAGE,
        INVALID_PORT,
        STATE_LIFETIME,
        STATE_UNDECLARED,
        PORT_UNDECLARED,
        STATE_LAYOUT,
        WITHOUT_WRITER,
        UNCOVERED_RESOURCE,
        BOUNDARY_INTERSECTION,
    )
}


def check(subject: Subject) -> Iterator[Finding]:
    """Notes on why a bundle's plan has no sequence checkpoint, or on boundaries out of reach.

    A plan that states its layout is held to the derived one.
    """
    yield from checkpoint_stated.check_presence(subject)
    yield from checkpoint_stated.check_inputs(subject)
    nodes, memory = subject.plan_nodes, subject.memory
    program, catalog = subject.program, subject.catalog
    if nodes is None or memory is None or program is None or catalog is None:
        return
    if not states_are_bound_well(program, nodes):
        return
    derivation = derive_checkpoint(
        program, nodes, memory.dynamic_descriptors, catalog.providers, subject.schema
    )
    if derivation.refusals:
        return
    layout = derivation.checkpoint.layout
    yield from checkpoint_stated.check_derived(subject, layout)
    if layout is None:
        causes = independent_causes(derivation.checkpoint.unsupported, program, nodes)
        for group in grouped(causes):
            first = group[0]
            yield _OF_REASON[first.kind].finding(
                f"The plan has no sequence checkpoint: {clause(group)}.",
                locate(first.place, subject.places),
            )
        return
    scheduled = None
    if subject.policy is not None:
        scheduled = subject.policy.admission.maximum_scheduled_tokens
    elif subject.header is not None:
        scheduled = subject.header.maximum_scheduled_tokens
    yield from reach_findings(layout, scheduled, subject)
