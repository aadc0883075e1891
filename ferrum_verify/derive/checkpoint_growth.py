"""Room for captured checkpoints: how far pools of sequence state may grow beyond live sequences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ferrum_verify.derive.pools import with_growth
from ferrum_verify.documents.memory_plan import CheckpointCapacity, MemoryPlan

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ferrum_verify.documents.memory_plan import DynamicDescriptor


def is_sequence_state(descriptor: DynamicDescriptor) -> bool:
    """Whether a checkpoint may hold copies of the resource: a state value of a sequence."""
    return (
        descriptor.lifetime == "sequence"
        and descriptor.usage == "state"
        and descriptor.kind == "value"
    )


def growth_ceiling(descriptor: DynamicDescriptor, capacity: int) -> int:
    """The most bytes of checkpoints, of ``capacity`` in all, that the resource's pool may hold.

    Storage is given in whole units: the alignment, or the block if that is larger.
    """
    block = descriptor.storage.profile.block_bytes or 0
    quantum = max(block, descriptor.alignment_bytes)
    return capacity // quantum * quantum


@dataclass(frozen=True, slots=True)
class CheckpointGrowth:
    """How far each pool grows, and why the engine would refuse to say so.

    ``ceilings`` are bytes by pool, none of them 0. ``unfit`` are resources that are no sequence
    state of the plan, ``differing`` are pools with two ceilings, each with the resources that
    they come from.
    """

    ceilings: Mapping[str, int]
    unfit: tuple[str, ...] = ()
    differing: tuple[tuple[str, str, str], ...] = ()


def derive_growth(
    resources: Iterable[str], descriptors: Mapping[str, DynamicDescriptor], capacity: int
) -> CheckpointGrowth:
    """The growth of pools whose members hold the states of a checkpoint layout.

    ``resources`` are those of the layout's states, ``capacity`` the bytes that checkpoints may
    keep. A pool with several of them counts their common ceiling once.
    """
    ceilings: dict[str, tuple[int, str]] = {}
    unfit, differing = [], []
    for resource in dict.fromkeys(resources):
        descriptor = descriptors.get(resource)
        if descriptor is None or not is_sequence_state(descriptor):
            unfit.append(resource)
            continue
        ceiling = growth_ceiling(descriptor, capacity)
        if not ceiling:
            continue
        known, first = ceilings.setdefault(descriptor.pool_id, (ceiling, resource))
        if known != ceiling:
            differing.append((descriptor.pool_id, first, resource))
    return CheckpointGrowth(
        {pool: ceiling for pool, (ceiling, _) in ceilings.items()},
        tuple(unfit),
        tuple(differing),
    )


def with_checkpoints(memory: MemoryPlan, capacity: int, growth: CheckpointGrowth) -> MemoryPlan:
    """A memory plan with the checkpoint capacity of its policy, and its pools' growth.

    Nothing else changes: growth is in no minimum, nor in any theoretical ceiling.
    """
    room = memory.usable_capacity_bytes - memory.static_bytes
    return MemoryPlan.trusted(
        **memory.__dict__
        | {
            "checkpoint_capacity": CheckpointCapacity(maximum_retained_bytes=capacity),
            "dynamic_pools": tuple(
                with_growth(pool, growth.ceilings.get(pool.pool_id, 0), room)
                for pool in memory.dynamic_pools
            ),
        }
    )
