"""Where the concrete checks have judged order: only there can proofs contradict them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrum_verify.rules.expected import Expected


def judged_places(facts: Expected) -> frozenset[str]:
    """The pointers of the slots, and of the rows of pools, whose pairs are all judged.

    A slot with a stranger in it is not: what that one clashes with is told of the stranger.
    """
    if facts.order is None:
        return frozenset()
    at = f"{facts.subject.places.memory}/dynamic_pools"
    places = {f"{at}/{index}/invocation_liveness" for index, _ in facts.pools.values()}
    own = {
        group: {row.base_resource_id for row in rows if row.lifetime == "step"}
        for group, rows in facts.groups.items()
    }
    for (group, index), safety in facts.slot_safety.items():
        number, pool = facts.pools[group]
        members = pool.step_resource_slots[index].resource_ids
        if not safety.unnamed and own[group].issuperset(members):
            places.add(f"{at}/{number}/step_resource_slots/{index}")
    return frozenset(places)
