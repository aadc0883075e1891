"""GitHub annotations: one workflow command a finding, and no document can add one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.report.formats import render
from ferrum_verify.report.model import Report
from tests.report.broken_plans import report_of_files
from tests.report.findings import document, finding

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding


def report_of(*findings: Finding, **fields: Any) -> Report:
    return Report(execution="fenced", documents=(document(*findings, **fields),))


def read_command(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as the service's runner reads it."""
    match = re.fullmatch(r"::(\w+) (.*?)::(.*)", line)
    assert match is not None, line
    name, listed, data = match.groups()
    properties = dict(each.split("=", 1) for each in listed.split(","))
    codes = (("%3A", ":"), ("%2C", ","), ("%0D", "\r"), ("%0A", "\n"), ("%25", "%"))
    for key, value in properties.items():
        for code, character in codes:
            value = value.replace(code, character)  # noqa: PLW2901
        properties[key] = value
    for code, character in codes[2:]:
        data = data.replace(code, character)
    return name, properties, data


def test_annotations_stand_beside_their_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    document = sample("fragment")
    apply_edits(document, {"/memory/static_bytes": "48"})
    path = Path("plans, 100%: new.json")
    path.write_text(json.dumps(document, indent=2))
    lines = render(report_of_files(path), "github").splitlines()
    name, properties, message = read_command(lines[0])
    assert name == "error"
    assert properties["file"] == str(path)
    assert properties["title"] == "wire.type"
    text = path.read_text().splitlines()[int(properties["line"]) - 1]
    excerpt = text[int(properties["col"]) - 1 : int(properties["endColumn"]) - 1]
    assert excerpt == '"static_bytes": "48"'
    assert properties["endLine"] == properties["line"]
    assert message.startswith("The field ")
    assert lines[-1] == "VIOLATED plans, 100%: new.json: 2 errors"


def test_kinds_and_their_order() -> None:
    report = report_of(
        finding("a", severity="note"),
        finding("b", severity="warning"),
        finding("c", severity="warning", undecided=True),
        finding("d"),
    )
    *commands, end = render(report, "github").splitlines()
    read = [read_command(command) for command in commands]
    assert [(name, message) for name, _, message in read] == [
        ("error", "D."),
        ("warning", "Open question: C."),
        ("warning", "B."),
        ("notice", "A."),
    ]
    assert end == "VIOLATED a.json: 1 error, 1 open question, 1 warning, 1 note"


def test_a_value_over_several_lines_has_no_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a":\n 1}')
    report = report_of(finding(location="/a"), path=path)
    _, properties, _ = read_command(render(report, "github").splitlines()[0])
    assert (properties["line"], properties["endLine"]) == ("1", "2")
    assert "col" not in properties


def test_without_a_file_the_place_is_in_the_text() -> None:
    line = render(report_of(finding(location="/nodes/1")), "github").splitlines()[0]
    assert read_command(line) == (
        "error",
        {"title": "slot.shared-while-live"},
        "Two are live. (at /nodes/1)",
    )


@pytest.mark.parametrize("name", ["x\n::error::y", "a%0Ab", "::set-output name=a::b", "\r::stop::"])
def test_names_cannot_command_anything(name: str) -> None:
    report = report_of(
        finding(f"{name} is wrong", location=f"/{name}"), source=name, path=Path(name)
    )
    *commands, end = render(report, "github").splitlines()
    (command,) = commands
    assert read_command(command)[0] == "error"
    assert not end.startswith("::")


def test_several_documents_end_in_a_total() -> None:
    one = report_of(finding()).documents[0]
    report = Report(execution="fenced", documents=(one, one))
    assert render(report, "github").splitlines()[-1] == "VIOLATED 2 documents: 2 errors"
