"""Buffer plans drawn at random: small enough for every run, sound about as often as not.

A plan is planned as a planner would plan it, each buffer where it is free while it lives in
order. Then something is changed, or nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.definition.buffer_mutations import MUTATIONS
from tests.definition.buffer_places import amount

if TYPE_CHECKING:
    from random import Random

Json = Any
ARENA = 40


def draw(random: Random) -> Json:
    """A plan of at most 7 nodes, well formed."""
    dimensions = random.choice([(), (), ("m",), ("m",), ("m", "n")])
    shape = {}
    for name in dimensions:
        least = random.randint(1, 2)
        shape[name] = {"minimum": least, "maximum": least + random.randint(0, 2)}
    document: Json = {
        "schema": "ferrum-verify/buffer-plan/v1",
        "shape": shape,
        "arenas": {"a": {"bytes": ARENA, "alignment": random.choice([1, 1, 2, 4])}},
        "buffers": [],
        "nodes": [],
    }
    if random.random() < 0.2:
        document["arenas"]["b"] = {"bytes": ARENA // 2}
    while not document["buffers"]:
        document["nodes"] = []
        _nodes(random, document, random.randint(2, 7))
    _lay(random, document)
    for _ in range(random.choice([0, 0, 0, 1, 1, 2])):
        random.choice(MUTATIONS)(random, document)
    return document


def _nodes(random: Random, document: Json, count: int) -> None:
    """Nodes that read what stands before them and write something new, or in place."""
    buffers = document["buffers"]
    conditions = [f"c{each}" for each in range(random.choice([0, 0, 1, 1, 2]))]
    for _ in range(random.randint(0, 2)):
        buffers.append({"id": f"b{len(buffers)}", "live_in": True})
    writers: dict[str, list[str]] = {}
    written: dict[str, list[Json]] = {each["id"]: [[]] for each in buffers}
    for at in range(count):
        name = f"n{at}"
        arms = [[each, random.choice(["x", "y"])] for each in conditions if random.random() < 0.35]
        known = [
            each["id"]
            for each in buffers
            if random.random() < 0.04
            or any(all(arm in arms for arm in w) for w in written[each["id"]])
        ]
        reads = random.sample(known, min(len(known), random.choice([0, 1, 1, 2])))
        writes = []
        for _ in range(random.choice([0, 1, 1, 1, 2])):
            if buffers and random.random() < 0.15:
                writes.append(random.choice(buffers)["id"])
            else:
                writes.append(f"b{len(buffers)}")
                buffers.append({"id": writes[-1]})
                if random.random() < 0.3:
                    _alias(random, document, writes[-1], written)
        for each in [*reads, *writes]:
            written.setdefault(each, [])
        waits = {
            other for each in reads for other in writers.get(each, []) if random.random() < 0.97
        }
        waits |= {f"n{each}" for each in range(at) if random.random() < 0.15}
        for each in writes:
            root = _root(document, each)
            for buffer in buffers:
                if _root(document, buffer["id"]) == root:
                    writers.setdefault(buffer["id"], []).append(name)
                    written.setdefault(buffer["id"], []).append(arms)
        node = {"id": name, "dependencies": sorted(waits), "reads": sorted(reads)}
        node |= {"writes": sorted(set(writes))}
        document["nodes"].append(node | ({"arms": arms} if arms else {}))
    for buffer in buffers:
        if "alias_of" not in buffer and random.random() < 0.15:
            buffer["live_out"] = True


def _alias(random: Random, document: Json, of: str, written: Json) -> None:
    buffers = document["buffers"]
    name = f"b{len(buffers)}"
    buffers.append({"id": name, "alias_of": of})
    written[name] = []
    if random.random() < 0.2:
        buffers.append({"id": f"b{len(buffers)}", "alias_of": name})
        written[f"b{len(buffers) - 1}"] = []


def _root(document: Json, name: str) -> str:
    buffers = {each["id"]: each for each in document["buffers"]}
    while "alias_of" in buffers[name]:
        name = buffers[name]["alias_of"]
    return name


def _lay(random: Random, document: Json) -> None:
    """Sizes and offsets: each storage at the first place that is free while it lives in order."""
    at_most = {name: each["maximum"] for name, each in document["shape"].items()}
    lives: dict[str, list[int]] = {}
    for at, node in enumerate(document["nodes"]):
        for name in (*node["reads"], *node["writes"]):
            lives.setdefault(_root(document, name), []).append(at)
    laid: list[tuple[str, int, int, int, int]] = []
    wide = random.random() < 0.3
    for buffer in document["buffers"]:
        if "alias_of" in buffer:
            base = next(each for each in document["buffers"] if each["id"] == buffer["alias_of"])
            buffer["bytes"] = base["bytes"]
            if isinstance(base["bytes"], int) and base["bytes"] > 1 and random.random() < 0.5:
                buffer["offset"] = random.randint(0, base["bytes"] - 1)
                buffer["bytes"] = random.randint(1, base["bytes"] - buffer["offset"])
            continue
        arena = random.choice(list(document["arenas"]))
        step = document["arenas"][arena].get("alignment", 1)
        buffer["arena"] = arena
        buffer["bytes"] = _size(random, document, step)
        users = lives.get(buffer["id"], [0])
        first = -1 if buffer.get("live_in") else min(users)
        last = len(document["nodes"]) if buffer.get("live_out") else max(users)
        size = amount(buffer["bytes"], at_most)
        offset = 0
        while any(
            arena == other and offset < end and start < offset + size
            and (wide or (first <= till and since <= last))
            for other, start, end, since, till in laid
        ):  # fmt: skip
            offset += step
        if random.random() < 0.08:
            offset = random.randrange(0, ARENA, step)
        buffer["offset"] = offset
        laid.append((arena, offset, offset + size, first, last))
    _affine_offsets(random, document)


def _affine_offsets(random: Random, document: Json) -> None:
    """A dimension's places instead of numbers, for a buffer or two."""
    for buffer in document["buffers"]:
        if document["shape"] and "offset" in buffer and random.random() < 0.1:
            name = random.choice(list(document["shape"]))
            factor = random.randint(1, 2)
            buffer["offset"] = {"fixed": random.randint(0, 8), "per": {name: factor}}


def _size(random: Random, document: Json, step: int) -> Json:
    if not document["shape"] or random.random() < 0.4:
        return random.choice([0, 1, 1, 2, 2, 4, 4, 6]) if random.random() < 0.95 else step
    name = random.choice(list(document["shape"]))
    size: Json = {"fixed": random.choice([0, 0, 1, 2]), "per": {name: random.choice([1, 1, 2])}}
    if random.random() < 0.1:
        size["per"][random.choice(list(document["shape"]))] = 1
    return size
