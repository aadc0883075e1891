"""A page says of which plan it speaks, and what made it, when and how."""

from __future__ import annotations

import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ferrum_verify import audit
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli import run
from ferrum_verify.plan.canonical import fingerprint
from ferrum_verify.report.formats import Run, Screen, render
from ferrum_verify.version import __version__
from tests.report.pages import Page, page_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_plan_is_named_with_its_hash() -> None:
    document = sample("bundle")
    text = page_of(audit(document, prove=False)).text
    plan = document["plan"]
    assert f"Plan {plan['payload']['plan_id']} Plan hash {plan['plan_hash']}" in text
    assert f"Model family {plan['payload']['family_id']}" in text
    assert f"Device {plan['payload']['device_id']}" in text


def test_what_has_no_id_is_named_by_the_hash_of_its_memory_plan() -> None:
    document = sample("fragment")
    text = page_of(audit(document, prove=False)).text
    assert f"SHA-256 of the memory plan {fingerprint(document['memory'])}" in text


def test_versions_stand_beside_the_command_and_its_time() -> None:
    report = audit(sample("fragment"), prove=False)
    made = Run("ferrum-verify audit 'a <b>.json'", datetime(2031, 5, 6, 7, 8, tzinfo=UTC))
    text = Page(render(report, "html", Screen(run=made))).text
    assert "Command ferrum-verify audit 'a <b>.json' Date 2031-05-06 07:08 UTC" in text
    versions = f"Versions ferrum-verify {__version__}, Python {platform.python_version()}, z3 "
    assert versions in text
    assert "Command" not in page_of(report).text


def test_the_command_line_says_how_it_was_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["audit", "no such.json", "--format", "html", "-o", "report.html"]) == 2
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Command ferrum-verify audit 'no such.json' --format html -o report.html" in page.text
    assert f"{datetime.now(UTC):%Y-%m-%d}" in page.text
