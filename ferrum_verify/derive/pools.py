"""Backing pools: which descriptors share one, and the totals of each."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from ferrum_verify.derive.liveness import PoolLiveness, derive_pool_liveness, peak_bytes
from ferrum_verify.derive.reusable import step_slot_bytes
from ferrum_verify.derive.slots import derive_step_slots
from ferrum_verify.documents.memory_plan import DynamicPool, PoolCompatibility, Provisioning
from ferrum_verify.documents.primitives import Version
from ferrum_verify.plan.canonical import pool_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ferrum_verify.documents.memory_plan import DynamicDescriptor, StepSlot
    from ferrum_verify.documents.primitives import Lifetime
    from ferrum_verify.documents.problem import ProblemDescriptor
    from ferrum_verify.plan.order import HappensBefore

COMPATIBILITY_VERSION = Version(major=1, minor=0)


def descriptor_pool_id(descriptor: DynamicDescriptor | ProblemDescriptor) -> str:
    """The pool that the engine derives for a descriptor."""
    return pool_id(
        descriptor.storage.profile,
        descriptor.usage,
        descriptor.element_type,
        descriptor.storage.logical_layout_fingerprint,
        descriptor.alignment_bytes,
    )


def compatibility_of(descriptor: DynamicDescriptor) -> PoolCompatibility:
    """The key that all members of the descriptor's pool have in common."""
    return PoolCompatibility.trusted(
        version=COMPATIBILITY_VERSION,
        profile=descriptor.storage.profile,
        usage=descriptor.usage,
        element_type=descriptor.element_type,
        logical_layout_fingerprint=descriptor.storage.logical_layout_fingerprint,
        alignment_bytes=descriptor.alignment_bytes,
    )


def group_by_pool(
    descriptors: Iterable[DynamicDescriptor],
) -> dict[str, list[DynamicDescriptor]]:
    """The descriptors by their pool, pools and members ascending by id."""
    groups: dict[str, list[DynamicDescriptor]] = {}
    for descriptor in sorted(descriptors, key=attrgetter("base_resource_id")):
        groups.setdefault(descriptor.pool_id, []).append(descriptor)
    return dict(sorted(groups.items()))


def lifetime_bytes(
    members: Iterable[DynamicDescriptor], lifetime: Lifetime, bytes_of: Mapping[str, int]
) -> int:
    """The bytes of all members of one lifetime together."""
    return sum(
        bytes_of[member.base_resource_id] for member in members if member.lifetime == lifetime
    )


@dataclass(frozen=True, slots=True)
class PoolStructure:
    """What order decides of a pool: its slots and its liveness."""

    pool_id: str
    members: list[DynamicDescriptor]
    slots: tuple[StepSlot, ...]
    liveness: PoolLiveness


def derive_structure(
    groups: Mapping[str, list[DynamicDescriptor]], order: HappensBefore, retained: frozenset[str]
) -> dict[str, PoolStructure]:
    """The structure of every pool, by pool id, from the members of each."""
    return {
        pool: PoolStructure(
            pool,
            members,
            derive_step_slots(members, order, retained),
            derive_pool_liveness(members, order),
        )
        for pool, members in groups.items()
    }


def total_pool(
    structure: PoolStructure,
    minimum: Mapping[str, int],
    ceiling: Mapping[str, int],
    reusable_ceiling: int,
    dynamic_capacity: int,
) -> DynamicPool:
    """A pool with its totals (seed 000, ``derive_dynamic_pools_with_reusable``).

    ``minimum`` and ``ceiling`` have each member's bytes at the smallest shape and its resident
    ceiling; ``dynamic_capacity`` is what static rows leave of the usable bytes.
    """
    members, liveness = structure.members, structure.liveness
    request = lifetime_bytes(members, "request", minimum)
    sequence = lifetime_bytes(members, "sequence", minimum)
    step = step_slot_bytes(structure.slots, minimum)
    peak = peak_bytes(liveness.mode, liveness.rows_in_plan_order, minimum)
    theoretical = sum(ceiling[member.base_resource_id] for member in members)
    return DynamicPool.trusted(
        pool_id=structure.pool_id,
        compatibility=compatibility_of(members[0]),
        resource_ids=tuple(member.base_resource_id for member in members),
        minimum_request_bytes=request,
        minimum_sequence_bytes=sequence,
        minimum_step_bytes=step,
        minimum_invocation_peak_bytes=peak,
        step_resource_slots=structure.slots,
        theoretical_ceiling_bytes=theoretical,
        reusable_workspace_ceiling_bytes=reusable_ceiling,
        provisioning=Provisioning.trusted(
            mode="demand_driven_elastic",
            minimum_resident_bytes=request + sequence + step + peak,
            maximum_resident_bytes=min(theoretical + reusable_ceiling, dynamic_capacity),
        ),
        invocation_liveness_mode=liveness.mode,
        invocation_liveness=liveness.rows,
        checkpoint_growth_ceiling_bytes=0,
    )


def with_growth(pool: DynamicPool, growth: int, dynamic_capacity: int) -> DynamicPool:
    """A pool that may grow by ``growth`` bytes for checkpoints; all else stays as it is."""
    ceiling = pool.theoretical_ceiling_bytes + pool.reusable_workspace_ceiling_bytes + growth
    provisioning = Provisioning.trusted(
        **pool.provisioning.__dict__ | {"maximum_resident_bytes": min(ceiling, dynamic_capacity)}
    )
    return DynamicPool.trusted(
        **pool.__dict__ | {"checkpoint_growth_ceiling_bytes": growth, "provisioning": provisioning}
    )
