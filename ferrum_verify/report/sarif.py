"""The report as SARIF 2.1.0, so that code scanning shows findings in the plan file itself.

A finding of severity error, warning or note is a result of kind ``fail`` and that level. A
question that stayed open is of kind ``open``, whose level the standard fixes as ``none``.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ferrum_verify.counterexamples import (
    AccessCounterexample,
    DependencyCounterexample,
    ScheduleCounterexample,
)
from ferrum_verify.findings import pointer, rules_of
from ferrum_verify.findings.wording import plural, printable, sentence
from ferrum_verify.report.alike import told_once
from ferrum_verify.report.hidden import HIDDEN_AS
from ferrum_verify.report.locations import file_name, regions_of
from ferrum_verify.report.timeline import counterexample_lines
from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ferrum_verify.counterexamples import ScheduledNode
    from ferrum_verify.findings import Finding, Rule
    from ferrum_verify.reading.positions import Region
    from ferrum_verify.report.alike import Alike
    from ferrum_verify.report.formats import Screen
    from ferrum_verify.report.hidden import Hidden
    from ferrum_verify.report.model import DocumentReport, Report

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)

_COLUMNS = 80

_Run = ScheduleCounterexample | AccessCounterexample | DependencyCounterexample


def render(report: Report, _screen: Screen) -> str:
    """The report as a SARIF log of one run."""
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [_run(report)]}, indent=2)


def _run(report: Report) -> dict[str, Any]:
    rules = rules_of((*report.findings, *(each.finding for each in report.hidden)))
    indices = {rule.id: index for index, rule in enumerate(rules)}
    files = list(
        dict.fromkeys(
            uri for each in report.documents for path in each.files if (uri := _uri(path))
        )
    )
    regions = regions_of(report.documents, [_pointers(each) for each in report.documents])
    told = told_once(report.documents)
    return {
        "tool": {
            "driver": {
                "name": "ferrum-verify",
                "version": __version__,
                "shortDescription": {"text": "Verifies the execution plans of the Ferrum engine"},
                "rules": [_descriptor(rule) for rule in rules],
            }
        },
        "automationDetails": {"id": f"ferrum-verify/{report.execution}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": report.verdict != "unreadable",
                "exitCode": report.exit_status,
            }
        ],
        "artifacts": [{"location": _artifact(uri), "roles": ["analysisTarget"]} for uri in files],
        "results": [
            _result(finding, document, places, indices, _cause(finding, document, places))
            for document, places, own in zip(report.documents, regions, told.own, strict=True)
            for finding in (document.findings[index] for index in own)
        ]
        + [_of_many(alike, report.documents, regions, indices) for alike in told.alike]
        + [
            _result(hidden.finding, document, places, indices, None)
            | {"suppressions": [_suppression(hidden)]}
            for document, places in zip(report.documents, regions, strict=True)
            for hidden in document.hidden
        ],
        "properties": {
            "execution": report.execution,
            **({} if report.judge == "all" else {"judge": report.judge}),
            "verdict": report.verdict,
            "openVerdict": report.open_verdict,
            "documents": [
                {"source": each.source, "verdict": each.verdict} for each in report.documents
            ],
        },
    }


def _descriptor(rule: Rule) -> dict[str, Any]:
    level = "none" if rule.undecided else rule.severity
    paragraphs = (
        ("Why it matters", rule.why),
        ("How to fix it", rule.fix),
        ("Where the rule comes from", rule.source),
    )
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": f"{rule.summary} {sentence(rule.why)}"},
        "help": {
            "text": "\n\n".join(
                [rule.summary, *(f"{title}: {sentence(body)}" for title, body in paragraphs)]
            ),
            "markdown": "\n\n".join(
                [rule.summary, *(f"**{title}.** {sentence(body)}" for title, body in paragraphs)]
            ),
        },
        "defaultConfiguration": {"level": level},
        "properties": {
            "tags": [rule.family, rule.judgment],
            "problem.severity": "recommendation" if rule.severity == "note" else rule.severity,
        },
    }


def _result(
    finding: Finding,
    document: DocumentReport,
    regions: Mapping[str, Region],
    indices: Mapping[str, int],
    cause: dict[str, Any] | None,
) -> dict[str, Any]:
    result: dict[str, Any] = {"ruleId": finding.rule}
    if finding.rule in indices:
        result["ruleIndex"] = indices[finding.rule]
    result |= {
        "kind": "open" if finding.undecided else "fail",
        "level": "none" if finding.undecided else finding.severity,
        "message": {"text": _message(finding, document)},
        "locations": [_location(document, finding.location, regions)],
        "partialFingerprints": {"findingHash/v1": _identity(finding)},
    }
    if cause is not None:
        result["relatedLocations"] = [cause]
    if isinstance(finding.counterexample, _Run):
        result["codeFlows"] = [_code_flow(finding.counterexample, document, regions)]
    wire = finding.to_wire()
    result["properties"] = {"document": document.source, "family": finding.family} | {
        name: wire[name]
        for name in ("judgment", "expected", "actual", "fix", "cause", "counterexample")
        if name in wire
    }
    return result


def _suppression(hidden: Hidden) -> dict[str, Any]:
    return {
        "kind": "external",
        "status": "accepted",
        "justification": f"{HIDDEN_AS[hidden.by]}: {hidden.reason}",
    }


def _of_many(
    alike: Alike,
    documents: Sequence[DocumentReport],
    regions: Sequence[Mapping[str, Region]],
    indices: Mapping[str, int],
) -> dict[str, Any]:
    """The result of a finding that many plans have: at the first, with the others beside it."""
    finding, (first, *others) = alike.finding, alike.documents
    result = _result(finding, documents[first], regions[first], indices, None)
    names = ", ".join(printable(documents[each].source) for each in alike.documents)
    result["message"]["text"] += f"\nIn {plural(len(alike.documents), 'document')}: {names}."
    result["relatedLocations"] = [
        _location(documents[each], finding.location, regions[each])
        | {"message": {"text": f"The same of {printable(documents[each].source)}."}}
        for each in others
    ]
    result["properties"]["documents"] = [documents[each].source for each in alike.documents]
    return result


def _cause(
    finding: Finding, document: DocumentReport, regions: Mapping[str, Region]
) -> dict[str, Any] | None:
    """Where the finding stands from which this one follows, and what it says."""
    if finding.cause is None:
        return None
    cause = document.findings[finding.cause]
    text = f"It follows from {cause.rule}: {sentence(cause.message)}"
    return _location(document, cause.location, regions) | {"message": {"text": text}}


def _message(finding: Finding, document: DocumentReport) -> str:
    text = sentence(finding.message)
    if finding.counterexample is None:
        return text
    lines = counterexample_lines(finding.counterexample, _COLUMNS, document.subject)
    if isinstance(finding.counterexample, _Run):
        lines = lines[:3]  # the schedule itself is the result's code flow
    return "\n".join([text, "Counterexample:", *lines])


def _identity(finding: Finding) -> str:
    """A hash that stays the same while the finding does, wherever its line moves to."""
    material = json.dumps([finding.rule, finding.location, finding.message])
    return hashlib.sha256(material.encode()).hexdigest()


def _location(
    document: DocumentReport, place: str, regions: Mapping[str, Region]
) -> dict[str, Any]:
    location: dict[str, Any] = {}
    uri = _uri(document.origin(place).path)
    if uri is not None:
        physical: dict[str, Any] = {"artifactLocation": _artifact(uri)}
        region = regions.get(place)
        if region is not None:
            physical["region"] = {
                "startLine": region.line,
                "startColumn": region.column,
                "endLine": region.end_line,
                "endColumn": region.end_column,
            }
        location["physicalLocation"] = physical
    if place:
        location["logicalLocations"] = [{"fullyQualifiedName": printable(place)}]
    return location


def _code_flow(
    schedule: _Run,
    document: DocumentReport,
    regions: Mapping[str, Region],
) -> dict[str, Any]:
    places = _node_pointers(document)
    marks = _marks(schedule)
    steps = []
    for order, node in enumerate(sorted(schedule.nodes, key=lambda n: (n.start, n.end)), start=1):
        key = (node.id, node.step)
        text = f"`{node.id}` runs from time {node.start} to {node.end}{_where(node)}."
        if key in marks:
            text += f" {marks[key]}"
        location = _location(document, places[node.id], regions) if node.id in places else {}
        steps.append(
            {
                "location": location | {"message": {"text": text}},
                "executionOrder": order,
                "importance": "essential" if key in marks else "important",
            }
        )
    text = f"A schedule in which {_met(schedule)}."
    return {"message": {"text": text}, "threadFlows": [{"locations": steps}]}


def _met(schedule: _Run) -> str:
    match schedule:
        case DependencyCounterexample(node=node, dependency=dependency):
            return f"`{node}` starts before `{dependency}`, on which it depends, has ended"
        case AccessCounterexample(resource=resource, at=at):
            return f"both nodes need the same bytes of `{resource}` at time {at}"
    return f"both resources are live at time {schedule.at}"


def _where(node: ScheduledNode) -> str:
    step = "" if node.step is None else f" in step {node.step}"
    return step if node.stream is None else f"{step} on stream `{node.stream}`"


def _marks(schedule: _Run) -> dict[tuple[str, int | None], str]:
    """What a run's two nodes have to do with each other."""
    if isinstance(schedule, DependencyCounterexample):
        return {
            (schedule.node, schedule.step): f"It depends on `{schedule.dependency}`.",
            (schedule.dependency, schedule.dependency_step): "It should have ended first.",
        }
    if isinstance(schedule, AccessCounterexample):
        verb = {"read": "reads", "write": "writes"}[schedule.mode]
        return {
            (schedule.writer, schedule.writer_step): f"It writes `{schedule.resource}`.",
            (schedule.other, schedule.other_step): f"It {verb} `{schedule.resource}`.",
        }
    return {
        (side.node, side.step): f"It uses `{side.resource}`, live at time {schedule.at}."
        for side in (schedule.left, schedule.right)
    }


def _pointers(document: DocumentReport) -> set[str]:
    """Every place in the document that its results speak of."""
    pointers = {finding.location for finding in document.findings}
    pointers |= {hidden.finding.location for hidden in document.hidden}
    schedules = [
        finding.counterexample
        for finding in document.findings
        if isinstance(finding.counterexample, _Run)
    ]
    if schedules:
        places = _node_pointers(document)
        pointers |= {
            places[node.id] for each in schedules for node in each.nodes if node.id in places
        }
    return pointers


def _node_pointers(document: DocumentReport) -> dict[str, str]:
    subject = document.subject
    if subject is None or subject.nodes is None:
        return {}
    at = subject.places.nodes
    return {node.id: pointer(at, index, "id") for index, node in enumerate(subject.nodes)}


def _artifact(uri: str) -> dict[str, Any]:
    relative = not uri.startswith("file:")
    return {"uri": uri, "uriBaseId": "%SRCROOT%"} if relative else {"uri": uri}


def _uri(path: Path | None) -> str | None:
    if path is None:
        return None
    name = file_name(path)
    return Path(name).as_uri() if Path(name).is_absolute() else quote(os.fsencode(name))
