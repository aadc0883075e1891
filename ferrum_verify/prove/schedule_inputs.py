"""Inputs under a schedule: what a plan is handed stands in its bytes before the first node starts.

Mirrors ``rules/schedule_inputs.py``. The order in which the host launches nodes is a run of every
schedule, so a member of the slot that is launched before destroys an input there.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.accesses import Conflict
from ferrum_verify.prove.accesses import AccessPlan
from ferrum_verify.prove.obligation import Obligation, formula
from ferrum_verify.prove.schedule import Steps, apart, met
from ferrum_verify.prove.windows import PlanGraph, ends_before, never, stream
from ferrum_verify.rules.lifetimes import INPUT_LOST
from ferrum_verify.rules.schedule_inputs import LATER, handing_in
from ferrum_verify.rules.schedule_order import pair_key
from ferrum_verify.rules.slot import SHARED_WHILE_LIVE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ferrum_verify.counterexamples import AccessCounterexample
    from ferrum_verify.plan.scheduled import ScheduledPlan
    from ferrum_verify.prove.obligation import Claims


def scheduled_input_claims(
    plan: ScheduledPlan, inputs: Mapping[str, str], *, nodes: str, memory: str
) -> Claims:
    """The claims that no other member of a slot is used before what stands there from the start.

    ``inputs`` are the resources with a value that no node outputs; those that the host writes are
    not asked about. ``nodes`` and ``memory`` are pointers.
    """
    steps = Steps(plan, PlanGraph(plan.order.nodes), nodes, f"{memory}/dynamic_pools")
    users = steps.graph.users
    for shared in plan.slots():
        lives = {name: plan.at_step(name, 0) for name in plan.members_of(shared)}
        pool = short_pool(plan.memory.dynamic_pools[shared.pool].pool_id)
        name = f"slot {shared.place} of pool `{pool}`"
        at = f"{steps.pools}/{shared.pool}/step_resource_slots/{shared.place}"
        born = {each: users[life][0] for each, life in lives.items()}
        for resource in lives:
            others = [each for each in lives if each != resource]
            if shared.buffer or resource not in inputs or resource in plan.handed_in or not others:
                continue
            earliest = min(others, key=born.__getitem__)
            is_first = born[resource] <= born[earliest]
            yield Obligation(
                id=f"{at}: {resource} from the start",
                claim=f"`{inputs[resource]}` stands in `{resource}` from the start, and no other "
                f"member of {name} is used before (schedule).",
                names=(resource,),
                rule=INPUT_LOST,
                location=at,
                formula=formula(ends_before, stream(2)) if is_first else formula(never),
                message=f"{name} gives the bytes of `{resource}`, where `{inputs[resource]}` "
                f"stands from the start, to `{earliest}` before",
                witness=partial(_loss, steps, (resource, inputs[resource]), others),
                # What is used before and is live together with it is told of so.
                told_by=tuple(
                    (SHARED_WHILE_LIVE, (pair_key(other, resource),)) for other in others
                ),
            )
            if is_first:
                yield from _later_claims(steps, (resource, inputs[resource]), others, name, at)


def _later_claims(
    steps: Steps, stands: tuple[str, str], others: Iterable[str], name: str, location: str
) -> Claims:
    """The claims that all who had an input's bytes have ended when the host hands it in anew."""
    plan, (resource, value) = steps.plan, stands
    distance = handing_in(plan, resource)
    order = None if distance is None else plan.until_step(distance)
    if distance is None or order is None:
        return
    graph, begin = PlanGraph(order.nodes), len(order.nodes) - 1
    for other in others:
        users = steps.graph.users[plan.at_step(other, 0)]
        yield Obligation(
            id=f"{location}: {other} before step {distance}",
            claim=f"`{other}` of a step is used no more when the host begins step {distance:,} "
            f"after it, in which `{value}` stands in `{resource}` and so in {name} (schedule).",
            names=(resource, LATER),
            rule=INPUT_LOST,
            location=location,
            formula=apart(graph, users, [begin]),
            message=f"{name} gives the bytes of `{resource}`, where `{value}` has to stand again "
            f"when step {distance:,} begins, to `{other}`, which may still be used then",
            witness=partial(_loss, steps, stands, [other], step=distance),
            told_by=((SHARED_WHILE_LIVE, (pair_key(other, resource),)),),
        )


def _loss(
    steps: Steps,
    stands: tuple[str, str],
    others: Iterable[str],
    _: tuple[int, ...],
    *,
    step: int = 0,
) -> AccessCounterexample | None:
    """A run in which a node of the first step writes another member's bytes over the value before
    it is read in a step.
    """
    plan, (resource, value) = steps.plan, stands
    context = AccessPlan(steps.graph, "concurrent", steps.nodes, {})
    if step >= plan.run.steps:
        return None
    writers, readers = plan.run.step(0), plan.run.step(step)
    for read in plan.accesses.get(f"{resource}@0", ()):
        for member in others:
            for write in plan.accesses.get(f"{member}@0", ()):
                start, end = max(read.start, write.start), min(read.end, write.end)
                if (
                    (read.mode, read.value, write.mode) == ("read", value, "write")
                    and write.node < read.node
                    and write.node in writers
                    and read.node in readers
                    and start < end
                ):
                    return met(steps, Conflict(read, write, start, end, value), context)
    return None
