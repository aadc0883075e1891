"""The text report: the verdict first, all within the width, and nothing obeyed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from ferrum_verify.auditing.audit import audit
from ferrum_verify.catalogue import catalogue
from ferrum_verify.catalogue.edits import apply_edits
from ferrum_verify.catalogue.samples import sample
from ferrum_verify.cli.schemas import schema_of
from ferrum_verify.report.formats import FORMATS, Screen, render
from ferrum_verify.report.model import DocumentReport, Obligations, Report, SlotReport
from ferrum_verify.report.text import render_findings
from ferrum_verify.report.text_findings import SHOWN_OF_A_RULE
from ferrum_verify.report.text_tables import MAXIMUM_ROWS
from tests.examples import WITH_EXAMPLE, report_of_rule
from tests.report.findings import finding
from tests.report.test_model import COUNTEREXAMPLES
from tests.vectors import cases, fragment_of

if TYPE_CHECKING:
    from ferrum_verify.findings import Finding
    from ferrum_verify.report.model import Verdict


def report_of(*findings: Finding, verdict: Verdict = "violated", **fields: Any) -> Report:
    document = DocumentReport(
        source="plan.json", kind="fragment", verdict=verdict, findings=findings, **fields
    )
    return Report(execution="fenced", documents=(document,))


def test_the_verdict_comes_first() -> None:
    text = render(report_of(finding()), "text")
    assert text.startswith("VIOLATED  plan.json  (fragment, fenced)\n")
    assert "1 error" in text
    assert "Two are live." in text


def test_a_sound_plan() -> None:
    text = render(audit(sample("fragment"), prove=False), "text")
    assert text.startswith("VERIFIED")
    assert "no findings; nothing was put to the solver" in text
    assert "Pools: sharing saves" in text
    assert "Slots that several resources share" in text


def test_rules_group_the_findings_and_each_says_its_fix_once() -> None:
    text = render(
        report_of(
            finding("first"),
            finding("third", rule="capacity.usable", severity="note"),
            finding("second"),
        ),
        "text",
    )
    lines = [line.strip() for line in text.splitlines()]
    assert lines.index("First.") < lines.index("Second.") < lines.index("Third.")
    fix = catalogue()["slot.shared-while-live"].fix
    assert "".join(text.split()).count("".join(fix.split())) == 1


def test_expected_and_actual_values_are_shown() -> None:
    text = render(report_of(finding(expected=5, actual="x\x1b")), "text")
    assert 'expected 5; found "x\\u001b"' in text


def test_of_two_objects_only_what_differs_is_shown() -> None:
    expected = {"spans": {"prefix": 16, "suffix": 1}, "same": [1], "gone": True}
    actual = {"spans": {"prefix": 24, "suffix": 1}, "same": [1]}
    text = " ".join(render(report_of(finding(expected=expected, actual=actual)), "text").split())
    assert 'expected {"spans": {"prefix": 16}, "gone": true}; found {"spans": {"prefix": 24}}' in (
        text
    )
    assert "expected" not in render(report_of(finding(expected=actual, actual=actual)), "text")
    numbers = render(report_of(finding(expected={"a": 1}, actual={"a": True})), "text")
    assert 'expected {"a": 1}; found {"a": true}' in numbers


def test_a_name_at_the_beginning_stays_as_it_is_spelled() -> None:
    text = render(report_of(finding("static_bytes is 1"), finding("slots are two")), "text")
    assert "static_bytes is 1." in text
    assert "Slots are two." in text


def test_proof_counts() -> None:
    text = render(report_of(obligations=Obligations(701, 2, 1, 3, 89)), "text")
    facts = "701 claims proved (89 formulas); 2 refuted; 1 undecided; 3 vacuous"
    assert facts in " ".join(text.split())
    assert "0 claims proved\n" in render(report_of(obligations=Obligations()), "text")


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("counterexample", [None, *COUNTEREXAMPLES])
def test_no_line_is_wider_than_the_screen(width: int, counterexample: Any) -> None:
    long_name = "dynamic-pool/sha256/" + "f" * 140
    report = report_of(
        finding(f"`{long_name}` overlaps", location=f"/{long_name}", counterexample=counterexample),
        slots=(SlotReport(pool_id=long_name, resource_ids=(long_name, long_name + "x")),),
        subject=None,
    )
    text = render(report, "text", Screen(width=width))
    assert max(map(len, text.splitlines())) <= width


def test_reports_of_reference_plans_fit_eighty_columns() -> None:
    seen = set()
    for case in cases("memory-plans"):
        if "mutation" in case and case["mutation"] not in seen:
            seen.add(case["mutation"])
            text = render(audit(fragment_of(case), prove=False), "text")
            assert max(map(len, text.splitlines())) <= 80, case["id"]
            assert not any(line.endswith(" ") for line in text.splitlines())


def test_colour_only_where_it_is_asked_for() -> None:
    report = report_of(finding())
    assert "\x1b[" not in render(report, "text", Screen(color=False))
    coloured = render(report, "text", Screen(color=True))
    assert "\x1b[1;31mVIOLATED\x1b[0m" in coloured


def test_names_are_neither_markup_nor_control_sequences() -> None:
    name = "[red]:smile:\x1b[2J\r\n\ud800[/red] http://x"
    text = render(report_of(finding(f"`{name}` is odd", location=name), slots=()), "text")
    assert "[red]:smile:\\x1b[2J\\r\\n\\ud800[/red]" in "".join(text.split("\n      "))
    assert "\x1b" not in text
    text.encode()


def test_what_is_not_shown_is_counted() -> None:
    slots = tuple(
        SlotReport(pool_id=f"p{i}", resource_ids=("a", "b", "c")) for i in range(MAXIMUM_ROWS + 3)
    )
    findings = [finding(f"number {i}") for i in range(SHOWN_OF_A_RULE + 7)]
    subject = audit(sample("fragment"), prove=False).documents[0].subject
    text = render(report_of(*findings, slots=slots, subject=subject), "text", Screen(tables=True))
    assert "… and 7 more of slot.shared-while-live, in 1 slot. --all shows them." in text
    assert "and 3 more slots" in text


def test_several_documents_end_with_a_summary() -> None:
    document = report_of(verdict="verified").documents[0]
    broken = report_of(finding()).documents[0]
    text = render(Report(execution="fenced", documents=(document, document, broken)), "text")
    assert text.endswith("VIOLATED  3 documents: 2 verified, 1 violated\n")
    assert text.count("VERIFIED") == 2
    assert "Pools" not in text


def test_a_terminal_without_unicode() -> None:
    report = report_of(finding("é"))
    render(report, "text", Screen(encoding="ascii")).encode("ascii", "backslashreplace")


def test_findings_alone() -> None:
    text = render_findings([finding("first"), finding("second")], Screen())
    assert "First." in text
    assert "VIOLATED" not in text


def test_json_of_real_reports_follows_the_schema() -> None:
    validator = jsonschema.Draft202012Validator(schema_of("report"))
    seen = set()
    for case in cases("memory-plans"):
        if case.get("mutation", "") in seen or "mutation" not in case:
            continue
        seen.add(case["mutation"])
        report = audit(fragment_of(case), execution="concurrent", prove=False)
        validator.validate(json.loads(render(report, "json")))
    unreadable: list[Any] = [{}, [], float("nan"), {"plan": 0}]
    for bad in unreadable:
        report = audit(bad, prove=False)
        validator.validate(json.loads(render(report, "json")))


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_every_format_renders_every_example(name: str) -> None:
    documents: list[DocumentReport] = []
    for rule in WITH_EXAMPLE[::4]:
        documents.extend(report_of_rule(rule.id).documents)
    assert render(Report(execution="fenced", documents=tuple(documents)), name).endswith("\n")
    assert render(Report(execution="fenced", documents=()), name)


def test_a_faulty_memory_plan_still_has_its_tables() -> None:
    document = sample("fragment")
    apply_edits(
        document,
        {
            "/memory/dynamic_pools/0/step_resource_slots/0/resource_ids/0": "act/unknown",
            "/memory/dynamic_descriptors/0/alignment_bytes": 3,
        },
    )
    report = audit(document, prove=False)
    text = render(report, "text", Screen(tables=True))
    assert text.startswith("VIOLATED")
    assert " ?\n" in text
    assert "Pools" not in render(report, "text")


def test_no_line_is_read_as_a_command() -> None:
    document = sample("fragment") | {"a" * 61 + "::stop-commands::pwned ##[group]": 0}
    for width in range(40, 100):
        report = audit(document, prove=False)
        lines = render(report, "text", Screen(width=width)).splitlines()
        assert not [line for line in lines if line.lstrip().startswith(("::", "##["))]
