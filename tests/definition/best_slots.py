"""Best slots, by definition: every partition is tried. ``python -m tests.definition.best_slots``.

Problems are drawn at random: up to nine Step resources of one pool, some of which may share with
nothing, on up to eight nodes.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from random import Random
from typing import TYPE_CHECKING

from ferrum_verify import best_slots, check_best_slots
from tests.definition.rows import CONTIGUOUS_LAYOUT, LINEAR
from tests.definition.runs import MODELS
from tests.definition.sharing import Order, may_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.definition.sizes import Json

MOST_MEMBERS = 9
CHUNK = 250


def draw(random: Random) -> Json:
    """A planning problem with one pool of Step resources, each used by one to three nodes."""
    nodes: list[Json] = []
    chained = random.random() < 0.3
    for index in range(random.randint(2, 8)):
        earlier = [node["id"] for node in nodes]
        waits = set(random.sample(earlier, min(len(earlier), random.choice([0, 1, 1, 2]))))
        if chained and earlier:
            waits.add(earlier[-1])
        nodes.append({"id": f"n{index}", "dependencies": sorted(waits), "resources": []})
    rows, retained = [], []
    for number in range(random.randint(1, MOST_MEMBERS)):
        name = f"r{number}"
        size = random.choice([1, 2, 3, 5, 8])
        demand: Json = {"tokens": {"bytes_per_token": size, "maximum_tokens": 4}}
        kind = random.random()
        if kind < 0.05:
            demand = {"fixed": {"bytes": size}}
        elif kind < 0.1:
            retained.append(name)
        rows.append(row(name, demand))
        near = random.randrange(len(nodes))
        about = nodes[near : near + 4]
        for node in random.sample(about, min(len(about), random.choice([1, 1, 2, 2, 3]))):
            node["resources"].append(name)
    return {
        "device_capacity_bytes": 2**30,
        "policy_capacity_bytes": 2**30,
        "reserve_bytes": 0,
        "maximum_active_sequences": 1,
        "static_allocations": [],
        "dynamic_descriptors": rows,
        "nodes": nodes,
        "retained_completion_resources": retained,
    }


def row(name: str, demand: Json) -> Json:
    """A Step activation of single bytes."""
    return {
        "base_resource_id": name,
        "demand": demand,
        "alignment_bytes": 1,
        "usage": "activations",
        "element_type": "u8",
        "lifetime": "step",
        "kind": "value",
        "initialization": "none",
        "theoretical_maximum_instances": 1,
        "storage": {"profile": LINEAR, "logical_layout_fingerprint": CONTIGUOUS_LAYOUT},
    }


def bytes_of(problem: Json) -> dict[str, int]:
    """The bytes of each resource at the largest shape."""
    return {
        each["base_resource_id"]: each["demand"]["fixed"]["bytes"]
        if "fixed" in each["demand"]
        else 4 * each["demand"]["tokens"]["bytes_per_token"]
        for each in problem["dynamic_descriptors"]
    }


def partitions(members: list[str]) -> Iterator[list[list[str]]]:
    """Every way to part the members."""
    if not members:
        yield []
        return
    first, *rest = members
    for parted in partitions(rest):
        for place, part in enumerate(parted):
            yield [*parted[:place], [first, *part], *parted[place + 1 :]]
        yield [[first], *parted]


def optimum(problem: Json, model: str) -> int:
    """The least bytes of all partitions into slots whose members may pairwise share."""
    order, sizes = Order(problem["nodes"]), bytes_of(problem)
    alone = set(problem["retained_completion_resources"])
    alone |= {
        each["base_resource_id"]
        for each in problem["dynamic_descriptors"]
        if "tokens" not in each["demand"]
    }
    names = sorted(sizes)
    sharing = {
        (one, other)
        for one in names
        for other in names
        if one != other and alone.isdisjoint((one, other)) and may_share(model, one, other, order)
    }

    def legal(part: list[str]) -> bool:
        return all((one, other) in sharing for one in part for other in part if one != other)

    return min(
        sum(max(sizes[name] for name in part) for part in parted)
        for parted in partitions(names)
        if all(legal(part) for part in parted)
    )


def judged(problem: Json, model: str) -> str:
    """What came of a problem: "proved", "gap", or what is wrong."""
    best = best_slots(problem, model)  # type: ignore[arg-type]
    faults = check_best_slots(problem, best, model)  # type: ignore[arg-type]
    if faults:
        return f"refused: {faults[0]}"
    (pool,) = best.pools
    least = optimum(problem, model)
    if not pool.least_bytes <= least <= pool.best_bytes:
        return f"wrong: {pool.least_bytes} <= {least} <= {pool.best_bytes}"
    if pool.proved:
        return "proved by search" if pool.exhausted else "proved by certificate"
    return "gap"


def tried(seed: int, count: int) -> Counter[str]:
    """How often each outcome came, of so many problems under each model."""
    random = Random(seed)
    problems = [draw(random) for _ in range(count)]
    return Counter(judged(problem, model) for problem in problems for model in MODELS)


def main() -> None:
    """Try many problems, and say in a line what came of them."""
    parser = argparse.ArgumentParser(description="Hold best slots to all partitions.")
    parser.add_argument("--problems", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    begun = time.monotonic()
    seeds = range(options.seed, options.seed + -(-options.problems // CHUNK))
    with ProcessPoolExecutor(options.jobs) as pool:
        counts: Counter[str] = sum(pool.map(tried, seeds, [CHUNK] * len(seeds)), Counter())
    told = ", ".join(f"{outcome} {number:,}" for outcome, number in sorted(counts.items()))
    seconds = time.monotonic() - begun
    print(f"{len(seeds) * CHUNK:,} problems in {len(MODELS)} models, {seconds:.0f} s: {told}")


if __name__ == "__main__":
    main()
