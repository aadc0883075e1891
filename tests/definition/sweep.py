"""Drawn plans and their mutations under all models: ``python -m tests.definition.sweep --help``."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from tests.definition.agreement import compare
from tests.definition.bytes import faults
from tests.definition.mutations import DRAFTS, PLANNED
from tests.definition.planning import settle, stamp
from tests.definition.plans import draw
from tests.definition.runs import MODELS
from tests.definition.sizes import Json, RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNK = 500

Key = tuple[str, str, tuple[str, ...]]


class Mutant(NamedTuple):
    """A plan that was drawn, and the mutations it went through."""

    document: Json
    mutations: tuple[str, ...]

    def size(self) -> tuple[int, int, int]:
        nodes = self.document["plan"]["payload"]["nodes"]
        text = json.dumps(self.document)
        return len(nodes), len(self.mutations), len(text)


def mutants(seed: int, count: int) -> Iterator[Mutant]:
    """So many plans: one in ten as it was drawn, the others with one to three mutations."""
    random = Random(seed)
    while count:
        document = draw(random)
        body = document["plan"]["payload"]
        chosen = random.choices(DRAFTS, k=random.choice([0, 1, 1, 1, 1, 1, 1, 1, 2, 3]))
        names = [mutation.__name__ for mutation in chosen if mutation(random, body)]
        try:
            settle(document)
        except RefusedError:
            continue
        mutation = random.choice(PLANNED)
        if random.random() < 0.25 and mutation(random, body):
            names.append(mutation.__name__)
            stamp(document)
        yield Mutant(document, tuple(names))
        count -= 1


def swept(seed: int, count: int) -> tuple[Counter[Key], dict[Key, Mutant]]:
    """How often each outcome came under each model, and the smallest plan of each that is bad."""
    counts: Counter[Key] = Counter()
    smallest: dict[Key, Mutant] = {}
    for mutant in mutants(seed, count):
        for model in MODELS:
            outcome = compare(mutant.document, model)
            key = (model, *outcome)
            counts[key] += 1
            if not outcome.agrees:
                smallest[key] = min(smallest.get(key, mutant), mutant, key=Mutant.size)
    return counts, smallest


def main() -> None:
    """Sweep, say in a line how it went, and then what disagrees."""
    parser = argparse.ArgumentParser(description="Hold the verifier to the definition of bytes.")
    parser.add_argument("--plans", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--dump", type=Path, help="write the smallest plan of each disagreement")
    options = parser.parse_args()
    begun = time.monotonic()
    sizes = [CHUNK] * (options.plans // CHUNK) + [options.plans % CHUNK]
    seeds = [options.seed * 1_000_003 + at for at in range(len(sizes))]
    counts: Counter[Key] = Counter()
    smallest: dict[Key, Mutant] = {}
    with ProcessPoolExecutor(options.jobs) as pool:
        for some, examples in pool.map(swept, seeds, sizes):
            counts += some
            for key, mutant in examples.items():
                smallest[key] = min(smallest.get(key, mutant), mutant, key=Mutant.size)
    names: Counter[str] = Counter()
    for (_, name, _), number in counts.items():
        names[name] += number
    told = ", ".join(f"{name} {number:,}" for name, number in sorted(names.items()))
    seconds = time.monotonic() - begun
    print(f"{options.plans:,} plans in {len(MODELS)} models, {seconds:.0f} s: {told}")
    for key, mutant in sorted(smallest.items()):
        model, name, about = key
        print(f"{counts[key]:>7,}  {model}: {name} {', '.join(about)} ({mutant.mutations})")
        if options.dump is not None:
            dump(options.dump, key, mutant)


def dump(folder: Path, key: Key, mutant: Mutant) -> None:
    """Write a plan, and beside it what the definition says of it."""
    model, name, about = key
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"{name}.{model}.{'+'.join(about)}"
    (folder / f"{stem}.json").write_text(json.dumps(mutant.document))
    found = [repr(fault) for fault in faults(mutant.document, model)]
    lines = [f"mutations: {', '.join(mutant.mutations) or 'none'}", *found]
    (folder / f"{stem}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
