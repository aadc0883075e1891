"""Hostile documents through every command and format: ``python -m tests.fuzz --help``."""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle
from pathlib import Path
from random import Random

from tests.fuzz.calls import CALLS, MOST_SECONDS, SAMPLED, called
from tests.fuzz.corpus import corpus
from tests.fuzz.mutations import mutated

MOST_MEMORY_MIB = 1024
_CHUNK = 5_000


@dataclass(slots=True)
class Tally:
    """What came of the calls, and one document of each fault."""

    calls: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    faults: dict[str, bytes] = field(default_factory=dict)
    slowest: float = 0.0
    memory_mib: int = 0

    def __iadd__(self, other: Tally) -> Tally:
        self.calls += other.calls
        self.outcomes += other.outcomes
        self.faults = other.faults | self.faults
        self.slowest = max(self.slowest, other.slowest)
        self.memory_mib = max(self.memory_mib, other.memory_mib)
        return self

    def line(self, seed: int, seconds: float) -> str:
        """All of it in one line."""
        return (
            f"{self.calls.total():,} documents (seed {seed}) through {len(self.calls)} of "
            f"{len(CALLS) + len(SAMPLED)} commands with formats: "
            f"{self.outcomes['internal error']:,} internal errors, "
            f"{self.outcomes['traceback']:,} tracebacks, "
            f"{self.outcomes['hidden text']:,} outputs that hide text, "
            f"{self.outcomes['over time']:,} over {MOST_SECONDS:.0f} s, "
            f"{int(self.memory_mib > MOST_MEMORY_MIB)} over {MOST_MEMORY_MIB:,} MiB; "
            f"at most {self.slowest:.1f} s and {self.memory_mib:,} MiB; {seconds / 60:.0f} minutes"
        )


_material = cache(corpus)


def fuzz(documents: int, seed: str) -> Tally:
    """Put so many documents through the commands, one each, all of them in turn."""
    random = Random(seed)
    material = _material()
    tally = Tally()
    names = list(CALLS)
    random.shuffle(names)
    turns = cycle(names)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        os.chdir(folder)
        for number in range(documents):
            document = mutated(random, material)
            name = next((each for each, rest in SAMPLED.items() if number % 500 == rest), None)
            name = name or next(turns)
            outcome = called(name, document, random, material)
            tally.calls[name] += 1
            tally.outcomes[outcome.kind] += 1
            tally.slowest = max(tally.slowest, outcome.seconds)
            if outcome.fault is not None:
                tally.faults.setdefault(f"{name}: {outcome.fault}", document)
        os.chdir("/")
    tally.memory_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return tally


def main() -> int:
    """Say in the last line how it went; 1 where anything is at fault."""
    parser = argparse.ArgumentParser(description="Put hostile documents through all commands.")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--dump", type=Path, help="a folder for one document of each fault")
    given = parser.parse_args()
    dump = None if given.dump is None else given.dump.absolute()
    started = time.monotonic()
    whole = Tally()
    starts = range(0, given.documents, _CHUNK)
    counts = [min(_CHUNK, given.documents - start) for start in starts]
    seeds = [f"{given.seed}/{start}" for start in starts]
    with ProcessPoolExecutor(given.jobs) as pool:
        for tally in pool.map(fuzz, counts, seeds):
            for fault, document in tally.faults.items():
                if fault in whole.faults:
                    continue
                print(fault, file=sys.stderr, flush=True)
                if dump is not None:
                    dump.mkdir(parents=True, exist_ok=True)
                    (dump / f"{len(whole.faults)}.json").write_bytes(document)
                whole.faults[fault] = document
            whole += tally
            print(f"{whole.calls.total():,}", file=sys.stderr, flush=True)
    print(whole.line(given.seed, time.monotonic() - started), flush=True)
    return int(bool(whole.faults) or whole.memory_mib > MOST_MEMORY_MIB)


if __name__ == "__main__":
    sys.exit(main())
