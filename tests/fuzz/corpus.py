"""What hostile documents are made of: the documents that the other tests rest on, as text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import models
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.examples import broken_document, report_of
from ferrum_verify.catalogue.samples import sample
from tests.cases import case
from tests.vectors import FIXTURES, cases, fragment_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random

_SAMPLES = (
    "problem",
    "fragment",
    "memory-plan",
    "bundle",
    "workspaces",
    "plan",
    "program",
    "catalog",
    "policy",
    "schedule",
)
_PROVED = ("slot.shared-while-live", "liveness.peak", "reusable.budget", "capacity.exceeds-usable")
"""Rules whose examples show a counterexample with proofs only, some of each kind."""

_OF_A_FILE = 60
"""Documents that are taken of each file of the reference engine's answers."""


@dataclass(frozen=True, slots=True)
class Corpus:
    """Texts with how often each is drawn, and counterexamples that are borne out."""

    texts: tuple[bytes, ...]
    weights: tuple[float, ...]
    counterexamples: tuple[tuple[Any, dict[str, Any], Any], ...]
    """Documents, each with what is shown of it and the schedule that it is a run of, if any."""

    def draw(self, random: Random) -> bytes:
        """A text: short ones come more often, so that many can be tried in a minute."""
        return random.choices(self.texts, cum_weights=self.weights)[0]


def corpus() -> Corpus:
    """All of it."""
    texts = tuple(json.dumps(each, separators=(",", ":")).encode() for each in _documents())
    weights = tuple(accumulate(len(text) ** -1.5 for text in texts))
    return Corpus(texts, weights, tuple(_counterexamples()))


def _documents() -> Iterator[Any]:
    for name in _SAMPLES:
        yield sample(name)
    for family in models.families():
        yield models.problem(family, 1)
        yield models.bundle(family, 1)
    for file in sorted((FIXTURES / "cases").glob("*/*.json.gz")):
        yield case(file.parent.name, file.name.removesuffix(".json.gz"))
    for name in ("memory-plans", "execution-plans", "program-bindings", "sequence-checkpoints"):
        found = cases(name)
        for each in found[:: max(1, len(found) // _OF_A_FILE)]:
            whole = [each[part] for part in ("problem", "bundle") if part in each]
            yield whole[0] if whole else fragment_of(each)


def _counterexamples() -> Iterator[tuple[Any, dict[str, Any], Any]]:
    """The documents of the rules' examples, each with a counterexample that it shows."""
    for rule in catalogue().values():
        example = rule.example
        if example is None or example.command == "contracts compare":
            continue
        for finding in report_of(example, prove=rule.id in _PROVED).findings:
            if finding.counterexample is not None:
                broken, wire = broken_document(example), finding.counterexample.to_wire()
                of_schedule = example.sample == "schedule"
                yield (sample("fragment"), wire, broken) if of_schedule else (broken, wire, None)
                break
