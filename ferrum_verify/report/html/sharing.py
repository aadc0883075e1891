"""What sharing saves, as the page shows it: a bar for each pool, shared against apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import byte_count, pool_name
from ferrum_verify.plan.sizes import maximum_bytes
from ferrum_verify.report.pools import pool_summaries

if TYPE_CHECKING:
    from ferrum_verify.documents.memory_plan import DynamicDescriptor, DynamicPool, MemoryPlan


@dataclass(frozen=True, slots=True)
class Sharing:
    """The bytes of a pool's Step and invocation resources, each at its own largest shape.

    ``apart`` is what they would take without sharing, ``shared`` what they take as the plan
    has it.
    """

    apart: int
    shared: int

    @property
    def percent(self) -> float:
        """What is left of the bytes, in percent."""
        return 100 * self.shared / self.apart

    @property
    def words(self) -> str:
        """Both in words, with what is saved."""
        if self.shared == self.apart:
            return f"{byte_count(self.apart)}, nothing shared"
        return (
            f"{byte_count(self.shared)} instead of {byte_count(self.apart)}: "
            f"{byte_count(self.apart - self.shared)} saved"
        )


@dataclass(frozen=True, slots=True)
class PoolRow:
    """A pool's line; ``sharing`` is None where it has nothing to share, or an unknown size."""

    index: int
    name: str
    pool_id: str
    holds: str
    members: int
    slots: int
    resident: tuple[str, str]
    sharing: Sharing | None


def pool_rows(memory: MemoryPlan) -> list[PoolRow]:
    """A line for each pool, as they stand in the plan."""
    descriptors = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    rows = []
    for index, summary in enumerate(pool_summaries(memory)):
        apart = _apart(memory.dynamic_pools[index], descriptors)
        least, most = summary.resident
        rows.append(
            PoolRow(
                index=index,
                name=pool_name(summary.pool_id),
                pool_id=summary.pool_id,
                holds=summary.holds,
                members=summary.members,
                slots=summary.slots,
                resident=(byte_count(least), byte_count(most)),
                sharing=Sharing(apart, apart - summary.saved)
                if apart and summary.saved is not None
                else None,
            )
        )
    return rows


def saved_in_all(rows: list[PoolRow]) -> str:
    """What all pools save together, in words."""
    return byte_count(sum(row.sharing.apart - row.sharing.shared for row in rows if row.sharing))


def _apart(pool: DynamicPool, descriptors: dict[str, DynamicDescriptor]) -> int:
    """The bytes of a pool without sharing; 0 where there are none, or one is unknown."""
    members = [resource for slot in pool.step_resource_slots for resource in slot.resource_ids]
    members += {resource for row in pool.invocation_liveness for resource in row.resource_ids}
    try:
        return sum(maximum_bytes(descriptors[name]) for name in members)
    except (SizeError, KeyError):
        return 0
