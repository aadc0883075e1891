"""A buffer plan under a schedule: its nodes as the host launches them, and the host's own accesses.

One step is looked at. Its instances are nodes of a plan of their own, in the host's order and with
the schedule's edges as their dependencies, to which the ``concurrent`` tests apply as they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ferrum_verify.documents.buffer_plan import BufferNode
from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.schedule import HostAccess
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.plan.unrolling import Unrolling

if TYPE_CHECKING:
    from ferrum_verify.documents.buffer_plan import BufferPlan
    from ferrum_verify.documents.schedule import Schedule


class Launched(NamedTuple):
    """The nodes of a step in the host's order, what follows of their order, and their streams."""

    nodes: tuple[BufferNode, ...]
    order: HappensBefore
    streams: dict[str, str]


def launched(plan: BufferPlan, schedule: Schedule) -> Launched:
    """One step of the schedule; what it launches of another plan is left out."""
    run = Unrolling(schedule)
    run.add_step()
    known = {node.id: node for node in plan.nodes}
    accesses = {each.name: each for each in schedule.host if isinstance(each, HostAccess)}
    nodes: list[BufferNode] = []
    ordered: list[FragmentNode] = []
    for instance, before in zip(run.instances, run.dependencies, strict=True):
        dependencies = tuple(run.instances[each].id for each in before)
        access = accesses.get(instance.id) if instance.stream is None else None
        of_host = _of_host(access) if access is not None else BufferNode.trusted(**_NOTHING)
        node = known.get(instance.id, of_host) if instance.stream is not None else of_host
        node = node.changed(id=instance.id, dependencies=dependencies)
        nodes.append(node)
        ordered.append(
            FragmentNode.trusted(
                id=instance.id,
                dependencies=dependencies,
                resources=tuple(dict.fromkeys((*node.reads, *node.writes))),
                binding_resource=None,
                reads=node.reads,
                writes=node.writes,
            )
        )
    streams = {each.id: each.stream for each in run.instances if each.stream is not None}
    return Launched(tuple(nodes), HappensBefore(ordered), streams)


_NOTHING = {"id": "", "reads": (), "writes": (), "dependencies": (), "arms": (), "label": None}


def _of_host(access: HostAccess) -> BufferNode:
    touched = (access.access,)
    return BufferNode.trusted(
        **{
            **_NOTHING,
            "reads": touched if access.mode != "write" else (),
            "writes": touched if access.mode != "read" else (),
        }
    )
