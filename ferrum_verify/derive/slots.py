"""Step slots: which Step resources take the same bytes one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.documents.memory_plan import StepSlot
from ferrum_verify.plan.order import bits_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ferrum_verify.documents.memory_plan import DynamicDescriptor
    from ferrum_verify.plan.order import HappensBefore

FEW = 64


def is_transient_activation(descriptor: DynamicDescriptor) -> bool:
    """Whether the engine may let the resource share a Step slot (seed 000,
    ``is_reusable_step_activation``): a token-scaled activation value of one step.
    """
    return (
        descriptor.lifetime == "step"
        and descriptor.usage == "activations"
        and descriptor.kind == "value"
        and descriptor.demand.terms.only("tokens") is not None
    )


def derive_step_slots(
    members: Iterable[DynamicDescriptor], order: HappensBefore, retained: frozenset[str]
) -> tuple[StepSlot, ...]:
    """The slots of one pool (seed 000, ``derive_pool_step_slots``).

    First fit over the resources by first user, last user and id: a resource joins the first
    slot all of whose members' last users happen before its first user. A retained resource is
    read after the terminal fence, so it gets a slot of its own. Resources without a user have
    no slot; the slot rules report them.
    """
    dedicated: list[str] = []
    intervals: list[tuple[int, int, str]] = []
    for descriptor in members:
        if descriptor.lifetime != "step":
            continue
        resource = descriptor.base_resource_id
        users = order.listed.get(resource)
        if not users:
            continue
        if is_transient_activation(descriptor) and resource not in retained:
            intervals.append((users[0], users[-1], resource))
        else:
            dedicated.append(resource)
    intervals.sort()

    slots: list[list[str]] = []
    lasts: list[int] = []  # per slot, the last users of its members as bits
    tails: list[int] = []  # per slot, the last user of the member that joined last
    slots_at_tail: dict[int, set[int]] = {}
    tail_bits = 0
    for first, last, resource in intervals:
        before = order.ancestors[first]
        candidates = tail_bits & before
        chosen = -1
        if candidates:
            # A slot can only fit if its latest member does, so few tails are few candidates.
            indices: Iterable[int] = (
                sorted(index for tail in bits_of(candidates) for index in slots_at_tail[tail])
                if candidates.bit_count() <= FEW
                else range(len(slots))
            )
            chosen = next((index for index in indices if lasts[index] & before == lasts[index]), -1)
        if chosen < 0:
            chosen = len(slots)
            slots.append([])
            lasts.append(0)
            tails.append(-1)
        else:
            left = slots_at_tail[tails[chosen]]
            left.discard(chosen)
            if not left:
                tail_bits &= ~(1 << tails[chosen])
        slots[chosen].append(resource)
        lasts[chosen] |= 1 << last
        tails[chosen] = last
        slots_at_tail.setdefault(last, set()).add(chosen)
        tail_bits |= 1 << last

    grouped = [tuple(sorted(slot)) for slot in slots] + [(resource,) for resource in dedicated]
    return tuple(
        StepSlot.trusted(
            kind="dedicated" if len(resources) == 1 else "ordered_single_fence_step_wave",
            resource_ids=resources,
        )
        for resources in sorted(grouped)
    )
