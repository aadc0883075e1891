"""From a finding's JSON pointer, or a name in its message, to a place in the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ferrum_verify.documents.memory_plan import DynamicPool, MemoryPlan
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.html.picture import Names

_TOTALS = frozenset(
    {
        "device_capacity_bytes",
        "policy_capacity_bytes",
        "reserve_bytes",
        "usable_capacity_bytes",
        "maximum_active_sequences",
        "static_bytes",
        "minimum_request_bytes",
        "minimum_sequence_bytes",
        "minimum_step_bytes",
        "minimum_invocation_peak_bytes",
        "minimum_runnable_request_bytes",
        "theoretical_ceiling_bytes",
    }
)


_SECTIONS = {
    "resource": "timeline",
    "node": "timeline",
    "slot": "timeline",
    "pool": "pools",
    "bucket": "arenas",
    "capacity": "capacity",
}


class Place(NamedTuple):
    """A place in a document's picture, as the page's script is asked to show it.

    ``key`` is the position of a resource, node, pool or bucket; a slot's is that of its pool
    and its own, with a dot between; the capacity section has none.
    """

    view: str
    key: str
    words: str

    @property
    def section(self) -> str:
        """The part of the document's page that holds the place."""
        return _SECTIONS[self.view]

    @property
    def target(self) -> str:
        """The value of the link's ``data-show``."""
        return f"{self.view}:{self.key}"


def place_of(location: str, subject: Subject, memory: MemoryPlan, names: Names) -> Place | None:
    """The place that a JSON pointer into the document is about; None where nothing is drawn."""
    nodes = _steps(location, subject.places.nodes)
    if nodes and subject.nodes is not None and _within(nodes[0], len(subject.nodes)):
        return _node(names, subject.nodes[int(nodes[0])].id)
    return _place_in_memory(_steps(location, subject.places.memory), memory, names)


def _place_in_memory(steps: list[str], memory: MemoryPlan, names: Names) -> Place | None:
    descriptors, allocations = memory.dynamic_descriptors, memory.static_allocations
    match steps:
        case [total, *_] if total in _TOTALS:
            return Place("capacity", "", "in the capacity")
        case ["dynamic_descriptors", row, *_] if _within(row, len(descriptors)):
            return _resource(names, descriptors[int(row)].base_resource_id)
        case ["static_allocations", row, *_] if _within(row, len(allocations)):
            return _resource(names, allocations[int(row)].resource_id)
        case ["dynamic_pools", row, *below] if _within(row, len(memory.dynamic_pools)):
            return _place_in_pool(row, below, memory.dynamic_pools[int(row)])
        case ["reusable_execution", "buckets", bucket, *_]:
            return Place("bucket", bucket, "in the binding arenas")
    return None


def _place_in_pool(row: str, below: list[str], pool: DynamicPool) -> Place:
    match below:
        case ["step_resource_slots", slot, *_] if _within(slot, len(pool.step_resource_slots)):
            return Place("slot", f"{int(row)}.{int(slot)}", "in the timeline")
    return Place("pool", row, "among the pools")


def named_place(name: str, names: Names) -> Place | None:
    """The place of a resource, node or pool of that name, or of a total of the plan."""
    if name in names.resources:
        return _resource(names, name)
    if name in names.nodes:
        return _node(names, name)
    if name in names.pools:
        return Place("pool", str(names.pools[name]), "among the pools")
    return Place("capacity", "", "in the capacity") if name in _TOTALS else None


def _resource(names: Names, name: str) -> Place:
    return Place("resource", str(names.resources[name]), "in the timeline")


def _node(names: Names, name: str) -> Place:
    return Place("node", str(names.nodes[name]), "in the timeline")


def _steps(location: str, base: str) -> list[str]:
    """What follows ``base`` in the pointer, step by step; empty where it is no prefix."""
    if not location.startswith(f"{base}/"):
        return []
    return location.removeprefix(f"{base}/").split("/")


def _within(step: str, count: int) -> bool:
    # Not isdigit: that holds for digits of other scripts too.
    return step.isascii() and step.isdecimal() and len(step) < 10 and int(step) < count
