"""Lifetimes: what a plan is handed stands in its bytes before the first node starts.

Mirrors ``rules/lifetimes.py``. A member of its slot that is used before it destroys it, though
the two are never live together; nodes that run in plan order are a run of every model.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import AccessCounterexample
from ferrum_verify.plan.accesses import accesses_of, declared_bytes
from ferrum_verify.prove.obligation import Obligation, formula
from ferrum_verify.prove.schedules import needed, nodes_of, one_by_one
from ferrum_verify.prove.windows import ends_before, never, stream
from ferrum_verify.rules.lifetimes import INPUT_LOST
from ferrum_verify.rules.slot import SHARED_WHILE_LIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.documents.memory_plan import StepSlot
    from ferrum_verify.prove.obligation import Claims
    from ferrum_verify.prove.windows import PlanGraph
    from ferrum_verify.reading.document import Subject


def inputs_of(subject: Subject) -> dict[str, str]:
    """For each resource with a value that no node outputs, the first such value."""
    bindings = [each for node in subject.plan_nodes or () for each in node.values]
    written = {each.value_id for each in bindings if each.role == "output"}
    found: dict[str, str] = {}
    for each in bindings:
        if each.value_id not in written:
            for part in each.storage.components:
                found.setdefault(part.resource_id, each.value_id)
    return found


def input_claims(
    slot: StepSlot,
    name: str,
    at: str,
    subject: Subject,
    graph: PlanGraph,
    *,
    inputs: Mapping[str, str],
    execution: Execution,
) -> Claims:
    """The claims that no other member of a slot is used before what stands there from the start.

    ``inputs`` are those of ``inputs_of``.
    """
    users = graph.users
    for resource in slot.resource_ids:
        others = [each for each in slot.resource_ids if each != resource and each in users]
        if resource not in inputs or resource not in users or not others:
            continue
        earliest = min(others, key=lambda each: users[each][0])
        is_first = users[resource][0] <= users[earliest][0]
        value = inputs[resource]
        yield Obligation(
            id=f"{at}: {resource} from the start",
            claim=f"`{value}` stands in `{resource}` from the start, and no other member of {name} "
            "is used before.",
            names=(resource,),
            rule=INPUT_LOST,
            location=at,
            formula=formula(ends_before, stream(2)) if is_first else formula(never),
            message=f"{name} gives the bytes of `{resource}`, where `{value}` stands from the "
            f"start, to `{earliest}` before",
            witness=partial(_loss, (resource, value), others, subject, graph, execution=execution),
            # What is used before and is live together with it is told of so.
            told_by=tuple((SHARED_WHILE_LIVE, (other, resource)) for other in others),
        )


def _loss(
    stands: tuple[str, str],
    others: Iterable[str],
    subject: Subject,
    graph: PlanGraph,
    _: tuple[int, ...],
    *,
    execution: Execution,
) -> AccessCounterexample | None:
    """A run in which a node writes another member's bytes over the value before it is read."""
    resource, value = stands
    header, nodes = subject.header, subject.plan_nodes
    if header is None or nodes is None:
        return None
    declared = declared_bytes(subject.program)
    accesses = accesses_of(nodes, header.maximum_scheduled_tokens, declared)
    for read in accesses[resource]:
        for member in others:
            for write in accesses.get(member, ()):
                start, end = max(read.start, write.start), min(read.end, write.end)
                if (
                    write.mode == "write"
                    and (read.mode, read.value) == ("read", value)
                    and write.node < read.node
                    and start < end
                ):
                    times = one_by_one(needed(graph, (write.node, read.node), execution))
                    return AccessCounterexample(
                        nodes=nodes_of(graph, times),
                        resource=resource,
                        start=start,
                        end=end,
                        writer=graph.names[write.node],
                        other=graph.names[read.node],
                        mode="read",
                        at=times[write.node][0],
                        value=read.value,
                    )
    return None
