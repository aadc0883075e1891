"""Best slots: the bound, the partition and all of their judges, without OR-tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.figure import Figure, Group
from benchmarks.measure import exponent, seconds
from benchmarks.plans import decoder_fragment
from ferrum_verify import best_slots

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.counterexamples import Execution

LAYERS = (16, 32, 64, 128, 256)
MODELS: tuple[Execution, ...] = ("fenced", "concurrent")


def deep() -> Iterator[Figure]:
    """A plan of 80 layers, under both models."""
    fragment = decoder_fragment(80)
    for execution in MODELS:
        taken = seconds(lambda e=execution: best_slots(fragment, e), 3)  # type: ignore[misc]
        assert all(pool.proved for pool in best_slots(fragment, execution).pools)
        yield Figure(f"80 layers, {execution}: best slots", taken, 3, "s")


def growth() -> Iterator[Figure]:
    """How the cost grows from 16 to 256 layers."""
    for execution in MODELS:
        times = []
        for layers in LAYERS:
            fragment = decoder_fragment(layers)
            times.append(seconds(lambda f=fragment, e=execution: best_slots(f, e), 3))  # type: ignore[misc]
        yield Figure(
            f"16 to 256 layers, {execution}: exponent of best slots", exponent(LAYERS, times), 2
        )


SLOTS = (Group("slots-deep", deep), Group("slots-growth", growth))
