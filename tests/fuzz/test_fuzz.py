"""The fuzz run itself: all pairs are covered, what is at fault is counted, and nothing is."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.report.formats import FORMATS
from tests.fuzz import calls
from tests.fuzz.__main__ import Tally, fuzz
from tests.fuzz.calls import CALLS, SAMPLED, called
from tests.fuzz.corpus import Corpus

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EMPTY = Corpus((b"{}",), (1.0,), ())


def test_all_commands_with_all_formats_hold(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FERRUM_VERIFY_DEBUG", "1")
    tally = fuzz(250, "test")
    assert tally.faults == {}
    assert tally.outcomes == {"done": 250}
    assert tally.calls.keys() == {*CALLS, *SAMPLED}
    for command in ("audit", "contracts check", "contracts compare"):
        for name in FORMATS:
            assert any(each.startswith(command) and each.endswith(name) for each in tally.calls)


def broken(problem: str) -> Callable[..., None]:
    def call(*_: Any) -> None:
        if problem == "raises":
            raise KeyError(problem)
        if problem == "hangs":
            while True:
                pass
        print(problem)

    return call


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        ("raises", "internal error"),
        ("hangs", "over time"),
        ("Traceback (most recent call last):", "traceback"),
        ("\x1b[2J", "hidden text"),
        ("\u202e", "hidden text"),
        ("fine", "done"),
    ],
)
def test_a_fault_is_counted(monkeypatch: pytest.MonkeyPatch, problem: str, kind: str) -> None:
    monkeypatch.setitem(CALLS, "broken", broken(problem))
    monkeypatch.setattr(calls, "MOST_SECONDS", 0.05)
    outcome = called("broken", b"", Random(1), EMPTY)
    assert outcome.kind == kind
    assert (outcome.fault is None) == (kind == "done")
    tally = Tally()
    tally.calls["broken"] += 1
    tally.outcomes[outcome.kind] += 1
    named = {"internal error": "1 internal errors", "over time": "1 over 10 s"}
    assert named.get(kind, "1 documents") in tally.line(1, 60.0)
