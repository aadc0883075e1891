"""Step slots: which Step resources share bytes, and whether they may."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ferrum_verify.derive.reusable import step_slot_bytes
from ferrum_verify.derive.slots import is_transient_activation
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.findings import DELETE, Example, Finding, Rule, Swap
from ferrum_verify.plan.sharing import MOST_PAIRS, explain_clash
from ferrum_verify.rules.pool import OVERFLOW, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrum_verify.documents.memory_plan import (
        DynamicDescriptor,
        DynamicPool,
        MemoryPlan,
        StepSlot,
    )
    from ferrum_verify.documents.problem import PlanningProblem
    from ferrum_verify.rules.facts import Facts

STRUCTURE = "seed 000, validate_dynamic_pools_structure"
DERIVE = "seed 000, derive_pool_step_slots"
POOLS = "format description, pools"

RETAINED_UNKNOWN = Rule(
    id="slot.retained-unknown",
    summary="A retained completion resource is a dynamic resource of the plan.",
    why="There are no bytes to retain.",
    fix="Name a dynamic descriptor, or retain nothing.",
    source="seed 000, from_core_with_completion_retention",
    example=Example("problem", {"/retained_completion_resources": ["act/lost"]}),
)
RETAINED_UNREADABLE = Rule(
    id="slot.retained-unreadable",
    summary="A retained completion resource is an activation of step or request lifetime.",
    why="No other resource still holds a node's output when the step has completed.",
    fix="Retain a Step or Request activation.",
    source="seed 000, from_core_with_completion_retention",
    example=Example("problem", {"/retained_completion_resources": ["state/cache"]}),
)


def check_retained(
    retained: Iterable[str], plan: MemoryPlan | PlanningProblem, at: str
) -> Iterator[Finding]:
    """Whether the retained completion resources can be read after the terminal fence."""
    if not retained:
        return
    rows = {row.base_resource_id: row for row in plan.dynamic_descriptors}
    for resource in sorted(retained):
        row = rows.get(resource)
        if row is None:
            yield RETAINED_UNKNOWN.finding(
                f"retained completion resource `{resource}` has no dynamic descriptor", at
            )
        elif row.usage != "activations" or row.lifetime not in ("step", "request"):
            yield RETAINED_UNREADABLE.finding(
                f"retained completion resource `{resource}` has usage {row.usage} and lifetime "
                f"{row.lifetime}, but only a step or request activation can be read then",
                at,
            )


def check(facts: Facts) -> Iterator[Finding]:
    """All rules of the Step slots of a memory plan."""
    subject = facts.subject
    retained = subject.retained - facts.faulty
    yield from check_retained(retained, facts.memory, subject.places.retained)
    at = f"{facts.subject.places.memory}/dynamic_pools"
    for group, (index, pool) in facts.pools.items():
        members = {
            member.base_resource_id: member
            for member in facts.groups[group]
            if member.lifetime == "step"
        }
        if not members and not pool.step_resource_slots and not pool.minimum_step_bytes:
            continue
        broken = list(_check_structure(facts, pool, members, f"{at}/{index}"))
        yield from broken
        yield from _check_minimum(facts, group, pool, members, f"{at}/{index}")
        yield from _check_order(facts, group, pool, members, f"{at}/{index}", bool(broken))


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


def _check_structure(
    facts: Facts, pool: DynamicPool, members: dict[str, DynamicDescriptor], at: str
) -> Iterator[Finding]:
    name = f"pool `{short(pool.pool_id)}`"
    listed = Counter(
        resource for slot in pool.step_resource_slots for resource in slot.resource_ids
    )
    for resource in members:
        if resource not in listed and resource not in facts.faulty:
            yield MISSING.finding(
                f"step resource `{resource}` is in no slot of {name}", f"{at}/step_resource_slots"
            )
    ordered = all(
        left.resource_ids < right.resource_ids
        for left, right in zip(pool.step_resource_slots, pool.step_resource_slots[1:], strict=False)
    )
    told: set[str] = set()
    for index, slot in enumerate(pool.step_resource_slots):
        here = f"{at}/step_resource_slots/{index}"
        for resource in slot.resource_ids:
            if resource in members and listed[resource] == 1:
                continue
            if resource in told or resource in facts.faulty:
                continue
            told.add(resource)
            if resource not in members:
                yield FOREIGN.finding(
                    f"slot {index} of {name} has `{resource}`, which is no step resource of the "
                    "pool",
                    f"{here}/resource_ids",
                )
            else:
                yield REPEATED.finding(
                    f"step resource `{resource}` stands {listed[resource]} times in the slots of "
                    f"{name}",
                    f"{here}/resource_ids",
                )
        sole = [resource for resource in slot.resource_ids if listed[resource] == 1]
        yield from _check_slot(facts, slot, sole, members, f"slot {index} of {name}", here)
    if not ordered and not told:
        yield NOT_CANONICAL.finding(
            f"the slots of {name} do not ascend by their resource ids", f"{at}/step_resource_slots"
        )


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
NOT_TRANSIENT = Rule(
    id="slot.not-transient",
    summary="Only token-scaled activation values share a slot.",
    why="Anything else may be read outside the interval between its first and last user.",
    fix="Give the resource a dedicated slot.",
    source="seed 000, is_reusable_step_activation",
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
    facts: Facts,
    slot: StepSlot,
    sole: list[str],
    members: dict[str, DynamicDescriptor],
    name: str,
    at: str,
) -> Iterator[Finding]:
    count = len(slot.resource_ids)
    wanted = "dedicated" if count == 1 else "ordered_single_fence_step_wave"
    if count == 0:
        yield KIND.finding(f"{name} has no member", f"{at}/resource_ids")
    elif slot.kind != wanted:
        yield KIND.finding(
            f"{name} is {slot.kind}, but has {count:,} member{'s' if count > 1 else ''}",
            f"{at}/kind",
            expected=wanted,
            actual=slot.kind,
        )
    if len(sole) < 2:
        return
    if any(
        left > right for left, right in zip(slot.resource_ids, slot.resource_ids[1:], strict=False)
    ):
        yield NOT_CANONICAL.finding(
            f"the members of {name} do not ascend by id", f"{at}/resource_ids"
        )
    for index, resource in enumerate(slot.resource_ids):
        member = members.get(resource)
        if member is None:
            continue
        if resource not in facts.faulty and not is_transient_activation(member):
            yield NOT_TRANSIENT.finding(
                f"{name} shares the bytes of `{resource}`, which is no token-scaled activation "
                f"value (usage {member.usage}, demand {member.demand.tag})",
                f"{at}/resource_ids/{index}",
            )
        elif resource in facts.subject.retained:
            yield RETAINED_SHARED.finding(
                f"{name} shares the bytes of `{resource}`, which is read after the terminal fence",
                f"{at}/resource_ids/{index}",
                about=(resource,),
            )


STEP_MINIMUM = Rule(
    id="slot.step-minimum",
    summary="A pool's step minimum is the sum of its slots, each as large as its largest member.",
    why="A step is started on this number; too small a one gives a slot fewer bytes than its "
    "largest member writes.",
    fix="Recompute `minimum_step_bytes`.",
    source="seed 000, step_slot_bytes",
    judgment="safety",
    example=Example("fragment", {"/memory/dynamic_pools/0/minimum_step_bytes": 64}),
)


def _check_minimum(
    facts: Facts,
    group: str,
    pool: DynamicPool,
    members: dict[str, DynamicDescriptor],
    at: str,
) -> Iterator[Finding]:
    listed = [resource for slot in pool.step_resource_slots for resource in slot.resource_ids]
    if any(resource not in facts.minimum for resource in (*listed, *members)):
        return
    filled = [slot for slot in pool.step_resource_slots if slot.resource_ids]
    expected = step_slot_bytes(filled, facts.minimum)
    derived = facts.derived_pools.get(group)
    accepted = {expected} if derived is None else {expected, derived.minimum_step_bytes}
    if expected > U64_MAX:
        yield OVERFLOW.finding(
            f"the slots of pool `{short(pool.pool_id)}` add up to {expected:,} bytes, more than "
            "u64 holds",
            f"{at}/minimum_step_bytes",
        )
    elif pool.minimum_step_bytes not in accepted:
        yield STEP_MINIMUM.finding(
            f"pool `{short(pool.pool_id)}` has a step minimum of {pool.minimum_step_bytes:,} "
            f"bytes, but its slots need {expected:,}",
            f"{at}/minimum_step_bytes",
            expected=expected,
            actual=pool.minimum_step_bytes,
        )


UNUSED = Rule(
    id="slot.unused-resource",
    summary="Every Step resource is used by a node.",
    why="Without a first and last user the resource has no life, and no slot can be derived.",
    fix="List the resource in the nodes that use it, or remove its descriptor.",
    source=DERIVE,
    example=Example(
        "problem",
        {
            "/nodes/0/resources": ["act/embedded", "input/tokens", "weight/embed"],
            "/nodes/3/resources/2": DELETE,
        },
    ),
)
NOT_DERIVED = Rule(
    id="slot.not-derived",
    summary="A pool's slots are those that the engine derives.",
    why="The engine re-derives them and refuses a plan with others, even when they are safe.",
    fix="Use the slots that the finding expects.",
    source=DERIVE,
    example=Example(
        "fragment",
        {
            "/memory/dynamic_pools/0/step_resource_slots": [
                {"kind": "dedicated", "resource_ids": ["act/attention"]},
                {"kind": "dedicated", "resource_ids": ["act/embedded"]},
                {
                    "kind": "ordered_single_fence_step_wave",
                    "resource_ids": ["act/key", "act/output"],
                },
                {"kind": "dedicated", "resource_ids": ["act/mask"]},
                {"kind": "dedicated", "resource_ids": ["act/query"]},
            ]
        },
    ),
)
MANY_HAZARDS = Rule(
    id="slot.many-hazards",
    summary=f"A slot has at most {MOST_PAIRS:,} unsafe pairs in any model, so that all are named.",
    why="A slot of thousands of members that all clash has millions of unsafe pairs, and they "
    "have one cause.",
    fix="Derive the slots anew; then the pairs that are left can be looked at one by one.",
    source="a limit of this verifier",
    judgment="safety",
    severity="note",
)
SHARED_WHILE_LIVE = Rule(
    id="slot.shared-while-live",
    summary="Two members of a slot are never live together under the chosen execution model.",
    why="The later one overwrites the earlier one before its last reader has run: the model "
    "answers nonsense, silently.",
    fix="Put the two resources into different slots, or add the dependency that orders them.",
    source="format description, three execution models",
    judgment="safety",
    example=Example(
        "fragment",
        {
            "/memory/dynamic_pools/0/step_resource_slots/1": {
                "kind": "ordered_single_fence_step_wave",
                "resource_ids": ["act/key", "act/query"],
            },
            "/memory/dynamic_pools/0/step_resource_slots/3": {
                "kind": "dedicated",
                "resource_ids": ["act/output"],
            },
        },
        also=("slot.not-derived",),
    ),
)


def _check_order(
    facts: Facts,
    group: str,
    pool: DynamicPool,
    members: dict[str, DynamicDescriptor],
    at: str,
    broken: bool,
) -> Iterator[Finding]:
    if facts.order is None or facts.structure is None:
        return
    name = f"pool `{short(pool.pool_id)}`"
    unused = [
        resource
        for resource in members
        if not facts.order.users.get(resource) and resource not in facts.faulty
    ]
    for resource in unused:
        yield UNUSED.finding(
            f"step resource `{resource}` is used by no node", facts.place_of(resource)
        )
    if broken or unused or not facts.sound(facts.groups[group]):
        return
    stated = [slot.resource_ids for slot in pool.step_resource_slots]
    derived = [slot.resource_ids for slot in facts.structure[group].slots]
    if stated != derived:
        ours = [list(ids) for ids in derived if ids not in stated]
        theirs = [list(ids) for ids in stated if ids not in derived]
        yield NOT_DERIVED.finding(
            f"the engine derives other slots for {name}: "
            f"{_lists(ours)} instead of {_lists(theirs)}",
            f"{at}/step_resource_slots",
            expected=ours,
            actual=theirs,
        )
    for (at_pool, index), safety in facts.slot_safety.items():
        if at_pool != group:
            continue
        if not safety.named_in_full:
            model, count = max(safety.counts.items(), key=lambda each: each[1])
            yield MANY_HAZARDS.finding(
                f"slot {index} of {name} has {count:,} pairs of members that are not safe under "
                f"{model}, of which {MOST_PAIRS:,} are named",
                f"{at}/step_resource_slots/{index}",
            )
        for left, right in safety.unsafe[facts.execution]:
            yield SHARED_WHILE_LIVE.finding(
                f"slot {index} of {name} gives the same bytes to "
                + explain_clash(left, right, facts.order, facts.execution),
                f"{at}/step_resource_slots/{index}",
                about=(left, right),
            )


def _lists(slots: list[list[str]]) -> str:
    def one(ids: list[str]) -> str:
        shown = ", ".join(f"`{resource}`" for resource in ids[:4])
        return f"{{{shown}{f' and {len(ids) - 4:,} more' if len(ids) > 4 else ''}}}"

    more = f" and {len(slots) - 2:,} more" if len(slots) > 2 else ""
    return " ".join(one(ids) for ids in slots[:2]) + more
