"""Drawn schedules, the verifier against all of their runs: ``--help`` says what can be asked."""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from random import Random
from typing import TYPE_CHECKING, Any

from ferrum_verify.auditing.audit import judge
from ferrum_verify.counterexamples.under_schedule import run_under
from ferrum_verify.limits import Limits
from ferrum_verify.prove.obligation import Refuted, Undecided
from ferrum_verify.prove.prover import prove
from ferrum_verify.prove.schedule import schedule_sources
from ferrum_verify.prove.schedule_inputs import scheduled_input_claims
from ferrum_verify.reading.parse import subject_of
from ferrum_verify.reading.schedules import read_schedule
from ferrum_verify.report.shown import gate
from ferrum_verify.rules.schedule_inputs import LATER, inputs_lost
from tests.definition.schedule_runs import is_run, random_run
from tests.definition.schedules import STEPS, Faults, draw, faults, inputs_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ferrum_verify.findings import Finding
    from ferrum_verify.prove.prover import Verdict
    from ferrum_verify.rules.expected import Expected

Json = Any
CHUNK = 250


def disagreement(plan: Json, schedule: Json, random: Random) -> str | None:
    """What the verifier says of a plan under a schedule that its runs do not, or the reverse."""
    defined = faults(plan, schedule)
    under = read_schedule(schedule)
    subject, wrong = subject_of(plan)
    assert subject is not None
    assert not wrong
    subject, findings, facts = judge(subject, "concurrent", (), under)
    assert facts is not None
    assert facts.judged_schedule is not None
    places = subject.places
    sources = schedule_sources(facts.judged_schedule, nodes=places.nodes, memory=places.memory)
    proof = prove(sources, Limits(), gate(plan, "concurrent", schedule))
    refuted = proof.of(Refuted)
    if proof.of(Undecided) or not all(each.counterexample for each in refuted):
        return "a claim is open, or refuted without a counterexample that holds"
    order = [finding for finding in findings if finding.rule in _OF_ORDER]
    for finding in order:
        if not any(_speaks_of(verdict, finding) for verdict in refuted):
            return f"nothing is refuted, and yet: {finding.message}"
    for verdict in refuted:
        if not any(_speaks_of(verdict, finding) for finding in order):
            return f"nothing is found, and yet refuted: {verdict.obligation.claim}"
    # Of steps beyond those that are gone through the verifier may know more.
    told = _told(refuted)
    early = _told([each for each in refuted if _last_step(each) < STEPS])
    for name in ("dependencies", "slots"):
        ours, theirs = getattr(early, name), getattr(defined, name)
        if not ours <= theirs <= getattr(told, name):
            return f"{name}: the verifier says {ours}, the runs say {theirs}"
    # It tells neighbours, from which all others follow.
    resources = {resource for _, resource in told.accesses}
    if not early.accesses <= defined.accesses or not all(
        resource in resources for _, resource in defined.accesses
    ):
        return f"accesses: the verifier says {early.accesses}, the runs say {defined.accesses}"
    return _inputs_differ(plan, schedule, facts, defined) or _runs_differ(schedule, random)


def _inputs_differ(plan: Json, schedule: Json, facts: Expected, defined: Faults) -> str | None:
    """Whether inputs are lost in other ways than the runs, or the claims, say."""
    scheduled = facts.judged_schedule
    assert scheduled is not None
    inputs = {name: f"value of {name}" for name in inputs_of(plan, schedule)}
    found = list(inputs_lost(facts, scheduled, inputs))
    places = facts.subject.places
    claims = scheduled_input_claims(scheduled, inputs, nodes=places.nodes, memory=places.memory)
    proof = prove([claims], Limits(), lambda _: True)
    refuted = proof.of(Refuted)
    if proof.of(Undecided):
        return "a claim about an input is open"
    for finding in found:
        if not any(verdict.obligation.names == finding.about for verdict in refuted):
            return f"nothing is refuted, and yet: {finding.message}"
    # What is live together with an input is told as that.
    clashes = {name for pair in defined.slots for name in pair}
    told, about = {each.about[0] for each in found}, {each.about for each in found}
    for verdict in refuted:
        names = verdict.obligation.names
        if names not in about and names[0] not in clashes:
            return f"nothing is found, and yet refuted: {verdict.obligation.claim}"
    # Of steps beyond those that are gone through the verifier may know more.
    early = {
        finding.about[0]
        for finding in found
        if finding.about[1:] != (LATER,) or scheduled.buffers(finding.about[0]) < STEPS
    }
    if not early <= defined.inputs or not defined.inputs <= told | clashes:
        return f"inputs: the verifier says {told}, the runs say {defined.inputs}"
    return None


_OF_ORDER = (
    "schedule.dependency-not-kept",
    "slot.shared-while-live",
    "graph.race",
    "value.race",
    "value.overwritten",
)


def _speaks_of(verdict: Verdict, finding: Finding) -> bool:
    """Whether a refuted claim and a finding are of one fault."""
    obligation = verdict.obligation
    said = {obligation.rule.id: obligation.names}
    said |= {rule.id: names for rule, names in obligation.told_by}
    return set(finding.about) <= set(said.get(finding.rule, ()))


def _last_step(verdict: Verdict) -> int:
    assert verdict.counterexample is not None
    return max(int(node.get("step", 0)) for node in verdict.counterexample.to_wire()["nodes"])


def _told(refuted: Sequence[Verdict]) -> Faults:
    told = Faults()
    for verdict in refuted:
        assert verdict.counterexample is not None
        wire = verdict.counterexample.to_wire()
        match wire["kind"]:
            case "dependency":
                distance = wire.get("step", 0) - wire.get("dependency_step", 0)
                told.dependencies.add((wire["node"], wire["dependency"], distance))
            case "schedule":
                told.slots.add(frozenset(wire[side]["resource"] for side in ("left", "right")))
            case "access":
                pair = frozenset(wire[side]["node"] for side in ("writer", "other"))
                told.accesses.add((pair, wire["resource"]))
    return told


def _runs_differ(schedule: Json, random: Random) -> str | None:
    """Whether the evaluator and the machine see the same runs, of a drawn one and a bent one."""
    steps = STEPS if "steps" in schedule else 1
    times = random_run(schedule, steps, random)
    for bent in (False, True):
        if bent:
            task = random.choice(list(times))
            start = random.randint(0, times[task][1] - 1)
            times[task] = (start, times[task][1])
        listed = [
            {"id": name, "step": step, "start": start, "end": end}
            for (name, step), (start, end) in times.items()
        ]
        if (run_under(schedule, listed) is not None) != is_run(schedule, steps, times):
            return f"the evaluator and the machine disagree on the run {times}"
    return None


def sweep(seed: int, count: int) -> tuple[Counter[str], list[tuple[str, Json, Json]]]:
    """So many draws: how they came out, and those that are judged in two ways."""
    random = Random(seed)
    counts: Counter[str] = Counter()
    differing = []
    for _ in range(count):
        plan, schedule = draw(random)
        difference = disagreement(plan, schedule, random)
        if difference is not None:
            differing.append((difference, plan, schedule))
        counts["steps" if "steps" in schedule else "one step"] += 1
        counts["with an input"] += bool(inputs_of(plan, schedule))
    return counts, differing


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.definition.schedule_sweep")
    parser.add_argument("--schedules", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    counts: Counter[str] = Counter()
    differing: list[tuple[str, Json, Json]] = []
    chunks = range(0, asked.schedules, CHUNK)
    sizes = [min(CHUNK, asked.schedules - start) for start in chunks]
    seeds = [asked.seed + start for start in chunks]
    with ProcessPoolExecutor(asked.jobs) as pool:
        for found, bad in pool.map(sweep, seeds, sizes):
            counts += found
            differing += bad
    print(f"{asked.schedules:,} schedules ({dict(counts)}): {len(differing):,} disagreements")
    if differing:
        print(json.dumps(min(differing, key=lambda each: len(json.dumps(each))), indent=1))
    return 1 if differing else 0


if __name__ == "__main__":
    raise SystemExit(main())
