"""The rows of a memory plan by resource id: where each stands, and how many bytes it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from ferrum_verify.documents.memory_plan import DynamicDescriptor, StaticAllocation
from ferrum_verify.findings import pointer
from ferrum_verify.sizes import SizeError, demand_bytes, maximal_shape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.documents.storage import StorageProfile

Row: TypeAlias = StaticAllocation | DynamicDescriptor


class ResourceRows:
    """All static and dynamic rows of one memory plan; of rows with one id the first counts."""

    def __init__(self, memory: MemoryPlan, place: str) -> None:
        self._place = place
        self._entries: dict[str, tuple[str, int, Row]] = {}
        for index, allocation in enumerate(memory.static_allocations):
            self._entries.setdefault(
                allocation.resource_id, ("static_allocations", index, allocation)
            )
        for index, descriptor in enumerate(memory.dynamic_descriptors):
            self._entries.setdefault(
                descriptor.base_resource_id, ("dynamic_descriptors", index, descriptor)
            )

    def __contains__(self, resource_id: str) -> bool:
        return resource_id in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def get(self, resource_id: str) -> Row | None:
        """The row of a resource, or None if the memory plan has none."""
        entry = self._entries.get(resource_id)
        return None if entry is None else entry[2]

    def pointer(self, resource_id: str, *steps: str | int) -> str:
        """The JSON pointer of a resource's row, or of a member of it."""
        table, index, _ = self._entries[resource_id]
        return pointer(self._place, table, index, *steps)


def maximal_logical_bytes(row: Row) -> int | None:
    """The bytes that values may take in a row at its largest shape, before quantization.

    None where the row's demand cannot be evaluated; the descriptor rules then say why.
    """
    if isinstance(row, StaticAllocation):
        return row.per_instance_bytes
    try:
        return demand_bytes(row.demand, maximal_shape(row.demand))
    except (SizeError, IndexError):
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
