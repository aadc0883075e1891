"""Contract rules of states and weights against the program that declares them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ferrum_verify.documents.memory_plan import DynamicDescriptor
from ferrum_verify.findings import Example, Rule
from ferrum_verify.findings.wording import in_series

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ferrum_verify.documents.node import PlanNode, ValueBinding
    from ferrum_verify.documents.program import (
        ModelProgram,
        ProgramState,
    )
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows
    from ferrum_verify.reading.document import Subject


_FORMAT = "docs/format.md, «Execution-plan rules» (against the program)"
STATE_EFFECT = Rule(
    id="contract.state-effect-differs",
    summary="A node's state effects are those of the program's states that it binds.",
    why="A state that the node touches without an effect is neither ordered nor captured; an "
    "effect on another state protects the wrong one.",
    fix="Give the node one effect for each program state whose value it binds, with the state's "
    "lifetime.",
    source=_FORMAT,
    example=Example("bundle", {"/program/states/0/id": "state.other"}),
)
STATE = Rule(
    id="contract.state-differs",
    summary="A state is bound with the tensor, usage and initialization that the program says.",
    why="What a request left in the state would be read as something else, or a fresh state "
    "would start with another request's bytes.",
    fix="Bind the state's tensor with usage state, in a row with the state's initialization.",
    source=_FORMAT,
    example=Example("bundle", {"/program/states/1/initialization": "none"}),
)


def check_states(
    subject: Subject,
    nodes: Sequence[PlanNode],
    program: ModelProgram,
    rows: ResourceRows | None,
) -> Iterator[Finding]:
    """Whether nodes bind the program's states as it declares them, each with its effect."""
    states = {state.value_id: state for state in reversed(program.states)}
    ambiguous = _repeated(state.id for state in program.states)
    judged: set[str] = set()
    for index, node in enumerate(nodes):
        place = f"{subject.places.nodes}/{index}"
        effects = {effect.state_value_id: effect.state_id for effect in node.state_effects}
        # The graph rules find effects on values that are not bound.
        unbound = set()
        if effects:
            bound = {binding.value_id for binding in node.values}
            unbound = {state for value, state in effects.items() if value not in bound}
        for position, binding in enumerate(node.values):
            state = states.get(binding.value_id)
            stated = effects.pop(binding.value_id, None)
            if state is not None and state.id in ambiguous:
                continue
            named = None if state is None else state.id
            if stated != named and named not in unbound:
                yield STATE_EFFECT.finding(
                    f"Node `{node.id}` binds `{binding.value_id}`, which is "
                    f"{'no state' if named is None else f'state `{named}`'} of the program, and "
                    "has "
                    f"{'no effect on it' if stated is None else f'an effect on state `{stated}`'}.",
                    f"{place}/state_effects",
                    expected=named,
                    actual=stated,
                )
            if state is None or state.id in judged:
                continue  # that all nodes bind a value alike is for the value rules
            judged.add(state.id)
            if differences := list(_differences(binding, state, rows)):
                yield STATE.finding(
                    f"Node `{node.id}` binds state `{state.id}` {in_series(differences)}.",
                    f"{place}/values/{position}",
                )


def _differences(
    binding: ValueBinding, state: ProgramState, rows: ResourceRows | None
) -> Iterator[str]:
    if binding.tensor != state.tensor:
        yield "as another tensor"
    if binding.usage != "state":
        yield f"with usage {binding.usage}"
    if rows is None:
        return
    for resource_id in {component.resource_id for component in binding.storage.components}:
        row = rows.get(resource_id)
        if not isinstance(row, DynamicDescriptor):
            continue
        if row.initialization != state.initialization:
            yield (
                f"in `{resource_id}`, which has initialization {row.initialization}, "
                f"not {state.initialization}"
            )
        if row.lifetime != state.lifetime:
            yield (
                f"in `{resource_id}`, which lives for one {row.lifetime}, not one {state.lifetime}"
            )


WEIGHT = Rule(
    id="contract.weight-differs",
    summary="A weight is bound as the weight and tensor that the program says.",
    why="The node would multiply with the wrong matrix.",
    fix="Bind the program's weight and tensor; only the program's weights have usage weights.",
    source=_FORMAT,
    example=Example("bundle", {"/plan/payload/nodes/0/values/1/weight/weight_id": "weight.other"}),
)


def check_weights(
    subject: Subject, nodes: Sequence[PlanNode], program: ModelProgram
) -> Iterator[Finding]:
    """Whether nodes bind the program's weights, and nothing else as a weight."""
    weights = {weight.value_id: weight for weight in reversed(program.weights)}
    ambiguous = _repeated(weight.weight_id for weight in program.weights)
    judged: set[str] = set()
    for index, node in enumerate(nodes):
        for position, binding in enumerate(node.values):
            weight = weights.get(binding.value_id)
            if weight is None and binding.weight is None and binding.usage != "weights":
                continue
            if binding.value_id in judged:
                continue
            judged.add(binding.value_id)
            if weight is not None and weight.weight_id in ambiguous:
                continue
            if weight is None:
                difference = "which is none of the program's weights"
            elif binding.weight is None or binding.usage != "weights":
                difference = f"which is weight `{weight.weight_id}`, as no weight"
            elif binding.weight.weight_id != weight.weight_id:
                difference = f"as weight `{binding.weight.weight_id}`, not `{weight.weight_id}`"
            elif binding.tensor != weight.tensor:
                difference = f"as another tensor than weight `{weight.weight_id}` is"
            else:
                continue
            yield WEIGHT.finding(
                f"Node `{node.id}` binds `{binding.value_id}` {difference}.",
                f"{subject.places.nodes}/{index}/values/{position}",
            )


def _repeated(names: Iterable[str]) -> set[str]:
    return {name for name, times in Counter(names).items() if times > 1}
