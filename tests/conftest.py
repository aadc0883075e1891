"""Settings of every test run."""

from __future__ import annotations

import gc
import os

from hypothesis import settings

# How long one example takes says nothing about the code on a machine that others use too.
settings.register_profile("default", deadline=None)
# A run that gates a merge must not fail by a new draw; the draws of other runs do differ.
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "default")


def pytest_sessionfinish() -> None:
    """Set what the tests leave behind apart from what is collected.

    pytest collects garbage several times at the very end. A worker whose many documents take
    seconds each time would be interrupted by pytest-xdist, with a traceback.
    """
    gc.collect()
    gc.freeze()
