"""Retained completion resources: whether they can be read after the terminal fence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ferrum_verify.findings import Example, Finding, Rule

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ferrum_verify.documents.memory_plan import (
        MemoryPlan,
    )
    from ferrum_verify.documents.problem import PlanningProblem


RETAINED_UNKNOWN = Rule(
    id="slot.retained-unknown",
    summary="A retained completion resource is a dynamic resource of the plan.",
    why="There are no bytes to retain.",
    fix="Name a dynamic descriptor, or retain nothing.",
    source="seed 000, `from_core_with_completion_retention`",
    example=Example("problem", {"/retained_completion_resources": ["act/lost"]}),
)
RETAINED_UNREADABLE = Rule(
    id="slot.retained-unreadable",
    summary="A retained completion resource is an activation of step or request lifetime.",
    why="No other resource still holds a node's output when the step has completed.",
    fix="Retain a Step or Request activation.",
    source="seed 000, `from_core_with_completion_retention`",
    example=Example("problem", {"/retained_completion_resources": ["state/cache"]}),
)


def check_retained(
    retained: Iterable[str], plan: MemoryPlan | PlanningProblem, location: str
) -> Iterator[Finding]:
    """Whether the retained completion resources can be read after the terminal fence."""
    if not retained:
        return
    rows = {row.base_resource_id: row for row in plan.dynamic_descriptors}
    for resource in sorted(retained):
        row = rows.get(resource)
        if row is None:
            yield RETAINED_UNKNOWN.finding(
                f"retained completion resource `{resource}` has no dynamic descriptor", location
            )
        elif row.usage != "activations" or row.lifetime not in ("step", "request"):
            yield RETAINED_UNREADABLE.finding(
                f"retained completion resource `{resource}` has usage {row.usage} and lifetime "
                f"{row.lifetime}, but only a step or request activation can be read then",
                location,
            )
