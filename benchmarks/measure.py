"""Measuring: medians of repeated calls, whole processes, and growth."""

from __future__ import annotations

import gc
import json
import math
import os
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def seconds(call: Callable[[], object], runs: int = 7) -> float:
    """The median time of one call, after one that is not counted."""
    call()
    times = []
    for _ in range(runs):
        gc.collect()
        started = time.perf_counter()
        call()
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def ratio(call: Callable[[], object], unit: Callable[[], object], runs: int = 7) -> float:
    """How many times as long a call takes as the unit: the median of pairs run in turn."""
    call()
    unit()
    ratios = []
    for _ in range(runs):
        gc.collect()
        started = time.perf_counter()
        # The unit is short, so it is run a few times to be seen above the clock's noise.
        for _ in range(5):
            unit()
        middle = time.perf_counter()
        call()
        ratios.append((time.perf_counter() - middle) / ((middle - started) / 5))
    return statistics.median(ratios)


def exponent(sizes: Sequence[float], times: Sequence[float]) -> float:
    """The slope of time over size on logarithmic axes: 1 is linear, 2 quadratic."""
    xs, ys = [math.log(size) for size in sizes], [math.log(time_) for time_ in times]
    return statistics.linear_regression(xs, ys).slope


def process_ratio(command: Sequence[str], unit: Sequence[str], runs: int = 7) -> float:
    """How many times as long a whole process takes as another: the median of pairs."""
    ratios = [_process_seconds(command) / _process_seconds(unit) for _ in range(runs + 1)]
    return statistics.median(ratios[1:])


def _process_seconds(command: Sequence[str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


def in_fresh_process(code: str) -> dict[str, Any]:
    """Run code that prints one JSON object, and add the process's peak memory in MiB."""
    tail = (
        "\nimport json, resource\n"
        "result['peak_mib'] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        "print(json.dumps(result))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code + tail],
        check=True,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer
