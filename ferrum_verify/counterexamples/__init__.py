"""Counterexamples: plain data, and an independent check of what they say.

``kinds`` and ``parties`` have the records, ``checking`` the check; this room imports nothing of
the package, so the check shares no code with the derivation, the rules or the proofs.
"""

from ferrum_verify.counterexamples.kinds import (
    AccessCounterexample,
    ByteRange,
    Counterexample,
    DependencyCounterexample,
    Execution,
    LiveResource,
    NamedShape,
    OverlapCounterexample,
    Runs,
    ScheduleCounterexample,
    ScheduledNode,
    Shape,
    ShapeCounterexample,
    SpanCounterexample,
    Taken,
)
from ferrum_verify.counterexamples.parties import SIDES, Party, Side, SpanConstraint

__all__ = [
    "SIDES",
    "AccessCounterexample",
    "ByteRange",
    "Counterexample",
    "DependencyCounterexample",
    "Execution",
    "LiveResource",
    "NamedShape",
    "OverlapCounterexample",
    "Party",
    "Runs",
    "ScheduleCounterexample",
    "ScheduledNode",
    "Shape",
    "ShapeCounterexample",
    "Side",
    "SpanConstraint",
    "SpanCounterexample",
    "Taken",
]
