"""The verifier and the evaluator against every run of drawn schedules, and the machine itself."""

from __future__ import annotations

import pytest

from tests.definition.schedule_runs import is_run, states
from tests.definition.schedule_sweep import sweep


@pytest.mark.parametrize("seed", range(4))
def test_drawn_schedules(seed: int) -> None:
    counts, differing = sweep(1_000_000 + seed, 60)
    assert counts["steps"] + counts["one step"] == 60
    assert counts["with an input"] > 5
    assert differing == []


def test_the_machine_waits_where_the_words_say_so() -> None:
    apart = {"host": [{"launch": "a", "stream": "s"}, {"launch": "b", "stream": "t"}]}
    both = {("a", 0), ("b", 0)}
    assert any(started == both and not ended for started, ended in states(apart, 1))
    recorded = {
        "host": [
            {"launch": "a", "stream": "s"},
            {"record": "e", "stream": "s"},
            {"wait": "e", "stream": "t"},
            {"launch": "b", "stream": "t"},
        ]
    }
    assert all(
        ("b", 0) not in started or ("a", 0) in ended for started, ended in states(recorded, 1)
    )
    assert is_run(recorded, 1, {("a", 0): (0, 1), ("b", 0): (1, 2)})
    assert not is_run(recorded, 1, {("a", 0): (0, 2), ("b", 0): (1, 2)})
    # Between steps the host waits for nothing, unless it is told to.
    steps = recorded | {"steps": {"in_flight": 1}}
    again, first = ("a", 1), ("b", 0)
    assert any(again in started and first not in ended for started, ended in states(recorded, 2))
    assert all(again not in started or first in ended for started, ended in states(steps, 2))
