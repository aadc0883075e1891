"""How to part two resources that share a slot and live together: the least that would do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.derive.best_slots import largest_shape_of
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import byte_count
from ferrum_verify.plan.sharing import wanted_order
from ferrum_verify.plan.sizes import bytes_at

if TYPE_CHECKING:
    from ferrum_verify.plan.order import HappensBefore
    from ferrum_verify.rules.expected import Expected


def clash_remedy(facts: Expected, left: str, right: str) -> str | None:
    """The dependencies that would order the two, and the bytes of a slot for the smaller one.

    None where neither can be told. Other pairs of the slot may want more.
    """
    ways = []
    if facts.order is not None:
        missing = _missing(wanted_order(left, right, facts.order, facts.execution), facts.order)
        if missing and len(missing) == 1:
            earlier, later = (facts.order.nodes[place].id for place in missing[0])
            ways.append(f"add a dependency from `{earlier}` to `{later}`")
        elif missing:
            ways.append(f"add {len(missing):,} dependencies")
    own = _own_slot(facts, left, right)
    if own is not None:
        ways.append(own)
    return ", or ".join(ways) or None


def _missing(wanted: list[tuple[int, int]], order: HappensBefore) -> list[tuple[int, int]] | None:
    """The dependencies that are wanted and implied by none of the others; None if one cannot be."""
    if any(earlier >= later for earlier, later in wanted):
        return None
    missing = [pair for pair in wanted if not order.precedes(*pair)]
    return [
        (earlier, later)
        for earlier, later in missing
        if not any(
            (one == earlier or order.precedes(earlier, one))
            and (other == later or order.precedes(other, later))
            for one, other in missing
            if (one, other) != (earlier, later)
        )
    ]


def _own_slot(facts: Expected, left: str, right: str) -> str | None:
    if not facts.faulty.isdisjoint((left, right)):
        return None
    rows = [facts.descriptors[name] for name in (left, right)]
    try:
        sizes = bytes_at(rows, largest_shape_of(rows))
    except SizeError:
        return None
    # The slot stays as large as the other one, which is no smaller.
    smaller = min(sizes, key=lambda name: (sizes[name], name))
    return f"give `{smaller}` a slot of its own, which takes {byte_count(sizes[smaller])} more"
