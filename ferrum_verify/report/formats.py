"""The formats that a report can be written in.

A format is a module with ``render(report, screen) -> str``; it is imported when it is asked
for. Adding one is an entry here: the command line offers whatever stands in ``FORMATS``.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from ferrum_verify.report.model import Report


@dataclass(frozen=True, slots=True)
class Run:
    """The run of a command that makes a report: the command line, and when it ended, in UTC."""

    command: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Screen:
    """What the output is written to: a terminal shows colour and has a width in columns.

    ``show_all`` asks for every finding at length, and ``tables`` for its tables whatever
    the verdict is. ``run`` is who writes it, for a format that is evidence; None where no command
    does.
    """

    color: bool = False
    width: int = 80
    encoding: str = "utf-8"
    run: Run | None = None
    show_all: bool = False
    tables: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """A format: what it is for, and the module that renders it.

    ``shows_documents`` says that it shows more of a document than the report says of it.
    """

    summary: str
    module: str
    shows_documents: bool = True


FORMATS: dict[str, Format] = {
    "text": Format("for people in a terminal", "ferrum_verify.report.text"),
    "concise": Format("one line a cause, for editors", "ferrum_verify.report.concise"),
    "json": Format(
        "the report as data, ferrum-verify/report/v1", "ferrum_verify.report.json", False
    ),
    "sarif": Format("SARIF 2.1.0, for code scanning", "ferrum_verify.report.sarif"),
    "markdown": Format("for a pull-request comment", "ferrum_verify.report.markdown"),
    "junit": Format("JUnit XML, for test reports", "ferrum_verify.report.junit", False),
    "github": Format(
        "annotations beside the lines of a plan", "ferrum_verify.report.github", False
    ),
    "perfetto": Format("a trace to open in Perfetto", "ferrum_verify.report.perfetto"),
    "html": Format("one page to look at, offline", "ferrum_verify.report.html"),
}


def render(report: Report, name: str, screen: Screen | None = None) -> str:
    """The report in the named format, ending in a line break.

    Raises ``KeyError`` for a format that is not in ``FORMATS``.
    """
    module = import_module(FORMATS[name].module)
    text: str = module.render(report, screen or Screen())
    return text if text.endswith("\n") else f"{text}\n"
