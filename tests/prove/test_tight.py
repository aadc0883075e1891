"""Limits of a deep plan that are a byte too low: every claim about them is refuted, each alone.

What a pool holds of alike rows is counted, so a claim that counted one of them would still be
proved of a sound plan. It is the limit less one byte that tells.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.prove.obligation import Refuted
from tests.prove.test_counts import decoder, proof_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]


def fields(name: str) -> Callable[[Json], Iterator[tuple[Json, str]]]:
    return lambda memory: ((pool, name) for pool in memory["dynamic_pools"])


def budgets(memory: Json) -> Iterator[tuple[Json, str]]:
    for bucket in memory["reusable_execution"]["buckets"]:
        for budget in bucket["pool_budgets"]:
            yield from ((budget, name) for name in ("step_bytes", "invocation_bytes"))


@pytest.mark.parametrize(
    ("rule", "limits"),
    [
        ("pool.ceiling", fields("theoretical_ceiling_bytes")),
        ("pool.reusable-ceiling", fields("reusable_workspace_ceiling_bytes")),
        ("liveness.peak", fields("minimum_invocation_peak_bytes")),
        ("reusable.budget", budgets),
    ],
)
def test_each_limit_is_refuted_a_byte_below_itself(
    rule: str, limits: Callable[[Json], Iterator[tuple[Json, str]]]
) -> None:
    document: Json = deepcopy(decoder())
    lowered = 0
    for holder, name in limits(document["memory"]):
        value = int(holder[name])
        if value:
            holder[name] = type(holder[name])(value - 1)
            lowered += 1
    found = [v for v in proof_of(document, "fenced").of(Refuted) if v.obligation.rule.id == rule]
    assert lowered > 1
    assert len(found) == lowered
