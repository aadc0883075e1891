"""Expected: what an audit re-derives from a memory plan once, for all rules to read.

A wrong number spoils every number that is computed from it. So that one cause gives one
finding, rules accept a total that follows from what the plan states *or* from what the engine
would have derived; only a number that follows from neither is wrong by itself.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from ferrum_verify.derive.checkpoint_growth import CheckpointGrowth, derive_growth
from ferrum_verify.derive.liveness import peak_bytes
from ferrum_verify.derive.pools import (
    PoolStructure,
    derive_structure,
    descriptor_pool_id,
    total_pool,
)
from ferrum_verify.derive.reusable import (
    capacity_shape,
    lane_bytes,
    startup_capture_cases,
    step_slot_bytes,
)
from ferrum_verify.documents.plan_schema import SCHEMA_8_1
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.accesses import declared_bytes
from ferrum_verify.plan.order import MAXIMUM_NODES
from ferrum_verify.plan.sharing import slot_safety
from ferrum_verify.plan.sizes import UNIT, bytes_at, request_bytes, resident_ceilings
from ferrum_verify.rules import descriptor_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.counterexamples import Execution, Shape
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.documents.reusable import Capacity
    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.scheduled import ScheduledPlan
    from ferrum_verify.plan.sharing import SlotSafety
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.reading.schedules import LoadedSchedule


class Expected:
    """A subject with a memory plan, and what follows from it.

    ``ordered`` says whether the graph is sound enough to speak of order; ``doubts`` are the
    JSON pointers of wire faults that were read past. ``under`` a schedule order is judged by
    that, and not by the execution model.
    """

    def __init__(
        self,
        subject: Subject,
        memory: MemoryPlan,
        execution: Execution,
        *,
        ordered: bool = True,
        doubts: tuple[str, ...] = (),
        under: LoadedSchedule | None = None,
    ) -> None:
        self.subject = subject
        self.memory = memory
        self.execution = execution
        self.doubts = doubts
        self.under = under
        order = subject.order
        self.order = order if ordered and order is not None and order.is_tractable else None

    @cached_property
    def scheduled(self) -> ScheduledPlan | None:
        """The plan under the schedule; None without one, or with more nodes than are ordered."""
        # Seldom asked for, and no audit without it need load it.
        from ferrum_verify.documents.schedule import HostAccess, Launch  # noqa: PLC0415
        from ferrum_verify.plan.scheduled import ScheduledPlan  # noqa: PLC0415

        schedule = None if self.under is None else self.under.schedule
        order, header = self.order, self.subject.header
        if schedule is None or order is None:
            return None
        if (
            sum(1 for each in schedule.host if isinstance(each, Launch | HostAccess))
            > MAXIMUM_NODES
        ):
            return None
        tokens = 1 if header is None else header.maximum_scheduled_tokens
        declared = declared_bytes(self.subject.program)
        return ScheduledPlan(schedule, order.nodes, self.memory, tokens, declared)

    judged_schedule: ScheduledPlan | None = None
    """The plan under the schedule, once the rules have found that its order can be judged."""

    @cached_property
    def descriptors(self) -> dict[str, DynamicDescriptor]:
        """The dynamic descriptors by id."""
        return {row.base_resource_id: row for row in self.memory.dynamic_descriptors}

    @cached_property
    def descriptor_findings(self) -> list[Finding]:
        """What is wrong with descriptors by themselves."""
        place = f"{self.subject.places.memory}/dynamic_descriptors"
        return list(descriptor_rows.check_rows(self.memory.dynamic_descriptors, place))

    @cached_property
    def faulty(self) -> frozenset[str]:
        """The resources whose own row is at fault: what depends on their bytes is not judged."""
        prefix = f"{self.subject.places.memory}/dynamic_descriptors/"
        places = [
            finding.location
            for finding in self.descriptor_findings
            if finding.rule != descriptor_rows.DUPLICATE.id
        ]
        rows = self.memory.dynamic_descriptors
        return frozenset(
            rows[int(place.removeprefix(prefix).partition("/")[0])].base_resource_id
            for place in (*places, *self.doubts)
            if place.startswith(prefix)
        )

    @cached_property
    def minimum(self) -> dict[str, int]:
        """The bytes of each sound descriptor at the smallest shape."""
        return bytes_at(self._sound_rows(), UNIT)

    @cached_property
    def ceiling(self) -> dict[str, int]:
        """The resident ceiling of each sound descriptor."""
        return resident_ceilings(self._sound_rows())

    def _sound_rows(self) -> Iterator[DynamicDescriptor]:
        faulty = self.faulty
        return (row for resource, row in self.descriptors.items() if resource not in faulty)

    @cached_property
    def groups(self) -> dict[str, list[DynamicDescriptor]]:
        """The descriptors by pool, pools and members ascending by id.

        A descriptor whose stated pool is not the derived one counts where the plan's pools
        have it: then its own row is at fault, or its pool id is, but not the pool.
        """
        stated_members = {
            (pool.pool_id, resource)
            for pool in self.memory.dynamic_pools
            for resource in pool.resource_ids
        }
        groups: dict[str, list[DynamicDescriptor]] = {}
        for resource, row in sorted(self.descriptors.items()):
            derived = descriptor_pool_id(row)
            if row.pool_id != derived and (row.pool_id, resource) in stated_members:
                groups.setdefault(row.pool_id, []).append(row)
            else:
                groups.setdefault(derived, []).append(row)
        return dict(sorted(groups.items()))

    @cached_property
    def pools(self) -> dict[str, tuple[int, DynamicPool]]:
        """The stated pools by the id of the group that each stands for, with their index.

        A pool with a forged id stands for the group that no other pool claims and that has
        exactly its members.
        """
        matched: dict[str, tuple[int, DynamicPool]] = {}
        strays: list[tuple[int, DynamicPool]] = []
        for index, pool in enumerate(self.memory.dynamic_pools):
            if pool.pool_id in self.groups and pool.pool_id not in matched:
                matched[pool.pool_id] = (index, pool)
            else:
                strays.append((index, pool))
        unclaimed: dict[tuple[str, ...], list[str]] = {}
        for group, members in reversed(self.groups.items()):
            if group not in matched:
                ids = tuple(member.base_resource_id for member in members)
                unclaimed.setdefault(ids, []).append(group)
        for index, pool in strays:
            if alike := unclaimed.get(pool.resource_ids):
                matched[alike.pop()] = (index, pool)
        return dict(sorted(matched.items()))

    @cached_property
    def strays(self) -> list[tuple[int, DynamicPool]]:
        """The stated pools that stand for no group of descriptors, with their index."""
        known = {index for index, _ in self.pools.values()}
        return [
            (index, pool)
            for index, pool in enumerate(self.memory.dynamic_pools)
            if index not in known
        ]

    @cached_property
    def structure(self) -> dict[str, PoolStructure] | None:
        """The slots and liveness that the engine derives for each pool; None without order."""
        if self.order is None:
            return None
        return derive_structure(self.groups, self.order, self.subject.kept)

    @cached_property
    def derived_pools(self) -> dict[str, DynamicPool]:
        """The pools that the engine derives, as far as their rows are sound."""
        if self.structure is None:
            return {}
        ceilings = self.reusable_ceilings
        return {
            pool: total_pool(
                structure,
                self.minimum,
                self.ceiling,
                ceilings.get(pool, 0),
                self.usable - self.static_bytes,
            )
            for pool, structure in self.structure.items()
            if self.sound(structure.members)
        }

    @cached_property
    def growth(self) -> CheckpointGrowth:
        """How far pools grow for checkpoints by the layout and the capacity that the plan states.

        Nothing where it has none of either, or is of a schema that knows no growth.
        """
        header, capacity = self.subject.header, self.memory.checkpoint_capacity
        layout = None if header is None else header.sequence_checkpoint_layout
        if self.subject.schema != SCHEMA_8_1 or layout is None or capacity is None:
            return CheckpointGrowth({})
        return derive_growth(
            (state.resource_id for state in layout.states if state.resource_id not in self.faulty),
            self.descriptors,
            capacity.maximum_retained_bytes,
        )

    @cached_property
    def reusable_ceilings(self) -> dict[str, int]:
        """The workspace ceiling of each pool: what one lane needs, for all lanes."""
        reusable = self.memory.reusable_execution
        if reusable is None:
            return {}
        lanes = self.implied_lanes or reusable.maximum_reusable_lanes
        return {pool: need * lanes for pool, need in self.derived_lane_bytes.items()}

    @cached_property
    def stated_lane_bytes(self) -> dict[str, int]:
        """For each pool the bytes that one lane of every bucket needs by the stated budgets."""
        reusable = self.memory.reusable_execution
        return {} if reusable is None else lane_bytes(reusable.buckets)

    @cached_property
    def derived_lane_bytes(self) -> dict[str, int]:
        """For each pool the bytes that one lane of every bucket needs, as far as known."""
        reusable = self.memory.reusable_execution
        if reusable is None:
            return {}
        stated = self.stated_lane_bytes
        totals: dict[str, int] = {}
        for pool in self.groups:
            each = [self.budgets_at(index, pool) for index in range(len(reusable.buckets))]
            if all(isinstance(budgets, list) and budgets for budgets in each):
                totals[pool] = sum(
                    sum(budgets[-1]) for budgets in each if isinstance(budgets, list)
                )
            else:
                totals[pool] = stated.get(pool, 0)
        return totals

    @cached_property
    def implied_lanes(self) -> int | None:
        """The number of lanes that every workspace ceiling and the executables agree on.

        None when they do not agree, or there is no ceiling to tell from.
        """
        reusable = self.memory.reusable_execution
        if reusable is None:
            return None
        counts: set[int | None] = set()
        for pool, need in self.stated_lane_bytes.items():
            if need and pool in self.pools:
                lanes, rest = divmod(self.pools[pool][1].reusable_workspace_ceiling_bytes, need)
                counts.add(lanes if not rest else None)
        if counts and self.subject.nodes:
            cases = startup_capture_cases(len(reusable.buckets), reusable.program_policy)
            captures = len(self.subject.nodes) * cases
            if captures:
                lanes, rest = divmod(reusable.maximum_device_executables, captures)
                counts.add(lanes if not rest else None)
        return counts.pop() or None if len(counts) == 1 else None

    def budgets_at(self, bucket: int, pool: str) -> list[tuple[int, int]] | str:
        """The step and invocation bytes that a bucket may budget in a pool, the derived last.

        They follow from the stated slots and rows, and from the derived ones. Empty where the
        pool's rows or the bucket are at fault; a text where a demand is not defined at the
        bucket's shape.
        """
        return self._budgets[bucket].get(pool, [])

    @cached_property
    def _budgets(self) -> list[dict[str, list[tuple[int, int]] | str]]:
        reusable = self.memory.reusable_execution
        assert reusable is not None
        return [self._bucket_budgets(resolved.bucket.capacity) for resolved in reusable.buckets]

    def _bucket_budgets(self, capacity: Capacity) -> dict[str, list[tuple[int, int]] | str]:
        shape = capacity_shape(capacity)
        budgets: dict[str, list[tuple[int, int]] | str] = {}
        if not (shape.sequences and shape.tokens and shape.pages):
            return budgets
        for group, members in self.groups.items():
            sound = [
                each
                for each in members
                if each.lifetime in ("step", "invocation")
                and each.base_resource_id not in self.faulty
            ]
            try:
                bytes_of = bytes_at(sound, shape)
            except SizeError:
                budgets[group] = _undefined(sound, shape)
                continue
            if self.sound(members):
                budgets[group] = self._pool_budgets(group, bytes_of)
        return budgets

    def _pool_budgets(self, group: str, bytes_of: dict[str, int]) -> list[tuple[int, int]]:
        accepted: list[tuple[int, int]] = []
        if group in self.pools:
            _, pool = self.pools[group]
            slots = [slot for slot in pool.step_resource_slots if slot.resource_ids]
            listed = [resource for slot in slots for resource in slot.resource_ids]
            listed += [r for row in pool.invocation_liveness for r in row.resource_ids]
            if all(resource in bytes_of for resource in listed):
                accepted.append(
                    (
                        step_slot_bytes(slots, bytes_of),
                        peak_bytes(
                            pool.invocation_liveness_mode, pool.invocation_liveness, bytes_of
                        ),
                    )
                )
        if self.structure is not None:
            structure = self.structure[group]
            derived = (
                step_slot_bytes(structure.slots, bytes_of),
                peak_bytes(structure.liveness.mode, structure.liveness.rows, bytes_of),
            )
            accepted.append(derived)
        return accepted

    @cached_property
    def slot_safety(self) -> dict[tuple[str, int], SlotSafety]:
        """The safety of every stated slot of several used members, by pool and index.

        A slot or row that is at fault otherwise shares bytes all the same, so it is judged too.
        """
        if self.order is None:
            return {}
        judged: dict[tuple[str, int], SlotSafety] = {}
        for group, (_, pool) in self.pools.items():
            for index, slot in enumerate(pool.step_resource_slots):
                used = [r for r in dict.fromkeys(slot.resource_ids) if self.order.users.get(r)]
                safety = slot_safety(used, self.order) if len(used) > 1 else None
                if safety is not None:
                    judged[group, index] = safety
        return judged

    @cached_property
    def _places(self) -> dict[str, str]:
        base = f"{self.subject.places.memory}/dynamic_descriptors"
        return {
            row.base_resource_id: f"{base}/{index}"
            for index, row in enumerate(self.memory.dynamic_descriptors)
        }

    def place_of(self, resource: str) -> str:
        """The JSON pointer of a dynamic resource's descriptor."""
        return self._places[resource]

    @property
    def usable(self) -> int:
        """The usable bytes that follow from policy and reserve."""
        return self.memory.policy_capacity_bytes - self.memory.reserve_bytes

    @cached_property
    def static_bytes(self) -> int:
        """The static bytes that the rows give."""
        rows = {row.resource_id: row.size_bytes for row in self.memory.static_allocations}
        return sum(rows.values())

    def sound(self, members: list[DynamicDescriptor]) -> bool:
        """Whether every member's own row is sound, so that its bytes are known."""
        return self.faulty.isdisjoint(member.base_resource_id for member in members)


def _undefined(members: list[DynamicDescriptor], shape: Shape) -> str:
    """Which members have no size at the shape, and why."""
    reasons = []
    for member in members:
        try:
            request_bytes(member, shape)
        except SizeError as error:
            reasons.append(f"the size of `{member.base_resource_id}` {error}")
    return "; ".join(reasons)
