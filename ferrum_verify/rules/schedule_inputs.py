"""Inputs under a schedule: what a step is handed stands in its bytes until it is read.

What the host writes by an access is judged as that. All else it is taken to hand in before the
first step, and anew when it begins another one, as far as it then has waited for all that used the
bytes.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from ferrum_verify.plan.sharing import slot_safety
from ferrum_verify.plan.unrolling import MOST_OF_STEPS, MOST_UNROLLED
from ferrum_verify.rules.lifetimes import INPUT_LOST, inputs_of
from ferrum_verify.rules.schedule_steps import TOO_MANY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.scheduled import ScheduledPlan
    from ferrum_verify.rules.expected import Expected

LATER = "from step to step"
"""What tells an input that is lost in a later step from one that is lost at once."""


def check_inputs(facts: Expected, plan: ScheduledPlan) -> Iterator[Finding]:
    """Findings of inputs that are lost in some run of the schedule."""
    nodes = facts.subject.plan_nodes
    if nodes is not None:
        yield from inputs_lost(facts, plan, inputs_of(nodes))


def inputs_lost(
    facts: Expected, plan: ScheduledPlan, inputs: Mapping[str, str]
) -> Iterator[Finding]:
    """Inputs in a slot whose members are used before; what is live together is told as that.

    ``inputs`` are the resources with a value that no node outputs. What the host writes it hands
    in itself, and how that is ordered is told of its accesses.
    """
    users = plan.order.users
    for shared in plan.slots():
        lives = {name: plan.at_step(name, 0) for name in plan.members_of(shared)}
        handed = inputs.keys() & lives.keys() - plan.handed_in
        safety = slot_safety(list(lives.values()), plan.order) if handed else None
        if shared.buffer or safety is None:
            continue
        live_together = safety.unsafe["concurrent"]
        by_end = sorted(lives.values(), key=lambda life: users[life][-1])
        place = (
            f"{facts.subject.places.memory}/dynamic_pools/{shared.pool}"
            f"/step_resource_slots/{shared.place}"
        )
        for resource in sorted(handed):
            life = lives[resource]
            ended = bisect_left(by_end, users[life][0], key=lambda each: users[each][-1])
            earlier = next((e for e in by_end[:ended] if (e, life) not in live_together), None)
            if earlier is not None:
                taker, reader = (plan.run.instances[users[each][0]].id for each in (earlier, life))
                yield INPUT_LOST.finding(
                    f"`{inputs[resource]}`, which no node writes and the host does not hand in, "
                    f"stands in `{resource}` from the start, and `{taker}` is given its bytes "
                    f"before `{reader}` reads it",
                    place,
                    about=(resource,),
                )
                continue
            others = [name for name in lives if name != resource]
            # What is used before and is told as live together is not asked about again.
            if all(users[life][0] <= users[lives[other]][0] for other in others):
                yield from _lost_later(plan, (resource, inputs[resource]), others, place)


def _lost_later(
    plan: ScheduledPlan, stands: tuple[str, str], others: Sequence[str], location: str
) -> Iterator[Finding]:
    """Whether the host can hand an input in anew when it begins a step, as all who had its bytes
    in the steps before have ended.
    """
    resource, value = stands
    distance = handing_in(plan, resource)
    if distance is None:
        return
    order = plan.until_step(distance)
    if order is None:
        yield TOO_MANY.finding(
            f"whether `{value}` is lost in `{resource}` is open: steps {distance:,} apart use the "
            f"same bytes, and at most {MOST_UNROLLED} steps with {MOST_OF_STEPS:,} nodes are "
            "looked at",
            location,
        )
        return
    begin = len(order.nodes) - 1
    for other in others:
        users = plan.order.users[plan.at_step(other, 0)]
        late = next((user for user in users if not order.precedes(user, begin)), None)
        if late is not None and not clash(plan, other, resource, distance):
            yield INPUT_LOST.finding(
                f"`{value}`, which no node writes and the host does not hand in, has to stand in "
                f"`{resource}` again when step {distance:,} begins, but "
                f"`{plan.run.instances[late].id}` of step 0 may still use its bytes for `{other}`",
                location,
                about=(resource, LATER),
                fix=f"Give `{resource}` a slot of its own, let the host wait for all that uses the "
                "slot before it begins the next step, or state when it writes there as an `access`",
            )
            return


def handing_in(plan: ScheduledPlan, resource: str) -> int | None:
    """After how many steps the bytes are an input's again, while the first may still run.

    None where there is no such step, or the host then has waited for the whole of the first.
    """
    steps, distance = plan.schedule.steps, plan.buffers(resource)
    if steps is None or (steps.in_flight is not None and distance >= steps.in_flight):
        return None
    return distance


def clash(plan: ScheduledPlan, other: str, resource: str, distance: int) -> bool:
    """Whether a life, and one of an input so many steps later, are live together."""
    if distance >= plan.run.steps:
        return False  # steps so far apart are in order, or that is undecided
    safety = slot_safety([plan.at_step(other, 0), plan.at_step(resource, distance)], plan.order)
    return safety is not None and bool(safety.unsafe["concurrent"])
