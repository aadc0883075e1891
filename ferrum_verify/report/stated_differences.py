"""What two plans state differently beside storage: what nodes wait for and touch, and bounds.

Whatever else differs is named by its member, so that plans that are said to be alike are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.terms import COUNTS, Linear
from ferrum_verify.findings.wording import pool_name
from ferrum_verify.report.against import AccessChange, BoundChange, ListChange, OtherChange

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.primitives import WireModel
    from ferrum_verify.reading.document import Subject

_LISTS = ("dependencies", "resources")
_SIZES = ("demand", "per_instance_bytes", "instance_stride_bytes", "size_bytes")
_OF_PLACES = ("pool_id", "lifetime", "theoretical_maximum_instances")
_OF_POOLS = ("resource_ids", "step_resource_slots")
_OF_MEMORY = (
    "static_allocations",
    "dynamic_descriptors",
    "dynamic_pools",
    "usable_capacity_bytes",
    "static_bytes",
    "minimum_runnable_request_bytes",
    "maximum_active_sequences",
)
"""Members that are compared more closely than by whether they differ."""


class Stated(NamedTuple):
    """The differences beside storage, each kind in the order of the later plan."""

    node_lists: tuple[ListChange, ...]
    accesses: tuple[AccessChange, ...]
    bounds: tuple[BoundChange, ...]
    others: tuple[OtherChange, ...]


def stated_differences(subject: Subject, other: Subject, resized: frozenset[str]) -> Stated:
    """What a plan states otherwise than the earlier one; both have a memory plan.

    ``resized`` are the resources whose other bytes are told already.
    """
    assert subject.memory is not None
    assert other.memory is not None
    found = _Found({}, {})
    lists: list[ListChange] = []
    accesses: list[AccessChange] = []
    earlier = {node.id: node for node in other.nodes or ()}
    for node in subject.nodes or ():
        if (before := earlier.get(node.id)) is not None:
            lists += _list_changes(before, node)
            changes = list(_access_changes(before, node))
            accesses += changes
            for member in _node_members(before, node, told=bool(changes)):
                found.add_other(member, node.id)
    _compare_headers(other, subject, found)
    _compare_memory(other.memory, subject.memory, resized, found)
    bounds = (BoundChange(*change, tuple(names)) for change, names in found.bounds.items())
    others = (OtherChange(member, tuple(names)) for member, names in found.others.items())
    return Stated(tuple(lists), tuple(accesses), tuple(bounds), tuple(others))


class _Found(NamedTuple):
    """What is told once of all that it is true of: bounds with both numbers, and members."""

    bounds: dict[tuple[str, int | None, int | None], list[str]]
    others: dict[str, list[str]]

    def add_bound(self, name: str, before: int | None, after: int | None, of: str) -> None:
        if before != after:
            self.bounds.setdefault((name, before, after), []).append(of)

    def add_other(self, member: str, of: str) -> None:
        self.others.setdefault(member, []).append(of)


def _differing(before: WireModel, after: WireModel, but: Iterable[str] = ()) -> Iterator[str]:
    """The members that both kinds of objects have, and that differ."""
    for name in type(after).model_fields:
        if name in but or name not in type(before).model_fields:
            continue
        if getattr(before, name) != getattr(after, name):
            yield name.rstrip("_")


def _list_changes(before: WireModel, after: Any) -> Iterator[ListChange]:
    for name in _LISTS:
        one, two = frozenset(getattr(before, name)), frozenset(getattr(after, name))
        if one != two:
            yield ListChange(after.id, name, tuple(sorted(two - one)), tuple(sorted(one - two)))


def _accesses(node: FragmentNode | PlanNode) -> dict[tuple[str, str, int], str]:
    """What a node does to each value by name, role and ordinal; of a fragment's, to resources."""
    if not isinstance(node, FragmentNode):
        return {(each.value_id, each.role, each.ordinal): each.access for each in node.values}
    named = {"read": frozenset(node.reads or ()), "write": frozenset(node.writes or ())}
    return {
        (name, "", 0): "_".join(access for access, names in named.items() if name in names)
        for names in named.values()
        for name in names
    }


def _access_changes(
    before: FragmentNode | PlanNode, after: FragmentNode | PlanNode
) -> Iterator[AccessChange]:
    if type(before) is not type(after):
        return
    one, two = _accesses(before), _accesses(after)
    for key in one | two:
        if one.get(key) != two.get(key):
            yield AccessChange(after.id, key[0], one.get(key), two.get(key))


def _node_members(
    before: FragmentNode | PlanNode, after: FragmentNode | PlanNode, *, told: bool
) -> Iterator[str]:
    """What else differs of a node; ``told`` says that accesses do."""
    for name in _differing(before, after):
        if name in _LISTS and set(getattr(before, name)) != set(getattr(after, name)):
            continue
        if told and name in ("reads", "writes"):
            continue
        if told and name == "values" and _values(before, after) == _values(after, before):
            continue
        yield name


def _values(node: Any, other: Any) -> list[dict[str, Any]]:
    """The values of a node that the other binds too, apart from their accesses."""
    theirs = _accesses(other)
    return [
        {**each.__dict__, "access": None}
        for each in node.values
        if (each.value_id, each.role, each.ordinal) in theirs
    ]


def _compare_headers(before: Subject, after: Subject, found: _Found) -> None:
    one, two = before.header, after.header
    if one is None or two is None:
        if before.nodes and after.nodes and before.retained != after.retained:
            found.add_other("retained_completion_resources", "plan")
        return
    tokens = "maximum_scheduled_tokens"
    found.add_bound(tokens, getattr(one, tokens), getattr(two, tokens), "plan")
    # The id is a hash of all the rest.
    for name in _differing(one, two, ("plan_id", "nodes", "memory", tokens)):
        found.add_other(name, "plan")


def _compare_memory(
    before: MemoryPlan, after: MemoryPlan, resized: frozenset[str], found: _Found
) -> None:
    found.add_bound(
        "maximum_active_sequences",
        before.maximum_active_sequences,
        after.maximum_active_sequences,
        "memory plan",
    )
    for name in _differing(before, after, _OF_MEMORY):
        found.add_other(name, "memory plan")
    rows = {row.base_resource_id: row for row in before.dynamic_descriptors}
    for row in after.dynamic_descriptors:
        if (earlier := rows.get(row.base_resource_id)) is not None:
            _compare_rows(earlier, row, resized, found)
    statics = {row.resource_id: row for row in before.static_allocations}
    for static in after.static_allocations:
        if (allocation := statics.get(static.resource_id)) is not None:
            told = _SIZES if static.resource_id in resized else ()
            for name in _differing(allocation, static, told):
                found.add_other(name, static.resource_id)
    pools = {pool.pool_id: pool for pool in before.dynamic_pools}
    for pool in after.dynamic_pools:
        if (same := pools.get(pool.pool_id)) is not None:
            of = f"pool {pool_name(pool.pool_id)}"
            for name in _differing(same, pool, _OF_POOLS):
                found.add_other(name, of)
            kinds = _kinds(same)
            if any(kinds.get(members, kind) != kind for members, kind in _kinds(pool).items()):
                found.add_other("kind of slots", of)


def _compare_rows(
    before: DynamicDescriptor, after: DynamicDescriptor, resized: frozenset[str], found: _Found
) -> None:
    of = after.base_resource_id
    one, two = _bounds(before), _bounds(after)
    for name in one | two:
        found.add_bound(name, one.get(name), two.get(name), of)
    if of not in resized and _growth(before) != _growth(after):
        found.add_other("demand", of)
    for name in _differing(before, after, (*_OF_PLACES, "demand")):
        found.add_other(name, of)


def _bounds(row: DynamicDescriptor) -> dict[str, int]:
    """The most of each count that a row admits; of shape buckets what the last one does."""
    terms = row.demand.terms
    if isinstance(terms, Linear):
        most = {f"maximum_{part.counted}": part.most for part in terms.parts}
    else:
        most = {
            f"maximum_{count}": getattr(step, count)
            for step in terms.steps[-1:]
            for count in COUNTS
        }
    return most | {"theoretical_maximum_instances": row.theoretical_maximum_instances}


def _growth(row: DynamicDescriptor) -> object:
    """How the bytes of a row grow, apart from its bounds."""
    terms = row.demand.terms
    if isinstance(terms, Linear):
        return terms.fixed, [(part.counted, part.each) for part in terms.parts]
    return terms.steps[:-1], [step.bytes for step in terms.steps[-1:]]


def _kinds(pool: DynamicPool) -> Mapping[tuple[str, ...], str]:
    return {slot.resource_ids: slot.kind for slot in pool.step_resource_slots}
