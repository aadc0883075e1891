"""Findings and documents of a report, with what a test does not care about filled in."""

from __future__ import annotations

from typing import Any

from ferrum_verify.catalogue import catalogue
from ferrum_verify.findings import Finding
from ferrum_verify.report.model import DocumentReport


def finding(
    message: str = "two are live", rule: str = "slot.shared-while-live", **fields: Any
) -> Finding:
    return Finding(
        **{
            "rule": rule,
            "judgment": "safety",
            "severity": "error",
            "message": message,
            "stated_by": catalogue().get(rule),
        }
        | fields
    )


def document(*findings: Finding, **fields: Any) -> DocumentReport:
    return DocumentReport(
        **{"source": "a.json", "kind": "fragment", "verdict": "violated", "findings": findings}
        | fields
    )
