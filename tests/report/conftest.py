"""Plans that several tests of the reports draw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import models
from tests.report.broken_plans import report_of_example_files

if TYPE_CHECKING:
    from ferrum_verify.report.model import Report


@pytest.fixture(scope="session")
def concurrent_hazard() -> dict[str, Any]:
    """A plan that is fenced-safe, and not concurrent-safe in three pairs of one slot."""
    return models.problem("qwen3.5-4b", layers=4)


@pytest.fixture(scope="session")
def report_of_examples(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The report of a file for the example of every third rule."""
    return report_of_example_files(tmp_path_factory.mktemp("examples"), every=3)
