"""Verdicts, and the JSON form of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from ferrum_verify.counterexamples import (
    AccessCounterexample,
    ByteRange,
    LiveResource,
    OverlapCounterexample,
    Party,
    ScheduleCounterexample,
    ScheduledNode,
    Shape,
    ShapeCounterexample,
    SpanConstraint,
    SpanCounterexample,
)
from ferrum_verify.findings import Finding
from ferrum_verify.report.model import (
    EXIT_STATUS,
    DocumentReport,
    Obligations,
    Report,
    SlotReport,
    verdict_of,
)
from ferrum_verify.report.schema import report_schema

if TYPE_CHECKING:
    from ferrum_verify.counterexamples import Counterexample
    from ferrum_verify.findings import Severity
    from ferrum_verify.report.model import Verdict


def finding(severity: Severity = "error", **fields: Any) -> Finding:
    return Finding(
        **{
            "rule": "slot.shared-while-live",
            "judgment": "safety",
            "severity": severity,
            "message": "two are live",
        }
        | fields
    )


def report_of(*verdicts: Verdict) -> Report:
    return Report(
        execution="fenced",
        documents=tuple(
            DocumentReport(source=f"{index}.json", kind="fragment", verdict=verdict)
            for index, verdict in enumerate(verdicts)
        ),
    )


@pytest.mark.parametrize(
    ("findings", "obligations", "verdict"),
    [
        ([], None, "verified"),
        ([finding("warning"), finding("note")], None, "verified"),
        ([finding("warning", undecided=True)], None, "undecided"),
        ([finding("error", undecided=True)], None, "undecided"),
        ([finding("warning", undecided=True), finding()], None, "violated"),
        ([], Obligations(proved=3), "verified"),
        ([], Obligations(proved=3, undecided=1), "undecided"),
        ([finding()], Obligations(undecided=1), "violated"),
    ],
)
def test_verdict_of_a_document(
    findings: list[Finding], obligations: Obligations | None, verdict: Verdict
) -> None:
    assert verdict_of(findings, obligations) == verdict
    assert verdict_of(findings, obligations, readable=False) == "unreadable"


@pytest.mark.parametrize(
    ("verdicts", "worst", "status"),
    [
        (["verified"], "verified", 0),
        (["verified", "undecided"], "undecided", 3),
        (["undecided", "violated"], "violated", 1),
        (["violated", "unreadable", "undecided"], "unreadable", 2),
        ([], "undecided", 3),
    ],
)
def test_verdict_of_several(verdicts: list[Verdict], worst: Verdict, status: int) -> None:
    report = report_of(*verdicts)
    assert report.verdict == worst
    assert report.exit_status == status == EXIT_STATUS[worst]
    assert sum(report.summary.values()) == len(verdicts)


def test_a_report_gathers_its_documents() -> None:
    documents = tuple(
        DocumentReport(
            source=name,
            kind="fragment",
            verdict="violated",
            findings=(finding(message=name),),
            slots=(SlotReport(pool_id=name, resource_ids=("a", "b")),),
            obligations=obligations,
        )
        for name, obligations in (
            ("x", Obligations(1, 2, 3, 4, 5)),
            ("y", Obligations(4, 5, 6, 7, 8)),
        )
    )
    report = Report(execution="fenced", documents=documents)
    assert [each.message for each in report.findings] == ["x", "y"]
    assert [each.pool_id for each in report.slots] == ["x", "y"]
    assert report.obligations == Obligations(5, 7, 9, 11, 13)
    assert report.obligations.claims == 32
    assert report_of("verified").obligations == Obligations()


COUNTEREXAMPLES: list[Counterexample] = [
    ScheduleCounterexample(
        nodes=(ScheduledNode("a", 0, 2), ScheduledNode("b", 1, 3)),
        left=LiveResource("r", "a"),
        right=LiveResource("s", "b"),
        at=1,
    ),
    AccessCounterexample(
        nodes=(ScheduledNode("a", 0, 2), ScheduledNode("b", 1, 3)),
        resource="r",
        start=0,
        end=64,
        writer="b",
        other="a",
        mode="read",
        at=1,
        value="v",
    ),
    AccessCounterexample((ScheduledNode("a", 0, 2),), "r", 0, 64, "b", "a", "write", 1),
    OverlapCounterexample(Shape(1, 2, 3), ByteRange("r", 0, 8), ByteRange("s", 4, 12), 4),
    ShapeCounterexample(Shape(1, 2, 3), bytes=10, limit=9, limit_from="/a/0"),
    ShapeCounterexample(Shape(1, 2, 3), overflow=True),
    SpanCounterexample(
        Party("provider", SpanConstraint(7, 1), provider="p", node="a"),
        Party("state", maximum_tokens=6, state="s"),
        tokens=7,
    ),
    SpanCounterexample(
        Party("base", SpanConstraint(1, 4), SpanConstraint(1, 1)),
        Party("head", SpanConstraint(1, 8), SpanConstraint(1, 1)),
        processed=0,
        boundary=4,
        prompt=9,
    ),
]


@pytest.mark.parametrize("counterexample", COUNTEREXAMPLES, ids=lambda each: each.kind)
def test_json_follows_its_schema(counterexample: Counterexample) -> None:
    whole = Report(
        execution="concurrent",
        documents=(
            DocumentReport(
                source="a.json",
                kind="bundle",
                verdict="violated",
                findings=(
                    finding(counterexample=counterexample, expected=[1], actual={"a": None}),
                    finding(location="/a/0"),
                ),
                slots=(
                    SlotReport(
                        pool_id="p",
                        resource_ids=("r", "s"),
                        in_order=True,
                        fenced=True,
                        concurrent=False,
                        hazards=(("r", "s"),),
                    ),
                    SlotReport(pool_id="q", resource_ids=("t", "u")),
                ),
                obligations=Obligations(1, 1, 0),
                timings={"read": 0.25},
            ),
            DocumentReport(source="b.json", kind=None, verdict="unreadable"),
        ),
    )
    wire = whole.to_wire()
    schema = jsonschema.Draft202012Validator(report_schema())
    schema.validate(wire)
    first, second = wire["documents"]
    assert first["slots"][0]["hazards"] == [["r", "s"]]
    assert set(first["slots"][1]) == {"pool_id", "resource_ids"}
    assert "kind" not in second
    assert "obligations" not in second
    assert wire["summary"] == {"verified": 0, "violated": 1, "undecided": 0, "unreadable": 1}
    wire["documents"][0]["extra"] = 1
    assert not schema.is_valid(wire)
