"""Step slots: which Step resources share bytes, and whether they may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.reusable import step_slot_bytes
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.findings import DELETE, Example, Finding, Rule
from ferrum_verify.findings.wording import short_pool
from ferrum_verify.plan.sharing import MOST_PAIRS, explain_clash
from ferrum_verify.rules.pool_totals import OVERFLOW
from ferrum_verify.rules.slot_members import FORM, check_structure, in_several
from ferrum_verify.rules.slot_moves import moves_in_words, same_partition
from ferrum_verify.rules.slot_retained import check_retained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.documents.memory_plan import (
        DynamicDescriptor,
        DynamicPool,
    )
    from ferrum_verify.rules.expected import Expected

DERIVE = "seed 000, `derive_pool_step_slots`"


def check(facts: Expected) -> Iterator[Finding]:
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
        structure = list(check_structure(facts, group, members, f"{at}/{index}"))
        yield from structure
        # How slots are written does not keep anybody from telling which resources share.
        broken = any(finding.rule not in FORM for finding in structure)
        yield from _check_minimum(facts, group, pool, members, f"{at}/{index}")
        yield from _check_derived(facts, group, pool, members, f"{at}/{index}", broken=broken)
        yield from _check_order(facts, group, pool, members, f"{at}/{index}")


STEP_MINIMUM = Rule(
    id="slot.step-minimum",
    summary="A pool's step minimum is the sum of its slots, each as large as its largest member.",
    why="A step is started on this number; too small a one gives a slot fewer bytes than its "
    "largest member writes.",
    fix="Recompute `minimum_step_bytes`.",
    source="seed 000, `step_slot_bytes`",
    judgment="safety",
    example=Example("fragment", {"/memory/dynamic_pools/0/minimum_step_bytes": 64}),
)


def _check_minimum(
    facts: Expected,
    group: str,
    pool: DynamicPool,
    members: dict[str, DynamicDescriptor],
    location: str,
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
            f"the slots of pool `{short_pool(pool.pool_id)}` add up to {expected:,} bytes, more "
            "than u64 holds",
            f"{location}/minimum_step_bytes",
        )
    elif pool.minimum_step_bytes not in accepted:
        yield STEP_MINIMUM.finding(
            f"pool `{short_pool(pool.pool_id)}` has a step minimum of {pool.minimum_step_bytes:,} "
            f"bytes, but its slots need {expected:,}",
            f"{location}/minimum_step_bytes",
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
    fix="Use the engine's slots: `audit DOC --format json` has them in `expected`, and of a "
    "problem `ferrum-verify derive` prints the plan.",
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


def _check_derived(
    facts: Expected,
    group: str,
    pool: DynamicPool,
    members: dict[str, DynamicDescriptor],
    location: str,
    *,
    broken: bool,
) -> Iterator[Finding]:
    if facts.order is None or facts.structure is None:
        return
    name = f"pool `{short_pool(pool.pool_id)}`"
    unlisted = [
        resource
        for resource in members
        if not facts.order.listed.get(resource) and resource not in facts.faulty
    ]
    for resource in unlisted:
        # A node that binds it without listing it is a finding of its own.
        if not facts.order.users.get(resource):
            yield UNUSED.finding(
                f"step resource `{resource}` is used by no node", facts.place_of(resource)
            )
    if broken or unlisted or not facts.sound(facts.groups[group]):
        return
    stated = [slot.resource_ids for slot in pool.step_resource_slots]
    derived = [slot.resource_ids for slot in facts.structure[group].slots]
    if not same_partition(stated, derived):
        # A sound plan has the engine's slots, and its audit need not load what looks for others.
        from ferrum_verify.rules.slot_order import order_in_words  # noqa: PLC0415

        known, wanted = set(stated), set(derived)
        order = order_in_words(facts, facts.groups[group], stated, derived)
        yield NOT_DERIVED.finding(
            f"{name} has other slots than the engine derives: {moves_in_words(stated, derived)}"
            f"{order}",
            f"{location}/step_resource_slots",
            expected=[list(ids) for ids in derived if ids not in known],
            actual=[list(ids) for ids in stated if ids not in wanted],
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
    source="docs/execution-models.md, «How they relate»",
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
    facts: Expected,
    group: str,
    pool: DynamicPool,
    members: dict[str, DynamicDescriptor],
    location: str,
) -> Iterator[Finding]:
    """Whether members of a slot are live together, however the slots came to be."""
    if facts.order is None or facts.under is not None:
        return
    name = f"pool `{short_pool(pool.pool_id)}`"
    repeated = in_several(pool)
    for index in range(len(pool.step_resource_slots)):
        safety = facts.slot_safety.get((group, index))
        if safety is None:
            continue
        if safety.unnamed:
            yield MANY_HAZARDS.finding(
                f"slot {index} of {name} has more than the {MOST_PAIRS:,} pairs of members that "
                f"are named which are not safe under {' and '.join(safety.unnamed)}",
                f"{location}/step_resource_slots/{index}",
            )
        for left, right in safety.unsafe[facts.execution]:
            if not repeated.isdisjoint((left, right)) or not {left, right} <= members.keys():
                continue  # that one of the two is here at all is the cause, and is told
            # A sound plan has no clash, and its audit need not load what mends one.
            from ferrum_verify.rules.clash_remedy import clash_remedy  # noqa: PLC0415

            yield SHARED_WHILE_LIVE.finding(
                f"slot {index} of {name} gives the same bytes to "
                + explain_clash(left, right, facts.order, facts.execution),
                f"{location}/step_resource_slots/{index}",
                about=(left, right),
                fix=clash_remedy(facts, left, right),
            )
