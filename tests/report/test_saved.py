"""A report in a notebook, in a file, and as rows."""

from __future__ import annotations

import importlib.util
import json
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from ferrum_verify.report.saved import ENDINGS, Report
from tests.report.findings import document, finding

if TYPE_CHECKING:
    from pathlib import Path

REPORT = Report(
    execution="fenced",
    documents=(document(finding("`<b>` is live"), finding("second", cause=0, severity="note")),),
)


def test_a_report_is_short_where_it_is_printed() -> None:
    assert repr(REPORT) == "<Report: VIOLATED, 1 document, 2 findings>"


def test_a_notebook_shows_the_page_in_a_frame() -> None:
    shown = REPORT._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert shown.count("<") == 2
    assert "&lt;!doctype html&gt;" in shown


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_report_is_saved_by_its_ending(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"report{ending.upper()}"
    REPORT.save(path)
    assert "live" in path.read_text()


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="ends in none of"):
        REPORT.save(tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_rows_of_findings() -> None:
    first, second = REPORT.to_rows()
    assert (first["source"], first["rule"], first["cause"]) == (
        "a.json",
        "slot.shared-while-live",
        None,
    )
    assert (second["severity"], second["cause"]) == ("note", 0)
    json.dumps([first, second])


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_a_data_frame() -> None:
    frame = REPORT.to_frame()
    assert list(frame["rule"]) == ["slot.shared-while-live"] * 2


def test_the_package_has_types() -> None:
    assert (files("ferrum_verify") / "py.typed").is_file()
