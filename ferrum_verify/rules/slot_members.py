"""The slots of a pool as they are written: their members, kinds and order."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from ferrum_verify.derive.slots import is_transient_activation
from ferrum_verify.findings import DELETE, Example, Finding, Rule, Swap
from ferrum_verify.findings.wording import short_pool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrum_verify.documents.memory_plan import (
        DynamicDescriptor,
        DynamicPool,
        StepSlot,
    )
    from ferrum_verify.rules.expected import Expected

STRUCTURE = "seed 000, `validate_dynamic_pools_structure`"
POOLS = "docs/format.md, «Pools»"
NOT_CANONICAL = Rule(
    id="slot.not-canonical",
    summary="A pool's slots ascend by their id lists, and the ids in a slot ascend.",
    why="The plan's hash covers the order; the same slots in another order are another plan.",
    fix="Sort the ids in each slot, then the slots.",
    source=POOLS,
    example=Example(
        "fragment",
        {
            "/memory/dynamic_pools/0/step_resource_slots/0": Swap(
                "/memory/dynamic_pools/0/step_resource_slots/1"
            )
        },
    ),
)
FOREIGN = Rule(
    id="slot.foreign-member",
    summary="A slot's members are Step resources of its own pool.",
    why="Bytes of another lifetime or pool would be overwritten within the step.",
    fix="Remove the resource from the slot.",
    source=STRUCTURE,
    judgment="safety",
    example=Example(
        "fragment",
        {
            "/memory/dynamic_pools/0/step_resource_slots/-": {
                "kind": "dedicated",
                "resource_ids": ["input/tokens"],
            }
        },
    ),
)
MISSING = Rule(
    id="slot.missing-member",
    summary="Every Step resource of a pool is in one of its slots.",
    why="A resource without a slot has no bytes when its first node runs.",
    fix="Give the resource a slot.",
    source=STRUCTURE,
    judgment="safety",
    example=Example("fragment", {"/memory/dynamic_pools/0/step_resource_slots/3": DELETE}),
)


def check_structure(
    facts: Expected, group: str, members: dict[str, DynamicDescriptor], location: str
) -> Iterator[Finding]:
    """Whether the slots of a pool hold its Step resources, ``members``, each once and in order."""
    _, pool = facts.pools[group]
    name = f"pool `{short_pool(pool.pool_id)}`"
    listed = Counter(
        resource for slot in pool.step_resource_slots for resource in slot.resource_ids
    )
    for resource in members:
        if resource not in listed and resource not in facts.faulty:
            yield MISSING.finding(
                f"step resource `{resource}` is in no slot of {name}",
                f"{location}/step_resource_slots",
            )
    ordered = all(
        left.resource_ids < right.resource_ids
        for left, right in zip(pool.step_resource_slots, pool.step_resource_slots[1:], strict=False)
    )
    by_model = facts.under is None
    clashes = _clashes(facts, group) if by_model and in_several(pool) else {}
    told: set[str] = set()
    for index, slot in enumerate(pool.step_resource_slots):
        here = f"{location}/step_resource_slots/{index}"
        for resource in slot.resource_ids:
            if resource in members and listed[resource] == 1:
                continue
            if resource in told:
                continue
            if resource not in members and resource in facts.faulty:
                continue  # its own row may be what makes it a stranger
            told.add(resource)
            if resource not in members:
                yield FOREIGN.finding(
                    f"slot {index} of {name} has `{resource}`, which is no step resource of the "
                    "pool",
                    f"{here}/resource_ids",
                    about=(resource,),
                )
            else:
                met = clashes.get(resource, {})
                yield _repeated(resource, listed[resource], name, met, f"{here}/resource_ids")
        sole = [resource for resource in slot.resource_ids if listed[resource] == 1]
        yield from _check_slot(
            facts, slot, sole, members, name=f"slot {index} of {name}", location=here
        )
    if not ordered and not told:
        yield NOT_CANONICAL.finding(
            f"the slots of {name} do not ascend by their resource ids",
            f"{location}/step_resource_slots",
        )


def in_several(pool: DynamicPool) -> frozenset[str]:
    """The resources that stand in more than one slot of the pool."""
    slots = Counter(r for slot in pool.step_resource_slots for r in set(slot.resource_ids))
    return frozenset(resource for resource, count in slots.items() if count > 1)


def _clashes(facts: Expected, group: str) -> dict[str, dict[str, None]]:
    """What each resource in several slots of a pool is live together with there."""
    pool = facts.pools[group][1]
    repeated = in_several(pool)
    met: dict[str, dict[str, None]] = {}
    for index in range(len(pool.step_resource_slots)):
        safety = facts.slot_safety.get((group, index))
        if safety is not None:
            for left, right in safety.unsafe[facts.execution]:
                for one, other in ((left, right), (right, left)):
                    if one in repeated:
                        met.setdefault(one, {})[other] = None
    return met


REPEATED = Rule(
    id="slot.repeated-member",
    summary="A Step resource is in one slot, once.",
    why="With two slots it is open which bytes a node is given.",
    fix="Remove the resource from all slots but one.",
    source=POOLS,
    example=Example(
        "fragment",
        {
            "/memory/dynamic_pools/0/step_resource_slots/-": {
                "kind": "dedicated",
                "resource_ids": ["act/query"],
            }
        },
    ),
)


def _repeated(resource: str, times: int, name: str, met: Iterable[str], location: str) -> Finding:
    """One finding: what it meets in its slots, it meets because it stands in several."""
    message = f"step resource `{resource}` stands {times} times in the slots of {name}"
    others = [f"`{other}`" for other in met]
    if not others:
        return REPEATED.finding(message, location, about=(resource,))
    more = f" and {len(others) - 4:,} more" if len(others) > 4 else ""
    finding = REPEATED.finding(
        f"{message}, and is live together with {', '.join(others[:4])}{more} there",
        location,
        about=(resource,),
    )
    return replace(finding, judgment="safety")


KIND = Rule(
    id="slot.kind",
    summary="A slot of one member is dedicated, a slot of several an ordered wave.",
    why="The runtime reuses the bytes within a step only for an ordered wave.",
    fix="Set `kind` by the number of members; remove a slot without members.",
    source=POOLS,
    example=Example(
        "fragment", {"/memory/dynamic_pools/0/step_resource_slots/0/kind": "dedicated"}
    ),
)
FORM = frozenset({NOT_CANONICAL.id, KIND.id})
"""Rules of how slots are written, whatever they hold."""

NOT_TRANSIENT = Rule(
    id="slot.not-transient",
    summary="Only token-scaled activation values share a slot.",
    why="Anything else may be read outside the interval between its first and last user.",
    fix="Give the resource a dedicated slot.",
    source="seed 000, `is_reusable_step_activation`",
    judgment="safety",
    example=Example(
        "fragment",
        {
            "/memory/dynamic_pools/0/step_resource_slots/2": {
                "kind": "ordered_single_fence_step_wave",
                "resource_ids": ["act/mask", "act/output"],
            },
            "/memory/dynamic_pools/0/step_resource_slots/1": {
                "kind": "dedicated",
                "resource_ids": ["act/key"],
            },
        },
    ),
)

DERIVE = "seed 000, `derive_pool_step_slots`"
RETAINED_SHARED = Rule(
    id="slot.retained-shared",
    summary="A retained completion resource has a slot of its own.",
    why="It is read after the terminal fence, when a later member has already overwritten it.",
    fix="Give the resource a dedicated slot.",
    source=DERIVE,
    judgment="safety",
    example=Example("fragment", {"/retained_completion_resources": ["act/output"]}),
)


def _check_slot(
    facts: Expected,
    slot: StepSlot,
    sole: list[str],
    members: dict[str, DynamicDescriptor],
    *,
    name: str,
    location: str,
) -> Iterator[Finding]:
    count = len(slot.resource_ids)
    wanted = "dedicated" if count == 1 else "ordered_single_fence_step_wave"
    if count == 0:
        yield KIND.finding(f"{name} has no member", f"{location}/resource_ids")
    elif slot.kind != wanted:
        yield KIND.finding(
            f"{name} is {slot.kind}, but has {count:,} member{'s' if count > 1 else ''}",
            f"{location}/kind",
            expected=wanted,
            actual=slot.kind,
        )
    if len(sole) < 2:
        return
    if any(
        left > right for left, right in zip(slot.resource_ids, slot.resource_ids[1:], strict=False)
    ):
        yield NOT_CANONICAL.finding(
            f"the members of {name} do not ascend by id", f"{location}/resource_ids"
        )
    for index, resource in enumerate(slot.resource_ids):
        member = members.get(resource)
        if member is None:
            continue
        if resource not in facts.faulty and not is_transient_activation(member):
            finding = NOT_TRANSIENT.finding(
                f"{name} shares the bytes of `{resource}`, which is no token-scaled activation "
                f"value (usage {member.usage}, demand {member.demand.tag})",
                f"{location}/resource_ids/{index}",
            )
            # An activation that grows otherwise is dead after its last user all the same.
            is_dead = member.usage == "activations" and member.kind == "value"
            yield replace(finding, judgment="conformance") if is_dead else finding
        elif resource in facts.subject.kept:
            finding = RETAINED_SHARED.finding(
                f"{name} shares the bytes of `{resource}`, which is read after the terminal fence",
                f"{location}/resource_ids/{index}",
                about=(resource,),
            )
            comes_last = _comes_last(facts, resource, sole)
            yield replace(finding, judgment="conformance") if comes_last else finding


def _comes_last(facts: Expected, resource: str, members: Iterable[str]) -> bool:
    """Whether all others are used before it in plan order, so that nobody writes it afterwards.

    Whether they are dead by then in every run is the question that all members are asked.
    """
    users = {} if facts.order is None else facts.order.users
    first = users.get(resource, [-1])[0]
    return all(users.get(other, [first])[-1] < first for other in members if other != resource)
