"""The program-binding arenas as data: for each bucket its slots, to scale."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ferrum_verify.derive.bindings import binding_pools, compile_layouts
from ferrum_verify.derive.reusable import capacity_shape
from ferrum_verify.documents.memory_plan import Binding
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import pool_name
from ferrum_verify.plan.sizes import describe
from ferrum_verify.report.html.picture import exact

if TYPE_CHECKING:
    from ferrum_verify.derive.bindings import BindingLayout
    from ferrum_verify.documents.memory_plan import DynamicPool, MemoryPlan
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.reading.document import Subject
    from ferrum_verify.report.html.picture import Names


def binding_arenas(subject: Subject, memory: MemoryPlan, names: Names) -> list[dict[str, Any]]:
    """The arena of each binding pool and bucket, as the engine compiles it from the plan.

    Pools that the engine would refuse to compile are left out; the binding rules report them.
    """
    order = subject.order
    if memory.reusable_execution is None or order is None or not order.nodes:
        return []
    arenas = []
    for pool in binding_pools(memory):
        if not _compiles(pool, memory, order):
            continue
        try:
            layouts = compile_layouts(pool, memory, order)
        except SizeError:
            continue
        by_bucket = {layout.reusable_execution_bucket_id: layout for layout in layouts}
        arenas.append(
            {
                "pool": pool_name(pool.pool_id),
                "strips": [
                    {
                        "bucket": index,
                        "label": f"{bucket.class_id}: {describe(capacity_shape(bucket.capacity))}",
                        **_strip(by_bucket[bucket.bucket_id], names),
                    }
                    for index, resolved in enumerate(memory.reusable_execution.buckets)
                    for bucket in (resolved.bucket,)
                    if bucket.bucket_id in by_bucket
                ],
            }
        )
    return arenas


def _strip(layout: BindingLayout, names: Names) -> dict[str, Any]:
    return {
        "bytes": exact(layout.physical_size_bytes),
        "slots": [
            [
                slot.node_index,
                names.resources[slot.resource_id],
                exact(slot.physical_offset_bytes),
                exact(slot.capacity_size_bytes),
                exact(slot.alignment_bytes),
            ]
            for slot in layout.slots
        ],
    }


def _compiles(pool: DynamicPool, memory: MemoryPlan, order: HappensBefore) -> bool:
    descriptors = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    rows = [descriptors.get(r) for row in pool.invocation_liveness for r in row.resource_ids]
    return bool(rows) and all(
        row is not None and isinstance(row.kind, Binding) and row.kind.node_id in order.position
        for row in rows
    )
