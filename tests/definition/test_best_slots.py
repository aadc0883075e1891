"""A sample of ``python -m tests.definition.best_slots``, and that the check can say no."""

from __future__ import annotations

import copy
from random import Random
from typing import TYPE_CHECKING

import pytest

from ferrum_verify import best_slots, check_best_slots
from tests.definition.best_slots import draw, tried

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.definition.sizes import Json


@pytest.mark.parametrize("seed", range(101, 105))
def test_what_is_found_is_between_the_bound_and_every_partition(seed: int) -> None:
    outcomes = tried(seed, 12)
    assert set(outcomes) <= {"proved by certificate", "proved by search"}
    assert outcomes["proved by certificate"]


def merged(pool: Json) -> None:
    pool["slots"] = [sorted(name for slot in pool["slots"] for name in slot)]


def dropped(pool: Json) -> None:
    pool["slots"].pop()


def cheaper(pool: Json) -> None:
    pool["best_bytes"] -= 1
    pool["least_bytes"] -= 1


def dearer(pool: Json) -> None:
    pool["least_bytes"] += 1


def padded(pool: Json) -> None:
    level = pool["certificate"][-1]
    members = sorted(name for slot in pool["slots"] for name in slot)
    level["resource_ids"] = members
    pool["least_bytes"] = len(members)


def heavier(pool: Json) -> None:
    pool["certificate"][0]["bytes"] += 1


def elsewhere(pool: Json) -> None:
    pool["bytes"] += 1


def unproved(pool: Json) -> None:
    pool["proved"] = not pool["proved"]


def upside_down(pool: Json) -> None:
    pool["certificate"].reverse()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (merged, "share a slot of"),
        (dropped, "do not hold each Step resource once"),
        (cheaper, "take"),
        (dearer, "certificate of"),
        (padded, "may share, so they need no two slots"),
        (heavier, "is no member of"),
        (elsewhere, "the plan's slots of"),
        (unproved, "does not go together"),
        (upside_down, "does not descend"),
    ],
)
def test_a_claim_that_is_false_is_refused(change: Callable[[Json], None], told: str) -> None:
    random = Random(7)
    problems = (draw(random) for _ in range(1000))
    for problem in problems:
        best = best_slots(problem, "fenced")
        (pool,) = best.pools
        if len(pool.certificate) > 1 and 2 < len(pool.slots) < len(problem["dynamic_descriptors"]):
            break
    fragment = {"nodes": problem["nodes"], **memory_of(problem)}
    wire = best.to_wire()
    assert check_best_slots(fragment, wire, "fenced") == []
    spoilt = copy.deepcopy(wire)
    change(spoilt["pools"][0])
    assert any(told in fault for fault in check_best_slots(fragment, spoilt, "fenced"))


def memory_of(problem: Json) -> Json:
    from ferrum_verify import derive_memory_plan

    return {
        "memory": derive_memory_plan(problem).to_wire(),
        "retained_completion_resources": problem["retained_completion_resources"],
    }
