"""A plan under a schedule: which instance of a node touches which storage, in which step.

The instances of the unrolled schedule are nodes of a plan of their own, in the host's order and
with the schedule's edges as their dependencies. What lives and what is touched is named by
resource and step, and the resources of steps that take the same buffer share its bytes. So the
``concurrent`` tests of slots, rows and accesses apply to it as they are.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ferrum_verify.documents.fragment_node import FragmentNode
from ferrum_verify.documents.schedule import HostAccess, Launch
from ferrum_verify.plan.accesses import ENDLESS, MODES, Access, accesses_of
from ferrum_verify.plan.order import HappensBefore
from ferrum_verify.plan.unrolling import unroll, until_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.documents.node import PlanNode
    from ferrum_verify.documents.schedule import Schedule
    from ferrum_verify.plan.unrolling import Ends, Horizon, Instance, Unrolling

TAKEN_IN_TURN = ("step", "invocation")
"""Lifetimes of resources that may have several buffers; all others keep what a step left."""


@dataclass(frozen=True, slots=True)
class Shared:
    """Bytes that several lives have in turn, and where the plan says so, below its pools."""

    pool: int
    place: int
    buffer: int
    lives: tuple[str, ...]


class ScheduledPlan:
    """The nodes of a plan and their resources, in as many steps as decide all of them."""

    def __init__(
        self,
        schedule: Schedule,
        nodes: Sequence[FragmentNode | PlanNode],
        memory: MemoryPlan,
        maximum_tokens: int,
        declared: Mapping[str, int],
    ) -> None:
        self.schedule = schedule
        self.nodes = nodes
        self.memory = memory
        self.maximum_tokens = maximum_tokens
        self.declared = declared
        self._unrolled = unroll(schedule)
        self._begun: dict[int, HappensBefore | None] = {}

    @property
    def run(self) -> Unrolling:
        """The schedule's own DAG."""
        return self._unrolled[0]

    @property
    def horizon(self) -> Horizon:
        """How far apart two steps are that never overlap."""
        return self._unrolled[1]

    @cached_property
    def names(self) -> list[str]:
        """For each instance its id; where there are several steps with ``@`` and its step."""
        return [self.at_step(each.id, each.step) for each in self.run.instances]

    def at_step(self, name: str, step: int) -> str:
        """The name of a node, a resource's life or a value, in a step."""
        return name if self.run.steps == 1 else f"{name}@{step}"

    @cached_property
    def position(self) -> dict[tuple[str, int], int]:
        """The instance of an id in a step."""
        return {(each.id, each.step): at for at, each in enumerate(self.run.instances)}

    @cached_property
    def order(self) -> HappensBefore:
        """The instances as nodes in the host's order, each with its lives as its resources."""
        names, used = self.names, self._used
        return HappensBefore(
            [
                FragmentNode.trusted(
                    id=names[index],
                    dependencies=tuple(names[each] for each in self.run.dependencies[index]),
                    resources=tuple(
                        self.at_step(resource, each.step) for resource in used.get(each.id, ())
                    ),
                    binding_resource=None,
                    reads=None,
                    writes=None,
                )
                for index, each in enumerate(self.run.instances)
            ]
        )

    def until_step(self, number: int) -> HappensBefore | None:
        """The instances of so many steps, and as the last one the moment the next step begins.

        They stand where ``order`` has them. None where there are more than are looked at.
        """
        if number not in self._begun:
            found = until_step(self.schedule, number)
            self._begun[number] = None if found is None else _with_end(*found)
        return self._begun[number]

    @cached_property
    def host_accesses(self) -> dict[str, HostAccess]:
        """The host's own accesses by their names."""
        return {each.name: each for each in self.schedule.host if isinstance(each, HostAccess)}

    @cached_property
    def _used(self) -> dict[str, list[str]]:
        """The resources of each node, listed or bound, and of each access of the host's."""
        users = HappensBefore(self.nodes).users
        used: dict[str, list[str]] = {}
        for resource, positions in users.items():
            for position in positions:
                used.setdefault(self.nodes[position].id, []).append(resource)
        for name, access in self.host_accesses.items():
            used[name] = [access.access]
        return used

    @cached_property
    def descriptors(self) -> dict[str, DynamicDescriptor]:
        """The plan's dynamic rows by id."""
        return {row.base_resource_id: row for row in self.memory.dynamic_descriptors}

    def buffers(self, resource: str) -> int:
        """How many storages the steps take in turn."""
        row = self.descriptors.get(resource)
        if self.schedule.steps is None or row is None or row.lifetime not in TAKEN_IN_TURN:
            return 1
        return self.schedule.steps.buffers.get(resource, 1)

    def slots(self) -> Iterator[Shared]:
        """The storages of every Step slot, with the lives that take turns in each.

        A slot of one member has several lives where there are several steps. Whether lives of one
        resource are apart is told by the accesses of its nodes, where they all say what they do.
        """
        for index, pool in enumerate(self.memory.dynamic_pools):
            for place, members in enumerate(slot_members(pool, self.descriptors)):
                used = [each for each in members if self.order.users.get(self.at_step(each, 0))]
                counts = {self.buffers(each) for each in used}
                if len(counts) != 1 or (len(used) == 1 and self.is_known(used[0])):
                    continue
                yield from self._turns(index, place, used, counts.pop())

    @cached_property
    def handed_in(self) -> frozenset[str]:
        """The resources that the host itself writes to."""
        return frozenset(each.access for each in self.host_accesses.values() if each.mode != "read")

    def members_of(self, shared: Shared) -> list[str]:
        """The resources that have lives in the bytes."""
        return list(dict.fromkeys(life.partition("@")[0] for life in shared.lives))

    def _turns(self, pool: int, place: int, members: list[str], buffers: int) -> Iterator[Shared]:
        for buffer in range(min(buffers, self.run.steps)):
            lives = tuple(
                self.at_step(member, step)
                for step in range(buffer, self.run.steps, buffers)
                for member in members
            )
            if len(lives) > 1:
                yield Shared(pool, place, buffer, lives)

    def is_known(self, resource: str) -> bool:
        """Whether all nodes that use the resource say how."""
        return resource not in self._silent

    def is_told_by_accesses(self, left: str, right: str) -> bool:
        """Whether two lives are of one resource, and all nodes that use it say how."""
        name = left.partition("@")[0]
        return name == right.partition("@")[0] and self.is_known(name)

    @cached_property
    def _silent(self) -> frozenset[str]:
        return frozenset(
            resource
            for node in self.nodes
            if isinstance(node, FragmentNode) and node.reads is None and node.writes is None
            for resource in node.resources
        )

    def rows(self) -> Iterator[tuple[int, list[int]]]:
        """For each pool that reuses one extent, and each buffer of it, the instances in turn."""
        for index, pool in enumerate(self.memory.dynamic_pools):
            if pool.invocation_liveness_mode != "total_order_reuse":
                continue
            rows = [row for row in pool.invocation_liveness if row.resource_ids]
            counts = {self.buffers(each) for row in rows for each in row.resource_ids}
            if len(counts) != 1:
                continue
            buffers = counts.pop()
            for buffer in range(min(buffers, self.run.steps)):
                found = (
                    self.position.get((row.node_id, step))
                    for step in range(buffer, self.run.steps, buffers)
                    for row in rows
                )
                yield index, sorted(each for each in found if each is not None)

    @cached_property
    def accesses(self) -> dict[str, list[Access]]:
        """The accesses of each storage in the host's order, of one instance its reads first.

        A value that a node brings about is another one in every step; states, weights and inputs
        are not.
        """
        stated = accesses_of(self.nodes, self.maximum_tokens, self.declared)
        of_node: dict[str, list[Access]] = {}
        for accesses in stated.values():
            for access in accesses:
                of_node.setdefault(self.nodes[access.node].id, []).append(access)
        produced = {
            access.value
            for accesses in of_node.values()
            for access in accesses
            if access.is_output and not access.is_state
        }
        found: dict[str, list[Access]] = {}
        for index, instance in enumerate(self.run.instances):
            for access in of_node.get(instance.id) or self._of_host(instance):
                value = access.value
                if value is not None and value in produced:
                    value = self.at_step(value, instance.step)
                buffer = instance.step % self.buffers(access.resource)
                found.setdefault(f"{access.resource}@{buffer}", []).append(
                    Access(
                        index,
                        access.resource,
                        access.start,
                        access.end,
                        access.mode,
                        value,
                        access.place,
                        access.is_state,
                        access.is_output,
                    )
                )
        return found

    def _of_host(self, instance: Instance) -> Iterator[Access]:
        access = self.host_accesses.get(instance.id)
        if access is not None and instance.stream is None:
            for mode in MODES[access.mode]:
                yield Access(0, access.access, 0, ENDLESS, mode, None, ())

    @cached_property
    def launches(self) -> Counter[str]:
        """How often each node is launched in a step."""
        return Counter(each.launch for each in self.schedule.host if isinstance(each, Launch))


def _with_end(run: Unrolling, ends: Ends) -> HappensBefore:
    """The order of a run and, behind it, of the moment when what ``ends`` has ended."""
    return HappensBefore(
        [
            FragmentNode.trusted(
                id=f"{index}",
                dependencies=tuple(f"{each}" for each in earlier),
                resources=(),
                binding_resource=None,
                reads=None,
                writes=None,
            )
            for index, earlier in enumerate((*run.dependencies, ends))
        ]
    )


def slot_members(
    pool: DynamicPool, descriptors: Mapping[str, DynamicDescriptor]
) -> Iterator[list[str]]:
    """For each slot its members that are Step resources of the pool and in no other slot.

    What the others share bytes with is told of them.
    """
    counts = Counter(r for slot in pool.step_resource_slots for r in set(slot.resource_ids))
    for slot in pool.step_resource_slots:
        yield [
            name
            for name in dict.fromkeys(slot.resource_ids)
            if counts[name] == 1
            and (row := descriptors.get(name)) is not None
            and row.lifetime == "step"
            and (row.pool_id == pool.pool_id or name in pool.resource_ids)
        ]
