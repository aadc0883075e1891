"""Plans that several tests of the reports draw."""

from __future__ import annotations

from typing import Any

import pytest

import models


@pytest.fixture(scope="session")
def concurrent_hazard() -> dict[str, Any]:
    """A plan that is fenced-safe, and not concurrent-safe in three pairs of one slot."""
    return models.problem("qwen3.5-4b", layers=4)
