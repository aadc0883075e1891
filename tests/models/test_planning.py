"""Planning problems: order, coverage, and the shapes that reusable execution captures."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

import models
from models.architecture import network
from models.deployment import DEPLOYMENTS
from models.dimensions import dimensions

FAMILIES = models.families()
LAYERS = 5


def closure(nodes: list[dict[str, Any]]) -> dict[str, set[str]]:
    """Every node that happens before each node."""
    before: dict[str, set[str]] = {}
    for node in nodes:
        direct = node["dependencies"]
        before[node["id"]] = set(direct).union(*(before[name] for name in direct))
    return before


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_problem_every_time(family: str) -> None:
    first, second = models.problem(family, LAYERS), models.problem(family, LAYERS)
    assert first == second
    assert first is not second


@pytest.mark.parametrize("family", FAMILIES)
def test_dependencies_ascend_and_point_back(family: str) -> None:
    seen: set[str] = set()
    for node in models.problem(family)["nodes"]:
        assert node["dependencies"] == sorted(set(node["dependencies"]))
        assert seen.issuperset(node["dependencies"])
        assert node["id"] not in seen
        seen.add(node["id"])


@pytest.mark.parametrize("family", FAMILIES)
def test_every_row_is_used_and_every_use_is_a_row(family: str) -> None:
    problem = models.problem(family)
    static = [row["resource_id"] for row in problem["static_allocations"]]
    dynamic = [row["base_resource_id"] for row in problem["dynamic_descriptors"]]
    assert len({*static, *dynamic}) == len(static) + len(dynamic)
    used = {name for node in problem["nodes"] for name in node["resources"]}
    assert used == {*static, *dynamic}
    for node in problem["nodes"]:
        assert node["resources"] == sorted(set(node["resources"]))


@pytest.mark.parametrize("family", FAMILIES)
def test_conflicting_accesses_are_ordered(family: str) -> None:
    """Two nodes that touch the same changeable bytes, one writing, never run together."""
    model = network(dimensions(family, LAYERS), DEPLOYMENTS[family])
    before = closure(models.problem(family, LAYERS)["nodes"])
    uses: dict[str, list[tuple[str, bool]]] = {}
    for node in model.nodes():
        for _, _, port, value in node.ports():
            if value.usage != "weights":
                uses.setdefault(value.resource_id, []).append((node.node_id, port.access != "read"))
    for accesses in uses.values():
        for (left, left_writes), (right, right_writes) in combinations(accesses, 2):
            if left != right and (left_writes or right_writes):
                assert left in before[right] or right in before[left]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_value_is_written_before_it_is_read(family: str) -> None:
    model = network(dimensions(family, LAYERS), DEPLOYMENTS[family])
    written = {value.name for value in model.inputs}
    for node in model.nodes():
        for value in node.inputs:
            assert value.usage != "activations" or value.name in written
        written.update(value.name for value in node.outputs)


def test_siblings_are_free_to_run_side_by_side() -> None:
    before = closure(models.decoder(2)["nodes"])
    for left, right in combinations(("q", "k", "v"), 2):
        assert f"node/l0001/{left}" not in before[f"node/l0001/{right}"]
    assert "node/l0000/down" in before["node/l0001/q"]


@pytest.mark.parametrize("family", FAMILIES)
def test_binding_workspaces_belong_to_their_node(family: str) -> None:
    problem = models.problem(family, 4)
    bindings = {
        row["base_resource_id"]: row["kind"]["binding"]["node_id"]
        for row in problem["dynamic_descriptors"]
        if row["usage"] == "binding"
    }
    owned = {
        node["binding_resource"]: node["id"]
        for node in problem["nodes"]
        if "binding_resource" in node
    }
    assert bindings
    assert bindings == owned


@pytest.mark.parametrize("family", FAMILIES)
def test_captured_shapes_stay_within_the_ceilings(family: str) -> None:
    problem = models.problem(family, 1)
    policy = problem["reusable_execution_policy"]
    assert policy["buckets"] == sorted(
        policy["buckets"],
        key=lambda b: (
            b["class_id"],
            b["maximum_sequences"],
            b["maximum_tokens"],
            b["maximum_pages"],
        ),
    )
    for bucket in policy["buckets"]:
        assert 1 <= bucket["maximum_sequences"] <= problem["maximum_active_sequences"]
        assert 1 <= bucket["maximum_tokens"] <= 4096


def test_a_stack_is_as_deep_as_asked() -> None:
    stack = models.decoder(1000)
    assert len(stack["nodes"]) == 11 * 1000 + 3
    assert len(stack["static_allocations"]) == 9 * 1000 + 3
    assert len(stack["dynamic_descriptors"]) == 14 * 1000 + 4
    assert stack["device_capacity_bytes"] % (80 << 30) == 0
    static = sum(row["per_instance_bytes"] for row in stack["static_allocations"])
    assert static < stack["policy_capacity_bytes"] - stack["reserve_bytes"]
