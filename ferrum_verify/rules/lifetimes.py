"""Rules of lifetimes: the bytes that a value lies in live as long as somebody needs the value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Rule, pointer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrum_verify.documents.node import PlanNode, ValueBinding
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
    lent = _lent(facts, position)
    for index, node in enumerate(nodes):
        own = {binding.value_id for binding in node.values if binding.role == "output"}
        for place, binding in enumerate(node.values):
            if binding.role != "input" or binding.value_id in own:
                continue
            for part in binding.storage.components:
                if _lifetime(facts, part.resource_id) != "invocation":
                    continue
                writer = writers.get(binding.value_id, -1)
                between = [user for user in lent.get(part.resource_id, ()) if writer < user < index]
                whence = f"which `{nodes[writer].id}` left there" if writer >= 0 else "an input"
                said = f"`{node.id}` reads `{binding.value_id}`, {whence}, from the invocation "
                rule = CARRIED if between else MAY_BE_CARRIED
                end = (
                    f"whose bytes `{nodes[between[-1]].id}` is given in between"
                    if between
                    else "whose bytes may be anybody's between two nodes"
                )
                yield rule.finding(
                    f"{said}resource `{part.resource_id}`, {end}",
                    pointer(facts.subject.places.nodes, index, "values", place),
                    about=(node.id, binding.value_id, part.resource_id),
                )


def _lent(facts: Expected, position: dict[str, int]) -> dict[str, list[int]]:
    """For each invocation resource whose extent is reused, the nodes that hold it without it."""
    lent: dict[str, list[int]] = {}
    for pool in facts.memory.dynamic_pools:
        if pool.invocation_liveness_mode != "total_order_reuse":
            continue
        rows = [(position.get(row.node_id, -1), row) for row in pool.invocation_liveness]
        for resource in {name for _, row in rows for name in row.resource_ids}:
            lent[resource] = sorted(
                index for index, row in rows if resource not in row.resource_ids
            )
    return lent


def _used_twice(facts: Expected, order: HappensBefore) -> Iterator[Finding]:
    for resource, row in facts.descriptors.items():
        users = order.users.get(resource, []) if row.lifetime == "invocation" else []
        if len(users) > 1:
            names = [f"`{order.nodes[user].id}`" for user in users[:2]]
            more = f" and {len(users) - 2:,} more" if len(users) > 2 else ""
            yield MAY_BE_CARRIED.finding(
                f"the invocation resource `{resource}` is used by {' and '.join(names)}{more}: "
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
    read = {b.value_id for node in nodes for b in node.values if b.role == "input"}
    for index, node in enumerate(nodes):
        for position, binding in enumerate(node.values):
            if binding.role != "output" or binding.usage != "activations":
                continue
            # Without the program, what nobody in the plan reads may well be an output.
            wanted = (
                binding.value_id in program.outputs
                if program is not None
                else binding.value_id not in read
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
    sharers = _sharers(facts)
    for index, node in enumerate(nodes):
        for position, binding in enumerate(node.values):
            if binding.role != "output" or binding.value_id not in program.outputs:
                continue
            parts = binding.storage.components
            if any(part.resource_id in facts.subject.kept for part in parts):
                continue
            takers = [
                user
                for part in parts
                for member in sharers.get(part.resource_id, frozenset())
                for user in order.users.get(member, [])
                if user != index
            ]
            takers += _overwriters(binding, nodes[index + 1 :], index + 1)
            if takers:
                taker = min(takers, key=lambda user: (user < index, user))
                when = "" if taker > index else " in the next step"
                yield GIVEN_AWAY.finding(
                    f"`{binding.value_id}`, an output of the program, is not retained, and "
                    f"`{nodes[taker].id}` is given its bytes{when} after `{node.id}` has written "
                    "it: it must be read before",
                    pointer(facts.subject.places.nodes, index, "values", position),
                    about=(binding.value_id,),
                )


def _overwriters(binding: ValueBinding, nodes: Iterable[PlanNode], start: int) -> Iterator[int]:
    for index, node in enumerate(nodes, start=start):
        for other in node.values:
            if other.writes and other.value_id != binding.value_id and overlap(binding, other):
                yield index


def _sharers(facts: Expected) -> dict[str, frozenset[str]]:
    """For each member of a slot the others that share its bytes."""
    return {
        member: frozenset(slot.resource_ids) - {member}
        for pool in facts.memory.dynamic_pools
        for slot in pool.step_resource_slots
        for member in slot.resource_ids
    }


def _lifetime(facts: Expected, resource: str) -> str | None:
    row = facts.descriptors.get(resource)
    return None if row is None else row.lifetime


def overlap(left: ValueBinding, right: ValueBinding) -> bool:
    """Whether two values have a byte in common."""
    return any(
        one.resource_id == other.resource_id
        and one.offset_bytes < other.offset_bytes + other.length_bytes
        and other.offset_bytes < one.offset_bytes + one.length_bytes
        for one in left.storage.components
        for other in right.storage.components
    )
