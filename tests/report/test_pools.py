"""What sharing saves, worked out by hand for the sample plan."""

from __future__ import annotations

from ferrum_verify.catalogue.samples import sample
from ferrum_verify.documents.memory_plan import MemoryPlan
from ferrum_verify.findings.wording import byte_count, plural, pool_name, shortened
from ferrum_verify.plan.sizes import maximum_bytes
from ferrum_verify.report.pools import pool_summaries
from tests.vectors import cases


def test_each_pool_has_its_line() -> None:
    memory = MemoryPlan.model_validate(sample("fragment")["memory"])
    for pool, summary in zip(memory.dynamic_pools, pool_summaries(memory), strict=True):
        assert summary.pool_id == pool.pool_id
        assert summary.members == len(pool.resource_ids)
        assert summary.slots == len(pool.step_resource_slots)
        assert summary.resident[0] == pool.provisioning.minimum_resident_bytes


def test_savings_are_what_all_members_need_less_what_slots_and_rows_take() -> None:
    some_saved = False
    for case in cases("memory-plans"):
        if case.get("mutation") != "intact":
            continue
        memory = MemoryPlan.model_validate(case["memory"])
        largest = {row.base_resource_id: maximum_bytes(row) for row in memory.dynamic_descriptors}
        for pool, summary in zip(memory.dynamic_pools, pool_summaries(memory), strict=True):
            kept = {name for row in pool.invocation_liveness for name in row.resource_ids} | {
                name for slot in pool.step_resource_slots for name in slot.resource_ids
            }
            taken = sum(
                max(largest[name] for name in slot.resource_ids)
                for slot in pool.step_resource_slots
            )
            rows = [
                sum(largest[name] for name in row.resource_ids) for row in pool.invocation_liveness
            ]
            apart = sum(largest[name] for name in kept)
            if pool.invocation_liveness_mode == "total_order_reuse":
                taken += max(rows)
            else:
                taken += sum(
                    largest[name]
                    for name in {n for row in pool.invocation_liveness for n in row.resource_ids}
                )
            assert summary.saved == apart - taken
            some_saved |= bool(summary.saved)
    assert some_saved


def test_byte_counts_keep_three_digits() -> None:
    counts = {
        0: "0 B",
        1023: "1,023 B",
        1024: "1.00 KiB",
        1536: "1.50 KiB",
        10 * 1024: "10.0 KiB",
        1023 * 1024: "1,023 KiB",
        2**20 - 1: "1.00 MiB",
        2**64: "16.0 EiB",
        2**80: "1,048,576 EiB",
    }
    assert {number: byte_count(number) for number in counts} == counts


def test_names_lose_their_middle() -> None:
    assert shortened("node.layer.0001.attention", 12) == "node.l…ntion"
    assert shortened("short", 12) == "short"
    assert pool_name("dynamic-pool/sha256/" + "ab" * 32) == "abababab"
    assert pool_name("pool.a") == "pool.a"
    assert (plural(1, "error"), plural(2, "error")) == ("1 error", "2 errors")
