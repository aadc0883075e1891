"""The two schemas on random problems: they differ in what shares no slot, and in growth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from ferrum_verify import derive_memory_plan
from ferrum_verify.auditing.checks import derive_subject
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.derive.checkpoint_growth import derive_growth, with_checkpoints
from ferrum_verify.derive.memory_plan import derive_plan
from ferrum_verify.reading.parse import subject_of
from tests.definition.memory_plan import derive
from tests.definition.problems import problems
from tests.definition.sizes import Json, RefusedError

if TYPE_CHECKING:
    from hypothesis.strategies import DataObject

documents = settings(
    max_examples=100, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)


def of_each_schema(problem: Json, terminal: set[str]) -> tuple[Any, Any]:
    """The plans that 5.0 and 8.1 derive of a problem."""
    subject, _ = subject_of(problem)
    assert subject is not None
    assume(derive_subject(subject)[0] is not None)
    assert subject.problem is not None
    assert subject.order is not None
    plain = derive_plan(subject.problem, subject.order)
    return plain, derive_plan(subject.problem, subject.order, frozenset(terminal))


def readable(problem: Json) -> list[str]:
    return [
        row["base_resource_id"]
        for row in problem["dynamic_descriptors"]
        if row["usage"] == "activations" and row["lifetime"] in ("step", "request")
    ]


def states(problem: Json) -> list[Json]:
    return [
        row
        for row in problem["dynamic_descriptors"]
        if (row["usage"], row["lifetime"], row["kind"]) == ("state", "sequence", "value")
    ]


@documents
@given(problems(), st.data())
def test_terminal_outputs_share_no_slot_as_if_they_were_retained(
    problem: Json, data: DataObject
) -> None:
    names = readable(problem)
    terminal = set(data.draw(st.lists(st.sampled_from(names)))) if names else set()
    plain, today = of_each_schema(problem, terminal)
    retained = {*(problem.get("retained_completion_resources") or ())}
    kept = sorted(retained | terminal)
    try:
        defined = derive(problem | {"retained_completion_resources": kept})
    except RefusedError:
        assume(False)
    assert today.to_wire() == defined
    if terminal <= retained:
        assert today.to_wire() == plain.to_wire()
    slots = [slot.resource_ids for pool in today.dynamic_pools for slot in pool.step_resource_slots]
    assert all(len(slot) == 1 for slot in slots if not terminal.isdisjoint(slot))


@documents
@given(problems(), st.integers(1, 40_000), st.data())
def test_growth_is_in_no_number_but_a_pools_maximum(
    problem: Json, capacity: int, data: DataObject
) -> None:
    plain, _ = of_each_schema(problem, set())
    rows = states(problem)
    chosen = [row["base_resource_id"] for row in rows if data.draw(st.booleans())]
    descriptors = {row.base_resource_id: row for row in plain.dynamic_descriptors}
    growth = derive_growth(chosen, descriptors, capacity)
    today = with_checkpoints(plain, capacity, growth).to_wire()
    expected = plain.to_wire()
    room = expected["usable_capacity_bytes"] - expected["static_bytes"]
    wanted: dict[str, set[int]] = {}
    for name in chosen:
        row = descriptors[name].to_wire()
        allocator = row["storage"]["profile"]["allocator"]
        unit = row["alignment_bytes"]
        if allocator != "linear_arena":
            unit = max(unit, allocator["fixed_block_arena"]["block_bytes"])
        if capacity >= unit:
            wanted.setdefault(row["pool_id"], set()).add(capacity - capacity % unit)
    # One pool's members are aligned and stored alike.
    assert not growth.differing
    assert growth.ceilings == {pool: ceiling for pool, (ceiling,) in wanted.items()}
    expected["checkpoint_capacity"] = {"maximum_retained_bytes": capacity}
    for pool in expected["dynamic_pools"]:
        ceiling = growth.ceilings.get(pool["pool_id"], 0)
        if ceiling:
            pool["checkpoint_growth_ceiling_bytes"] = ceiling
        pool["provisioning"]["maximum_resident_bytes"] = min(
            int(pool["theoretical_ceiling_bytes"])
            + pool["reusable_workspace_ceiling_bytes"]
            + ceiling,
            room,
        )
    assert today == expected


@pytest.mark.parametrize("capacity", [1, 63])
def test_less_than_a_unit_grows_nothing(capacity: int) -> None:
    plan = derive_memory_plan(sample("problem"))
    descriptors = {row.base_resource_id: row for row in plan.dynamic_descriptors}
    names = [name for name, row in descriptors.items() if row.usage == "state"]
    growth = derive_growth(names, descriptors, capacity)
    assert growth.ceilings == {}
    today = with_checkpoints(plan, capacity, growth)
    assert today.dynamic_pools == plan.dynamic_pools
    assert derive_growth(["lost", "act/query"], descriptors, 4096).unfit == ("lost", "act/query")
