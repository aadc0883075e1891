"""The proof path: whole audits with every claim put to the solver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.concrete import largest_plan_code
from benchmarks.figure import Figure, Group
from benchmarks.measure import exponent, in_fresh_process, ratio, seconds
from benchmarks.plans import decoder_fragment, fragment_64, staged_schedule
from ferrum_verify import audit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ferrum_verify.counterexamples import Execution

REFERENCE_SECONDS = 28.0
"""What the reference engine takes to re-derive the 64-layer plan; it proves nothing."""

LAYERS = (16, 64, 128, 256)
LIMITS: tuple[tuple[Execution, float], ...] = (("fenced", 2), ("concurrent", 4))


def decoder() -> Iterator[Figure]:
    """The 64-layer plan, proofs included."""
    fragment = fragment_64()
    for execution, limit in LIMITS:
        taken = seconds(lambda e=execution: audit(fragment, execution=e), 3)  # type: ignore[misc]
        report = audit(fragment, execution=execution)
        assert report.verdict == "verified", report.findings
        yield Figure(f"decoder-64, {execution}: audit with proofs", taken, limit, "s")
        yield Figure(
            f"decoder-64, {execution}: times as fast as the reference engine",
            REFERENCE_SECONDS / taken,
            10,
            "×",
            at_least=True,
        )


def growth() -> Iterator[Figure]:
    """How the cost of proving grows from 16 to 256 layers."""
    for execution in ("fenced", "concurrent"):
        times = []
        for layers in LAYERS:
            fragment = decoder_fragment(layers)
            times.append(
                seconds(lambda f=fragment, e=execution: audit(f, execution=e), 3)  # type: ignore[misc]
            )
        yield Figure(
            f"16 to 256 layers, {execution}: exponent of proving", exponent(LAYERS, times), 1.4
        )


def schedules() -> Iterator[Figure]:
    """The 64-layer plan on four streams, in units of its audit under ``concurrent``."""
    fragment = fragment_64()

    def concurrent() -> object:
        return audit(fragment, execution="concurrent")

    for name, steps, limit in (("four streams", None, 6), ("three steps in flight", 3, 20)):
        schedule = staged_schedule(steps)
        report = audit(fragment, schedule=schedule)
        assert report.verdict == "verified", report.findings
        yield Figure(
            f"decoder-64, {name}: audit with proofs, in units of concurrent",
            ratio(lambda s=schedule: audit(fragment, schedule=s), concurrent, 3),  # type: ignore[misc]
            limit,
            "×",
        )


def largest() -> Iterator[Figure]:
    """The plan of the most layers that the engine can encode."""
    answer = in_fresh_process(largest_plan_code("largest_legal_fragment", prove=True))
    assert (answer["verdict"], answer["undecided"]) == ("verified", 0), answer
    yield Figure("16 MiB fragment: audit with proofs", answer["seconds"], 60, "s")
    yield Figure("16 MiB fragment: peak memory with proofs", answer["peak_mib"], 2048, "MiB")


PROOFS = (
    Group("prove-decoder", decoder),
    Group("prove-growth", growth),
    Group("prove-schedules", schedules),
    Group("prove-largest", largest),
)
