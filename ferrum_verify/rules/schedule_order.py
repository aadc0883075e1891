"""Rules of order under a schedule: dependencies are kept, and what shares bytes is kept apart.

All of it is the ``concurrent`` test on the unrolled schedule. What holds of two steps holds of
any two as far apart, so of the pairs that differ in nothing but their steps one is told.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from ferrum_verify.documents.schedule import Launch
from ferrum_verify.findings import DELETE, Example, Rule, pointer
from ferrum_verify.findings.wording import bytes_words, short_pool
from ferrum_verify.plan.accesses import MOST_STEPS, TooManyAccessesError, conflicts_of
from ferrum_verify.plan.sharing import slot_safety
from ferrum_verify.rules.accesses import OVERWRITTEN, RACE, RESOURCE_RACE, TOO_MANY
from ferrum_verify.rules.liveness import ROWS_OVERLAP
from ferrum_verify.rules.slot import SHARED_WHILE_LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.accesses import Conflict
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.plan.scheduled import ScheduledPlan
    from ferrum_verify.reading.schedules import LoadedSchedule
    from ferrum_verify.rules.expected import Expected

_WAIT = (
    "let the one wait for the other: on one stream, by an event between their streams, or by a "
    "synchronization of the host's"
)
"""What keeps two nodes apart under a schedule, where a dependency by itself orders nothing."""

_AT_STEP = re.compile(r"`([^`@]+)@(\d+)`")


def check_order(facts: Expected, plan: ScheduledPlan) -> Iterator[Finding]:
    """Findings of all that some run of the schedule brings together."""
    lost: set[frozenset[str]] = set()
    for finding in _check_dependencies(facts, plan):
        lost.add(frozenset(finding.about))
        yield finding
    yield from _check_slots(facts, plan)
    yield from _check_rows(facts, plan)
    yield from _check_accesses(facts, plan, lost)


def in_words(text: str) -> str:
    """The text with names of steps as people say them."""
    return _AT_STEP.sub(r"`\1` of step \2", text)


def dependencies_of(plan: ScheduledPlan) -> Iterator[tuple[str, str, int, int]]:
    """Each dependency: the node, what it depends on, across how many steps, and the node's place.

    Those of nodes that are not launched are left out.
    """
    known = {node.id: index for index, node in enumerate(plan.nodes)}
    for index, node in enumerate(plan.nodes):
        for dependency in dict.fromkeys(node.dependencies):
            if dependency in known and plan.launches[node.id] and plan.launches[dependency]:
                yield node.id, dependency, 0, index
    steps = plan.schedule.steps
    for each in () if steps is None else steps.carried:
        if each.to in known and plan.launches[each.to] and plan.launches[each.from_]:
            yield each.to, each.from_, each.distance, known[each.to]


NOT_KEPT = Rule(
    id="schedule.dependency-not-kept",
    summary="Each dependency follows from the order of streams, events and the host.",
    why="Under a schedule nothing waits by itself: the node may start while what it depends on "
    "still runs, and read what is not there yet.",
    fix="Launch both on one stream, or record an event after the dependency and let the node's "
    "stream wait for it before the node is launched.",
    source="docs/execution-models.md, «Streams»",
    judgment="safety",
    example=Example("schedule", {"/host/6": DELETE}, also=("graph.race", "slot.shared-while-live")),
)


def _check_dependencies(facts: Expected, plan: ScheduledPlan) -> Iterator[Finding]:
    for node, dependency, distance, index in dependencies_of(plan):
        then = plan.position.get((node, distance))
        # Steps so far apart that they were not unrolled are in order, or that is undecided.
        if then is None or plan.order.precedes(plan.position[dependency, 0], then):
            continue
        before = f" of {distance:,} step{'s' if distance > 1 else ''} before" if distance else ""
        yield NOT_KEPT.finding(
            f"`{node}` depends on `{dependency}`{before}, but nothing in "
            f"{launches_of(facts.under, node, dependency)} makes it wait for that",
            f"{facts.subject.places.nodes}/{index}",
            about=dependency_key(dependency, node, distance),
        )


def launches_of(under: LoadedSchedule | None, node: str, dependency: str) -> str:
    """The schedule by its file, and where in it two nodes are launched."""
    assert under is not None
    assert under.schedule is not None
    places = {
        each.launch: index
        for index, each in enumerate(under.schedule.host)
        if isinstance(each, Launch)
    }
    return (
        f"the schedule {under.source}, which launches them at /host/{places[dependency]} and "
        f"/host/{places[node]},"
    )


def dependency_key(one: str, other: str, distance: int) -> tuple[str, str, str]:
    """What tells a dependency of ``other`` on ``one`` that is not kept from all others.

    Of two nodes in one step it does not matter which of them needs the other; from step to step
    it does.
    """
    first = one if distance > 0 else other
    return one, other, f"{abs(distance)} steps after {first}" if distance else "in one step"


def pair_key(one: str, other: str) -> str:
    """What tells a finding of two lives from others, whatever their steps."""
    return " & ".join(sorted(each.partition("@")[0] for each in (one, other)))


def _steps_of(pair: tuple[str, str]) -> tuple[int, int]:
    steps = [int(each.partition("@")[2] or 0) for each in pair]
    return max(steps), min(steps)


def _check_slots(facts: Expected, plan: ScheduledPlan) -> Iterator[Finding]:
    at = f"{facts.subject.places.memory}/dynamic_pools"
    told: set[tuple[int, int, str]] = set()
    for shared in plan.slots():
        safety = slot_safety(shared.lives, plan.order)
        if safety is None:
            continue
        pool = short_pool(plan.memory.dynamic_pools[shared.pool].pool_id)
        for left, right in sorted(safety.unsafe["concurrent"], key=_steps_of):
            key = (shared.pool, shared.place, pair_key(left, right))
            if key not in told and not plan.is_told_by_accesses(left, right):
                told.add(key)
                yield SHARED_WHILE_LIVE.finding(
                    in_words(
                        f"slot {shared.place} of pool `{pool}` gives the same bytes to `{left}` "
                        f"and `{right}`, which are live together: "
                        + _why(plan.order.users[left], plan.order.users[right], plan.order)
                    ),
                    f"{at}/{shared.pool}/step_resource_slots/{shared.place}",
                    about=(key[2],),
                    fix=f"Put the two resources into different slots, or {_WAIT}",
                )


def _why(lefts: list[int], rights: list[int], order: HappensBefore) -> str:
    """Two users, of which the one does not wait for the other."""
    user, other = next(
        (user, other) for other in rights for user in lefts if not order.precedes(user, other)
    )
    names = order.nodes[user].id, order.nodes[other].id
    if user == other:
        return f"`{names[0]}` uses both"
    if order.precedes(other, user):
        return f"`{names[0]}` still comes after `{names[1]}`"
    return f"`{names[1]}` need not wait for `{names[0]}`"


def _check_rows(facts: Expected, plan: ScheduledPlan) -> Iterator[Finding]:
    at = f"{facts.subject.places.memory}/dynamic_pools"
    told: set[tuple[int, str]] = set()
    for index, instances in plan.rows():
        for left, right in pairwise(instances):
            names = plan.names[left], plan.names[right]
            key = (index, pair_key(*names))
            if key not in told and not plan.order.precedes(left, right):
                told.add(key)
                pool = short_pool(plan.memory.dynamic_pools[index].pool_id)
                yield ROWS_OVERLAP.finding(
                    in_words(
                        f"pool `{pool}` reuses one extent for `{names[0]}` and `{names[1]}`, but "
                        "neither need wait for the other"
                    ),
                    f"{at}/{index}/invocation_liveness",
                    about=(key[1],),
                    fix=f"Give the two rows bytes of their own, or {_WAIT}",
                )


def conflict_key(plan: ScheduledPlan, conflict: Conflict) -> tuple[str, ...]:
    """What tells a conflict from others, whatever its steps."""
    nodes = sorted(plan.run.instances[each.node].id for each in (conflict.first, conflict.then))
    value = "" if conflict.value is None else conflict.value.partition("@")[0]
    return (" & ".join(nodes), conflict.first.resource, value)


def _check_accesses(
    facts: Expected, plan: ScheduledPlan, lost: set[frozenset[str]]
) -> Iterator[Finding]:
    told: set[tuple[str, ...]] = set()
    try:
        for conflict in conflicts_of(plan.accesses):
            first, then = conflict.first.node, conflict.then.node
            key = conflict_key(plan, conflict)
            if key in told or (first < then and plan.order.precedes(first, then)):
                continue
            one, other = plan.run.instances[first], plan.run.instances[then]
            if frozenset(dependency_key(one.id, other.id, other.step - one.step)) in lost:
                continue  # that the later one starts too early is told
            told.add(key)
            yield _finding(facts, plan, conflict, key)
    except TooManyAccessesError:
        yield TOO_MANY.finding(
            f"the accesses of the plan take more than {MOST_STEPS:,} steps to compare; what was "
            "found until then is told",
            facts.subject.places.nodes,
        )


def rule_of(conflict: Conflict) -> Rule:
    """The rule that a conflict breaks where it is not kept apart."""
    if conflict.value is not None:
        return OVERWRITTEN
    first, then = conflict.first, conflict.then
    if None in (first.value, then.value) or first.is_state or then.is_state:
        return RESOURCE_RACE
    return RACE


def _finding(
    facts: Expected, plan: ScheduledPlan, conflict: Conflict, key: tuple[str, ...]
) -> Finding:
    first, then = conflict.first, conflict.then
    names = plan.names[first.node], plan.names[then.node]
    where = f"{bytes_words(conflict.start, conflict.end)} of `{first.resource}`"
    if conflict.value is None:
        verbs = {"read": "reads", "write": "writes"}
        text = (
            f"`{names[0]}` {verbs[first.mode]} and `{names[1]}` {verbs[then.mode]} {where}, and "
            "neither need wait for the other"
        )
    else:
        late = "comes later and still reads" if first.node > then.node else "may still read"
        text = f"`{names[1]}` writes to {where}, where `{names[0]}` {late} `{conflict.value}`"
    known = {node.id: index for index, node in enumerate(plan.nodes)}
    accessing = (
        (known[plan.run.instances[each.node].id], each.place)
        for each in (then, first)
        if plan.run.instances[each.node].id in known
    )
    at = next(accessing, None)
    nodes = facts.subject.places.nodes
    return rule_of(conflict).finding(
        in_words(text),
        nodes if at is None else pointer(nodes, at[0], *at[1]),
        about=key,
        fix=f"Give the two bytes of their own, or {_WAIT}",
    )
