"""The pytest plugin: a fixture that audits a plan in a project's own tests.

    def test_plan(ferrum_audit):
        ferrum_audit("plans/decoder.json", execution="concurrent")

A plan that is not verified fails the test with the text report. The settings of the project's
``pyproject.toml`` hold, where a call does not say otherwise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    import os

    from ferrum_verify.counterexamples import Execution
    from ferrum_verify.report.model import Report

_COLUMNS = 100


class Audit(Protocol):
    """What the fixture ``ferrum_audit`` is."""

    def __call__(
        self,
        document: Any | str | os.PathLike[str],
        *,
        execution: Execution | None = None,
        prove: bool | None = None,
        allow_undecided: bool = False,
    ) -> Report:
        """Audit parsed JSON or a file; fail the test unless every document is verified.

        ``execution`` and ``prove`` are those of the project's settings unless given, else
        ``fenced`` and True. With ``allow_undecided`` a question that stays open does not fail.
        """


@pytest.fixture(scope="session")
def ferrum_audit(pytestconfig: pytest.Config) -> Audit:
    """Audit a plan; the test fails with the report unless it is verified."""
    # Every test run of a project loads this file, and few of its tests use the fixture.
    from ferrum_verify.auditing.audit import audit  # noqa: PLC0415
    from ferrum_verify.integrations.config import SettingsError, find_settings  # noqa: PLC0415
    from ferrum_verify.report.formats import Screen, render  # noqa: PLC0415

    try:
        settings = find_settings(pytestconfig.rootpath)
    except SettingsError as error:
        pytest.fail(str(error), pytrace=False)

    def audited(
        document: Any | str | os.PathLike[str],
        *,
        execution: Execution | None = None,
        prove: bool | None = None,
        allow_undecided: bool = False,
    ) -> Report:
        __tracebackhide__ = True
        whole = audit(
            document,
            settings.execution if execution is None else execution,
            settings.prove if prove is None else prove,
            limits=settings.limits,
        )
        report, _ = settings.without_ignored(whole)
        accepted = {"verified", "undecided"} if allow_undecided else {"verified"}
        if report.open_verdict not in accepted:
            pytest.fail(render(report, "text", Screen(width=_COLUMNS)), pytrace=False)
        return report

    return audited
