"""A schedule beside another planner's plan: what it launches, and which order it keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.schedule import HostAccess
from ferrum_verify.findings import Rule, pointer
from ferrum_verify.plan.order import MAXIMUM_NODES
from ferrum_verify.rules.buffer import PAGE
from ferrum_verify.rules.schedule import (
    NOT_READ,
    UNKNOWN_RESOURCE,
    check_events,
    check_names,
)
from ferrum_verify.rules.schedule_order import NOT_KEPT, dependency_key, launches_of
from ferrum_verify.rules.schedule_steps import TOO_MANY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.buffer_plan import BufferPlan
    from ferrum_verify.documents.schedule import Schedule
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.launched import Launched
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.reading.schedules import LoadedSchedule

ONE_STEP = Rule(
    id="buffer.one-step",
    summary="A schedule of a buffer plan has one step.",
    why="A buffer plan does not say what one step leaves to the next, so whether the buffers of "
    "steps that overlap meet stays open.",
    fix="Audit the schedule of one step, without `steps`.",
    source=f"{PAGE}, «Under a schedule»",
    judgment="safety",
    severity="warning",
    undecided=True,
)


def check(under: LoadedSchedule, plan: BufferPlan, order: HappensBefore) -> list[Finding]:
    """What is wrong with the schedule itself, held to the plan."""
    schedule = under.schedule
    if schedule is None:
        return [
            NOT_READ.finding(
                f"the schedule {under.source} cannot be read, so nothing that depends on order "
                "was judged"
            )
        ]
    found = check_names(order, schedule, "/nodes")
    found += check_events(schedule)
    known = {buffer.id for buffer in plan.buffers}
    for index, action in enumerate(schedule.host):
        if isinstance(action, HostAccess) and action.access not in known:
            found.append(
                UNKNOWN_RESOURCE.finding(
                    f"`host[{index}]` of the schedule accesses `{action.access}`, which is no "
                    "buffer of the plan"
                )
            )
    if schedule.steps is not None:
        found.append(ONE_STEP.finding("of the schedule's steps one was judged by itself"))
    return found


def too_many(schedule: Schedule) -> list[Finding]:
    """That the host's actions are too many to be ordered; nothing of fewer."""
    if len(schedule.host) <= MAXIMUM_NODES:
        return []
    return [
        TOO_MANY.finding(
            f"the schedule has {len(schedule.host):,} actions of the host's, whose nodes are too "
            "many to be ordered"
        )
    ]


def check_dependencies(
    plan: BufferPlan, held: Launched, under: LoadedSchedule
) -> Iterator[Finding]:
    """The dependencies of the plan that do not follow from the schedule."""
    position = held.order.position
    for index, node in enumerate(plan.nodes):
        then = position.get(node.id)
        for dependency in dict.fromkeys(node.dependencies):
            first = position.get(dependency)
            if first is None or then is None or held.order.precedes(first, then):
                continue
            yield NOT_KEPT.finding(
                f"`{node.id}` depends on `{dependency}`, but nothing in "
                f"{launches_of(under, node.id, dependency)} makes it wait for that",
                pointer("/nodes", index),
                about=dependency_key(dependency, node.id, 0),
            )
