"""Reports from their JSON: the same again, and no other than ours."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ferrum_verify.auditing.audit import audit
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.fleet.merging import merged
from ferrum_verify.fleet.reading import document_of, read_report
from ferrum_verify.report.formats import Screen, render
from ferrum_verify.report.model import Report
from tests.cases import case
from tests.examples import WITH_EXAMPLE, report_of_rule
from tests.rules.test_schedule import PAIR

if TYPE_CHECKING:
    from pathlib import Path

GATED = "docs/examples/gated.json"
SCHEDULE = "ferrum-verify/schedule/v1"
LAUNCHES = [{"launch": "a", "stream": "s"}, {"launch": "b", "stream": "t"}]


def test_a_report_of_every_rule_is_read_as_it_was_written() -> None:
    kinds = set()
    reports = [report_of_rule(rule.id) for rule in WITH_EXAMPLE]
    reports += [audit(case(name), "concurrent") for name in ("two-writers", "hurt-reader")]
    reports.append(audit(GATED, "concurrent"))
    reports.append(audit(PAIR, schedule={"schema": SCHEDULE, "host": LAUNCHES}))
    for report in reports:
        for document in report.documents:
            plain = replace(document, subject=None, comparison=None, origins={}, timings={})
            wire = json.loads(json.dumps(plain.to_wire()))
            again = document_of(wire, source=plain.source, path=plain.path, line=plain.line)
            assert again.to_wire() == wire
            for format_name in ("text", "sarif", "junit", "github", "markdown"):
                one, other = (
                    render(Report(execution="fenced", documents=(each,)), format_name, Screen())
                    for each in (plain, again)
                )
                assert one == other, (plain.findings, format_name)
            kinds |= {f.counterexample.kind for f in plain.findings if f.counterexample}
    assert kinds >= {"schedule", "overlap", "shape", "span", "access", "dependency"}


def written(tmp_path: Path, **changes: Any) -> str:
    wire = audit(GATED, execution="concurrent").to_wire()
    path = tmp_path / "report.json"
    path.write_text(json.dumps(wire | changes))
    return str(path)


def test_a_report_is_read(tmp_path: Path) -> None:
    report = read_report(written(tmp_path))
    assert report.terms == ("concurrent", "all")
    assert [each.verdict for each in report.record.documents] == ["violated"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"schema": "ferrum-verify/report/v2"}, "at /schema"),
        ({"documents": [{"source": 1}]}, "at /documents/0/source"),
        ({"documents": {}}, "at /documents"),
        ({"extra": 1}, "at /extra"),
        ({"summary": {"verified": 7}}, "does not count its own documents"),
        ({"tool": {"name": "ferrum-verify", "version": "0.0.1"}}, "was written by ferrum-verify"),
        ({"shard": [1, 2, 3]}, "at /shard"),
    ],
)
def test_a_report_of_another_form_is_refused(
    tmp_path: Path, changes: dict[str, Any], told: str
) -> None:
    with pytest.raises(DocumentError, match=told):
        read_report(written(tmp_path, **changes))


@pytest.mark.parametrize(
    ("member", "value", "told"),
    [
        ("rule", "no.such", "there is no rule no.such"),
        ("counterexample", {"kind": "nope"}, "a form that none has"),
        ("cause", 5, "cause"),
        ("cause", 0, "cause"),
        ("expected", float("nan"), "NaN is no JSON number"),
    ],
)
def test_a_finding_of_another_form_is_refused(
    tmp_path: Path, member: str, value: Any, told: str
) -> None:
    documents = audit(GATED, execution="concurrent").to_wire()["documents"]
    documents[0]["findings"][0][member] = value
    with pytest.raises(DocumentError, match=told):
        read_report(written(tmp_path, documents=documents))


def test_reports_that_count_other_verdicts_are_merged(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    none = read_report(written(tmp_path / "none", documents=[], summary={"verified": 0}))
    together = merged([none, read_report(written(tmp_path))])
    assert together["summary"]["violated"] == 1


@pytest.mark.parametrize(
    "text", ["", "{", "[" * 100_000, "\ud800", "NaN", "9" * 5000, "null", "[]", '{"a": 1}']
)
def test_hostile_texts_are_refused_in_a_sentence(tmp_path: Path, text: str) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(DocumentError, match="is no "):
        read_report(str(path))


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 2**40)
    for name in ("pipe", "large", "missing", ".", "\0", "/dev/zero"):
        with pytest.raises(DocumentError, match="cannot be read"):
            read_report(name if "\0" in name else str(tmp_path / name))
