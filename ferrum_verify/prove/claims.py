"""Claims: every obligation of a plan, from the sources that state them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.derive.bindings import binding_pools, compile_layouts
from ferrum_verify.derive.reusable import capacity_shape
from ferrum_verify.documents.memory_plan import Binding
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.accesses import declared_bytes
from ferrum_verify.plan.frontier import capacity_of, largest_sequences, largest_tokens
from ferrum_verify.plan.sizes import minimum_bytes
from ferrum_verify.prove.accesses import access_claims
from ferrum_verify.prove.bindings import layout_claims, owner_claims
from ferrum_verify.prove.capacity import (
    batch_need,
    frontier_claims,
    runnable_claims,
    sequence_claims,
    total_claims,
)
from ferrum_verify.prove.holding import holding_claims
from ferrum_verify.prove.lifetimes import input_claims, inputs_of
from ferrum_verify.prove.liveness import peak_claims, reuse_claims
from ferrum_verify.prove.reusable import budget_claims, lane_claims
from ferrum_verify.prove.schedule import schedule_sources
from ferrum_verify.prove.schedule_inputs import scheduled_input_claims
from ferrum_verify.prove.sizes import ceiling_claims, descriptor_claims
from ferrum_verify.prove.slots import retained_claims, slot_claims, strangers_of
from ferrum_verify.prove.spans import span_claims
from ferrum_verify.prove.windows import PlanGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.derive.bindings import BindingLayout
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.plan.frontier import Capacity, Headroom
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.plan.scheduled import ScheduledPlan
    from ferrum_verify.prove.obligation import Claims
    from ferrum_verify.reading.document import Subject


@dataclass(frozen=True)
class Plan:
    """What claims are stated of: a memory plan, and the order of its nodes where it is sound.

    It is read from the document alone; nothing that the concrete path derived is in it.
    """

    subject: Subject
    memory: MemoryPlan
    graph: PlanGraph | None
    execution: Execution
    descriptors: dict[str, DynamicDescriptor]
    minimum: dict[str, int]
    under_schedule: bool = False
    scheduled: ScheduledPlan | None = None

    @property
    def by_model(self) -> PlanGraph | None:
        """The order of the nodes, where it is judged under an execution model."""
        return None if self.under_schedule else self.graph


def plan_of(
    subject: Subject,
    execution: Execution,
    *,
    ordered: bool,
    under_schedule: bool = False,
    scheduled: ScheduledPlan | None = None,
) -> Plan | None:
    """The plan of a subject, or None if it has no memory plan that could be read.

    ``ordered`` says whether the graph rules found the order of the nodes sound. Under a schedule
    order is claimed of ``scheduled``, where it can be unrolled, and of nothing else.
    """
    memory = subject.memory
    if memory is None:
        return None
    descriptors = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    minimum: dict[str, int] = {}
    for resource, row in descriptors.items():
        try:
            minimum[resource] = minimum_bytes(row)
        except SizeError:
            continue
    graph = PlanGraph(subject.nodes) if ordered and subject.nodes is not None else None
    return Plan(subject, memory, graph, execution, descriptors, minimum, under_schedule, scheduled)


def claims_of(plan: Plan) -> Iterator[Claims]:
    """Every source of claims about a plan; each is asked on its own."""
    if plan.scheduled is not None:
        places = plan.subject.places
        yield from schedule_sources(plan.scheduled, nodes=places.nodes, memory=places.memory)
        yield scheduled_input_claims(
            plan.scheduled, inputs_of(plan.subject), nodes=places.nodes, memory=places.memory
        )
    yield from slot_sources(plan)
    yield from _access_sources(plan)
    yield from _liveness_sources(plan)
    yield from _size_sources(plan)
    yield from _reusable_sources(plan)
    yield from _capacity_sources(plan)
    yield span_claims(plan.subject)
    yield holding_claims(plan.subject, plan.memory)


def slot_sources(plan: Plan) -> Iterator[Claims]:
    """The sources of claims about the plan's Step slots."""
    at = f"{plan.subject.places.memory}/dynamic_pools"
    inputs = inputs_of(plan.subject)
    for index, pool in enumerate(plan.memory.dynamic_pools):
        foreign, repeated = strangers_of(pool, plan.descriptors)
        for place, slot in enumerate(pool.step_resource_slots):
            here = f"{at}/{index}/step_resource_slots/{place}"
            name = f"slot {place} of pool `{short_pool(pool.pool_id)}`"
            yield retained_claims(slot, name, here, plan.subject.kept, plan.descriptors)
            if plan.by_model is not None and len(slot.resource_ids) > 1:
                yield slot_claims(
                    slot,
                    name,
                    here,
                    plan.by_model,
                    plan.execution,
                    foreign=foreign,
                    repeated=repeated,
                )
                yield input_claims(
                    slot,
                    name,
                    here,
                    plan.subject,
                    plan.by_model,
                    inputs=inputs,
                    execution=plan.execution,
                )


def _access_sources(plan: Plan) -> Iterator[Claims]:
    nodes, header = plan.subject.nodes, plan.subject.header
    if plan.by_model is not None and nodes is not None:
        tokens = 1 if header is None else header.maximum_scheduled_tokens
        at = plan.subject.places.nodes
        declared = declared_bytes(plan.subject.program)
        yield access_claims(nodes, tokens, declared, plan.by_model, plan.execution, at=at)


def _liveness_sources(plan: Plan) -> Iterator[Claims]:
    at = f"{plan.subject.places.memory}/dynamic_pools"
    for index, pool in enumerate(plan.memory.dynamic_pools):
        name = f"pool `{short_pool(pool.pool_id)}`"
        if plan.by_model is not None:
            yield reuse_claims(pool, name, f"{at}/{index}", plan.by_model, plan.execution)
        yield peak_claims(pool, name, f"{at}/{index}", plan.minimum)


def _size_sources(plan: Plan) -> Iterator[Claims]:
    at = plan.subject.places.memory
    for index, row in enumerate(plan.memory.dynamic_descriptors):
        yield descriptor_claims(row, f"{at}/dynamic_descriptors/{index}")
    for index, pool in enumerate(plan.memory.dynamic_pools):
        members = [plan.descriptors[r] for r in pool.resource_ids if r in plan.descriptors]
        if len(members) == len(pool.resource_ids):
            yield ceiling_claims(pool, members, f"{at}/dynamic_pools/{index}")


def _reusable_sources(plan: Plan) -> Iterator[Claims]:
    reusable = plan.memory.reusable_execution
    if reusable is None:
        return
    at = f"{plan.subject.places.memory}/reusable_execution/buckets"
    for index, resolved in enumerate(reusable.buckets):
        name = f"bucket {index} of class `{resolved.bucket.class_id}`"
        for pool in plan.memory.dynamic_pools:
            yield budget_claims(
                resolved, name, f"{at}/{index}/pool_budgets", pool, plan.descriptors
            )
    pools_at = f"{plan.subject.places.memory}/dynamic_pools"
    for index, pool in enumerate(plan.memory.dynamic_pools):
        yield lane_claims(plan.memory, pool, f"{pools_at}/{index}")
    yield from _binding_sources(plan)


def _binding_sources(plan: Plan) -> Iterator[Claims]:
    order, reusable = plan.subject.order, plan.memory.reusable_execution
    pools = binding_pools(plan.memory)
    if plan.graph is None or order is None or reusable is None or len(pools) != 1:
        return
    (pool,) = pools
    index = plan.memory.dynamic_pools.index(pool)
    at = f"{plan.subject.places.memory}/dynamic_pools/{index}"
    layouts = layouts_under_test(pool, plan.memory, order)
    owners = {position: node.binding_resource for position, node in enumerate(order.nodes)}
    shapes = {
        resolved.bucket.bucket_id: capacity_shape(resolved.bucket.capacity)
        for resolved in reusable.buckets
    }
    for layout in layouts:
        shape = shapes[layout.reusable_execution_bucket_id]
        yield layout_claims(layout, at, plan.descriptors, shape)
        yield owner_claims(layout, at, owners)


def layouts_under_test(
    pool: DynamicPool, memory: MemoryPlan, order: HappensBefore
) -> list[BindingLayout]:
    """The arenas that the fast path compiles, or none where it cannot."""
    listed = Counter(resource for row in pool.invocation_liveness for resource in row.resource_ids)
    kinds = {row.base_resource_id: row.kind for row in memory.dynamic_descriptors}
    for resource in listed:
        kind = kinds.get(resource)
        if not isinstance(kind, Binding) or kind.node_id not in order.position:
            return []
    if any(count > 1 for count in listed.values()):
        return []  # a wave has one place for each resource, so such a plan is refused
    try:
        return compile_layouts(pool, memory, order)
    except SizeError:
        return []


def _capacity_sources(plan: Plan) -> Iterator[Claims]:
    at = plan.subject.places.memory
    yield total_claims(plan.memory, at)
    need = batch_need(plan.memory, plan.descriptors)
    if need is None:
        return
    yield runnable_claims(plan.memory, at, need)
    longest = headroom_of(plan, lambda capacity: largest_tokens(capacity, 1))
    if longest is not None:
        yield frontier_claims(plan.memory, at, need, longest)
    most = headroom_of(plan, lambda capacity: largest_sequences(capacity, 1))
    if most is not None:
        yield sequence_claims(plan.memory, at, need, most)


def headroom_of(plan: Plan, ask: Callable[[Capacity], Headroom]) -> Headroom | None:
    """The largest batch in a direction, or None where a row's bytes are unknown."""
    header = plan.subject.header
    tokens = None if header is None else header.maximum_scheduled_tokens
    try:
        return ask(capacity_of(plan.memory, tokens))
    except SizeError:
        return None
