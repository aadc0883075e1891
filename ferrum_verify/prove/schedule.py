"""Schedules: dependencies are kept, and what shares bytes is kept apart, in every run of one.

Mirrors ``rules/schedule_order.py``. The claims are those of the ``concurrent`` model, stated of
the unrolled schedule, whose edges are its dependencies. What is claimed of two steps holds of any
two as far apart (``proofs/steps.py``), so of claims that differ in nothing else one is made.

Where chains of edges lead from all nodes of the one side to all of the other, the shortest ones
are the window: fewer nodes say less, so what they prove is proved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from ferrum_verify.counterexamples import (
    AccessCounterexample,
    DependencyCounterexample,
    LiveResource,
    ScheduleCounterexample,
    ScheduledNode,
)
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.accesses import TooManyAccessesError, conflicts_of
from ferrum_verify.prove.accesses import AccessPlan, meeting
from ferrum_verify.prove.obligation import Obligation, Proved, Undecided, formula
from ferrum_verify.prove.schedules import (
    live_together,
    needed,
    nodes_of,
    one_by_one,
    side_by_side,
)
from ferrum_verify.prove.windows import PlanGraph, ends_before, never, never_together
from ferrum_verify.rules.liveness import ROWS_OVERLAP
from ferrum_verify.rules.schedule_order import (
    NOT_KEPT,
    conflict_key,
    dependencies_of,
    dependency_key,
    in_words,
    pair_key,
    rule_of,
)
from ferrum_verify.rules.slot import SHARED_WHILE_LIVE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ferrum_verify.plan.accesses import Conflict
    from ferrum_verify.plan.scheduled import ScheduledPlan, Shared
    from ferrum_verify.prove.obligation import Claims, Formula, Outcome
    from ferrum_verify.prove.windows import Window


@dataclass(frozen=True)
class Steps:
    """An unrolled schedule as the encodings read it; ``nodes`` and ``pools`` are pointers."""

    plan: ScheduledPlan
    graph: PlanGraph
    nodes: str
    pools: str


def schedule_sources(plan: ScheduledPlan, *, nodes: str, memory: str) -> Iterator[Claims]:
    """The sources of all claims about the order of a plan under a schedule."""
    steps = Steps(plan, PlanGraph(plan.order.nodes), nodes, f"{memory}/dynamic_pools")
    yield _dependency_claims(steps)
    for _, storages in groupby(plan.slots(), key=lambda each: (each.pool, each.place)):
        yield _slot_claims(steps, list(storages))
    yield _row_claims(steps)
    yield _access_claims(steps)


def _dependency_claims(steps: Steps) -> Claims:
    plan = steps.plan
    for node, dependency, distance, index in dependencies_of(plan):
        then = plan.position.get((node, distance))
        if then is None:
            continue
        first = plan.position[dependency, 0]
        yield Obligation(
            id=f"{steps.nodes}/{index}: {dependency} before {plan.names[then]}",
            claim=in_words(
                f"`{plan.names[first]}` has ended before `{plan.names[then]}`, which depends on "
                "it, starts (schedule)."
            ),
            names=dependency_key(dependency, node, distance),
            rule=NOT_KEPT,
            location=f"{steps.nodes}/{index}",
            formula=_before(steps.graph, first, then),
            message=f"`{node}` depends on `{dependency}`, and may start before it has ended",
            witness=lambda _, pair=(first, then): _too_early(steps, *pair),  # type: ignore[misc]
        )


def _slot_claims(steps: Steps, storages: Sequence[Shared]) -> Claims:
    """The claims that no two lives of a slot's storages are ever live together."""
    known: dict[tuple[str, str, int], Outcome] = {}
    refuted: set[str] = set()  # pairs of resources, of which one clash is enough to tell
    for shared in storages:
        users = {life: steps.graph.users[life] for life in shared.lives}
        members = sorted(users, key=lambda life: (users[life][0], life))
        before: list[int] = []  # per life, the earlier ones that are known to be dead, as bits
        for index, member in enumerate(members):
            dead = asked = 0
            while open_ := ((1 << index) - 1) & ~(dead | asked):
                other = open_.bit_length() - 1
                asked |= 1 << other
                earlier = members[other]
                pair = pair_key(earlier, member)
                if pair in refuted or steps.plan.is_told_by_accesses(earlier, member):
                    continue
                key = _apart_in_steps(earlier, member)
                if key not in known:
                    known[key] = yield _apart_in_slot(steps, shared, earlier, member)
                if isinstance(known[key], Undecided):
                    break
                if isinstance(known[key], Proved):
                    dead |= 1 << other | before[other]
                else:
                    refuted.add(pair)
            before.append(dead)


def _apart_in_steps(left: str, right: str) -> tuple[str, str, int]:
    (one, _, first), (other, _, then) = left.partition("@"), right.partition("@")
    return one, other, int(then or 0) - int(first or 0)


def _apart_in_slot(steps: Steps, shared: Shared, left: str, right: str) -> Obligation:
    at = f"{steps.pools}/{shared.pool}/step_resource_slots/{shared.place}"
    pool = short_pool(steps.plan.memory.dynamic_pools[shared.pool].pool_id)
    name = f"slot {shared.place} of pool `{pool}`"
    lefts, rights = steps.graph.users[left], steps.graph.users[right]
    return Obligation(
        id=f"{at}: {left} before {right}",
        claim=in_words(
            f"`{left}` and `{right}`, which share {name}, are never live together (schedule)."
        ),
        names=(pair_key(left, right), f"{_apart_in_steps(left, right)}"),
        rule=SHARED_WHILE_LIVE,
        location=at,
        formula=apart(steps.graph, lefts, rights),
        message=in_words(
            f"{name} gives the same bytes to `{left}` and `{right}`, which are live together in "
            "the schedule that is shown"
        ),
        witness=lambda _: _both_live(steps, left, right),
    )


def _row_claims(steps: Steps) -> Claims:
    """The claims that rows of one extent never run at one time, neighbours only."""
    names, claimed = steps.plan.names, set()
    for index, instances in steps.plan.rows():
        for left, right in pairwise(instances):
            key = (index, *_apart_in_steps(names[left], names[right]))
            if key in claimed:
                continue
            claimed.add(key)
            at = f"{steps.pools}/{index}/invocation_liveness"
            pool = short_pool(steps.plan.memory.dynamic_pools[index].pool_id)
            yield Obligation(
                id=f"{at}: {names[left]} before {names[right]}",
                claim=in_words(
                    f"`{names[left]}` ends before `{names[right]}` starts, so pool `{pool}` may "
                    "give both the same bytes (schedule)."
                ),
                names=(pair_key(names[left], names[right]), f"{key[1:]}"),
                rule=ROWS_OVERLAP,
                location=at,
                formula=_before(steps.graph, left, right),
                message=in_words(
                    f"pool `{pool}` reuses one extent for `{names[left]}` and `{names[right]}`, "
                    "but neither need wait for the other"
                ),
                witness=lambda _, pair=(index, left, right): _rows_at_once(  # type: ignore[misc]
                    steps, *pair
                ),
            )


def _access_claims(steps: Steps) -> Claims:
    """The claims that each access is over before one that it must not meet begins."""
    plan, graph = steps.plan, steps.graph
    writers: dict[str, int] = {}
    for accesses in plan.accesses.values():
        for access in accesses:
            if access.mode == "write" and access.value is not None:
                at = writers.get(access.value, access.node)
                writers[access.value] = min(at, access.node)
    context = AccessPlan(graph, "concurrent", steps.nodes, writers)
    claimed: set[tuple[object, ...]] = set()
    places = {node.id: index for index, node in enumerate(plan.nodes)}
    try:
        for conflict in conflicts_of(plan.accesses):
            first = plan.run.instances[conflict.first.node]
            then = plan.run.instances[conflict.then.node]
            about = conflict_key(plan, conflict)
            key = (about, first.id, then.id, then.step - first.step)
            if key in claimed:
                continue
            claimed.add(key)
            names = plan.names[conflict.first.node], plan.names[conflict.then.node]
            place = places.get(then.id, places.get(first.id))
            verbs = {"read": "reads", "write": "writes"}
            resource = conflict.first.resource
            yield Obligation(
                id=f"{steps.nodes}: {resource}: {names[0]} before {names[1]}",
                claim=in_words(
                    f"`{names[0]}`, which {verbs[conflict.first.mode]} bytes of `{resource}`, has "
                    f"ended before `{names[1]}`, which {verbs[conflict.then.mode]} them, starts "
                    "(schedule)."
                ),
                names=(*about, f"{key[1:]}"),
                rule=rule_of(conflict),
                location=steps.nodes if place is None else f"{steps.nodes}/{place}",
                formula=_before(graph, conflict.first.node, conflict.then.node),
                message=in_words(
                    f"`{names[0]}` {verbs[conflict.first.mode]} and `{names[1]}` "
                    f"{verbs[conflict.then.mode]} the same bytes of `{resource}`, and may meet "
                    "there"
                ),
                witness=lambda _, found=conflict: met(steps, found, context),  # type: ignore[misc]
                told_by=((NOT_KEPT, dependency_key(first.id, then.id, key[3])),),
            )
    except TooManyAccessesError:
        return


def apart(graph: PlanGraph, lefts: Sequence[int], rights: Sequence[int]) -> Formula:
    """All of the lefts end before any of the rights starts, or the reverse."""
    place, window = _window(graph, lefts, rights)
    return formula(
        never_together,
        window,
        tuple(place[each] for each in lefts),
        tuple(place[each] for each in rights),
    )


def _before(graph: PlanGraph, first: int, then: int) -> Formula:
    """The one ends before the other starts, which the host launched later."""
    if first >= then:
        return formula(never)
    return formula(ends_before, _window(graph, [first], [then])[1])


def _window(
    graph: PlanGraph, lefts: Sequence[int], rights: Sequence[int]
) -> tuple[dict[int, int], Window]:
    edges = _shortest_chains(graph, lefts, rights)
    if edges is None:
        # Only what waits for a user, and is waited for by one, can keep two of them apart: all
        # else may run before them or after.
        edges = {}
        for each in needed(graph, (*lefts, *rights), "concurrent"):
            waits = {earlier for earlier in graph.dependencies[each] if earlier in edges}
            if waits or each in lefts or each in rights:
                edges[each] = waits
    place = {each: index for index, each in enumerate(sorted(edges))}
    return place, tuple(tuple(sorted(place[each] for each in edges[node])) for node in place)


def _shortest_chains(
    graph: PlanGraph, lefts: Sequence[int], rights: Sequence[int]
) -> dict[int, set[int]] | None:
    """A shortest chain of edges from each left to each right; None where there is none."""
    edges: dict[int, set[int]] = {each: set() for each in (*lefts, *rights)}
    first = min(lefts)
    for right in rights:
        wanted = set(lefts)
        after: dict[int, int] = {}
        frontier = [right]
        while wanted and frontier:
            found: list[int] = []
            for each in frontier:
                for earlier in graph.dependencies[each]:
                    if earlier >= first and earlier not in after:
                        after[earlier] = each
                        found.append(earlier)
            wanted.difference_update(found)
            frontier = found
        if wanted:
            return None
        for left in lefts:
            each = left
            while each != right:
                edges.setdefault(after[each], set()).add(each)
                edges.setdefault(each, set())
                each = after[each]
    return edges


def _shown(steps: Steps, nodes: Sequence[ScheduledNode]) -> tuple[ScheduledNode, ...]:
    """The nodes of a run by the names of the plan, with their steps and streams."""
    instances = steps.plan.run.instances
    position = steps.graph.position
    found = []
    for node in nodes:
        instance = instances[position[node.id]]
        step = None if steps.plan.schedule.steps is None else instance.step
        found.append(replace(node, id=instance.id, step=step, stream=instance.stream))
    return tuple(found)


def _split(steps: Steps, name: str) -> tuple[str, int | None]:
    plain, _, step = name.partition("@")
    return plain, None if steps.plan.schedule.steps is None else int(step or 0)


def _both_live(steps: Steps, left: str, right: str) -> ScheduleCounterexample | None:
    return _of_steps(steps, live_together(steps.graph, left, right, "concurrent"))


def _of_steps(steps: Steps, found: ScheduleCounterexample | None) -> ScheduleCounterexample | None:
    if found is None:
        return None
    sides = []
    for side in (found.left, found.right):
        (resource, step), (node, _) = _split(steps, side.resource), _split(steps, side.node)
        sides.append(replace(side, resource=resource, node=node, step=step))
    left, right = sides
    return replace(found, nodes=_shown(steps, found.nodes), left=left, right=right)


def _rows_at_once(steps: Steps, pool: int, left: int, right: int) -> ScheduleCounterexample | None:
    times = side_by_side(
        steps.graph, left, right, "concurrent", needed(steps.graph, (left, right), "concurrent")
    )
    if times is None:
        return None
    rows = {
        row.node_id: row.resource_ids[0]
        for row in steps.plan.memory.dynamic_pools[pool].invocation_liveness
        if row.resource_ids
    }
    sides = []
    for each in (left, right):
        node, step = _split(steps, steps.plan.names[each])
        sides.append(LiveResource(rows[node], node, step))
    return ScheduleCounterexample(
        nodes=_shown(steps, nodes_of(steps.graph, times)),
        left=sides[0],
        right=sides[1],
        at=times[right][0],
    )


def _too_early(steps: Steps, first: int, then: int) -> DependencyCounterexample | None:
    """A run in which the node starts while its dependency runs, or before it."""
    listed = needed(steps.graph, (first, then), "concurrent")
    if first > then:
        times = one_by_one(listed)
    else:
        found = side_by_side(steps.graph, first, then, "concurrent", listed)
        if found is None:
            return None
        times = found
    dependency, dependency_step = _split(steps, steps.plan.names[first])
    node, step = _split(steps, steps.plan.names[then])
    return DependencyCounterexample(
        nodes=_shown(steps, nodes_of(steps.graph, times)),
        node=node,
        dependency=dependency,
        step=step,
        dependency_step=dependency_step,
    )


def met(steps: Steps, conflict: Conflict, context: AccessPlan) -> AccessCounterexample | None:
    """The run of the plan's nodes in which the two meet."""
    found = meeting(conflict, context)
    if found is None:
        return None
    (writer, writer_step), (other, other_step) = (
        _split(steps, name) for name in (found.writer, found.other)
    )
    return replace(
        found,
        nodes=_shown(steps, found.nodes),
        writer=writer,
        other=other,
        writer_step=writer_step,
        other_step=other_step,
        value=None if found.value is None else found.value.partition("@")[0],
    )
