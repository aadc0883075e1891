"""The two ends of what a schedule can say: one stream is in-order, one a node is concurrent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import models
from ferrum_verify import audit
from tests.vectors import cases, fragment_of

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = dict[str, Any]


def on_one_stream(nodes: list[Json]) -> Json:
    host = [{"launch": node["id"], "stream": "main"} for node in nodes]
    return {"schema": "ferrum-verify/schedule/v1", "host": host}


def on_streams_of_their_own(nodes: list[Json]) -> Json:
    """Every node on a stream of its own, which waits for an event of each dependency."""
    host: list[Json] = []
    for node in nodes:
        stream = f"stream/{node['id']}"
        host += [{"wait": f"event/{name}", "stream": stream} for name in node["dependencies"]]
        host.append({"launch": node["id"], "stream": stream})
        host.append({"record": f"event/{node['id']}", "stream": stream})
    return {"schema": "ferrum-verify/schedule/v1", "host": host}


def family(name: str, layers: int) -> Json:
    plan: Json = models.bundle(name, layers=layers)["plan"]
    return plan


def unsafe_slots(document: Json, schedule: Json) -> set[str]:
    report = audit(document, prove=False, schedule=schedule)
    assert "schedule.dependency-not-kept" not in {each.rule for each in report.findings}
    return {each.location for each in report.findings if each.rule == "slot.shared-while-live"}


def places(document: Json) -> dict[tuple[str, tuple[str, ...]], str]:
    """Where each slot stands."""
    plan = document.get("payload", document)
    at = "/payload/memory" if "payload" in document else "/memory"
    return {
        (pool["pool_id"], tuple(slot["resource_ids"])): (
            f"{at}/dynamic_pools/{index}/step_resource_slots/{place}"
        )
        for index, pool in enumerate(plan["memory"]["dynamic_pools"])
        for place, slot in enumerate(pool["step_resource_slots"])
    }


def check_both_ends(document: Json) -> tuple[int, int]:
    """Compare the slots that are unsafe; how many are, on one stream and on many."""
    nodes = document.get("payload", document)["nodes"]
    at = places(document)
    slots = audit(document, prove=False).slots
    in_order = {at[s.pool_id, s.resource_ids] for s in slots if s.in_order is False}
    concurrent = {at[s.pool_id, s.resource_ids] for s in slots if s.concurrent is False}
    assert unsafe_slots(document, on_one_stream(nodes)) == in_order
    assert unsafe_slots(document, on_streams_of_their_own(nodes)) == concurrent
    return len(in_order), len(concurrent)


@pytest.mark.parametrize("name", ["llama-3.1-8b", "qwen3-30b-a3b", "qwen3.5-4b"])
def test_model_families(name: str) -> None:
    in_order, concurrent = check_both_ends(family(name, 4))
    assert in_order == 0
    assert (concurrent > 0) == (name == "qwen3.5-4b")


def fragments() -> Iterator[Json]:
    for case in cases("memory-plans"):
        if case.get("mutation") == "intact":
            yield fragment_of(case)


def test_slots_of_the_vectors() -> None:
    counts = [check_both_ends(fragment) for fragment in fragments()]
    assert len(counts) > 50
    assert sum(concurrent for _, concurrent in counts) > 0


def test_slots_of_the_vectors_split_by_hand() -> None:
    """All members of a pool in one slot: unsafe on one stream already."""
    found = 0
    for fragment in list(fragments())[::5]:
        for pool in fragment["memory"]["dynamic_pools"]:
            ids = sorted(r for slot in pool["step_resource_slots"] for r in slot["resource_ids"])
            if len(ids) > 1:
                kind = "ordered_single_fence_step_wave"
                pool["step_resource_slots"] = [{"kind": kind, "resource_ids": ids}]
        found += check_both_ends(fragment)[0]
    assert found > 0
