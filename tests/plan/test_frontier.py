"""The capacity frontier against counting, one batch after the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import models
from ferrum_verify import derive_memory_plan
from ferrum_verify.documents.memory_plan import MemoryPlan
from ferrum_verify.documents.primitives import U64_MAX
from ferrum_verify.documents.tensor import SizeError
from ferrum_verify.plan.canonical import OPAQUE_LAYOUT_FINGERPRINT
from ferrum_verify.plan.frontier import (
    Capacity,
    capacity_of,
    curve,
    fits,
    largest_sequences,
    largest_tokens,
    need,
)

MOST_SEQUENCES = 6
MOST_TOKENS = 24


def storage(block: int | None) -> dict[str, Any]:
    allocator = "linear_arena" if block is None else {"fixed_block_arena": {"block_bytes": block}}
    return {
        "profile": {"allocator": allocator, "view": "contiguous"},
        "logical_layout_fingerprint": OPAQUE_LAYOUT_FINGERPRINT,
    }


def descriptor(name: str, lifetime: str, demand: Any, **changed: Any) -> dict[str, Any]:
    return {
        "base_resource_id": name,
        "demand": demand,
        "alignment_bytes": 1,
        "usage": "activations",
        "element_type": "u8",
        "lifetime": lifetime,
        "kind": "value",
        "storage": storage(None),
        "pool_id": "pool",
        "initialization": "none",
        "theoretical_maximum_instances": MOST_SEQUENCES,
    } | changed


def plan(
    descriptors: list[dict[str, Any]],
    slots: list[list[str]],
    rows: list[list[str]],
    mode: str,
    *,
    usable: int,
    static: int = 0,
    sequences: int = MOST_SEQUENCES,
) -> MemoryPlan:
    pool = {
        "pool_id": "pool",
        "compatibility": {
            "version": {"major": 1, "minor": 0},
            "usage": "activations",
            "element_type": "u8",
            "alignment_bytes": 1,
            **storage(None),
        },
        "resource_ids": [row["base_resource_id"] for row in descriptors],
        **dict.fromkeys(
            (
                "minimum_request_bytes",
                "minimum_sequence_bytes",
                "minimum_step_bytes",
                "minimum_invocation_peak_bytes",
                "reusable_workspace_ceiling_bytes",
            ),
            0,
        ),
        "step_resource_slots": [{"kind": "dedicated", "resource_ids": slot} for slot in slots],
        "theoretical_ceiling_bytes": "0",
        "provisioning": {
            "mode": "demand_driven_elastic",
            "minimum_resident_bytes": 0,
            "maximum_resident_bytes": 0,
        },
        "invocation_liveness_mode": mode,
        "invocation_liveness": [
            {"node_id": f"n{index}", "resource_ids": row} for index, row in enumerate(rows)
        ],
    }
    totals = dict.fromkeys(
        (
            "minimum_request_bytes",
            "minimum_sequence_bytes",
            "minimum_step_bytes",
            "minimum_invocation_peak_bytes",
            "minimum_runnable_request_bytes",
        ),
        0,
    )
    return MemoryPlan.model_validate(
        {
            "device_capacity_bytes": usable,
            "policy_capacity_bytes": usable,
            "reserve_bytes": 0,
            "usable_capacity_bytes": usable,
            "maximum_active_sequences": sequences,
            "static_bytes": static,
            **totals,
            "theoretical_ceiling_bytes": "0",
            "static_allocations": [],
            "dynamic_descriptors": descriptors,
            "dynamic_pools": [pool],
            "reusable_execution": None,
            "invocation_liveness_mode": mode,
            "invocation_liveness": [],
        }
    )


@st.composite
def demands(draw: st.DrawFn) -> dict[str, Any]:
    rate = st.integers(1, 20)
    tokens = draw(st.integers(1, MOST_TOKENS))
    sequences = draw(st.integers(1, MOST_SEQUENCES))
    return draw(
        st.sampled_from(
            [
                {"fixed": {"bytes": draw(rate)}},
                {"tokens": {"bytes_per_token": draw(rate), "maximum_tokens": tokens}},
                {
                    "actual_sequences": {
                        "bytes_per_sequence": draw(rate),
                        "maximum_sequences": sequences,
                    }
                },
                {
                    "affine": {
                        "fixed_bytes": draw(rate),
                        "bytes_per_sequence": draw(rate),
                        "maximum_sequences": sequences,
                        "bytes_per_token": draw(rate),
                        "maximum_tokens": tokens,
                    }
                },
                {
                    "bounded_shape_buckets": {
                        "buckets": [
                            {
                                "maximum_sequences": count,
                                "maximum_tokens": count * 3,
                                "maximum_pages": 1,
                                "bytes": count * draw(rate),
                            }
                            for count in (1,)
                        ]
                        + [
                            {
                                "maximum_sequences": sequences + 1,
                                "maximum_tokens": tokens + 3,
                                "maximum_pages": 2,
                                "bytes": 21,
                            }
                        ]
                    }
                },
            ]
        )
    )


@st.composite
def plans(draw: st.DrawFn) -> MemoryPlan:
    lifetimes = draw(
        st.lists(
            st.sampled_from(["request", "sequence", "step", "step", "invocation", "invocation"]),
            min_size=1,
            max_size=7,
        )
    )
    rows = [
        descriptor(
            f"{lifetime}{index}",
            lifetime,
            draw(demands()),
            alignment_bytes=draw(st.sampled_from([1, 2, 8])),
            storage=storage(draw(st.sampled_from([None, None, 4, 16]))),
            theoretical_maximum_instances=draw(st.integers(1, MOST_SEQUENCES)),
        )
        for index, lifetime in enumerate(lifetimes)
    ]

    def split(lifetime: str) -> list[list[str]]:
        groups: list[list[str]] = []
        for row in rows:
            if row["lifetime"] == lifetime:
                joins: bool = draw(st.booleans())
                if groups and joins:
                    groups[-1].append(row["base_resource_id"])
                else:
                    groups.append([row["base_resource_id"]])
        return groups

    liveness = split("invocation")
    mode = draw(st.sampled_from(["total_order_reuse", "conservative_concurrent"]))
    return plan(
        rows,
        split("step"),
        liveness,
        mode if liveness else "no_invocation_resources",
        usable=draw(st.integers(0, 1500)),
        static=draw(st.integers(0, 60)),
        sequences=draw(st.integers(1, MOST_SEQUENCES)),
    )


def up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def size(row: Any, sequences: int, tokens: int) -> int | None:
    """A row's quantized bytes, by its definition; None beyond what its demand declares."""
    ((form, fields),) = row.demand.to_wire().items()
    if form == "bounded_shape_buckets":
        value = next(
            (
                bucket["bytes"]
                for bucket in fields["buckets"]
                if sequences <= bucket["maximum_sequences"] and tokens <= bucket["maximum_tokens"]
            ),
            None,
        )
    elif sequences > fields.get("maximum_sequences", sequences) or tokens > fields.get(
        "maximum_tokens", tokens
    ):
        value = None
    else:
        value = (
            fields.get("bytes", fields.get("fixed_bytes", 0))
            + fields.get("bytes_per_sequence", 0) * sequences
            + fields.get("bytes_per_token", 0) * tokens
        )
    if value is None:
        return None
    return up(up(value, row.alignment_bytes), row.storage.profile.block_bytes or 1)


def counted(memory: MemoryPlan, scheduled: int | None, sequences: int, tokens: int) -> int | None:
    """What a batch needs, added up row by row; None beyond a declared maximum."""
    together = sequences * tokens
    if sequences > memory.maximum_active_sequences or together > (scheduled or together):
        return None
    by_name = {row.base_resource_id: row for row in memory.dynamic_descriptors}
    parts: list[int | None] = [memory.static_bytes]
    for row in by_name.values():
        if row.lifetime in ("request", "sequence"):
            if sequences > row.theoretical_maximum_instances:
                return None
            each = size(row, 1, tokens)
            parts.append(None if each is None else each * sequences)
    step = {name: size(row, sequences, together) for name, row in by_name.items()}
    if any(
        step[row.base_resource_id] is None
        for row in by_name.values()
        if row.lifetime in ("step", "invocation")
    ):
        return None
    bytes_of = {name: value or 0 for name, value in step.items()}
    for pool in memory.dynamic_pools:
        parts += [max(bytes_of[r] for r in slot.resource_ids) for slot in pool.step_resource_slots]
        rows = [sum(bytes_of[r] for r in row.resource_ids) for row in pool.invocation_liveness]
        join = max if pool.invocation_liveness_mode == "total_order_reuse" else sum
        parts.append(join(rows) if rows else 0)
    return None if None in parts else sum(part or 0 for part in parts)


@settings(max_examples=150, deadline=None)
@given(plans(), st.none() | st.integers(1, 40))
def test_need_is_what_the_definition_adds_up(memory: MemoryPlan, scheduled: int | None) -> None:
    capacity = capacity_of(memory, scheduled)
    for sequences in range(1, MOST_SEQUENCES + 2):
        for tokens in range(1, 12):
            expected = counted(memory, scheduled, sequences, tokens)
            if expected is None:
                with pytest.raises(SizeError):
                    need(capacity, sequences, tokens)
            else:
                assert need(capacity, sequences, tokens) == expected


@settings(max_examples=120, deadline=None)
@given(plans(), st.integers(1, 40))
def test_largest_is_exact(memory: MemoryPlan, scheduled: int) -> None:
    capacity = capacity_of(memory, scheduled)

    def has_room(sequences: int, tokens: int) -> bool:
        bytes_needed = counted(memory, scheduled, sequences, tokens)
        return bytes_needed is not None and bytes_needed <= memory.usable_capacity_bytes

    for sequences in range(1, MOST_SEQUENCES + 2):
        found = largest_tokens(capacity, sequences)
        fitting = [t for t in range(1, scheduled + 2) if has_room(sequences, t)]
        assert found.tokens == max(fitting, default=0)
        assert fitting == list(range(1, found.tokens + 1))
        assert found.refused_bytes == counted(memory, scheduled, sequences, found.tokens + 1)
        if found.tokens:
            assert found.bytes == counted(memory, scheduled, sequences, found.tokens)
        else:
            assert found.bytes is None
    for tokens in range(1, 12):
        most = largest_sequences(capacity, tokens)
        fitting = [k for k in range(1, MOST_SEQUENCES + 2) if has_room(k, tokens)]
        assert most.sequences == max(fitting, default=0)
        assert most.refused_bytes == counted(memory, scheduled, most.sequences + 1, tokens)


@settings(max_examples=60, deadline=None)
@given(plans(), st.integers(1, 40))
def test_the_curve_falls(memory: MemoryPlan, scheduled: int) -> None:
    capacity = capacity_of(memory, scheduled)
    points = curve(capacity)
    assert [point.sequences for point in points] == list(range(1, len(points) + 1))
    assert len(points) == largest_sequences(capacity, 1).sequences
    lengths = [point.tokens for point in points]
    assert lengths == sorted(lengths, reverse=True)
    assert all(fits(capacity, point.sequences, point.tokens) for point in points)


def one_row(demand: Any, usable: int, **changed: Any) -> Capacity:
    return capacity_of(
        plan(
            [descriptor("kv", "sequence", demand, **changed)],
            [],
            [],
            "no_invocation_resources",
            usable=usable,
            sequences=changed.get("theoretical_maximum_instances", MOST_SEQUENCES),
        )
    )


def test_memory_ends_the_frontier_with_the_bytes_of_the_next() -> None:
    capacity = one_row({"tokens": {"bytes_per_token": 10, "maximum_tokens": 1000}}, usable=99)
    found = largest_tokens(capacity, 3)
    assert (found.tokens, found.bytes, found.refused_bytes) == (3, 90, 120)
    assert found.refused_because == "it needs 120 bytes of 99 usable ones"
    most = largest_sequences(capacity, 3)
    assert (most.sequences, most.bytes, most.refused_bytes) == (3, 90, 120)


def test_a_declared_maximum_ends_it_by_name() -> None:
    capacity = one_row({"tokens": {"bytes_per_token": 1, "maximum_tokens": 8}}, usable=10**9)
    found = largest_tokens(capacity, 2)
    assert (found.tokens, found.refused_bytes) == (8, None)
    assert "`kv`" in found.refused_because
    assert "limit is 8" in found.refused_because
    most = largest_sequences(capacity, 1)
    assert (most.sequences, most.refused_bytes) == (MOST_SEQUENCES, None)
    assert "declared maximum" in most.refused_because


def test_tokens_that_cost_nothing_end_at_the_engine_s_own_width() -> None:
    capacity = one_row({"fixed": {"bytes": 4}}, usable=100)
    found = largest_tokens(capacity, 3)
    assert found.tokens == U64_MAX // 3
    assert "u64" in found.refused_because


def test_nothing_fits() -> None:
    capacity = one_row({"fixed": {"bytes": 4}}, usable=3)
    found = largest_tokens(capacity, 1)
    assert (found.tokens, found.bytes, found.refused_bytes) == (0, None, 4)
    assert curve(capacity) == []


def test_many_sequences_are_spread_out_with_both_ends() -> None:
    capacity = one_row(
        {"fixed": {"bytes": 1}}, usable=10**9, theoretical_maximum_instances=1_000_000
    )
    counts = [point.sequences for point in curve(capacity, points=20)]
    assert (counts[0], counts[-1]) == (1, 1_000_000)
    assert len(counts) <= 20
    assert counts == sorted(set(counts))


def test_a_pool_that_names_nobody_is_refused() -> None:
    memory = plan([], [["ghost"]], [], "no_invocation_resources", usable=100)
    with pytest.raises(SizeError, match="`ghost`"):
        capacity_of(memory)


def test_a_batch_has_a_sequence_and_a_token() -> None:
    capacity = one_row({"fixed": {"bytes": 1}}, usable=10)
    for sequences, tokens in ((0, 1), (1, 0)):
        with pytest.raises(ValueError, match="at least one"):
            need(capacity, sequences, tokens)


def test_the_smallest_batch_of_a_real_plan_is_its_minimum_runnable_request() -> None:
    memory = derive_memory_plan(models.problem("qwen3.5-4b", layers=4))
    capacity = capacity_of(memory)
    assert need(capacity, 1, 1) == memory.static_bytes + memory.minimum_runnable_request_bytes
    assert largest_tokens(capacity, 1).tokens == 4096
