"""CP-SAT against brute force; skipped where OR-tools is not installed."""

from __future__ import annotations

from itertools import combinations

import pytest

from ferrum_verify.plan import cp_sat
from ferrum_verify.plan.partition import partition_bytes
from ferrum_verify.plan.unordered import levels
from tests.plan.test_partition import drawn, least, may_share


@pytest.mark.skipif(not cp_sat.available(), reason="OR-tools is an extra")
@pytest.mark.parametrize("seed", range(60))
def test_the_optimum_is_found_from_any_start(seed: int) -> None:
    sizes, before = drawn(seed, 7)
    alone = [[member] for member in range(len(sizes))]
    found = cp_sat.improved(sizes, before, alone, levels(sizes, before), 10)
    assert sorted(member for slot in found.slots for member in slot) == list(range(len(sizes)))
    assert all(may_share(before, *pair) for slot in found.slots for pair in combinations(slot, 2))
    assert found.exhausted
    assert partition_bytes(found.slots, sizes) == least(sizes, before)
