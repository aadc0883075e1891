"""Accesses: no byte is written while somebody else still needs it.

Mirrors ``rules/accesses.py``. Which access must be over before which follows from plan order
alone (``plan/accesses.py``); that it is over, in every run of the model, is asked of the solver.

Where a dependency leads from the one to the other, the nodes on the way are the window: fewer
nodes say less, so what they prove is proved. Most claims of a plan then have the same few
formulas. Where none does, all nodes between the two are given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import AccessCounterexample
from ferrum_verify.documents.node import PlanNode
from ferrum_verify.plan.accesses import (
    ENDLESS,
    Conflict,
    TooManyAccessesError,
    accesses_of,
    conflicts_of,
)
from ferrum_verify.prove.obligation import Obligation, formula
from ferrum_verify.prove.schedules import needed, nodes_of, one_by_one, side_by_side
from ferrum_verify.prove.windows import ends_before, ends_before_fence, never, stream
from ferrum_verify.rules import accesses as rules
from ferrum_verify.rules.data_flow import READ_BEFORE_WRITE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.documents.fragment_node import FragmentNode
    from ferrum_verify.findings import Rule
    from ferrum_verify.prove.obligation import Claims, Formula
    from ferrum_verify.prove.windows import PlanGraph, Window


@dataclass(frozen=True, slots=True)
class AccessPlan:
    """What the claims are stated of; ``writers`` are the first that write each value."""

    graph: PlanGraph
    execution: Execution
    at: str
    writers: Mapping[str, int]


def access_claims(
    nodes: Sequence[FragmentNode | PlanNode],
    maximum_tokens: int,
    declared: Mapping[str, int],
    graph: PlanGraph,
    execution: Execution,
    *,
    at: str,
) -> Claims:
    """The claims that each access is over before one that it must not meet begins.

    ``at`` is the pointer of the nodes; the rest is as in ``accesses_of``. What the rules have too
    many steps for is not claimed.
    """
    accesses = accesses_of(nodes, maximum_tokens, declared)
    plan = AccessPlan(graph, execution, at, first_writers(nodes))
    try:
        for conflict in conflicts_of(accesses):
            yield _over_before(conflict, plan)
    except TooManyAccessesError:
        return


def first_writers(nodes: Sequence[FragmentNode | PlanNode]) -> dict[str, int]:
    """The first node that writes each value."""
    writers: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for binding in node.values if isinstance(node, PlanNode) else ():
            if binding.access != "read":
                writers.setdefault(binding.value_id, index)
    return writers


def _over_before(conflict: Conflict, plan: AccessPlan) -> Obligation:
    first, then = conflict.first, conflict.then
    names = plan.graph.names[first.node], plan.graph.names[then.node]
    value = conflict.value
    told_by: tuple[tuple[Rule, tuple[str, ...]], ...] = ()
    if value is None and then.value is not None and then.value in plan.writers:
        # A reader that waits for no writer at all is told of so.
        writer = plan.graph.names[plan.writers[then.value]]
        told_by = ((READ_BEFORE_WRITE, (*names, writer, then.value)),)
    verbs = {"read": "reads", "write": "writes"}
    return Obligation(
        id=f"{plan.at}: {first.resource}: {names[0]} before {names[1]}",
        claim=f"`{names[0]}`, which {verbs[first.mode]} bytes of `{first.resource}`, has ended "
        f"before `{names[1]}`, which {verbs[then.mode]} them, starts ({plan.execution}).",
        names=(*names, first.resource, *(() if value is None else (value,))),
        rule=_rule(conflict),
        location=f"{plan.at}/{then.node}",
        formula=ended_formula(plan.graph, first.node, then.node, plan.execution),
        message=f"`{names[0]}` {verbs[first.mode]} and `{names[1]}` {verbs[then.mode]} the same "
        f"bytes of `{first.resource}`, and may meet there",
        witness=lambda _: meeting(conflict, plan),
        told_by=told_by,
    )


def _rule(conflict: Conflict) -> Rule:
    if conflict.value is not None:
        return rules.OVERWRITTEN
    first, then = conflict.first, conflict.then
    if then.value is None or first.is_state or then.is_state:
        return rules.RESOURCE_RACE
    return rules.RACE


def ended_formula(graph: PlanGraph, first: int, then: int, execution: Execution) -> Formula:
    """That the node at ``first`` has ended before the one at ``then`` starts, in every run."""
    if first > then:
        return formula(never)
    if execution == "in-order":
        return formula(ends_before, stream(2))
    if execution == "fenced":
        window = _barrier(graph, first, then) or graph.window(first, then)
        return formula(ends_before_fence, window)
    length = _steps(graph, first, then)
    return formula(ends_before, stream(length + 1) if length else graph.window(first, then))


def _steps(graph: PlanGraph, first: int, then: int) -> int:
    """The number of dependencies on a shortest way from the one node to the other; 0 without."""
    reached, steps = {then}, 0
    frontier = {then}
    while frontier:
        steps += 1
        frontier = {
            earlier
            for position in frontier
            for earlier in graph.dependencies[position]
            if earlier >= first and earlier not in reached
        }
        if first in frontier:
            return steps
        reached |= frontier
    return 0


def _barrier(graph: PlanGraph, first: int, then: int) -> Window | None:
    """The nodes of a barrier between the two: it stands up to ``then``, for ``first`` or later."""
    for waiting in range(then, first, -1):
        awaited = max(graph.dependencies[waiting], default=-1)
        if awaited >= first:
            shown = sorted({first, awaited, waiting, then})
            place = shown.index(awaited)
            return tuple((place,) if position == waiting else () for position in shown)
    return None


def meeting(conflict: Conflict, plan: AccessPlan) -> AccessCounterexample | None:
    """A run in which the two meet: at one time, or the writer comes first where it must not."""
    graph, execution = plan.graph, plan.execution
    first, then = conflict.first, conflict.then
    writer, other = (first, then) if first.mode == "write" else (then, first)
    listed = needed(graph, tuple(_mattering(conflict, plan)), execution)
    if first.node > then.node:
        times = one_by_one(listed)
    else:
        found = side_by_side(graph, first.node, then.node, execution, listed)
        if found is None:
            return None
        times = found
    at = times[then.node][0]
    # Of what reaches to the end of its resource one byte is enough to see.
    end = conflict.start + 1 if conflict.end >= ENDLESS else conflict.end
    return AccessCounterexample(
        nodes=nodes_of(graph, times),
        resource=first.resource,
        start=conflict.start,
        end=end,
        writer=graph.names[writer.node],
        other=graph.names[other.node],
        mode=other.mode,
        at=at,
        value=other.value if other.mode == "read" else None,
    )


def _mattering(conflict: Conflict, plan: AccessPlan) -> Iterator[int]:
    """The two nodes, and the one that wrote what is still to be read."""
    yield from (conflict.first.node, conflict.then.node)
    if conflict.value is not None and conflict.value in plan.writers:
        yield plan.writers[conflict.value]
