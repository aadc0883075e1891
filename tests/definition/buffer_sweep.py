"""Drawn buffer plans, and mutants of imported ones, held to the definition of their bytes.

``python -m tests.definition.buffer_sweep --help`` says what can be asked.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from ferrum_verify import audit
from tests.definition import buffer_plans
from tests.definition.buffer_draws import draw
from tests.definition.buffer_mutations import MUTATIONS
from tests.definition.buffer_tape import faults_in_order
from tests.definition.runs import MODELS, moments
from tests.importers.foreign import PLANS, plan

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = Any
CHUNK = 100


class Case(NamedTuple):
    """A plan under a model, and what the definition finds wrong with it."""

    document: Json
    model: Any
    wrong: tuple[tuple[str, tuple[str, ...]], ...]


class Outcome(NamedTuple):
    """What came of a case: its model, and a word for how the answers stand to each other."""

    model: str
    word: str


KINDS = {
    "buffer.out-of-arena": "misplaced",
    "buffer.misaligned": "misplaced",
    "buffer.alias-outside": "misplaced",
    "buffer.overflow": "misplaced",
    "buffer.partial-overlap": "partial",
    "buffer.read-before-write": "unwritten",
    "buffer.shared-while-live": "together",
    "buffer.overwritten": "race",
    "buffer.race": "race",
}
"""What the definition calls that which a rule tells."""


def outcome(case: Case) -> Outcome:
    """Both answers of the verifier, without proofs and with them, beside the definition.

    They agree where the verdicts do, where all that is told is of a kind that is wrong, and where
    every pair that is told to lose bytes does. One cause gives one finding, so of what is wrong
    in several ways some may not be told.
    """
    due = "violated" if case.wrong else "verified"
    fast = audit(deepcopy(case.document), execution=case.model, prove=False)
    proved = audit(deepcopy(case.document), execution=case.model)
    if not fast.verdict == proved.verdict == due:
        return Outcome(case.model, f"{due}, and fast {fast.verdict}, proved {proved.verdict}")
    told = {KINDS.get(each.rule, each.rule) for each in proved.findings if each.severity == "error"}
    defined = {kind for kind, _ in case.wrong} - {"lost"}
    if not told <= defined or bool(told) != bool(defined):
        return Outcome(case.model, f"{due}, and told is {sorted(told)} of {sorted(defined)}")
    pairs = {about for kind, about in case.wrong if kind == "together"}
    if not _pairs(case.document, proved.findings) <= pairs:
        return Outcome(case.model, f"{due}, and a pair is told that loses nothing")
    return Outcome(case.model, due)


def _pairs(document: Json, findings: Any) -> set[tuple[str, ...]]:
    """The storages that a counterexample shows live together."""
    buffers = {each["id"]: each for each in document["buffers"]}
    pairs = set()
    for finding in findings:
        if finding.rule == "buffer.shared-while-live" and finding.counterexample is not None:
            shown = finding.counterexample.to_wire()
            names = [shown[side]["resource"] for side in ("left", "right")]
            for at in range(2):
                while "alias_of" in buffers[names[at]]:
                    names[at] = buffers[names[at]]["alias_of"]
            pairs.add(tuple(sorted(names)))
    return pairs


def drawn(seed: int, count: int) -> Iterator[Case]:
    """So many drawn plans, each under one model or another."""
    random = Random(seed)
    for _ in range(count):
        document = draw(random)
        model = random.choice(MODELS)
        wrong = {(each.kind, each.about) for each in buffer_plans.faults(document, model)}
        yield Case(document, model, tuple(sorted(wrong)))
        _forget()


def mutated(seed: int, count: int) -> Iterator[Case]:
    """So many mutants of imported plans, in order."""
    random = Random(seed)
    while count:
        document = deepcopy(_imported(random.choice(PLANS)))
        changed = [
            random.choice(MUTATIONS)(random, document) for _ in range(random.choice([1, 1, 2]))
        ]
        if any(changed):
            yield Case(document, "in-order", tuple(sorted(faults_in_order(document))))
            count -= 1


@cache
def _imported(name: str) -> Json:
    return plan(name)


def _forget() -> None:
    """What was worked out of one plan's order is of no use for the next."""
    for each in (moments, buffer_plans.meet, buffer_plans.between, buffer_plans.overlap):
        each.cache_clear()


def swept(which: str, seed: int, count: int) -> tuple[Counter[Outcome], dict[Outcome, Case]]:
    """How often each outcome came, and the smallest case of each that should not be."""
    counts: Counter[Outcome] = Counter()
    smallest: dict[Outcome, Case] = {}
    for case in (drawn if which == "plans" else mutated)(seed, count):
        found = outcome(case)
        counts[found] += 1
        if " " in found.word:
            known = smallest.setdefault(found, case)
            if len(json.dumps(case.document)) < len(json.dumps(known.document)):
                smallest[found] = case
    return counts, smallest


def main() -> int:
    """Sweep, say in a line how it went, and then what disagrees."""
    parser = argparse.ArgumentParser(prog="python -m tests.definition.buffer_sweep")
    parser.add_argument("--plans", type=int, default=20_000, help="drawn plans")
    parser.add_argument("--mutants", type=int, default=5_000, help="mutants of imported plans")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    status = 0
    for which in ("plans", "mutants"):
        begun, total = time.monotonic(), getattr(asked, which)
        sizes = [min(CHUNK, total - start) for start in range(0, total, CHUNK)]
        seeds = [asked.seed * 1_000_003 + at for at in range(len(sizes))]
        counts: Counter[Outcome] = Counter()
        smallest: dict[Outcome, Case] = {}
        with ProcessPoolExecutor(asked.jobs) as pool:
            for some, examples in pool.map(swept, [which] * len(sizes), seeds, sizes):
                counts += some
                for found, case in examples.items():
                    known = smallest.setdefault(found, case)
                    if len(json.dumps(case.document)) < len(json.dumps(known.document)):
                        smallest[found] = case
        told = ", ".join(f"{each.model} {each.word} {n:,}" for each, n in sorted(counts.items()))
        apart = sum(number for each, number in counts.items() if " " in each.word)
        print(f"{total:,} {which}, {time.monotonic() - begun:.0f} s, {apart:,} apart: {told}")
        for found, case in sorted(smallest.items()):
            status = 1
            print(
                f"{found.model}: {found.word}\n  defined: {case.wrong}\n{json.dumps(case.document)}"
            )
    return status


if __name__ == "__main__":
    raise SystemExit(main())
