"""The report as one HTML file that opens offline: for looking at, and for showing to others."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.model import Report


def render(report: Report, screen: Screen) -> str:
    """The report as a page of its own, with everything it needs in it."""
    from ferrum_verify.report.html.page import page  # noqa: PLC0415  (Jinja2 is for pages only)

    return page(report, screen.run)
