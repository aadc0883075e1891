"""Counterexamples: plain data, and an independent check of what they say.

``kinds`` has the records, ``checking`` the check; the check shares no code with the
derivation, the rules or the proofs.
"""

from ferrum_verify.counterexamples.kinds import (
    ByteRange,
    Counterexample,
    Execution,
    LiveResource,
    OverlapCounterexample,
    ScheduleCounterexample,
    ScheduledNode,
    Shape,
    ShapeCounterexample,
    SpanCounterexample,
)

__all__ = [
    "ByteRange",
    "Counterexample",
    "Execution",
    "LiveResource",
    "OverlapCounterexample",
    "ScheduleCounterexample",
    "ScheduledNode",
    "Shape",
    "ShapeCounterexample",
    "SpanCounterexample",
]
