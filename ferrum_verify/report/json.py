"""The report as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.model import Report


def render(report: Report, _screen: Screen) -> str:
    """The report, indented by two spaces; keys stand in the order of the format."""
    return json.dumps(report.to_wire(), indent=2)
