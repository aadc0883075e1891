"""Rules of a schedule beside its plan: what it launches, waits for and gives buffers to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ferrum_verify.documents.schedule import HostAccess, Launch, OfEvent, Record, Synchronize, Wait
from ferrum_verify.findings import DELETE, Example, Rule
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.order import MAXIMUM_NODES
from ferrum_verify.plan.scheduled import TAKEN_IN_TURN, slot_members
from ferrum_verify.rules.schedule_order import check_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.schedule import Schedule
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.plan.scheduled import ScheduledPlan
    from ferrum_verify.rules.expected import Expected

STREAMS = "docs/execution-models.md, «Streams»"
STEPS = "docs/execution-models.md, «Steps that overlap»"


PLAN_MISSING = Rule(
    id="schedule.plan-missing",
    summary="A schedule is audited beside its plan.",
    why="What has to be kept in order is said by the plan; by itself a schedule orders nodes of "
    "which nothing is known.",
    fix="Give it with the plan: `ferrum-verify audit PLAN --schedule FILE`.",
    source=STREAMS,
    severity="warning",
    undecided=True,
)


def check_alone() -> Finding:
    """What is found of a schedule that is audited without a plan."""
    return PLAN_MISSING.finding("nothing is judged of a schedule alone")


NOT_READ = Rule(
    id="schedule.not-read",
    summary="The schedule that a plan is judged under can be read.",
    why="Without it nothing is known of the order in which nodes run.",
    fix="Correct what the findings about the schedule name.",
    source=STREAMS,
    severity="warning",
    judgment="safety",
    undecided=True,
    example=Example("schedule", {"/host": "compute"}, also=("wire.type",)),
)


def check(facts: Expected) -> Iterator[Finding]:
    """All rules of the schedule that a plan is judged under, where there is one."""
    if facts.under is None or facts.order is None:
        return
    schedule = facts.under.schedule
    if schedule is None:
        yield NOT_READ.finding(
            f"the schedule {facts.under.source} cannot be read, so nothing that depends on order "
            "was judged"
        )
        return
    names = check_names(facts.order, schedule, facts.subject.places.nodes)
    yield from names
    yield from check_events(schedule)
    yield from _check_buffers(facts, schedule)
    if facts.scheduled is None:
        yield TOO_MANY.finding(
            f"the schedule has {len(schedule.host):,} actions of the host's, whose nodes are too "
            "many to be ordered"
        )
    elif not any(finding.rule in NO_ORDER for finding in names):
        facts.judged_schedule = facts.scheduled
        yield from check_order(facts, facts.scheduled)
        yield from _check_horizon(facts.scheduled)


NOT_LAUNCHED = Rule(
    id="schedule.node-not-launched",
    summary="Every node of the plan is launched.",
    why="A node that is never launched never runs: what it writes is never there.",
    fix="Launch the node on a stream, or audit the plan that has no such node.",
    source=STREAMS,
    judgment="safety",
    example=Example("schedule", {"/host/9": DELETE}),
)
LAUNCHED_AGAIN = Rule(
    id="schedule.launched-again",
    summary="A node is launched once a step.",
    why="Which of its launches a dependency speaks of would be open.",
    fix="Launch the node once, or give the plan a node for each launch.",
    source=STREAMS,
    example=Example("schedule", {"/host/-": {"launch": "node/head", "stream": "main"}}),
)
UNKNOWN_NODE = Rule(
    id="schedule.unknown-node",
    summary="A schedule launches, and carries from step to step, what the plan has.",
    why="The schedule is then most likely that of another plan, and says nothing of this one.",
    fix="Correct the name, or give the schedule that belongs to the plan.",
    source=STREAMS,
    example=Example("schedule", {"/host/+0": {"launch": "node/none", "stream": "main"}}),
)
NAME_TAKEN = Rule(
    id="schedule.name-taken",
    summary="Each access of the host's has a name of its own, which no node has.",
    why="Runs and findings tell accesses apart by their names.",
    fix="Give the access another name.",
    source=STREAMS,
    example=Example("schedule", {"/host/11/name": "node/head"}),
)
NO_ORDER = frozenset({LAUNCHED_AGAIN.id, NAME_TAKEN.id})
"""Rules whose breach leaves the order of what is launched open."""


def check_names(order: HappensBefore, schedule: Schedule, nodes: str) -> list[Finding]:
    """What is launched, carried and accessed, held to what the plan has at ``nodes``."""
    position = order.position
    found: list[Finding] = []
    launches = Counter(each.launch for each in schedule.host if isinstance(each, Launch))
    accesses = Counter(each.name for each in schedule.host if isinstance(each, HostAccess))
    for name, index in position.items():
        if not launches[name]:
            found.append(
                NOT_LAUNCHED.finding(f"the schedule never launches `{name}`", f"{nodes}/{index}")
            )
    for name, count in launches.items():
        if name not in position:
            found.append(
                UNKNOWN_NODE.finding(f"the schedule launches `{name}`, which is no node of it")
            )
        if count > 1:
            found.append(
                LAUNCHED_AGAIN.finding(
                    f"the schedule launches `{name}` {count:,} times in a step",
                    f"{nodes}/{position[name]}" if name in position else "",
                )
            )
    for name, count in accesses.items():
        if count > 1 or name in position or name in launches:
            taken = f"{count:,} accesses of the host's" if count > 1 else "a node and an access"
            found.append(NAME_TAKEN.finding(f"`{name}` is the name of {taken}"))
    for carried in () if schedule.steps is None else schedule.steps.carried:
        found += [
            UNKNOWN_NODE.finding(
                f"the schedule carries a dependency of `{carried.to}` on `{carried.from_}` to a "
                f"later step, but `{name}` is no node of the plan"
            )
            for name in dict.fromkeys((carried.from_, carried.to))
            if name not in position
        ]
    return found


NEVER_RECORDED = Rule(
    id="schedule.event-never-recorded",
    summary="An event is recorded before it is waited for.",
    why="To wait for an event that was never recorded orders nothing: what was meant to be kept "
    "apart by it is not.",
    fix="Record the event first, or remove the wait.",
    source=STREAMS,
    severity="warning",
    judgment="safety",
    example=Example("schedule", {"/host/+0": {"wait": "event/none", "stream": "main"}}),
)


def check_events(schedule: Schedule) -> Iterator[Finding]:
    """Waits that order nothing in any step."""
    # Where steps follow each other, what the last one recorded still stands.
    recorded = {
        each.record
        for each in schedule.host
        if schedule.steps is not None and isinstance(each, Record)
    }
    for index, action in enumerate(schedule.host):
        match action:
            case Record(record=event):
                recorded.add(event)
            case Wait(wait=event) | Synchronize(synchronize=OfEvent(event=event)):
                if event not in recorded:
                    yield NEVER_RECORDED.finding(
                        f"`host[{index}]` of the schedule waits for event `{event}`, which is "
                        "never recorded before: it waits for nothing"
                    )


BUFFERS_OF_KEPT = Rule(
    id="schedule.buffers-of-kept",
    summary="Only resources of a step or an invocation have several buffers.",
    why="A state or a weight is what earlier steps left: in another buffer it would not be there.",
    fix="Leave the resource out of `buffers`.",
    source=STEPS,
    judgment="safety",
    example=Example("schedule", {"/steps/buffers": {"weight/embed": 2}}),
)


UNKNOWN_RESOURCE = Rule(
    id="schedule.unknown-resource",
    summary="The host accesses, and a schedule gives buffers to, resources that the plan has.",
    why="The access that was meant is not judged.",
    fix="Correct the name, or give the schedule that belongs to the plan.",
    source=STREAMS,
    example=Example("schedule", {"/host/11/access": "output/none"}),
)


def _check_buffers(facts: Expected, schedule: Schedule) -> Iterator[Finding]:
    static = {row.resource_id for row in facts.memory.static_allocations}
    known = static | facts.descriptors.keys()
    for index, action in enumerate(schedule.host):
        if isinstance(action, HostAccess) and action.access not in known:
            yield UNKNOWN_RESOURCE.finding(
                f"`host[{index}]` of the schedule accesses `{action.access}`, which is no resource "
                "of the plan"
            )
    if schedule.steps is None:
        return
    buffers = schedule.steps.buffers
    for resource, count in buffers.items():
        row = facts.descriptors.get(resource)
        if resource not in known:
            yield UNKNOWN_RESOURCE.finding(
                f"the schedule gives {count:,} buffers to `{resource}`, which is no resource of "
                "the plan"
            )
        elif count > 1 and (row is None or row.lifetime not in TAKEN_IN_TURN):
            lifetime = "plan" if row is None else row.lifetime
            yield BUFFERS_OF_KEPT.finding(
                f"the schedule gives {count:,} buffers to `{resource}`, whose lifetime is the "
                f"{lifetime}: every step needs the same one",
                "" if row is None else facts.place_of(resource),
            )
    yield from _check_sharers(facts, buffers)


BUFFERS_DIFFER = Rule(
    id="schedule.buffers-differ",
    summary="Resources that share bytes have the same number of buffers.",
    why="The bytes that they share would be one storage for the one and several for the other.",
    fix="Give all members of the slot, or all rows of the extent, the same number of buffers.",
    source=STEPS,
    judgment="safety",
    example=Example("schedule", {"/steps/buffers": {"act/key": 2}}),
)


def _check_sharers(facts: Expected, buffers: dict[str, int]) -> Iterator[Finding]:
    at = f"{facts.subject.places.memory}/dynamic_pools"
    for index, pool in enumerate(facts.memory.dynamic_pools):
        name = f"pool `{short_pool(pool.pool_id)}`"
        sharing = [
            (f"slot {place} of {name}", f"{at}/{index}/step_resource_slots/{place}", members)
            for place, members in enumerate(slot_members(pool, facts.descriptors))
        ]
        if pool.invocation_liveness_mode == "total_order_reuse":
            members = [each for row in pool.invocation_liveness for each in row.resource_ids]
            sharing.append((f"the extent of {name}", f"{at}/{index}/invocation_liveness", members))
        for what, place, members in sharing:
            counts = {buffers.get(each, 1): each for each in reversed(members)}
            if len(counts) > 1:
                (fewest, one), *_, (most, other) = sorted(counts.items())
                yield BUFFERS_DIFFER.finding(
                    f"{what} gives the same bytes to `{one}` and `{other}`, but the schedule gives "
                    f"them {fewest:,} and {most:,} buffers",
                    place,
                )


LAGS = Rule(
    id="schedule.lags-for-ever",
    summary="After a number of steps all of a step has ended.",
    why="A node that nothing waits for may still run however many steps have begun since; then "
    "no number of steps decides whether it meets them.",
    fix="State `in_flight`, or let the host or the other stream wait for the node in each step.",
    source=STEPS,
    severity="warning",
    judgment="safety",
    undecided=True,
    example=Example(
        "schedule",
        {"/steps": {}, "/host/6": DELETE},
        also=("graph.race", "schedule.dependency-not-kept", "slot.shared-while-live"),
    ),
)
TOO_MANY = Rule(
    id="schedule.too-many-nodes",
    summary="The steps that have to be looked at have few enough nodes.",
    why=f"Up to {MAXIMUM_NODES:,} nodes are ordered, those of all steps that may overlap together.",
    fix="Let fewer steps be in flight, or audit a part of the plan.",
    source="a limit of this verifier",
    severity="warning",
    judgment="safety",
    undecided=True,
)


def _check_horizon(plan: ScheduledPlan) -> Iterator[Finding]:
    horizon = plan.horizon
    if horizon.lagging is not None:
        lagging, other = horizon.lagging
        yield LAGS.finding(
            f"`{lagging}` may lag behind for ever: however many steps later `{other}` runs, it "
            f"need not wait for `{lagging}`, so only {plan.run.steps:,} steps were judged",
        )
    elif horizon.distance is None:
        yield TOO_MANY.finding(
            f"more than {MAXIMUM_NODES:,} nodes of {plan.run.steps:,} steps and more may overlap, "
            "so not all steps were judged"
        )
