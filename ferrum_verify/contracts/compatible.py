"""Changes that take nothing from a plan of BASE: one rule, and the aspect of each as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ferrum_verify.contracts.examples import PREFIX, changed
from ferrum_verify.findings import Rule

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding

Aspect = Literal[
    "provider-added",
    "capability-added",
    "storage-profile-added",
    "format-added",
    "checkpoint-added",
    "prefix-widened",
    "suffix-widened",
    "span-restated",
    "state-port-added",
    "input-dependency-narrowed",
    "numerics-bitwise",
    "input-capture-gained",
    "operation-widened",
    "selectable-again",
    "device-memory-extended",
    "plan-checkpoint-kept",
    "plan-checkpoint-gained",
    "plan-checkpoint-strengthened",
    "plan-boundary-gained",
    "plan-memory-kept",
]
"""The kinds of change that need no action."""

COMPATIBLE = Rule(
    id="contract.compatible-change",
    summary="A change is compatible where HEAD adds something, permits more, or says the same in "
    "other words.",
    why="Plans of BASE keep all that they selected and all that they may do, and one that is rebuilt "
    "may gain from what is new. The `aspect` of the finding says which kind of change it is.",
    fix="Nothing has to be done.",
    source="docs/format.md, «Provider contracts»",
    severity="note",
    example=changed({f"{PREFIX}/alignment": 2}),
)


def compatible(
    aspect: Aspect, message: str, place: str, *, expected: Any = None, actual: Any = None
) -> Finding:
    """A finding of a change that needs no action.

    ``expected`` is what BASE declares and ``actual`` what HEAD does, as JSON; each stands as the
    ``value`` of an object, beside the ``aspect``.
    """
    told: dict[str, Any] = {"aspect": aspect}
    if actual is not None:
        told["value"] = actual
    return COMPATIBLE.finding(
        message, place, expected=None if expected is None else {"value": expected}, actual=told
    )


def change(
    kind: Rule | Aspect, message: str, place: str, *, expected: Any = None, actual: Any = None
) -> Finding:
    """A finding of the rule that a change breaks, or of a compatible change."""
    if isinstance(kind, Rule):
        return kind.finding(message, place, expected=expected, actual=actual)
    return compatible(kind, message, place, expected=expected, actual=actual)
