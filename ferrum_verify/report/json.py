"""The report as JSON."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.model import DocumentReport, Report


def render(report: Report, _screen: Screen) -> str:
    """The report, indented by two spaces; keys stand in the order of the format."""
    wire = replace(report, documents=()).to_wire() | {"summary": report.summary}
    whole = json.dumps(wire, indent=2)
    if not report.documents:
        return whole
    # Document by document: the records of thousands take many times what their text does. No
    # text before the list can be taken for it, as its quotes would be escaped.
    before, _, after = whole.partition('"documents": []')
    documents = ",".join(_in_list(document) for document in report.documents)
    return f'{before}"documents": [{documents}\n  ]{after}'


def _in_list(document: DocumentReport) -> str:
    text = json.dumps(document.to_wire(), indent=2)
    return "\n    " + text.replace("\n", "\n    ")
