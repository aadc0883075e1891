"""Graph rules of state effects: what a node says that it does to the program's states."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.memory_plan import StaticAllocation
from ferrum_verify.findings import Example, Rule, Swap
from ferrum_verify.findings.wording import marked
from ferrum_verify.plan.node_ports import bindings_by_value
from ferrum_verify.rules.ascending import first_fault

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.documents.node import PlanNode, StateEffect, ValueBinding
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.resource_rows import ResourceRows

_FORMAT = "docs/format.md, «Execution-plan rules» (state effects)"
_EFFECT = "/plan/payload/nodes/2/state_effects/0"
ORDER = Rule(
    id="graph.state-effect-order",
    summary="A node's state effects ascend, and so do the resources of each, each once.",
    why="The list is a set; in any other order the same effects have a second hash, and a state "
    "that stands twice has two contradicting effects.",
    fix="Sort the effects by state and their resources by id, each once.",
    source=_FORMAT,
    example=Example("bundle", {_EFFECT: Swap("/plan/payload/nodes/2/state_effects/1")}),
)
UNBOUND = Rule(
    id="graph.state-effect-unbound",
    summary="A node binds the value of each state that it has an effect on.",
    why="The engine would order and capture a state for a node that cannot reach its bytes.",
    fix="Bind the state's value to a port of the node, or drop the effect.",
    source=_FORMAT,
    example=Example("bundle", {f"{_EFFECT}/state_value_id": "value.absent"}),
)


def check_node(node: PlanNode, rows: ResourceRows | None, location: str) -> Iterator[Finding]:
    """Findings of the state effects of one node that stands at the pointer ``place``."""
    effects = node.state_effects
    if not effects:
        return
    location += "/state_effects"
    if (fault := first_fault([effect.state_id for effect in effects])) is not None:
        yield ORDER.finding(
            f"The state effects of node `{node.id}` do not strictly ascend: {fault.text}.",
            f"{location}/{fault.position}",
        )
    values = bindings_by_value(node)
    for index, effect in enumerate(effects):
        where = f"{location}/{index}"
        if (fault := first_fault(effect.resource_ids)) is not None:
            yield ORDER.finding(
                f"The resources of the effect of node `{node.id}` on state `{effect.state_id}` do "
                f"not strictly ascend: {fault.text}.",
                f"{where}/resource_ids/{fault.position}",
            )
        bindings = values.get(effect.state_value_id)
        if bindings is None:
            yield UNBOUND.finding(
                f"Node `{node.id}` has an effect on state `{effect.state_id}`, but binds no value "
                f"`{effect.state_value_id}`.",
                f"{where}/state_value_id",
                actual=effect.state_value_id,
            )
            continue
        yield from _check_effect(node, effect, bindings, where)
        if rows is not None:
            yield from _check_lifetime(node, effect, bindings, rows, where)


RESOURCES = Rule(
    id="graph.state-effect-resources",
    summary="A state effect names the resources of the node's bindings of the state's value.",
    why="The engine protects and captures the named resources; the ones that the kernel really "
    "touches would be left out.",
    fix="Name exactly the resources of the value's storage components.",
    source=_FORMAT,
    example=Example("bundle", {f"{_EFFECT}/resource_ids": ["resource.counter"]}),
)
ACCESS = Rule(
    id="graph.state-effect-access",
    summary="A state effect's access is that of the node's bindings of the state's value.",
    why="A write that is declared as a read is not ordered after earlier readers and is missing "
    "from checkpoints.",
    fix="Declare `read` where all bindings only read, `write` where all only write, and "
    "`read_write` otherwise.",
    source=_FORMAT,
    example=Example("bundle", {f"{_EFFECT}/access": "read"}),
)


def _check_effect(
    node: PlanNode, effect: StateEffect, bindings: Sequence[ValueBinding], location: str
) -> Iterator[Finding]:
    value = effect.state_value_id
    bound = _resources(bindings)
    if set(effect.resource_ids) != set(bound):
        yield RESOURCES.finding(
            f"The effect of node `{node.id}` on state `{effect.state_id}` names "
            f"{_list(effect.resource_ids)}, but `{value}` lies in {_list(bound)}.",
            f"{location}/resource_ids",
            expected=bound,
            actual=list(effect.resource_ids),
        )
    access = _access(bindings)
    if effect.access != access:
        yield ACCESS.finding(
            f"The effect of node `{node.id}` on state `{effect.state_id}` is {effect.access}, but "
            f"its bindings of `{value}` are {access}.",
            f"{location}/access",
            expected=access,
            actual=effect.access,
        )


LIFETIME = Rule(
    id="graph.state-effect-lifetime",
    summary="A state effect's lifetime is that of the descriptors of its resources.",
    why="The engine keeps a state for as long as the effect says, and its bytes for as long as "
    "the descriptor says; a state that outlives its bytes reads another request's.",
    fix="Give the effect the lifetime of its dynamic resources.",
    source=_FORMAT,
    example=Example("bundle", {f"{_EFFECT}/lifetime": "request"}),
)


def _check_lifetime(
    node: PlanNode,
    effect: StateEffect,
    bindings: Sequence[ValueBinding],
    rows: ResourceRows,
    location: str,
) -> Iterator[Finding]:
    for resource_id in _resources(bindings):
        row = rows.get(resource_id)
        if row is None or row.lifetime == effect.lifetime:
            continue
        what = "static allocation" if isinstance(row, StaticAllocation) else "descriptor"
        yield LIFETIME.finding(
            f"The effect of node `{node.id}` on state `{effect.state_id}` has lifetime "
            f"{effect.lifetime}, but the {what} of `{resource_id}` has {row.lifetime}.",
            f"{location}/lifetime",
            expected=row.lifetime,
            actual=effect.lifetime,
        )
        return


def _resources(bindings: Sequence[ValueBinding]) -> list[str]:
    return sorted(
        {component.resource_id for binding in bindings for component in binding.storage.components}
    )


def _access(bindings: Sequence[ValueBinding]) -> str:
    accesses = {binding.access for binding in bindings}
    return accesses.pop() if len(accesses) == 1 else "read_write"


def _list(names: Sequence[str]) -> str:
    return ", ".join(marked(names)) or "no resource"
