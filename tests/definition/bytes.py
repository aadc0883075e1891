"""Lost bytes, by definition: what can go wrong with a plan's bytes in some run of its nodes.

All runs that an execution model admits are tried, at every shape that can matter. What has
nothing to do with the order of nodes stands in ``bounds``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.definition.bounds import Misfit, misfits
from tests.definition.lives import lives_of
from tests.definition.places import touches
from tests.definition.plan_parts import Plan, plan_of, steps
from tests.definition.runs import run_where, waits_of
from tests.definition.suspects import (
    Suspect,
    coincidences,
    losses,
    meetings,
    misplaced,
    races,
    shared,
    stale,
    unclaimed,
    unwritten,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tests.definition.runs import Run, Waits
    from tests.definition.sizes import Json, Shape


@dataclass(frozen=True)
class Fault:
    """Bytes that are lost: what happens, to whom, at which shape, and in which run.

    Bytes count from the start of the resource's arena. ``run`` is empty where order plays no part.
    """

    kind: str
    nodes: tuple[str, ...]
    resource: str
    start: int = 0
    end: int = 0
    value: str | None = None
    shape: Shape | None = None
    run: tuple[tuple[str, str], ...] = ()


def faults(document: Json, execution: str) -> list[Fault]:
    """Every way in which the plan loses a byte when its nodes run as the model says."""
    plan = plan_of(document)
    waits = waits_of(plan.nodes)
    found = [_of_misfit(each) for each in misfits(plan)]
    lives = lives_of(plan)
    tried: set[tuple[object, ...]] = set()
    for suspects in (stale(lives), shared(plan), misplaced(plan), unclaimed(plan)):
        found += _told(plan, execution, waits, suspects, shape=None, tried=tried)
    for shape in steps(plan):
        touched = touches(plan, shape)
        found += _told(
            plan, execution, waits, unwritten(plan, touched, lives), shape=shape, tried=tried
        )
        for one, other in meetings(touched):
            of_both = [
                *races(one, other),
                *coincidences(one, other, lives),
                *losses(one, other, lives, plan),
            ]
            found += _told(plan, execution, waits, of_both, shape=shape, tried=tried)
    return found


def _told(
    plan: Plan,
    model: str,
    waits: Waits,
    suspects: Iterable[Suspect],
    *,
    shape: Shape | None,
    tried: set[tuple[object, ...]],
) -> Iterator[Fault]:
    """The suspects that some run makes faults, each at the first shape only."""
    for each in suspects:
        if (each.kind, each.nodes, each.resource, each.value) in tried:
            continue
        tried.add((each.kind, each.nodes, each.resource, each.value))
        run = run_where(model, waits, each.holds, each.then)
        if run is not None:
            names = tuple(plan.nodes[at]["id"] for at in each.nodes)
            where = (each.resource, each.start, each.end, each.value, shape)
            yield Fault(each.kind, names, *where, _named(plan, run))


def _named(plan: Plan, run: Run) -> tuple[tuple[str, str], ...]:
    return tuple((event, plan.nodes[at]["id"]) for event, at in run)


def _of_misfit(misfit: Misfit) -> Fault:
    end = misfit.needs or 0
    return Fault(
        misfit.kind, misfit.nodes, misfit.resource, misfit.has or 0, end, None, misfit.shape
    )
