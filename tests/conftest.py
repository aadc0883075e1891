"""Settings of every test run."""

from __future__ import annotations

import gc
import os
from collections import Counter
from typing import TYPE_CHECKING

from hypothesis import settings

if TYPE_CHECKING:
    import pytest

# How long one example takes says nothing about the code on a machine that others use too.
settings.register_profile("default", deadline=None)
# A run that gates a merge must not fail by a new draw; the draws of other runs do differ.
settings.register_profile("ci", deadline=None, derandomize=True)
# A test that is about the cache has one of its own.
os.environ.setdefault("FERRUM_VERIFY_NO_CACHE", "1")
os.environ.setdefault("FERRUM_VERIFY_CACHE_KEY", "the key of the tests")
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_sessionfinish() -> None:
    """Set what the tests leave behind apart from what is collected.

    pytest collects garbage several times at the very end. A worker whose many documents take
    seconds each time would be interrupted by pytest-xdist, with a traceback.
    """
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say once for all tests that were skipped for the same reason what they are without."""
    skipped = terminalreporter.stats.get("skipped", [])
    for reason, count in Counter(report.longrepr[2] for report in skipped).items():
        terminalreporter.write_line(f"{reason} ({count} tests)")
