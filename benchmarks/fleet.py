"""A fleet: many plans with an empty cache and a warm one, by several processes, by a cluster."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.figure import Figure, Group
from benchmarks.plans_of_a_fleet import write_fleet

if TYPE_CHECKING:
    from collections.abc import Iterator

FEW, SOME, MANY = 100, 200, 1_000


class Taken(NamedTuple):
    """What a run took: seconds, and MiB of its first process at its peak."""

    seconds: float
    peak_mib: float


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


@cache
def _plans() -> list[str]:
    return [str(path) for path in write_fleet(Path(_folder().name), MANY)]


def _audit(count: int, *options: str) -> Taken:
    command = [sys.executable, "-m", "ferrum_verify", "audit", "--format", "json", "-o", os.devnull]
    started = time.perf_counter()
    process = subprocess.Popen([*command, *options, *_plans()[:count]], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, process.returncode
    return Taken(time.perf_counter() - started, usage.ru_maxrss / 1024)


def remembered() -> Iterator[Figure]:
    """Proofs with an empty cache in units of no proofs, and again in units of the first time."""
    _plans()
    without = _audit(SOME, "--no-prove", "--no-cache").seconds
    with tempfile.TemporaryDirectory() as folder:
        cold = _audit(SOME, "--cache", folder).seconds
        warm = _audit(SOME, "--cache", folder).seconds
    again = _audit(SOME, "--no-prove", "--no-cache").seconds
    unit = (without + again) / 2
    yield Figure(f"{SOME} plans, empty cache: in units of --no-prove", cold / unit, 2.5, "×")
    yield Figure(f"{SOME} plans, warm cache: in units of the empty one", warm / cold, 0.15, "×")


def processes() -> Iterator[Figure]:
    """Two processes against one, and memory against the number of documents."""
    few = _audit(FEW, "--no-cache").peak_mib
    one = _audit(MANY, "--no-cache")
    two = _audit(MANY, "--no-cache", "--jobs", "2").seconds
    yield Figure(f"{MANY:,} plans, --jobs 2: times as fast", one.seconds / two, 1.7, "×", True)
    yield Figure(f"{MANY:,} plans against {FEW}: peak memory", one.peak_mib / few, 1.2, "×")
    if find_spec("distributed") is None:
        return
    from distributed import LocalCluster  # noqa: PLC0415 - an extra

    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        by_dask = _audit(MANY, "--no-cache", "--dask", cluster.scheduler_address).seconds
    yield Figure(
        f"{MANY:,} plans, --dask with two workers: times as fast",
        one.seconds / by_dask,
        1.5,
        "×",
        True,
    )


FLEET = (Group("fleet-remembered", remembered), Group("fleet-processes", processes))
