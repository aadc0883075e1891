"""Reports from their JSON: those of an earlier run, of other machines, and of the cache.

A report comes from a file that anybody may have written: it is data of one form, or refused.
"""

from __future__ import annotations

import json
import os
import stat
from sys import intern
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ferrum_verify.counterexamples import Runs
from ferrum_verify.counterexamples.from_wire import counterexample_of
from ferrum_verify.findings import Family, Finding, Judgment, Severity
from ferrum_verify.findings.errors import DocumentError
from ferrum_verify.findings.wording import printable
from ferrum_verify.fleet.settled import is_settled
from ferrum_verify.reading.document import Kind
from ferrum_verify.report.hidden import HiddenBy
from ferrum_verify.report.model import (
    DocumentReport,
    Held,
    Obligations,
    SlotReport,
    Verdict,
)
from ferrum_verify.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 2**29
"""Bytes that are read of one report: some ten thousand plans."""

Count = Annotated[int, Field(ge=0, lt=2**53)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class FindingWire(_Strict):
    """A finding of a report."""

    rule: str
    family: Family
    judgment: Judgment
    severity: Severity
    message: str
    location: str
    expected: Any = None
    actual: Any = None
    fix: str | None = None
    cause: Count | None = None
    counterexample: dict[str, Any] | None = None


class HiddenWire(FindingWire):
    """A finding that a report leaves out of a document's own, and why."""

    hidden_by: HiddenBy
    reason: str


class SlotWire(_Strict):
    """A slot of a report."""

    pool_id: str
    resource_ids: list[str]
    in_order: bool | None = None
    fenced: bool | None = None
    concurrent: bool | None = None
    hazards: list[Annotated[list[str], Field(min_length=2, max_length=2)]] | None = None


class ObligationsWire(_Strict):
    """The claims of a document of a report."""

    proved: Count
    refuted: Count
    undecided: Count
    vacuous: Count
    formulas: Count


class DocumentWire(_Strict):
    """One document of a report."""

    source: str
    kind: Kind | Held | None = None
    verdict: Verdict
    findings: list[FindingWire]
    hidden: list[HiddenWire] | None = None
    slots: list[SlotWire]
    obligations: ObligationsWire | None = None
    memory: dict[str, Any] | None = None
    against: dict[str, Any] | None = None
    timings: dict[str, Annotated[float, Field(ge=0, allow_inf_nan=False)]]
    key: Annotated[str, Field(pattern="^[0-9a-f]{64}$")] | None = None
    carried: Literal[True] | None = None

    @model_validator(mode="after")
    def _check_causes(self) -> DocumentWire:
        """Each chain of causes ends with a finding that follows from none."""
        ends: set[int | None] = {None}
        for start in range(len(self.findings)):
            chain: list[int] = []
            place: int | None = start
            while place is not None and place not in ends:
                if place >= len(self.findings) or len(chain) > len(self.findings):
                    raise ValueError("a finding's cause is none of the document's findings")
                chain.append(place)
                place = self.findings[place].cause
            ends.update(chain)
        return self


class ToolWire(_Strict):
    """Who wrote a report."""

    name: Literal["ferrum-verify"]
    version: str


class ReportWire(_Strict):
    """A whole report, or one shard of it."""

    schema_: Annotated[Literal["ferrum-verify/report/v1"], Field(alias="schema")]
    tool: ToolWire
    execution: Runs
    judge: Judgment | None = None
    shard: (
        Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=2, max_length=2)] | None
    ) = None
    merged: list[str] | None = None
    documents: list[DocumentWire]
    summary: dict[Verdict, Count]


class EarlierReport(NamedTuple):
    """A report of a file: its JSON, and the same as records."""

    source: str
    wire: dict[str, Any]
    record: ReportWire

    @property
    def terms(self) -> tuple[str, str]:
        """What the documents were judged by: the execution, and what was asked for."""
        return self.record.execution, self.record.judge or "all"


def read_report(path: str) -> EarlierReport:
    """The report in a file; raises DocumentError in one sentence where there is none of ours."""
    source = printable(path)
    try:
        wire = json.loads(_read(path), parse_constant=_refuse)
        record = ReportWire.model_validate(wire)
        version = record.tool.version
    except OSError as error:
        raise DocumentError(f"{source} cannot be read: {error.strerror or error}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(map(str, first["loc"]))
        raise DocumentError(
            f"{source} is no report of ferrum-verify: at /{printable(place)} {first['msg']}."
        ) from None
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"{source} is no JSON: {printable(str(error))}.") from None
    if version != __version__:
        raise DocumentError(
            f"{source} was written by ferrum-verify {printable(version)}, and this is "
            f"{__version__}: what one version says of a plan, another need not."
        )
    try:
        for document in record.documents:
            for finding in (*document.findings, *(document.hidden or ())):
                _finding(finding)
    except ValueError as error:
        raise DocumentError(
            f"{source} is no report of ferrum-verify: {printable(str(error))}."
        ) from None
    counted = dict.fromkeys(record.summary, 0)
    for document in record.documents:
        counted[document.verdict] = counted.get(document.verdict, 0) + 1
    if counted != record.summary:
        raise DocumentError(f"{source} does not count its own documents: its summary is another.")
    return EarlierReport(source, wire, record)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON number")


def _read(path: str) -> bytes:
    if "\0" in path:
        raise OSError(0, "its name holds a null byte")
    with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
        if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
            raise OSError(0, "it is no regular file")
        text = stream.read(MOST_BYTES + 1)
    if len(text) > MOST_BYTES:
        raise OSError(0, f"it has more than {MOST_BYTES // 2**20} MiB")
    return text


def document_of(
    wire: Any, *, source: str, path: Path | None = None, line: int = 1
) -> DocumentReport:
    """A document's report from its JSON, under the name that the document has now.

    Raises ValueError where it has no such form, or names a rule that there is not.
    """
    stated = wire if isinstance(wire, DocumentWire) else DocumentWire.model_validate(wire)
    obligations = stated.obligations
    return DocumentReport(
        source=source,
        kind=stated.kind,
        verdict=stated.verdict,
        findings=tuple(map(_finding, stated.findings)),
        slots=tuple(map(_slot, stated.slots)),
        obligations=None if obligations is None else Obligations(**obligations.model_dump()),
        timings=dict(stated.timings),
        path=path,
        line=line,
        key=stated.key,
    )


def _finding(stated: FindingWire) -> Finding:
    # All rules take longer to import than an audit takes to run.
    from ferrum_verify.catalogue.rules import catalogue  # noqa: PLC0415

    rule = catalogue().get(stated.rule)
    if rule is None:
        raise ValueError(f"there is no rule {printable(stated.rule)}")
    counterexample = stated.counterexample
    return Finding(
        rule=stated.rule,
        judgment=stated.judgment,
        severity=stated.severity,
        message=stated.message,
        location=stated.location,
        expected=stated.expected,
        actual=stated.actual,
        counterexample=None if counterexample is None else counterexample_of(counterexample),
        undecided=rule.undecided,
        fix=stated.fix,
        cause=stated.cause,
        stated_by=rule,
    )


def _slot(stated: SlotWire) -> SlotReport:
    hazards = stated.hazards
    return SlotReport(
        pool_id=intern(stated.pool_id),
        resource_ids=tuple(map(intern, stated.resource_ids)),
        in_order=stated.in_order,
        fenced=stated.fenced,
        concurrent=stated.concurrent,
        hazards=None if hazards is None else tuple((one, other) for one, other in hazards),
    )


def known_by_key(report: EarlierReport) -> dict[str, DocumentWire]:
    """The documents of a report that a later run may carry over: all but undecided ones."""
    return {
        document.key: document
        for document in report.record.documents
        if document.key is not None
        and not document.hidden
        and document.memory is None
        and is_settled(
            document.verdict, document.obligations.undecided if document.obligations else 0
        )
    }
