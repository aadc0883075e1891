"""Where the device's bytes go, and how many sequences of how many tokens have room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.findings.wording import byte_count, plural
from ferrum_verify.plan.frontier import CURVE_POINTS, Headroom, capacity_of, curve
from ferrum_verify.report.headroom import scheduled_tokens, sizes_are_sound
from ferrum_verify.report.html.picture import exact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.documents.memory_plan import MemoryPlan
    from ferrum_verify.findings import Finding
    from ferrum_verify.reading.document import Subject


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the device's bytes; ``percent`` is of all of them."""

    name: str
    style: str
    bytes: int
    percent: float

    @property
    def words(self) -> str:
        """The part's bytes in words, exact where those are rounded."""
        short = byte_count(self.bytes)
        return short if short.endswith(" B") else f"{short} ({self.bytes:,} bytes)"


def capacity_parts(memory: MemoryPlan) -> list[Part]:
    """The device's bytes, from what is always taken to what is left; empty where a plan's own
    totals do not fit its device, which the capacity rules report.
    """
    spoken_for = memory.static_bytes + memory.minimum_runnable_request_bytes
    free = memory.usable_capacity_bytes - spoken_for
    granted = memory.usable_capacity_bytes + memory.reserve_bytes
    outside = memory.device_capacity_bytes - granted
    if free < 0 or outside < 0 or memory.device_capacity_bytes == 0:
        return []
    parts = (
        ("static allocations", "plan", memory.static_bytes),
        ("request, smallest", "request", memory.minimum_request_bytes),
        ("sequence, smallest", "sequence", memory.minimum_sequence_bytes),
        ("step, smallest", "step", memory.minimum_step_bytes),
        ("invocation, smallest", "invocation", memory.minimum_invocation_peak_bytes),
        ("free for larger batches", "free", free),
        ("held in reserve", "reserve", memory.reserve_bytes),
        ("not granted by the policy", "outside", outside),
    )
    return [
        Part(name, style, size, 100 * size / memory.device_capacity_bytes)
        for name, style, size in parts
        if size
    ]


def frontier_of(
    subject: Subject, memory: MemoryPlan, findings: Sequence[Finding]
) -> list[Headroom]:
    """The frontier's points from one sequence up; empty where the plan's sizes are in doubt."""
    if not sizes_are_sound(findings):
        return []
    try:
        return curve(capacity_of(memory, scheduled_tokens(subject)), CURVE_POINTS)
    except SizeError:
        return []


def frontier_data(points: Sequence[Headroom], usable: int) -> dict[str, Any]:
    """The frontier for the page's script."""
    return {
        "usable": exact(usable),
        "points": [
            {
                "sequences": exact(point.sequences),
                "tokens": exact(point.tokens),
                "bytes": exact(point.bytes or 0),
                "memory": point.refused_bytes is not None,
                "words": point_words(point),
                "because": point.refused_because.replace("`", ""),
            }
            for point in points
        ],
    }


def point_words(point: Headroom) -> str:
    """A point of the frontier in words."""
    return (
        f"{plural(point.sequences, 'sequence')} of {plural(point.tokens, 'token')} each: "
        f"{byte_count(point.bytes or 0)}"
    )
