"""The rows of a memory plan by resource id: where each stands, and how many bytes it has."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from ferrum_verify.documents.memory_plan import DynamicDescriptor, StaticAllocation
from ferrum_verify.documents.pointer import pointer
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.documents.terms import Linear
from ferrum_verify.plan.sizes import demand_bytes, maximal_shape, minimum_bytes

if TYPE_CHECKING:
    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.storage import StorageProfile
    from ferrum_verify.documents.terms import Terms

Row: TypeAlias = StaticAllocation | DynamicDescriptor


class ResourceRows(dict[str, Row]):
    """All static and dynamic rows of one memory plan by id; of rows with one id the first."""

    def __init__(self, memory: MemoryPlan, location: str) -> None:
        super().__init__()
        self._memory = memory
        self._place = location
        for allocation in memory.static_allocations:
            self.setdefault(allocation.resource_id, allocation)
        for descriptor in memory.dynamic_descriptors:
            self.setdefault(descriptor.base_resource_id, descriptor)

    @cached_property
    def _positions(self) -> dict[str, str]:
        positions: dict[str, str] = {}
        for index, allocation in enumerate(self._memory.static_allocations):
            positions.setdefault(allocation.resource_id, f"static_allocations/{index}")
        for index, descriptor in enumerate(self._memory.dynamic_descriptors):
            positions.setdefault(descriptor.base_resource_id, f"dynamic_descriptors/{index}")
        return positions

    def pointer(self, resource_id: str, *steps: str | int) -> str:
        """The JSON pointer of a resource's row, or of a member of it."""
        return pointer(f"{self._place}/{self._positions[resource_id]}", *steps)


def terms_of(row: Row) -> Terms:
    """What a row has at each shape; a static one has the same bytes at all."""
    if isinstance(row, StaticAllocation):
        return Linear(row.per_instance_bytes, ())
    return row.demand.terms


def maximal_logical_bytes(row: Row) -> int | None:
    """The bytes that values may take in a row at its largest shape, before quantization.

    None where the row's demand cannot be evaluated; the descriptor rules then say why.
    """
    if isinstance(row, StaticAllocation):
        return row.per_instance_bytes
    try:
        return demand_bytes(row.demand.terms, maximal_shape(row.demand.terms))
    except SizeError:
        return None


def minimal_bytes(row: Row) -> int | None:
    """The quantized bytes of a row at its smallest shape; None as for the largest."""
    if isinstance(row, StaticAllocation):
        return row.per_instance_bytes
    try:
        return minimum_bytes(row)
    except SizeError:
        return None


def describe_profile(profile: StorageProfile) -> str:
    """A storage profile in words: "fixed blocks of 4,096 bytes, paged"."""
    if isinstance(profile.allocator, str):
        allocator = "linear arena"
    else:
        allocator = f"fixed blocks of {profile.allocator.block_bytes:,} bytes"
    if isinstance(profile.view, str):
        view = "contiguous"
    elif profile.block_bytes == profile.view.block_bytes:
        view = "paged"
    else:
        view = f"paged by {profile.view.block_bytes:,}"
    return f"{allocator}, {view}"
