"""Programs that a machine may be without: a person's tests skip, and those of CI fail."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def unavailable(reason: str) -> NoReturn:
    """Skip the test that needs what is missing; under CI, where nothing may be missing, fail it."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
