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
    "replay-gained",
    "materializer-exact",
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
    why="Plans of BASE keep all that they selected and all that they may do, and one that is "
    "rebuilt may gain from what is new. The `aspect` says which kind of change it is.",
    fix="Nothing has to be done.",
    source="docs/format.md, «Provider contracts»",
    severity="note",
    example=changed({f"{PREFIX}/alignment": 2}),
)


def change(
    kind: Rule | Aspect, message: str, place: str, *, expected: Any = None, actual: Any = None
) -> Finding:
    """A finding of the rule that a change breaks, or of a compatible change of some aspect.

    ``expected`` is what BASE declares and ``actual`` what HEAD does, as JSON. Of a compatible
    change each stands as the ``value`` of an object, beside the ``aspect``.
    """
    if isinstance(kind, Rule):
        return kind.finding(message, place, expected=expected, actual=actual)
    told: dict[str, Any] = {"aspect": kind}
    if actual is not None:
        told["value"] = actual
    was = None if expected is None else {"value": expected}
    return COMPATIBLE.finding(message, place, expected=was, actual=told)
