"""Rules of lifetimes: the bytes that a value lies in live as long as somebody needs the value."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule, pointer
from ferrum_verify.findings.wording import in_series
from ferrum_verify.plan.overwriting import Overwriting

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrum_verify.documents.node import PlanNode, StorageComponent, ValueBinding
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.rules.expected import Expected

RUNS = "docs/execution-models.md, «One plan»"


def check(facts: Expected) -> Iterator[Finding]:
    """Findings of values that outlive their bytes, or may."""
    if facts.subject.plan_nodes is None:
        if facts.subject.kind == "fragment" and facts.order is not None:
            yield from _used_twice(facts, facts.order)
        return
    nodes = facts.subject.plan_nodes
    yield from _carried(facts, nodes)
    yield from _kept_between_steps(facts, nodes)
    yield from _given_away(facts, nodes)
    if facts.under is None:
        yield from _inputs_lost(facts, nodes)


CARRIED = Rule(
    id="liveness.carried",
    summary="What a node reads from an invocation resource was not lent to another node since.",
    why="The bytes of an invocation resource are a node's own while it runs and anybody's "
    "afterwards: what one node leaves there for another is overwritten.",
    fix="Give the value's resource the lifetime `step`.",
    source=RUNS,
    judgment="safety",
)
MAY_BE_CARRIED = Rule(
    id="liveness.used-twice",
    summary="An invocation resource is used by one node.",
    why="Two nodes that name one invocation resource need not find each other's bytes there: "
    "between them the bytes may be anybody's.",
    fix="If one node is to find what the other left, give the resource the lifetime `step`; if "
    "not, give each node a resource of its own.",
    source=RUNS,
    severity="warning",
    judgment="safety",
    example=Example(
        "fragment",
        {"/nodes/4/resources/-": "scratch/head"},
        also=("liveness.rows-not-derived", "binding.not-once"),
    ),
)


def _carried(facts: Expected, nodes: tuple[PlanNode, ...]) -> Iterator[Finding]:
    position = {node.id: index for index, node in enumerate(nodes)}
    writers = {
        binding.value_id: index
        for index, node in enumerate(nodes)
        for binding in node.values
        if binding.role == "output"
    }
    lent = _Lent(facts, position)
    for index, node in enumerate(nodes):
        own = {binding.value_id for binding in node.values if binding.role == "output"}
        for place, binding in enumerate(node.values):
            if binding.role != "input" or binding.value_id in own:
                continue
            for part in binding.storage.components:
                if _lifetime(facts, part.resource_id) != "invocation":
                    continue
                writer = writers.get(binding.value_id, -1)
                holder = lent.latest(part.resource_id, writer, index)
                whence = f"which `{nodes[writer].id}` left there" if writer >= 0 else "an input"
                said = f"`{node.id}` reads `{binding.value_id}`, {whence}, from the invocation "
                rule = MAY_BE_CARRIED if holder is None else CARRIED
                end = (
                    f"whose bytes `{nodes[holder].id}` is given in between"
                    if holder is not None
                    else "whose bytes may be anybody's between two nodes"
                )
                yield rule.finding(
                    f"{said}resource `{part.resource_id}`, {end}",
                    pointer(facts.subject.places.nodes, index, "values", place),
                    about=(node.id, binding.value_id, part.resource_id),
                )


class _Lent:
    """For each invocation resource whose extent is reused, the nodes that hold it without it."""

    def __init__(self, facts: Expected, position: dict[str, int]) -> None:
        # Per resource the nodes of its pool's rows, ascending, and of a stretch of them that all
        # have the resource in each of their rows the place before it.
        self._of: dict[str, tuple[list[int], dict[int, int]]] = {}
        for pool in facts.memory.dynamic_pools:
            if pool.invocation_liveness_mode != "total_order_reuse":
                continue
            rows: Counter[int] = Counter()
            having: dict[str, Counter[int]] = {}
            for row in pool.invocation_liveness:
                node = position.get(row.node_id, -1)
                rows[node] += 1
                for name in set(row.resource_ids):
                    having.setdefault(name, Counter())[node] += 1
            nodes = sorted(rows)
            place = {node: at for at, node in enumerate(nodes)}
            for name, own in having.items():
                before: dict[int, int] = {}
                for node in sorted(own):
                    if own[node] == rows[node]:
                        at = place[node]
                        before[at] = before.get(at - 1, at - 1)
                self._of[name] = nodes, before

    def latest(self, resource: str, after: int, until: int) -> int | None:
        """The last node between two that is given the resource's bytes; None without one."""
        nodes, before = self._of.get(resource, ([], {}))
        at = bisect_left(nodes, until) - 1
        at = before.get(at, at)
        return nodes[at] if at >= 0 and nodes[at] > after else None


def _used_twice(facts: Expected, order: HappensBefore) -> Iterator[Finding]:
    for resource, row in facts.descriptors.items():
        users = order.users.get(resource, []) if row.lifetime == "invocation" else []
        if len(users) > 1:
            names = [f"`{order.nodes[user].id}`" for user in users[:2]]
            more = f" and {len(users) - 2:,} more" if len(users) > 2 else ""
            yield MAY_BE_CARRIED.finding(
                f"the invocation resource `{resource}` is used by {in_series(names)}{more}: "
                "what one leaves there the other need not find",
                facts.place_of(resource),
                about=(resource,),
            )


BETWEEN_STEPS = Rule(
    id="value.request-lifetime",
    summary="An activation that every step writes anew lives for the step.",
    why="The bytes are held for the whole request, and hold what some earlier step left: a node "
    "that reads before the step has written takes that for its own.",
    fix="Give the resource the lifetime `step`, unless somebody reads it between two steps.",
    source=RUNS,
    severity="warning",
    judgment="safety",
    example=Example(
        "bundle",
        {"/plan/payload/memory/dynamic_descriptors/0/lifetime": "request"},
        also=("pool.request-minimum", "slot.foreign-member", "reusable.budget"),
    ),
)


def _kept_between_steps(facts: Expected, nodes: Iterable[PlanNode]) -> Iterator[Finding]:
    program = facts.subject.program
    outputs = frozenset(() if program is None else program.outputs)
    read = {b.value_id for node in nodes for b in node.values if b.role == "input"}
    for index, node in enumerate(nodes):
        for position, binding in enumerate(node.values):
            if binding.role != "output" or binding.usage != "activations":
                continue
            # Without the program, what nobody in the plan reads may well be an output.
            wanted = (
                binding.value_id in outputs if program is not None else binding.value_id not in read
            )
            resource = (
                binding.storage.components[0].resource_id if binding.storage.components else ""
            )
            if wanted or resource in facts.subject.kept:
                continue
            if _lifetime(facts, resource) == "request":
                yield BETWEEN_STEPS.finding(
                    f"every step writes `{binding.value_id}` to `{resource}`, which has the "
                    "lifetime of the request: between two steps its bytes are held and hold what "
                    "the last one left",
                    pointer(facts.subject.places.nodes, index, "values", position),
                    about=(binding.value_id, resource),
                )


GIVEN_AWAY = Rule(
    id="value.output-not-kept",
    summary="A program output is retained, or nobody else is given its bytes.",
    why="Whoever reads the output after the step finds what was written there last.",
    fix="Retain the output, or read it before the node that the message names.",
    source=RUNS,
    severity="warning",
    judgment="safety",
)


def _given_away(facts: Expected, nodes: tuple[PlanNode, ...]) -> Iterator[Finding]:
    program, order = facts.subject.program, facts.order
    if program is None or order is None:
        return
    outputs, kept = frozenset(program.outputs), facts.subject.kept
    lost = [
        (index, position, binding)
        for index, node in enumerate(nodes)
        for position, binding in enumerate(node.values)
        if binding.role == "output"
        and binding.value_id in outputs
        and kept.isdisjoint(part.resource_id for part in binding.storage.components)
    ]
    sharers = _sharers(facts, order)
    overwriters = _overwriters(nodes, [(index, binding) for index, _, binding in lost])
    for (index, position, binding), overwriter in zip(lost, overwriters, strict=True):
        takers = [] if overwriter is None else [overwriter]
        for part in binding.storage.components:
            if part.resource_id in sharers:
                takers += sharers[part.resource_id].taker(part.resource_id, index)
        if takers:
            taker = min(takers, key=lambda user: (user < index, user))
            when = "" if taker > index else " in the next step"
            yield GIVEN_AWAY.finding(
                f"`{binding.value_id}`, an output of the program, is not retained, and "
                f"`{nodes[taker].id}` is given its bytes{when} after `{nodes[index].id}` has "
                "written it: it must be read before",
                pointer(facts.subject.places.nodes, index, "values", position),
                about=(binding.value_id,),
            )


def _overwriters(
    nodes: tuple[PlanNode, ...], kept: list[tuple[int, ValueBinding]]
) -> list[int | None]:
    """For each binding of a node the first later one that writes another value over it."""
    wanted = {part.resource_id for _, binding in kept for part in binding.storage.components}
    values: dict[str, int] = {}
    writes: list[tuple[int, int, StorageComponent]] = []
    edges: dict[str, list[int]] = {resource: [] for resource in wanted}
    for index, node in enumerate(nodes):
        for binding in node.values:
            value = values.setdefault(binding.value_id, len(values))
            for part in binding.storage.components:
                if part.resource_id in wanted:
                    edges[part.resource_id] += _range(part)
                    if binding.writes:
                        writes.append((index, value, part))
    over = {resource: Overwriting(each) for resource, each in edges.items()}
    found: list[int | None] = []
    for index, binding in reversed(kept):
        while writes and writes[-1][0] > index:
            position, value, part = writes.pop()
            over[part.resource_id].add(*_range(part), position, value)
        firsts = (
            over[part.resource_id].first(*_range(part), values[binding.value_id])
            for part in binding.storage.components
        )
        found.append(min((each[0] for each in firsts if each is not None), default=None))
    return found[::-1]


INPUT_LOST = Rule(
    id="value.input-lost",
    summary="What the plan is handed keeps its bytes until its last reader.",
    why="An input stands in its bytes before the first node starts. A member of its slot that is "
    "used before it destroys it, though the two are never used at one time.",
    fix="Give the input's resource the lifetime `request`, or a slot of its own.",
    source=RUNS,
    judgment="safety",
)


def _inputs_lost(facts: Expected, nodes: tuple[PlanNode, ...]) -> Iterator[Finding]:
    """Inputs in a slot whose members are used before; what is live together is told as that."""
    inputs = inputs_of(nodes)
    users = {} if facts.order is None else facts.order.users
    for (group, index), safety in facts.slot_safety.items():
        place, pool = facts.pools[group]
        members = [name for name in pool.step_resource_slots[index].resource_ids if users.get(name)]
        by_end = sorted(members, key=lambda name: users[name][-1])
        live_together = safety.unsafe[facts.execution]
        for resource in (name for name in members if name in inputs):
            ended = bisect_left(by_end, users[resource][0], key=lambda name: users[name][-1])
            earlier = next(
                (name for name in by_end[:ended] if (name, resource) not in live_together), None
            )
            if earlier is not None:
                taker = nodes[users[earlier][0]].id
                yield INPUT_LOST.finding(
                    f"`{inputs[resource]}`, which no node writes, stands in `{resource}` from the "
                    f"start, and `{taker}` is given its bytes before "
                    f"`{nodes[users[resource][0]].id}` reads it",
                    f"{facts.subject.places.memory}/dynamic_pools/{place}"
                    f"/step_resource_slots/{index}",
                    about=(resource,),
                )


def inputs_of(nodes: tuple[PlanNode, ...]) -> dict[str, str]:
    """For each resource with a value that no node writes as an output, one of these values."""
    written = {b.value_id for node in nodes for b in node.values if b.role == "output"}
    return {
        part.resource_id: binding.value_id
        for node in nodes
        for binding in node.values
        if binding.value_id not in written
        for part in binding.storage.components
    }


def _range(part: StorageComponent) -> tuple[int, int]:
    return part.offset_bytes, part.offset_bytes + part.length_bytes


class _Slot:
    """The nodes that use the members of one slot, to be asked who is given its bytes next."""

    def __init__(self, members: Iterable[str], order: HappensBefore) -> None:
        self._uses = sorted(
            (user, member) for member in set(members) for user in order.users.get(member, ())
        )
        self._other = [len(self._uses)] * len(self._uses)
        """Behind each use the first one of another member."""
        for at in reversed(range(len(self._uses) - 1)):
            same = self._uses[at][1] == self._uses[at + 1][1]
            self._other[at] = self._other[at + 1] if same else at + 1

    def taker(self, member: str, index: int) -> list[int]:
        """The first node after ``index`` that uses another member, else the first before it."""
        after = self._first(bisect_left(self._uses, (index + 1,)), member)
        if after is not None:
            return [after]
        before = self._first(0, member)
        return [before] if before is not None and before < index else []

    def _first(self, at: int, member: str) -> int | None:
        if at < len(self._uses) and self._uses[at][1] == member:
            at = self._other[at]
        return self._uses[at][0] if at < len(self._uses) else None


def _sharers(facts: Expected, order: HappensBefore) -> dict[str, _Slot]:
    """For each member of a slot of several the uses of the slot."""
    sharers: dict[str, _Slot] = {}
    for pool in facts.memory.dynamic_pools:
        for slot in pool.step_resource_slots:
            uses = _Slot(slot.resource_ids, order)
            sharers |= dict.fromkeys(slot.resource_ids, uses)
    return sharers


def _lifetime(facts: Expected, resource: str) -> str | None:
    row = facts.descriptors.get(resource)
    return None if row is None else row.lifetime
