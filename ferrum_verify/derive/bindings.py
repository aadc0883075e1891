"""Program bindings: one contiguous arena of per-node slots for each reusable bucket."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.derive.reusable import capacity_shape
from ferrum_verify.documents.memory_plan import Binding
from ferrum_verify.plan.canonical import ordered_fingerprint
from ferrum_verify.plan.sizes import request_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ferrum_verify.counterexamples import Shape
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan
    from ferrum_verify.plan.order import HappensBefore


@dataclass(frozen=True, slots=True)
class BindingSlot:
    """The bytes ``[offset, offset + capacity)`` of the arena that one node's binding takes."""

    node_index: int
    node_id: str
    resource_id: str
    physical_offset_bytes: int
    capacity_size_bytes: int
    alignment_bytes: int

    def to_wire(self) -> dict[str, Any]:
        """The slot in the engine's field order."""
        return {
            "node_index": self.node_index,
            "node_id": self.node_id,
            "resource_id": self.resource_id,
            "physical_offset_bytes": self.physical_offset_bytes,
            "capacity_size_bytes": self.capacity_size_bytes,
            "alignment_bytes": self.alignment_bytes,
        }


@dataclass(frozen=True, slots=True)
class ClaimIdentity:
    """The physical claim that an arena projects into: a pool and its invocation resources."""

    pool_id: str
    resource_ids: tuple[str, ...]

    def to_wire(self) -> dict[str, Any]:
        """The claim in the engine's field order."""
        return {"pool_id": self.pool_id, "resource_ids": list(self.resource_ids)}


@dataclass(frozen=True, slots=True)
class BindingLayout:
    """The binding arena of one reusable bucket; slots ascend by node."""

    reusable_execution_bucket_id: str
    claim_identity: ClaimIdentity
    physical_size_bytes: int
    slots: tuple[BindingSlot, ...]

    @property
    def fingerprint(self) -> str:
        """The engine's fingerprint of the layout, in its own field order."""
        domain = {"domain": "ferrum.runtime-vnext.program-binding-layout.v1"}
        return f"sha256/{ordered_fingerprint(domain | self._material())}"

    def _material(self) -> dict[str, Any]:
        return {
            "reusable_execution_bucket_id": self.reusable_execution_bucket_id,
            "claim_identity": self.claim_identity.to_wire(),
            "physical_size_bytes": self.physical_size_bytes,
            "slots": [slot.to_wire() for slot in self.slots],
        }

    def to_wire(self) -> dict[str, Any]:
        """The layout as the engine's JSON."""
        return {**self._material(), "fingerprint": self.fingerprint}


def binding_pools(memory: MemoryPlan) -> list[DynamicPool]:
    """The pools that have a binding among their members."""
    bound = {
        descriptor.base_resource_id
        for descriptor in memory.dynamic_descriptors
        if isinstance(descriptor.kind, Binding)
    }
    return [pool for pool in memory.dynamic_pools if not bound.isdisjoint(pool.resource_ids)]


def wave_projections(
    pool: DynamicPool,
    order: HappensBefore,
    descriptors: Mapping[str, DynamicDescriptor],
    shape: Shape,
) -> Iterator[tuple[str, int, int]]:
    """Each invocation resource of a pool with its offset and bytes in the pool's wave arena.

    The arena is laid out node by node in plan order, one row after the other: a binding pool
    never reuses bytes, which the binding rules see to.
    """
    rows = sorted(
        pool.invocation_liveness, key=lambda row: order.position.get(row.node_id, len(order.nodes))
    )
    offset = 0
    for row in rows:
        for resource in row.resource_ids:
            size = request_bytes(descriptors[resource], shape)
            yield resource, offset, size
            offset += size


def compile_layouts(
    pool: DynamicPool, memory: MemoryPlan, order: HappensBefore
) -> list[BindingLayout]:
    """The layout of every bucket in a sound binding pool (seed 003,
    ``compile_program_binding_layouts``).

    The binding rules judge whether the pool is sound. Raises SizeError where a binding's
    demand is not defined at a bucket's shape.
    """
    if memory.reusable_execution is None:
        return []
    descriptors = {
        descriptor.base_resource_id: descriptor for descriptor in memory.dynamic_descriptors
    }
    claim = ClaimIdentity(pool.pool_id, tuple(sorted(pool.resource_ids)))
    layouts = []
    for resolved in memory.reusable_execution.buckets:
        projections = list(
            wave_projections(pool, order, descriptors, capacity_shape(resolved.bucket.capacity))
        )
        slots = sorted(
            (
                _slot(descriptors[resource], offset, size, order)
                for resource, offset, size in projections
            ),
            key=lambda slot: slot.node_index,
        )
        layouts.append(
            BindingLayout(
                resolved.bucket.bucket_id,
                claim,
                sum(size for _, _, size in projections),
                tuple(slots),
            )
        )
    return sorted(layouts, key=lambda layout: layout.reusable_execution_bucket_id)


def _slot(
    descriptor: DynamicDescriptor, offset: int, size: int, order: HappensBefore
) -> BindingSlot:
    assert isinstance(descriptor.kind, Binding)
    node = descriptor.kind.node_id
    return BindingSlot(
        node_index=order.position[node],
        node_id=node,
        resource_id=descriptor.base_resource_id,
        physical_offset_bytes=offset,
        capacity_size_bytes=size,
        alignment_bytes=descriptor.alignment_bytes,
    )


def running_end(slots: Sequence[BindingSlot]) -> int | None:
    """Where the arena ends if its slots lie end to end from 0, else None."""
    end = 0
    for slot in sorted(slots, key=lambda each: each.physical_offset_bytes):
        if slot.physical_offset_bytes != end:
            return None
        end += slot.capacity_size_bytes
    return end
