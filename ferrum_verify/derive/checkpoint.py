"""Sequence checkpoints: can a plan's state be captured and restored, where, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ferrum_verify.derive.checkpoint_layout import (
    LayoutProvider,
    LayoutState,
    Place,
    Refusal,
    SequenceCheckpoint,
    SequenceCheckpointLayout,
    Unsupported,
)
from ferrum_verify.derive.checkpoint_providers import select_providers
from ferrum_verify.derive.checkpoint_ranges import conflict
from ferrum_verify.derive.output_only import reached_state
from ferrum_verify.derive.output_only_aliases import false_aliases
from ferrum_verify.derive.spans import NoCommonSpan, merge_boundaries
from ferrum_verify.derive.state_projection import (
    DeclaredState,
    IndexedDescriptor,
    Use,
    project_state,
)
from ferrum_verify.documents.checkpoint import StateSemantics
from ferrum_verify.documents.plan_schema import SCHEMA_8_1
from ferrum_verify.findings.wording import marked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.bundle import CheckpointProgram
    from ferrum_verify.documents.catalog import CheckpointProvider
    from ferrum_verify.documents.checkpoint import (
        BoundaryConstraint,
        CheckpointInputs,
        InputDependency,
    )
    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.plan_schema import Schema
    from ferrum_verify.documents.program import ModelProgram


@dataclass(frozen=True, slots=True)
class CheckpointDerivation:
    """An answer, or the faults on which the engine returns an error instead."""

    checkpoint: SequenceCheckpoint
    refusals: tuple[Refusal, ...]


def derive_checkpoint(
    program: ModelProgram | CheckpointProgram,
    nodes: Sequence[PlanNode],
    descriptors: Sequence[DynamicDescriptor],
    providers: Mapping[str, Sequence[CheckpointProvider]],
    schema: Schema | None = None,
) -> CheckpointDerivation:
    """The checkpoint of a plan: seed 004, ``derive_sequence_checkpoint``.

    ``nodes`` stand in plan order, ``providers`` are the catalog's by operation id. Bindings
    are taken to be well-formed. ``schema`` is the plan's version, if it names one.
    """
    faults: list[Unsupported | Refusal] = list(_input_faults(program, nodes))
    if program.checkpoint_inputs is not None and program.checkpoint_inputs.output_only_inputs:
        faults += false_aliases(nodes)
    if not program.states:
        faults.append(
            Unsupported(
                "no_sequence_state", Place("program", ("states",)), (), "the program has no state"
            )
        )
    state_values = frozenset(state.value_id for state in program.states)
    selected = select_providers(nodes, providers, state_values, faults)
    states = _project(program, nodes, descriptors, selected, faults)
    covered = {state.resource_id for state in states}
    for index, descriptor in enumerate(descriptors):
        resource = descriptor.base_resource_id
        if descriptor.usage in ("state", "persistent") and resource not in covered:
            faults.append(
                Unsupported(
                    "uncovered_resource",
                    Place("memory", ("dynamic_descriptors", index)),
                    (("resource_id", resource),),
                    f"no projected state covers these {descriptor.usage} bytes",
                )
            )
    boundaries: BoundaryConstraint | None = None
    try:
        boundaries = merge_boundaries(provider.contract.boundaries for provider in selected)
    except NoCommonSpan as none:
        faults.append(Unsupported("boundary_intersection", Place("nodes"), (), str(none)))

    refusals = tuple(fault for fault in faults if isinstance(fault, Refusal))
    unsupported = tuple(fault for fault in faults if isinstance(fault, Unsupported))
    inputs = program.checkpoint_inputs
    if faults or boundaries is None or inputs is None:
        return CheckpointDerivation(SequenceCheckpoint(None, unsupported), refusals)
    if (meeting := conflict(states)) is not None:
        # The engine blames the first state, whichever two are in conflict. Values that meet
        # from the start do so whether they are captured or not.
        alias = Unsupported(
            "state_layout",
            Place("program", ("states", 0)),
            (("state_id", states[0].state_id),),
            meeting.text,
            consequence=meeting.from_start,
        )
        return CheckpointDerivation(SequenceCheckpoint(None, (alias,)), ())
    return CheckpointDerivation(
        SequenceCheckpoint(
            replace(
                _layout(program, inputs, boundaries, selected, states),
                whole_prompts=schema == SCHEMA_8_1,
            )
        ),
        (),
    )


def _input_faults(
    program: ModelProgram | CheckpointProgram, nodes: Sequence[PlanNode]
) -> Iterator[Unsupported]:
    inputs = program.checkpoint_inputs
    if inputs is None:
        yield Unsupported(
            "inputs_undeclared",
            Place("program"),
            (),
            "the program does not say how its inputs bear on its state",
        )
        return
    if not inputs.covers(program.inputs):
        yield Unsupported(
            "input_coverage",
            Place("program", ("checkpoint_inputs",)),
            (),
            _coverage(inputs, program.inputs),
        )
    reached = reached_state(inputs.output_only_inputs, nodes)
    if reached is not None:
        yield Unsupported(
            "output_only_input_affects_state",
            Place("nodes", (reached.node_index,)),
            (
                ("value_id", reached.origin),
                ("node_id", reached.node_id),
                ("state_id", reached.state_id),
            ),
            "declared output-only, it reaches a node with a state effect",
        )


def _coverage(inputs: CheckpointInputs, declared: tuple[str, ...]) -> str:
    named = {inputs.token_input, *inputs.conditioning_inputs, *inputs.output_only_inputs}
    clauses = []
    if left_out := sorted(set(declared) - named):
        clauses.append(
            f"the program's inputs {', '.join(marked(left_out))} have no role in checkpoints"
        )
    if unknown := sorted(named - set(declared)):
        clauses.append(f"{', '.join(marked(unknown))} have one and are no inputs of the program")
    return "; ".join(clauses)


def _project(
    program: ModelProgram | CheckpointProgram,
    nodes: Sequence[PlanNode],
    descriptors: Sequence[DynamicDescriptor],
    selected: Sequence[LayoutProvider],
    faults: list[Unsupported | Refusal],
) -> list[LayoutState]:
    contracts = {provider.node_id: provider.contract for provider in selected}
    by_resource = {
        descriptor.base_resource_id: IndexedDescriptor(index, descriptor)
        for index, descriptor in enumerate(descriptors)
    }
    uses: dict[str, list[Use]] = {state.value_id: [] for state in program.states}
    for node_index, node in enumerate(nodes):
        for value_index, binding in enumerate(node.values):
            if (found := uses.get(binding.value_id)) is not None:
                found.append(Use(node_index, value_index, node, binding))
    states = []
    for index, state in enumerate(program.states):
        place = Place("program", ("states", index))
        name = ("state_id", state.id)
        if state.lifetime != "sequence":
            faults.append(
                Unsupported(
                    "state_lifetime",
                    place,
                    (name, ("lifetime", state.lifetime)),
                    f"its lifetime is {state.lifetime}, and only a sequence's state is captured",
                )
            )
        elif not isinstance(state.checkpoint, StateSemantics):
            faults.append(
                Unsupported(
                    "state_undeclared",
                    place,
                    (name,),
                    "the program does not say what is held at a completed boundary",
                )
            )
        else:
            declared = DeclaredState(state, state.checkpoint, place)
            projection = project_state(
                declared, uses[state.value_id], contracts, by_resource, faults
            )
            if projection is not None:
                states.append(projection)
    return states


def _layout(
    program: ModelProgram | CheckpointProgram,
    inputs: CheckpointInputs,
    boundaries: BoundaryConstraint,
    providers: Sequence[LayoutProvider],
    states: Sequence[LayoutState],
) -> SequenceCheckpointLayout:
    dependencies = {provider.contract.input_dependency for provider in providers}
    dependencies |= {state.semantics.input_dependency for state in states}
    # One participant that reads the whole prompt makes the state depend on all of it.
    dependency: InputDependency = (
        "entire_token_input" if "entire_token_input" in dependencies else "exact_token_prefix"
    )
    captures = all(
        provider.contract.completed_input_capture == "supported" for provider in providers
    )
    return SequenceCheckpointLayout(
        inputs=inputs,
        input_dependency=dependency,
        boundaries=boundaries,
        completed_input_capture="supported" if captures else "unsupported",
        providers=tuple(providers),
        states=tuple(states),
    )
