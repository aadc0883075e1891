"""Rules of how many steps of a schedule decide all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import DELETE, Example, Rule
from ferrum_verify.findings.wording import plural
from ferrum_verify.plan.order import MAXIMUM_NODES
from ferrum_verify.plan.unrolling import MOST_OF_STEPS, MOST_UNROLLED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.findings import Finding
    from ferrum_verify.plan.scheduled import ScheduledPlan

STEPS = "docs/execution-models.md, «Steps that overlap»"


LAGS = Rule(
    id="schedule.lags-for-ever",
    summary="After a number of steps all of a step has ended.",
    why="A node that nothing waits for may still run however many steps have begun since; then "
    "no number of steps decides whether it meets them.",
    fix="State `in_flight`, or let the host or the other stream wait for the node in each step.",
    source=STEPS,
    severity="warning",
    judgment="safety",
    undecided=True,
    example=Example(
        "schedule",
        {"/steps": {}, "/host/6": DELETE},
        also=("graph.race", "schedule.dependency-not-kept", "slot.shared-while-live"),
    ),
)
TOO_MANY = Rule(
    id="schedule.too-many-nodes",
    summary="The steps that have to be looked at have few enough nodes.",
    why=f"Up to {MAXIMUM_NODES:,} nodes are ordered, those of two steps that may overlap together. "
    f"Of more steps {MOST_OF_STEPS:,} nodes are looked at, and {MOST_UNROLLED} steps.",
    fix="Let fewer steps be in flight, or audit a part of the plan.",
    source="a limit of this verifier",
    severity="warning",
    judgment="safety",
    undecided=True,
)


def check_horizon(plan: ScheduledPlan) -> Iterator[Finding]:
    """Whether the steps that were looked at decide all others."""
    horizon = plan.horizon
    if horizon.lagging is not None:
        lagging, other = horizon.lagging
        yield LAGS.finding(
            f"`{lagging}` may lag behind for ever: however many steps later `{other}` runs, it "
            f"need not wait for `{lagging}`, so only {plan.run.steps:,} steps were judged",
        )
    elif horizon.distance is None:
        size = len(plan.run.step(0))
        yield TOO_MANY.finding(
            f"more than {plural(plan.run.steps, 'step')} of {size:,} nodes each may overlap, and "
            f"at most {MOST_UNROLLED} steps with {MOST_OF_STEPS:,} nodes (or two with "
            f"{MAXIMUM_NODES:,}) are looked at, so not all steps were judged"
        )
